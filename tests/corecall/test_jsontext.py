"""Strict JSON reading: what is refused, what is kept to the last digit."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecall.jsontext import MAX_DEPTH, duplicate_keys, loads

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


class TestLoads:
    @pytest.mark.rule("reply.json.1", "reply.json.2")
    @given(VALUES, st.booleans(), st.sampled_from([None, 2]))
    def test_reads_what_the_standard_library_writes(
        self, value: Any, ascii_only: bool, indent: int | None
    ) -> None:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
        assert loads(text) == value
        assert json.dumps(loads(text)) == json.dumps(value)

    @pytest.mark.rule("reply.json.2")
    @pytest.mark.parametrize(
        "number",
        [
            9223372036854775807,
            9223372036854775808,
            -9223372036854775808,
            -9223372036854775809,
            18446744073709551615,
            18446744073709551616,
            -(10**30),
            10**300 + 1,
        ],
    )
    def test_integers_keep_every_digit(self, number: int) -> None:
        assert loads(f'{{"n": [{number}]}}') == {"n": [number]}

    @pytest.mark.rule("reply.json.3")
    @pytest.mark.parametrize("number", ["1e309", "-1e309", "1e999", "1" + "0" * 309, "9" * 5000])
    def test_a_number_beyond_a_double_is_refused(self, number: str) -> None:
        with pytest.raises(json.JSONDecodeError):
            loads(f"[{number}]")

    @pytest.mark.rule("reply.json.3")
    def test_a_number_within_a_double_is_read(self) -> None:
        assert loads(f"[{10**308}, 1e308, -1.7976931348623157e308]") == [
            10**308,
            1e308,
            -1.7976931348623157e308,
        ]
        assert loads("[1e-999, 5e-324]") == [0, 5e-324]

    @pytest.mark.rule("reply.json.2")
    def test_a_long_number_beside_a_float(self) -> None:
        assert loads("[12345678901234567890123, 1.5, -0.0]") == [12345678901234567890123, 1.5, 0]

    @pytest.mark.rule("reply.json.6")
    @pytest.mark.parametrize("text", ['\ufeff{"a": 1}', ' \t\r\n{"a": 1}\r\n', '\ufeff\n{"a": 1}'])
    def test_byte_order_mark_and_blanks_around(self, text: str) -> None:
        assert loads(text) == {"a": 1}

    @pytest.mark.rule("reply.json.6")
    @pytest.mark.parametrize("blank", ["\u00a0", "\f", "\v", "\u2028", "\u3000", "\u0085"])
    def test_other_blanks_are_refused(self, blank: str) -> None:
        for text in (f"{blank}1", f"1{blank}"):
            with pytest.raises(json.JSONDecodeError):
                loads(text)

    @pytest.mark.rule("reply.json.1", "reply.json.8", "reply.json.9")
    @pytest.mark.parametrize(
        ("text", "position"),
        [
            ("", 0),
            ("NaN", 0),
            ('{"a": NaN}', 6),
            ("[Infinity]", 1),
            ("[1, -Infinity]", 5),
            ("[1e999]", 1),
            ('{"a": 1,}', 7),
            ("{'a': 1}", 1),
            ('{"a": 1} x', 9),
            ('{"a": 1} {"a": 1}', 9),
            ('"\\ud800"', 1),
            ('"\ud800"', None),
            ('"a\nb"', 2),
            ('{"城市": x}', 7),
            ("[1", 2),
            ("01", 0),
            ("\u00a01", 0),
            ("[１]", 1),
            ("[1 // c\n]", 3),
            ("{a: 1}", 1),
            ('["a\tb"]', 3),
            ('["\\x41"]', 2),
            ("[+1]", 1),
            ("[.5]", 1),
            ("[1.]", 3),
            ("[1 2]", 3),
            ("[1, tru", 7),
            ("[1, trux]", 4),
            ('["ab\\ud83d\\u0041"]', 4),
            ('["a', 3),
            ('["a\\u00', 7),
            ("[-01]", 2),
            ("[1, ]", 2),
            ("[x, " + "[" * 100, 103),
        ],
    )
    def test_refused_with_the_position(self, text: str, position: int | None) -> None:
        with pytest.raises(json.JSONDecodeError, match=r"line 1 column \d+ \(char \d+\)") as caught:
            loads(text)
        if position is not None:
            assert caught.value.pos == position

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("\n\n {'a': 1}", "line 3 column 3 (char 4)"),
            ("\ufeff [1e999]  ", "line 1 column 4 (char 3)"),
            ("  " + "[" * 101, "line 1 column 103 (char 102)"),
        ],
    )
    def test_blanks_before_the_text_count_in_the_position(self, text: str, place: str) -> None:
        with pytest.raises(json.JSONDecodeError, match=re.escape(place)):
            loads(text)

    @pytest.mark.rule("reply.json.8")
    def test_the_error_says_line_and_column(self) -> None:
        with pytest.raises(json.JSONDecodeError) as caught:
            loads('{"城市": "北京",\n  "b": x}')
        assert (caught.value.lineno, caught.value.colno, caught.value.pos) == (2, 8, 20)
        assert str(caught.value).endswith(": line 2 column 8 (char 20)")

    @pytest.mark.rule("reply.json.8")
    def test_blanks_before_the_value_count(self) -> None:
        with pytest.raises(json.JSONDecodeError) as caught:
            loads("\ufeff\n  NaN")
        assert str(caught.value).endswith(": line 2 column 3 (char 4)")

    @pytest.mark.rule("reply.json.4")
    @pytest.mark.parametrize(
        "half", ["\\ud83d", "\\ude42", "\\ud83dx", "\\ude42\\ud83d", "\\ud83d\\ud83d", "\ud83d"]
    )
    def test_half_of_a_pair_is_refused(self, half: str) -> None:
        for text in (f'["{half}"]', f'{{"{half}": 1}}'):
            with pytest.raises(json.JSONDecodeError):
                loads(text)

    @pytest.mark.rule("reply.json.4")
    def test_a_pair_of_escaped_surrogates_is_one_character(self) -> None:
        assert loads('"\\ud83d\\ude42"') == "🙂"

    @pytest.mark.rule("reply.json.5")
    @pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
    def test_the_depth_is_bounded(self, opening: str, closing: str) -> None:
        def nested(depth: int) -> str:
            return opening * depth + "1" + closing * depth

        assert loads(nested(MAX_DEPTH)) is not None
        for depth in (MAX_DEPTH + 1, 2_000, 100_000):
            with pytest.raises(ValueError, match="nested deeper than 100") as caught:
                loads(nested(depth))
            assert isinstance(caught.value, json.JSONDecodeError)
            assert caught.value.pos == MAX_DEPTH * len(opening)

    @pytest.mark.rule("reply.json.5")
    def test_brackets_side_by_side_or_in_strings_are_no_depth(self) -> None:
        assert loads("[" + "{}," * 150 + "{}]") == [{}] * 151
        assert loads('["' + "[{" * 150 + '"]') == ["[{" * 150]
        assert loads('["' + '\\"[' * 150 + '"]') == ['"[' * 150]

    @pytest.mark.rule("reply.json.7")
    def test_of_equal_keys_the_last_wins(self) -> None:
        assert loads('{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}


class TestDuplicateKeys:
    @pytest.mark.rule("reply.json.7")
    @pytest.mark.parametrize(
        ("text", "keys"),
        [
            ('{"a": 1, "a": 2}', ("a",)),
            ('{"a": {"b": 1, "b": 1}, "c": [{"d": 1, "d": 2}]}', ("b", "d")),
            ('{"a": 1, "a": 2, "a": 3, "城": 1, "城": 1}', ("a", "城")),
            ('{"a": {"c": 1, "c": 2}, "b": {"c": 1, "c": 2}}', ("c",)),
            ('{"a": 1, "b": 1, "b": 2, "a": 2}', ("b", "a")),
            ('{"a": 1, "\\u0061": 2}', ("a",)),
            ('{"a": ":\\u003a", "a": "\\u003a\\u003a"}', ("a",)),
            ('{"a": 1, "b": {"a": 2}, "c": [{"a": 1}, {"a": 2}]}', ()),
            ('{"a:b": "10:00", "c": ["x:y", {"d::": ":"}], "e": 1.5}', ()),
            ('{"a": "\\u003a"}', ()),
            ('\ufeff{"a": 1, "a": 2}\n', ("a",)),
            ("[]", ()),
        ],
    )
    def test_each_is_named_once(self, text: str, keys: tuple[str, ...]) -> None:
        assert duplicate_keys(text, loads(text)) == keys

    @pytest.mark.rule("reply.json.7")
    @given(VALUES)
    def test_none_in_what_a_dict_was_written_to(self, value: Any) -> None:
        for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
            assert duplicate_keys(text, value) == ()
