"""The file of faults: what it may say, and which turns each fault selects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callbench.cassette.faults import CATALOGUE, load_plan, matrix
from callbench.cassette.faults.declared import Plan, fault
from callbench.errors import UsageError


def load(path: Path, text: str) -> Plan:
    path.write_text(text, encoding="utf-8")
    return load_plan(path)


class TestFile:
    def test_toml_and_json_say_the_same(self, tmp_path: Path) -> None:
        toml = load(
            tmp_path / "f.toml",
            'seed = 7\n[[fault]]\nname = "status"\ncode = 429\nretry_after = 1\nrate = 0.2\n'
            'cases = ["a"]\nturn = 1\nstage = "stage1"\ntimes = "always"\n',
        )
        value = {
            "seed": 7,
            "fault": [
                {
                    "name": "status",
                    "code": 429,
                    "retry_after": 1,
                    "rate": 0.2,
                    "cases": ["a"],
                    "turn": 1,
                    "stage": "stage1",
                    "times": "always",
                }
            ],
        }
        other = load(tmp_path / "f.json", json.dumps(value))
        assert toml.faults == other.faults
        assert (toml.seed, toml.name, len(toml.sha256)) == (7, "f.toml", 64)
        (one,) = toml.faults
        assert one.label == "status code=429 retry_after=1 times=always"

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "declares no fault"),
            ("sed = 1\n", "'sed' is no member"),
            ('seed = "x"\n', "'seed' must be an integer"),
            ("[[fault]]\n", "no fault null"),
            ('[[fault]]\nname = "cut-in-charater"\n', "Did you mean cut-in-character"),
            ('[[fault]]\nname = "nulls"\nrat = 1\n', r"fault 1 \(nulls\): 'rat' is no member"),
            ('[[fault]]\nname = "nulls"\nrate = 2\n', "'rate' must be a number from 0 to 1"),
            ('[[fault]]\nname = "nulls"\nrate = true\n', "'rate' must be a number"),
            ('[[fault]]\nname = "nulls"\ncases = "a"\n', "'cases' must be a list"),
            ('[[fault]]\nname = "nulls"\nturn = 0\n', "'turn' must be an integer from 1"),
            ('[[fault]]\nname = "nulls"\nstage = "3"\n', "'stage' must be"),
            ('[[fault]]\nname = "nulls"\ntimes = 2\n', "'times' is for status and reset"),
            ('[[fault]]\nname = "status"\ntimes = "ever"\n', "'times' must be"),
            ('[[fault]]\nname = "status"\ncode = 200\n', "'code' must be at least 400"),
            ('[[fault]]\nname = "status"\ncode = 4e2\n', "'code' must be an integer"),
            ('[[fault]]\nname = "reset"\nat = "end"\n', "'at' must be one of start, middle"),
            ('[[fault]]\nname = "nulls"\nrate = -1\n', "'rate' must be a number"),
            ('[[fault]]\nname = "nulls"\nrate = nan\n', "'rate' must be a number"),
            ('[[fault]]\nname = "nulls"\ncases = []\n', "'cases' must be a list"),
            ('[[fault]]\nname = "stall"\nseconds = nan\n', "'seconds' must be at least 0"),
            ('[[fault]]\nname = "stall"\nseconds = inf\n', "'seconds' must be at most"),
            (f'[[fault]]\nname = "stall"\nseconds = {"9" * 400}\n', "'seconds' must be at most"),
            ("[[fault", "is not TOML"),
            ("seed = \n", "is not TOML.*line 1"),
        ],
    )
    def test_what_it_may_not_say(self, tmp_path: Path, text: str, told: str) -> None:
        with pytest.raises(UsageError, match=told) as caught:
            load(tmp_path / "f.toml", text)
        assert "f.toml" in str(caught.value)

    @pytest.mark.trap("E5")
    def test_a_case_that_is_not_there(self, tmp_path: Path) -> None:
        """TRAPS E5."""
        path = tmp_path / "f.toml"
        path.write_text('[[fault]]\nname = "nulls"\ncases = ["hotel-1", "hotl-2"]\n')
        assert load_plan(path, cases=["hotel-1", "hotl-2"]).faults
        with pytest.raises(UsageError, match=r'f\.toml: fault 1 \(nulls\).*"hotl-2"') as caught:
            load_plan(path, cases=["hotel-1", "hotel-2"])
        assert "Did you mean hotel-" in caught.value.remedy

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"none\.toml: No such file"):
            load_plan(tmp_path / "none.toml")


class TestSelecting:
    @pytest.mark.parametrize(
        ("members", "turns"),
        [
            (
                {},
                {
                    ("a", 1, "stage1"),
                    ("a", 2, "stage2"),
                    ("b", 1, "stage1"),
                    ("b@repeat=1", 1, "stage1"),
                },
            ),
            ({"cases": ["b"]}, {("b", 1, "stage1"), ("b@repeat=1", 1, "stage1")}),
            ({"turn": 2}, {("a", 2, "stage2")}),
            ({"stage": "stage1", "cases": ["a"]}, {("a", 1, "stage1")}),
            ({"rate": 0}, set()),
        ],
    )
    def test_by_case_turn_and_stage(self, members: dict[str, Any], turns: set[Any]) -> None:
        one = fault({"name": "nulls", **members})
        every = [
            ("a", 1, "stage1"),
            ("a", 2, "stage2"),
            ("b", 1, "stage1"),
            ("b@repeat=1", 1, "stage1"),
        ]
        assert {turn for turn in every if one.selects(0, *turn)} == turns  # type: ignore[arg-type]

    def test_the_rate_is_kept_and_seed_and_name_decide_who(self) -> None:
        def chosen(seed: int, name: str) -> frozenset[int]:
            one = fault({"name": name, "rate": 0.25})
            return frozenset(n for n in range(4000) if one.selects(seed, f"case-{n}", 1, "stage1"))

        first = chosen(7, "nulls")
        assert 850 < len(first) < 1150  # 1000 expected, standard deviation 27
        assert chosen(7, "nulls") == first
        assert len({first, chosen(8, "nulls"), chosen(7, "refusal")}) == 3

    def test_the_first_that_selects_is_taken(self) -> None:
        plan = Plan((fault({"name": "nulls", "cases": ["a"]}), fault({"name": "refusal"})))
        found = [plan.select(case, 1, "stage1") for case in "ab"]
        assert [one and one.kind.name for one in found] == ["nulls", "refusal"]


class TestMatrix:
    def test_each_kind_comes_before_any_comes_again(self) -> None:
        plan = matrix((f"c{n}", "stage1") for n in range(200))
        assert {one.kind.name for one in plan.faults} == CATALOGUE.keys()
        sizes = {len(one.cases or ()) for one in plan.faults}
        assert max(sizes) - min(sizes) <= 1
        assert sum(len(one.cases or ()) for one in plan.faults) == 200

    def test_the_seed_moves_the_rotation(self) -> None:
        cases = [(f"c{n}", "stage1") for n in range(3)]
        names = [
            [matrix(cases, seed).select(case, 1, "stage1") for case, _ in cases]  # type: ignore[arg-type]
            for seed in (0, 1)
        ]
        assert names[0][1:] != names[1][1:]
        assert names[0][1] is not None
        assert names[1][0] is not None
        assert names[0][1].label == names[1][0].label
