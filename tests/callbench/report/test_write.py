"""The files of a report and the tables in the terminal."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.console import Console

from callbench.report import Prices, summarize, write_report
from callbench.report.cells import SCORES, cells, number, percent, value
from callbench.report.markdown import escape
from callbench.report.terminal import print_scores, print_slices

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]

NASTY = 'a|b\n# c *d* _e_ `f` <b>g</b> [h](i) \\ & ~~j~~ "杭州"'


@pytest.fixture
def run_path(make_record: Make, write_run: Write) -> Path:
    return write_run(
        make_record("right", ("/x", "correct", {"expected": "x", "got": "x"})),
        make_record(
            "wrong|1",
            ("/x", "correct", {"expected": "x", "got": "x"}),
            ("/y_z", "wrong_value", {"expected": None, "got": NASTY}),
            ("/w", "missing", {"expected": ["杭州"]}),
            question=NASTY,
            tags=["t", "u"],
        ),
        make_record("failed", status="provider_error", error="HTTP 429 | busy"),
        make_record("mute", ("/x", "missing", {"expected": 1}), status="unparsed"),
    )


def texts_of(markdown: str) -> list[str]:
    """Every text of a rendered document, one a block or cell."""
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(markdown)
    return [
        "".join(
            "\n" if child.type == "html_inline" else child.content for child in token.children or []
        )
        for token in tokens
        if token.type == "inline"
    ]


class TestMarkdown:
    @pytest.mark.parametrize(
        "text", [NASTY.replace("\n", " "), "1. x", "+", "$a$", "http://x", "!", "a  b"]
    )
    def test_any_text_comes_out_of_a_cell_as_it_went_in(self, text: str) -> None:
        rendered = texts_of(f"| {escape(text)} | x |\n| -- | -- |\n| {escape(text)} | y |\n")
        assert rendered == [text, "x", text, "y"]

    def test_line_breaks_stay_inside_the_cell(self) -> None:
        assert escape("a\nb\r\nc\u2028d") == "a<br>b<br>c<br>d"

    def test_the_report_shows_scores_slices_and_wrong_cases(self, run_path: Path) -> None:
        write_report(run_path, baselines=[summarize("empty", [])])
        text = (run_path / "report.md").read_text("utf-8")
        shown = texts_of(text)
        for heading in (
            "Scores",
            "By language",
            "By tag",
            "By slot type",
            "Verdicts",
            "Wrong cases: 3 of 3",
        ):
            assert heading in shown
        assert "By stage that filled the slot" not in shown
        assert {"smollm2", "empty", "everyday"} <= set(shown)
        assert {"wrong|1", "/y_z", "null", "–", '["杭州"]'} <= set(shown)
        assert "provider_error: HTTP 429 | busy" in shown
        assert "unparsed: no message" in shown
        assert "### right" not in text

    def test_every_table_is_rectangular(self, run_path: Path) -> None:
        write_report(run_path, baselines=[])
        width = 0
        for line in (run_path / "report.md").read_text("utf-8").splitlines():
            if not line.startswith("|"):
                width = 0
                continue
            columns = len(re.findall(r"(?<!\\)\|", line))
            assert width in (0, columns), line
            width = columns

    def test_only_the_first_wrong_cases_are_shown(self, run_path: Path) -> None:
        write_report(run_path, baselines=[], wrong_cases=1)
        text = (run_path / "report.md").read_text("utf-8")
        assert "## Wrong cases: 1 of 3" in text
        assert "### failed" not in text


class TestFiles:
    def test_the_summary_holds_the_run_and_one_row_each(self, run_path: Path) -> None:
        document = write_report(run_path, baselines=[summarize("empty", []), summarize("copy", [])])
        assert json.loads((run_path / "summary.json").read_bytes()) == document
        assert document["run"]["dataset"] == "everyday"
        assert [row["name"] for row in document["rows"]] == ["smollm2", "empty", "copy"]
        assert len({tuple(row) for row in document["rows"]}) == 1
        assert document["rows"][0]["cases"] == 4

    def test_writing_again_gives_the_same_bytes_and_keeps_the_baselines(
        self, run_path: Path
    ) -> None:
        names = ("summary.json", "report.md", "cases.csv", "slots.csv")
        write_report(run_path, baselines=[summarize("empty", [])])
        before = [(run_path / name).read_bytes() for name in names]
        write_report(run_path)
        assert [(run_path / name).read_bytes() for name in names] == before

    def test_no_earlier_report_means_no_baselines(self, run_path: Path) -> None:
        assert len(write_report(run_path)["rows"]) == 1
        (run_path / "summary.json").write_text("{")
        assert len(write_report(run_path)["rows"]) == 1

    def test_prices_give_a_cost(self, run_path: Path) -> None:
        document = write_report(run_path, prices=Prices(1.0, 1.0))
        assert document["rows"][0]["cost"] == {"value": 440 / 1e6, "currency": "USD"}
        assert "0.0004 USD" in (run_path / "report.md").read_text("utf-8")

    def test_csv_tells_null_from_nothing(self, run_path: Path) -> None:
        write_report(run_path)
        with (run_path / "slots.csv").open(encoding="utf-8", newline="") as stream:
            rows = {(row["id"], row["pointer"]): row for row in csv.DictReader(stream)}
        assert len(rows) == 5
        wrong = rows["wrong|1", "/y_z"]
        assert (wrong["expected"], json.loads(wrong["got"])) == ("null", NASTY)
        assert (rows["wrong|1", "/w"]["expected"], rows["wrong|1", "/w"]["got"]) == ('["杭州"]', "")
        with (run_path / "cases.csv").open(encoding="utf-8", newline="") as stream:
            cases = list(csv.DictReader(stream))
        assert [case["id"] for case in cases] == ["right", "wrong|1", "failed", "mute"]
        assert cases[1]["question"] == NASTY
        assert (cases[1]["tags"], cases[1]["tp"], cases[1]["exact"]) == ("t u", "1", "False")
        assert cases[2]["exact"] == ""

    def test_half_a_surrogate_pair_does_not_stop_the_report(
        self, make_record: Make, write_run: Write
    ) -> None:
        line = json.dumps(make_record("a", ("/x", "wrong_value", {"got": "\ud83d"}))).encode()
        write_report(write_run(line + b"\n"))


class TestCells:
    def test_a_rate_shows_its_interval_and_nothing_shows_a_dash(self) -> None:
        assert percent({"value": 0.821, "low": 0.7644, "high": 0.867, "n": 9}) == "82.1 (76.4–86.7)"
        assert percent({"value": 0.0, "low": 0.0, "high": 0.5, "n": 9}) == "0.0 (0.0–50.0)"
        assert percent({"value": None, "low": None, "high": None, "n": 0}) == "–"

    def test_numbers_have_separators(self) -> None:
        assert (number(1234567), number(1234.56, 1), number(None), number(0)) == (
            "1,234,567",
            "1,234.6",
            "–",
            "0",
        )

    def test_values_are_json(self) -> None:
        assert value({"got": "杭州"}, "got") == '"杭州"'
        assert value({"got": None}, "got") == "null"
        assert value({}, "got") == "–"


class TestTerminal:
    @staticmethod
    def show(rows: list[dict[str, Any]], *keys: str, width: int = 160) -> str:
        stream = io.StringIO()
        console = Console(file=stream, width=width, color_system=None)
        print_scores(console, "everyday", rows)
        for key in keys:
            print_slices(console, rows[0], key)
        return stream.getvalue()

    def test_each_row_shows_its_rates(self, make_record: Make) -> None:
        rows = [summarize("m", [make_record("a", ("/x", "correct", {}))]), summarize("empty", [])]
        shown = self.show(rows, "lang", "type")
        for text in cells(SCORES, rows[0]):
            assert text in shown
        assert "1 of 1 cases scored, 0 of them unparsed; 0 ended in a provider error" in shown
        assert "By slot type" in shown

    def test_wide_characters_keep_the_columns_straight(self, make_record: Make) -> None:
        tagged = [make_record("a", ("/x", "correct", {}), tags=["多轮对话", "flat"])]
        lines = self.show([summarize("模型", tagged)], "tag").splitlines()
        start = next(index for index, line in enumerate(lines) if "By tag" in line)
        ends = {cell_len(line.rstrip()) for line in lines[start:] if "100.0" in line}
        assert len([line for line in lines[start:] if "100.0" in line]) == 2
        assert len(ends) == 1

    def test_names_are_no_markup(self, make_record: Make) -> None:
        assert "[red]x[/red]" in self.show([summarize("[red]x[/red]", [make_record("a")])])

    @pytest.mark.parametrize("width", [40, 80, 100])
    def test_a_narrow_terminal_breaks_no_number(self, make_record: Make, width: int) -> None:
        records = [make_record(str(n), ("/x", "correct", {}), lang="zh") for n in range(9)]
        rows = [summarize("小模型-270m", records), summarize("empty (baseline)", records)]
        shown = self.show(rows, "lang", "type", width=width)
        assert max(cell_len(line) for line in shown.splitlines()) <= width
        lines = [re.split(r" {2,}", line.strip()) for line in shown.splitlines()]
        told = {text for line in lines for text in line}
        assert percent(rows[0]["exact"]) in told
        assert {"exact %", "schema-valid %", "precision %"} <= told
