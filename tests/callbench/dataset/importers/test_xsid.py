"""xSID: sentences with BIO labels, English and Chinese."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callbench.dataset.importers.base import Draft, Source
from callbench.dataset.importers.writing import import_dataset
from callbench.dataset.importers.xsid import XSid
from callbench.errors import DatasetError

EN = """\
# text = wake me at 7, please
# intent = alarm/set
# slots: 0:4:stale
1\twake\talarm/set\tO
2\tme\talarm/set\tO
3\tat\talarm/set\tB-datetime
4\t7\talarm/set\tI-datetime
5\t,\talarm/set\tO
6\tplease\talarm/set\tO

# text = snow in Oslo or Rome
# intent = weather/find
1\tsnow\tweather/find\tB-weather/attribute
2\tin\tweather/find\tO
3\tOslo\tweather/find\tB-location
4\tor\tweather/find\tO
5\tRome\tweather/find\tB-location

# text = weather?
# intent = weather/find
1\tweather\tweather/find\tO
2\t?\tweather/find\tO
"""

ZH = """\
# id = 1
# text-en = wake me at 7, please
# text = 7点叫醒我
# intent = alarm/set
1\t7\talarm/set\tB-datetime
2\t点\talarm/set\tI-datetime
3\t叫醒\talarm/set\tO
4\t我\talarm/set\tO

