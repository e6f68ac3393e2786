"""One line of JSON Lines: every way it can fail to be one JSON object."""

import pytest

from callbench.dataset.lines import content, parse
from callbench.dataset.problems import Fault


def fault(raw: bytes) -> tuple[str, str]:
    found = parse(raw)
    assert isinstance(found, Fault)
    return found.rule, found.pointer


def test_an_object_is_returned_as_it_is() -> None:
    assert parse('{"城市":"杭州","n":[1,2.5,null]}'.encode()) == {
        "城市": "杭州",
        "n": [1, 2.5, None],
    }


def test_every_digit_of_a_long_integer_stays() -> None:
    assert parse(b'{"n": 123456789012345678901}') == {"n": 123456789012345678901}


def test_a_byte_that_is_not_utf8_is_named_with_its_place() -> None:
    found = parse(b'{"a": "\xff"}')
    assert isinstance(found, Fault)
    assert found.rule == "utf-8"
    assert "Byte 8 " in found.message
    assert "0xff" in found.message


def test_text_that_is_not_json_is_named_with_its_place() -> None:
    found = parse(b'{"a": 1,}')
    assert isinstance(found, Fault)
    assert found.rule == "json"
    assert "character 9" in found.message


def test_a_second_value_on_the_line_is_refused() -> None:
    assert fault(b"{} {}") == ("json", "")


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"[]", "a list"),
        (b"null", "null"),
        (b"1", "a number"),
        (b'"a"', "a string"),
        (b"true", "a boolean"),
    ],
)
def test_a_value_that_is_no_object_is_named(raw: bytes, kind: str) -> None:
    found = parse(raw)
    assert isinstance(found, Fault)
    assert (found.rule, found.message) == ("object", f"The line is {kind}.")


def test_a_key_that_stands_twice_is_named_by_its_pointer() -> None:
    assert fault(b'{"a": [{"x/y": 1, "x/y": 2}]}') == ("duplicate-key", "/a/0/x~1y")
    assert fault(b'{"a": 1, "b": 2, "a": 3}') == ("duplicate-key", "/a")


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_a_number_that_json_does_not_have_is_refused(number: bytes) -> None:
    assert fault(b'{"a": {"b": ' + number + b"}}") == ("number", "/a/b")


def test_half_a_surrogate_pair_is_refused_and_a_whole_one_is_a_character() -> None:
    assert fault(rb'{"a": ["\ud83d"]}') == ("unicode", "/a/0")
    assert fault(rb'{"\udc00": 1}') == ("unicode", "/\udc00")
    assert parse(rb'{"a": "\ud83d\ude00"}') == {"a": "😀"}


def test_endless_nesting_is_a_fault_and_no_crash() -> None:
    assert fault(b'{"a":' + b"[" * 100_000) == ("json", "")


def test_a_number_too_long_to_convert_is_a_fault() -> None:
    assert fault(b'{"a": ' + b"9" * 5000 + b"}") == ("json", "")


def test_line_endings_are_dropped_and_a_bom_only_where_the_file_begins() -> None:
    assert content(b"\xef\xbb\xbf{}\r\n", first=True) == b"{}"
    assert content(b"\xef\xbb\xbf{}\n", first=False) == b"\xef\xbb\xbf{}"
    assert content(b" \t\r\n", first=False) == b""


@pytest.mark.parametrize("levels", [111, 300, 800])
def test_a_field_nested_deeper_than_any_validator_takes_is_named(levels: int) -> None:
    raw = b'{"a": 1, "b": ' + b"[" * levels + b"]" * levels + b"}"
    assert fault(raw) == ("depth", "/b")


def test_a_field_nested_less_deeply_is_read() -> None:
    assert isinstance(parse(b'{"a": ' + b"[" * 110 + b"]" * 110 + b"}"), dict)
