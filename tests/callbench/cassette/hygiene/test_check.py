"""``check``: every rule finds its own fault and nothing else, at its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callbench.bundled import bundled
from callbench.cassette import Cassette, Event, Interaction, Response, request_key
from callbench.cassette.hygiene.check import check_file
from callbench.cassette.hygiene.editing import rekey, scrub
from callbench.cassette.hygiene.stats import stats_of
from callbench.cassette.interaction import Request
from callbench.cassette.scan import Allowed
from callbench.cassette.scrubbers import Scrubbing
from callbench.cassette.writer import replace_file

from .conftest import Spoil, findings, rules

KEY = "sk-" + "proj-4fQ9x2LmZ7"


def test_sound(sound: Path) -> None:
    # header, two recordings of a, the text, b, c
    assert len(sound.read_text("utf-8").splitlines()) == 6
    assert rules(sound) == []


def test_edited_request(spoil: Spoil) -> None:
    def edit(lines: list[dict[str, Any]]) -> None:
        lines[1]["request"]["json"]["messages"][0]["content"] = "another"

    assert rules(spoil(edit)) == [(2, "key")]


def test_a_request_that_is_not_canonical_is_never_found(spoil: Spoil) -> None:
    request = Request("POST", "/chat/completions", b'{"model": "m", "messages": []}')

    def edit(lines: list[dict[str, Any]]) -> None:
        lines[1]["request"] = {
            "method": "POST", "path": request.path, "text": request.body.decode(),
        }  # fmt: skip
        lines[1]["key"] = request_key(request)
        del lines[2]

    assert rules(spoil(edit)) == [(2, "key")]


def test_order(spoil: Spoil) -> None:
    def edit(lines: list[dict[str, Any]]) -> None:
        lines.append(lines.pop(1))

    assert rules(spoil(edit)) == [(6, "order")]


def test_text_after_its_use(spoil: Spoil) -> None:
    def edit(lines: list[dict[str, Any]]) -> None:
        assert "text" in lines[3]
        lines.append(lines.pop(3))

    assert rules(spoil(edit)) == [(4, "order"), (5, "order")]


def test_ordinal_that_cannot_be_reached(spoil: Spoil) -> None:
    assert rules(spoil(lambda lines: lines.__delitem__(1))) == [(2, "order")]


def test_twice(spoil: Spoil) -> None:
    assert rules(spoil(lambda lines: lines.insert(2, lines[1]))) == [(3, "duplicate")]


def test_superseded(spoil: Spoil) -> None:
    def edit(lines: list[dict[str, Any]]) -> None:
        old = json.loads(json.dumps(lines[1]))
        old["response"]["events"][0][1] = "an older answer"
        lines.insert(1, old)

    assert rules(spoil(edit)) == [(2, "superseded")]


def test_unused_text(spoil: Spoil) -> None:
    def edit(lines: list[dict[str, Any]]) -> None:
        del lines[4:]

    assert rules(spoil(edit)) == [(4, "unused-text")]


def test_the_same_text_twice(spoil: Spoil) -> None:
    assert rules(spoil(lambda lines: lines.insert(4, lines[3]))) == [(5, "duplicate")]


@pytest.mark.parametrize(
    ("line", "place", "value"),
    [
        (0, ("scrubbing", "request_headers"), ["authorization"]),
        (0, ("recorder", "version"), 1),
        (1, ("recorded_at",), 7),
        (1, ("response", "headers", "retry-after"), "1"),
        (1, ("usage",), {"prompt_tokens": "many"}),
    ],
)
def test_schema(spoil: Spoil, line: int, place: tuple[str, ...], value: Any) -> None:
    def edit(lines: list[dict[str, Any]]) -> None:
        at = lines[line]
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = value

    # A header of the response that is allowed is no fault.
    expected = [] if "retry-after" in place else [(line + 1, "schema")]
    assert rules(spoil(edit)) == expected


def test_a_broken_line_is_damage(sound: Path) -> None:
    lines = sound.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"key":\n'
    sound.write_bytes(b"".join(lines))
    assert rules(sound) == [(3, "damaged")]


def test_an_edited_text_is_damage(spoil: Spoil) -> None:
    assert rules(spoil(lambda lines: lines[3].update(value="another"))) == [(4, "damaged")]


def test_a_text_that_is_nowhere_is_damage(spoil: Spoil) -> None:
    assert rules(spoil(lambda lines: lines.__delitem__(3))) == [(4, "damaged")]


def test_no_file(tmp_path: Path) -> None:
    assert rules(tmp_path / "none.jsonl") == [(0, "damaged")]


def test_empty_file(path: Path) -> None:
    path.touch()
    assert rules(path) == [(0, "schema")]


def test_cut(sound: Path) -> None:
    sound.write_bytes(sound.read_bytes()[:-10])
    assert (6, "cut") in rules(sound)


def test_size(sound: Path) -> None:
    size = sound.stat().st_size
    assert rules(sound, size=size) == []
    assert rules(sound, size=size - 1) == [(0, "size")]


def test_age(path: Path, recording: Callable[..., Interaction]) -> None:
    with Cassette.open(path) as cassette:
        cassette.append(replace(recording("a", "a"), recorded_at="2026-01-01T00:00:00Z"))
        cassette.append(replace(recording("b", "b"), recorded_at="2026-01-03T00:00:00Z"))
        cassette.append(recording("c", "c"))
    now = datetime(2026, 1, 4, tzinfo=UTC)
    assert rules(path, age=3, now=now) == [(4, "age")]
    assert rules(path, age=2.9, now=now) == [(2, "age"), (4, "age")]
    assert rules(path) == []


def test_a_secret_is_found_and_not_shown(path: Path, recording: Callable[..., Interaction]) -> None:
    with Cassette.open(path) as cassette:
        cassette.append(recording("a", "a", answer=f"your key is {KEY}0123456789"))
    (found,) = findings(path)
    assert (found.line, found.rule) == (2, "secret")
    assert "sk-p" in found.message
    assert KEY not in str(found)


def test_scrubbing_again_must_change_nothing(
    path: Path, recording: Callable[..., Interaction]
) -> None:
    body = b'{"api_key":"hunter2-hunter2","model":"m"}'
    one = recording("a", "a")
    request = replace(one.request, body=body)
    replace_file(
        path,
        [replace(one, request=request, key=request_key(request))],
        models=["m"],
        recorder="hand 1",
    )
    assert (2, "scrub") in rules(path)


def test_scrubbers_of_the_header_are_proved(
    path: Path, recording: Callable[..., Interaction]
) -> None:
    mail = recording("write to li.wei@mail.cn", "a")
    replace_file(path, [mail], models=["m"], recorder="hand 1", scrubbers=["emails"])
    found = [one for one in findings(path) if one.rule == "scrub"]
    assert [one.line for one in found] == [2]
    with Cassette.open(path.with_name("whole.jsonl"), scrubbers=["emails"]) as cassette:
        cassette.append(mail)
    assert rules(cassette.path) == []


def test_a_project_that_asks_for_scrubbers(sound: Path) -> None:
    found = list(check_file(sound, scrubbing=Scrubbing.of(["emails"])))
    assert [(one.line, one.rule) for one in found] == [(1, "scrub")]


def test_unknown_scrubbers_are_said(path: Path, recording: Callable[..., Interaction]) -> None:
    replace_file(path, [recording()], models=[], recorder="hand 1", scrubbers=["faces"])
    assert rules(path) == [(1, "scrub")]


def test_a_failed_stream_is_no_fault(path: Path, recording: Callable[..., Interaction]) -> None:
    response = Response(200, {}, (Event(1, b"\xff\x00"),), "ReadError: gone", 4)
    with Cassette.open(path) as cassette:
        cassette.append(replace(recording(), response=response))
    assert rules(path) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), 1),
        (lambda data: b"\xef\xbb\xbf" + data, 1),
        (lambda data: data.replace(b'"ordinal":1', b'"ordinal": 1'), 3),
        (lambda data: data.replace(b'"ordinal":1', b'"ordinal":1,"ordinal":1'), 3),
        (lambda data: data.replace(b'"case":"a"', b'"case":"\\u0061"', 1), 2),
        (lambda data: data[:-1], 6),
    ],
    ids=["CRLF", "BOM", "space", "member twice", "escape", "no line end"],
)
def test_form(sound: Path, change: Callable[[bytes], bytes], line: int) -> None:
    sound.write_bytes(change(sound.read_bytes()))
    assert (line, "form") in rules(sound)
    assert {rule for _, rule in rules(sound)} == {"form"}
    rekey(sound, sound)
    assert rules(sound) == []


def test_a_header_that_is_not_allowed(spoil: Spoil) -> None:
    path = spoil(lambda lines: lines[1]["response"]["headers"].update({"set-cookie": "sid=1"}))
    assert rules(path) == [(2, "scrub")]
    scrub(path, path, Scrubbing())
    assert rules(path) == []
    assert "sid" not in path.read_text("utf-8")


@pytest.mark.parametrize("scrubbing", [None, [], {"scrubbers": [1]}, {"scrubbers": {}}])
def test_a_header_of_another_shape_is_named(spoil: Spoil, scrubbing: Any) -> None:
    path = spoil(lambda lines: lines[0].update(scrubbing=scrubbing))
    assert (1, "schema") in rules(path)
    assert stats_of(path).interactions == 4


def test_usage_is_that_of_the_answer(path: Path, recording: Callable[..., Interaction]) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    body = json.dumps({"usage": usage}).encode()
    with Cassette.open(path) as cassette:
        cassette.append(replace(recording("a", "a", answer=body.decode()), usage=usage))
        cassette.append(
            replace(recording("b", "b", answer=body.decode()), usage={**usage, "prompt_tokens": 6})
        )
        cassette.append(replace(recording("c", "c"), usage=usage))
    assert rules(path) == [(3, "usage")]


@pytest.mark.parametrize("times", [(3, 2), (-1, 2)])
def test_times_never_fall(
    path: Path, recording: Callable[..., Interaction], times: tuple[int, int]
) -> None:
    events = tuple(Event(at, b"data: 1\n\n") for at in times)
    with Cassette.open(path) as cassette:
        cassette.append(replace(recording(), response=Response(200, {}, events)))
    assert (2, "order") in rules(path)


@pytest.mark.parametrize("file", sorted(bundled("cassettes").glob("*.jsonl")), ids=lambda p: p.name)
def test_bundled(file: Path) -> None:
    allowed = Allowed.read(bundled("cassettes").parent / "scan-allow.toml")
    assert list(check_file(file, allow=allowed)) == []
