"""Files too large to parse when they are opened: what they answer, and what is said of a broken line.

The size is lowered for the tests, so that small files are treated as large ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from callbench.cassette import Cassette, Interaction, index
from callbench.errors import CassetteError

from .recordings import answers

Build = Callable[..., Interaction]

CASES = ["plain", 'with "quotes" and \\', "两个汉字", "tab\there", ""]


@pytest.fixture
def filled(path: Path, recording: Build) -> Path:
    with Cassette.open(path) as cassette:
        for case in CASES:
            for ordinal in range(2):
                cassette.append(recording("Hangzhou? " * 40, case, ordinal, f"{case}/{ordinal}"))
    return path


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "PARSED_WHOLE", 0)


def test_the_same_recordings_are_found(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Cassette.open(filled)
    expected = list(small)
    monkeypatch.setattr(index, "PARSED_WHOLE", 0)
    opened = Cassette.open(filled)
    assert list(opened) == expected
    assert len(expected) == 2 * len(CASES)
    assert opened.header == small.header
    for one in expected:
        assert opened.find(one.key, one.case, one.ordinal) == one
        assert opened.find(one.key, "renamed", one.ordinal) == small.find(
            one.key, "renamed", one.ordinal
        )


def test_appending_and_putting_in_order(filled: Path, large: None, recording: Build) -> None:
    before = answers(Cassette.open(filled))
    with Cassette.open(filled) as cassette:
        cassette.append(recording(case="zz", answer="new"))
    assert answers(Cassette.open(filled)) == sorted([*before, ("zz", 0, "new")])


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda line: line.replace(b'"status":200', b'"status":2 00'), "not JSON"),
        (lambda line: line.replace(b'"status":200', b'"status":"200"'), "response/status"),
        (lambda line: line.replace(b'"response":', b'"answer":'), "unknown field 'answer'"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_line_broken_inside_is_told_when_it_is_read(
    filled: Path, large: None, spoil: Callable[[bytes], bytes], told: str, known: bool
) -> None:
    lines = filled.read_bytes().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if b'"case":"plain"' in line)
    lines[number] = spoil(lines[number])
    filled.write_bytes(b"".join(lines))
    opened = Cassette.open(filled)
    key = lines[number][8:72].decode()
    other = opened.find(key, "plain", 1)
    assert other is not None
    request = other.request if known else None
    with pytest.raises(CassetteError, match=f"line {number + 1}: .*{told}"):
        opened.find(key, "plain", 0, request=request)
    with pytest.raises(CassetteError, match=f"line {number + 1}: "):
        list(opened)


@pytest.mark.parametrize(
    "line",
    [b"<<<<<<< ours\n", b'{"key":"12","case":"x","ordinal":0}\n', b'{"key":"', b"[]\n"],
    ids=["merge conflict", "no key", "cut and closed", "no object"],
)
def test_a_line_that_is_no_recording_is_told_at_once(
    filled: Path, large: None, line: bytes
) -> None:
    whole = filled.read_bytes()
    lines = whole.splitlines(keepends=True)
    middle = line if line.endswith(b"\n") else line + b"\n"
    filled.write_bytes(b"".join([*lines[:3], middle, *lines[3:]]))
    with pytest.raises(CassetteError, match="line 4: "):
        Cassette.open(filled)


def test_a_cut_last_line_is_left_out(
    filled: Path, large: None, caplog: pytest.LogCaptureFixture
) -> None:
    before = answers(Cassette.open(filled))
    filled.write_bytes(filled.read_bytes()[:-20])
    assert answers(Cassette.open(filled)) == before[:-1]
    assert "was cut" in caplog.text