# id = 2
# text-en = play Do You Love Me
# text = 播放 Do You Love Me 吧
# intent = PlayMusic
1\t播放\tPlayMusic\tO
2\tDo\tPlayMusic\tB-track
3\tYou\tPlayMusic\tI-track
4\tLove\tPlayMusic\tI-track
5\tMe\tPlayMusic\tI-track
6\t吧\tPlayMusic\tO
"""


@pytest.fixture
def conll(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / "xsid" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write


def test_a_case_is_a_sentence(conll: Any, imported: Any, perfect: Any) -> None:
    """The columns are the gold; the comment with the older labels is not read."""
    found = imported("xsid", conll("en.test.conll", EN))
    perfect(found)
    assert found.report["defects"] == {}
    assert [record["id"] for record in found.records] == [f"en.test/{n}" for n in (1, 2, 3)]
    assert [record["expected"] for record in found.records] == [
        {"datetime": "at 7"},
        {"weather/attribute": "snow", "location": ["Oslo", "Rome"]},
        {},
    ]
    first = found.records[0]
    assert first["question"] == "wake me at 7, please"
    assert first["tool"] == {"name": "alarm/set"}
    assert first["schema"] == {"type": "object", "properties": {"datetime": {"type": "string"}}}


def test_the_schema_holds_all_slots_of_the_intent(conll: Any, imported: Any) -> None:
    """A slot that stands twice in one sentence is a list in all of them, without order."""
    _, second, third = imported("xsid", conll("en.test.conll", EN)).records
    assert second["schema"] == third["schema"]
    assert second["schema"]["properties"] == {
        "weather/attribute": {"type": "string"},
        "location": {"type": "array", "items": {"type": "string"}},
    }
    assert second["accept"] == {"/location": {"match": "set"}}
    assert "accept" not in third


def test_chinese_spans_are_as_in_the_text(conll: Any, imported: Any, perfect: Any) -> None:
    found = imported("xsid", conll("zh.test.conll", ZH))
    perfect(found)
    assert [record["lang"] for record in found.records] == ["zh", "zh"]
    assert [record["expected"] for record in found.records] == [
        {"datetime": "7点"},
        {"track": "Do You Love Me"},
    ]


def test_pairs_share_a_cluster(conll: Any, imported: Any) -> None:
    """English has no ids and pairs by position."""
    conll("en.test.conll", EN)
    folder = conll("zh.test.conll", ZH).parent
    found = imported("xsid", folder)
    assert [(record["id"], record["cluster"]) for record in found.records] == [
        ("en.test/1", "xsid-test-1"),
        ("en.test/2", "xsid-test-2"),
        ("en.test/3", "xsid-test-3"),
        ("zh.test/1", "xsid-test-1"),
        ("zh.test/2", "xsid-test-2"),
    ]


def test_versions_of_the_set_keep_their_ids_apart(tmp_path: Path, imported: Any) -> None:
    for version in ("0.6", "0.7"):
        folder = tmp_path / "data" / version
        folder.mkdir(parents=True)
        (folder / "zh.test.conll").write_text(ZH, "utf-8")
    found = imported("xsid", tmp_path / "data")
    ids = [f"{version}/zh.test/{n}" for version in ("0.6", "0.7") for n in (1, 2)]
    assert [record["id"] for record in found.records] == ids
    assert len({record["cluster"] for record in found.records}) == 4
    assert found.report["defects"] == {}


def test_a_pair_that_is_none_is_misaligned(conll: Any, imported: Any) -> None:
    """The first says what the English file says; the second does not."""
    conll("en.test.conll", EN)
    folder = conll("zh.test.conll", ZH).parent
    assert imported("xsid", folder).kinds() == {"zh.test/2 /question": "misaligned"}
    assert imported("xsid", folder / "zh.test.conll").kinds() == {}


def test_other_languages_are_left_out_and_counted(conll: Any, imported: Any) -> None:
    conll("en.test.conll", EN)
    folder = conll("de-st.test.conll", EN).parent
    found = imported("xsid", folder)
    assert found.report["excluded"] == {"language": 3}
    assert found.report["records"] == 6
    alone = imported("xsid", folder / "de-st.test.conll")
    assert alone.report["excluded"] == {"language": 3}
    assert not alone.records


@pytest.mark.parametrize(("text", "lang"), [(EN, "en"), (ZH, "zh")])
def test_a_file_whose_name_says_nothing_is_told_by_its_text(
    conll: Any, imported: Any, text: str, lang: str
) -> None:
    found = imported("xsid", conll("heldout.conll", text))
    assert {record["lang"] for record in found.records} == {lang}


def test_japanese_is_not_taken_for_chinese(conll: Any, imported: Any) -> None:
    found = imported("xsid", conll("heldout.conll", ZH.replace("吧", "の")))
    assert found.report["cases"] == 0
    assert set(found.report["excluded"]) == {"language"}


@pytest.mark.parametrize(
    ("old", "new", "place", "gold"),
    [
        ("2\tme\t", "2\tus\t", "/question", "at 7"),
        ("3\tat\talarm/set\tB-", "3\tat\talarm/set\tI-", "/expected/datetime", "at 7"),
        ("6\tplease\talarm/set", "6\tplease\talarm/cancel", "/question", "at 7"),
        ("5\t,\talarm", "5\t\talarm", "/question", "at 7"),
    ],
)
def test_what_does_not_fit_together_is_misaligned(
    conll: Any, imported: Any, old: str, new: str, place: str, gold: str
) -> None:
    assert old in EN
    found = imported("xsid", conll("en.test.conll", EN.replace(old, new)))
    assert found.kinds()[f"en.test/1 {place}"] == "misaligned"
    assert found.records[0]["expected"] == {"datetime": gold}
    assert "gold-defect" in found.records[0]["tags"]


def test_an_inside_label_of_another_slot_begins_a_span(conll: Any, imported: Any) -> None:
    text = EN.replace("4\t7\talarm/set\tI-datetime", "4\t7\talarm/set\tI-hour")
    found = imported("xsid", conll("en.test.conll", text))
    assert found.records[0]["expected"] == {"datetime": "at", "hour": "7"}
    assert found.kinds() == {"en.test/1 /expected/hour": "misaligned"}


def test_an_id_that_stands_twice_is_told(conll: Any, imported: Any) -> None:
    found = imported("xsid", conll("zh.test.conll", ZH.replace("# id = 2", "# id = 1")))
    assert len({record["id"] for record in found.records}) == 2
    assert found.report["defects"] == {"misaligned": 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1\ta\tb\n", r"en\.test\.conll:1: 3 columns, not 4"),
        ("1\ta\tb\tX-c\n", r":1: .X-c. is no BIO label"),
        ("1\ta\tb\tB-\n", r":1: an empty column"),
        ("# text = a\n\n1\ta\tb\tO\n", r":1: comments without any word"),
        ("", r"no case of xsid"),
    ],
)
def test_what_is_not_of_the_format_is_named_with_its_line(
    conll: Any, tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(DatasetError, match=says):
        import_dataset("xsid", [conll("en.test.conll", text)], tmp_path / "out")


def test_line_ends_and_separators_of_other_systems(conll: Any, imported: Any) -> None:
    """CRLF ends a line; a separator such as U+2028 inside a word does not."""
    text = EN.replace("please", "ple\u2028ase").replace("\n", "\r\n")
    found = imported("xsid", conll("en.test.conll", text))
    assert found.report["cases"] == 3
    assert found.records[0]["question"] == "wake me at 7, ple\u2028ase"


def test_the_older_way_to_write_comments(conll: Any, imported: Any) -> None:
    older = ZH.replace(" = ", ": ") + "\n# note: a\tb\n1\t#\tPlayMusic\tO\n"
    found = imported("xsid", conll("zh.test.conll", older))
    assert [record["id"] for record in found.records] == ["zh.test/1", "zh.test/2", "zh.test/3"]
    assert found.records[0]["question"] == "7点叫醒我"
    assert found.records[2]["question"] == "#"
    assert found.report["defects"] == {}


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(
        st.tuples(st.text("ab点，.'#", min_size=1, max_size=4), st.sampled_from(["", " ", "  "])),
        min_size=1,
        max_size=8,
    ),
    cuts=st.lists(
        st.tuples(st.sampled_from(["O", "x", "y/z", "w"]), st.integers(1, 3)), max_size=8
    ),
)
def test_any_spans_come_back_as_they_stand(
    words: list[tuple[str, str]], cuts: list[tuple[str, int]]
) -> None:
    """Whatever stands between the words, a span is the stretch of the text that it covers."""
    text, places = "", []
    for word, gap in words:
        places.append((len(text), len(text) + len(word)))
        text += word + gap
    text = text.rstrip()
    labels, wanted = [], []
    for slot, size in cuts:
        size = min(size, len(words) - len(labels))
        if size and slot == "O":
            labels += ["O"] * size
        elif size:
            first = len(labels)
            labels += [f"B-{slot}", *[f"I-{slot}"] * (size - 1)]
            wanted.append((slot, text[places[first][0] : places[first + size - 1][1]]))
    labels += ["O"] * (len(words) - len(labels))
    rows = [
        f"{number}\t{word}\tdo\t{label}\n"
        for number, ((word, _), label) in enumerate(zip(words, labels, strict=True), start=1)
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "en.x.conll"
        path.write_text(f"# text = {text}\n{''.join(rows)}", "utf-8")
        (draft,) = XSid().read(Source(path))
    assert isinstance(draft, Draft)
    assert draft.defects == ()
    assert draft.record["question"] == text
    got = {
        slot: value if isinstance(value, list) else [value]
        for slot, value in draft.record["expected"].items()
    }
    assert got == {
        slot: [value for other, value in wanted if other == slot] for slot in dict(wanted)
    }


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_public_file(shared: Any, imported: Any, perfect: Any, lang: str) -> None:
    """As many cases as sentences and as many values as spans, each a part of its sentence."""
    path = shared(f"xsid/{lang}.valid.conll")
    found = imported("xsid", path)
    text = path.read_text("utf-8")
    assert found.report["cases"] == text.count("# text = ")
    values = [
        value
        for record in found.records
        for slot in record["expected"].values()
        for value in (slot if isinstance(slot, list) else [slot])
    ]
    assert len(values) == text.count("\tB-")
    for record in found.records:
        for slot in record["expected"].values():
            for value in slot if isinstance(slot, list) else [slot]:
                assert value in record["question"]
    perfect(found)


def test_a_word_that_is_empty_is_told(conll: Any, imported: Any) -> None:
    text = "# text = go now\n1\tgo\talarm/x\tO\n2\t\talarm/x\tO\n3\tnow\talarm/x\tB-datetime\n"
    found = imported("xsid", conll("en.test.conll", text))
    assert found.records[0]["expected"] == {"datetime": "now"}
    (item,) = found.report["defect_items"]
    assert (item["kind"], item["message"]) == ("misaligned", "Word 2 is empty.")
