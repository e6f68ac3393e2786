"""A vcrpy cassette comes back the same from ours, as vcrpy itself reads it; secrets do not come along."""

from __future__ import annotations

import gzip
import importlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from vcr.persisters.filesystem import FilesystemPersister
from vcr.serializers import jsonserializer, yamlserializer

from callbench.cassette import (
    Cassette,
    Event,
    Interaction,
    Response,
    canonical_request,
    request_key,
)
from callbench.cassette.convert import convert
from callbench.cassette.writer import replace_file
from callbench.errors import CassetteError, UsageError

Entry = dict[str, Any]


def entry(
    body: Any = None,
    answer: Any = '{"ok": true}',
    *,
    method: str = "POST",
    uri: str = "https://api.example.com:8443/v1/chat?city=%E6%9D%AD",
    headers: dict[str, list[str]] | None = None,
    answer_headers: dict[str, list[str]] | None = None,
    code: int = 200,
    message: str | None = "OK",
) -> Entry:
    """One interaction as vcrpy writes it."""
    return {
        "request": {"method": method, "uri": uri, "body": body, "headers": headers or {}},
        "response": {
            "status": {"code": code, "message": message},
            "headers": answer_headers or {"Content-Type": ["application/json"]},
            "body": {"string": answer},
        },
    }


def write(path: Path, *entries: Entry, **more: Any) -> Path:
    """Write a vcrpy cassette with vcrpy's serializer."""
    data = {"version": 1, "interactions": list(entries), **more}
    serializer = jsonserializer if path.suffix == ".json" else yamlserializer
    path.write_text(serializer.serialize(data), encoding="utf-8")
    return path


def as_vcrpy_sees(path: Path) -> list[Any]:
    """Requests and responses as vcrpy loads them, metadata if any."""
    serializer = jsonserializer if path.suffix == ".json" else yamlserializer
    requests, answers, *metadata = FilesystemPersister.load_cassette(path, serializer)
    asked = [(r.method, r.uri, r.body, list(r.headers.items())) for r in requests]
    return [asked, answers, metadata]


def round_trip(source: Path, *, suffix: str | None = None) -> Path:
    """Convert to ours and back; give the file that came back."""
    ours = source.with_name("ours.cassette.jsonl")
    back = source.with_name(f"back{suffix or source.suffix}")
    convert(source, ours)
    convert(ours, back)
    return back


ENTRIES = {
    "nothing asked with": entry(None, method="GET"),
    "an empty body": entry(""),
    "a body spelled with spaces": entry('{ "b": 1,\n "a": [1,  2] }'),
    "a body of bytes": entry(b"\x00\xff\xfe", b"\x89PNG\r\n\x1a\n\x00"),
    "a form": entry("a=1&b=%20"),
    "text that YAML must quote": entry("yes", "- no: 'x'\n\t\x07 \u2028 \x85 # é 杭州 🎉\r\n"),
    "no body at all": {**entry(), "response": {**entry()["response"], "body": {}}},
    "a body that is null": entry("x", None),
    "an empty answer": entry("x", ""),
    "an empty phrase": entry("x", code=204, message=None, answer=""),
    "a method in lower case": entry("x", method="post"),
    "headers with many values": entry(
        "x", answer_headers={"Link": ["<a>; rel=next", "<b>"], "content-type": ["text/plain"]}
    ),
    "headers with one value and no list": entry(
        "x",
        headers={"Accept": "*/*", "X-Trace": "a"},  # type: ignore[dict-item]
        answer_headers={"Content-Type": "text/plain", "Link": "<a>"},  # type: ignore[dict-item]
    ),
    "compressed": entry(
        "x",
        gzip.compress("杭州".encode() * 20),
        answer_headers={"Content-Encoding": ["gzip"], "Content-Length": ["41"]},
    ),
    "deflated": entry("x", zlib.compress(b"abc" * 99), answer_headers={"content-encoding": ["deflate"]}),
    "said to be compressed, but decoded": entry("x", "plain", answer_headers={"content-encoding": ["gzip"]}),
    "said to be compressed, but broken": entry("x", b"\x1f\x8b\xff", answer_headers={"content-encoding": ["gzip"]}),
    "events": entry(
        '{"stream": true}',
        'data: {"a": 1}\n\ndata: {"a": 2}\n\ndata: [DONE]\n\n',
        answer_headers={"Content-Type": ["text/event-stream; charset=utf-8"]},
    ),
    "a JSON body that a client passed as a value": entry({"b": 1, "a": None}),
    "members of another tool": {
        **entry("x"),
        "recorded": {"by": "hand"},
        "response": {**entry()["response"], "url": "https://api.example.com/", "protocol": None},
    },
}  # fmt: skip


NOT_IN_JSON = {"a body of bytes", "compressed", "deflated", "said to be compressed, but broken"}
"""JSON holds no bytes."""


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        (name, suffix)
        for name in ENTRIES
        for suffix in (".yaml", ".yml", ".json")
        if suffix != ".json" or name not in NOT_IN_JSON
    ],
)
def test_comes_back_as_it_was(tmp_path: Path, name: str, suffix: str) -> None:
    source = write(tmp_path / f"in{suffix}", ENTRIES[name])
    back = round_trip(source)
    assert as_vcrpy_sees(back) == as_vcrpy_sees(source)


def test_order_repeats_and_members_of_the_file(tmp_path: Path) -> None:
    entries = [
        entry("a", "1"),
        entry("b", "2"),
        entry("a", "3"),
        *ENTRIES.values(),
        entry("a", "4"),
    ]
    source = write(tmp_path / "in.yaml", *entries, metadata={"seed": 7})
    back = round_trip(source)
    assert as_vcrpy_sees(back) == as_vcrpy_sees(source)
    ours = Cassette.open(tmp_path / "ours.cassette.jsonl")
    same = [i for i in ours if i.request.body == b"a"]
    assert [(i.ordinal, i.response.body) for i in same] == [(0, b"1"), (1, b"3"), (2, b"4")]


def test_order_survives_putting_our_file_in_order(tmp_path: Path) -> None:
    source = write(tmp_path / "in.yaml", entry("a", "1"), entry("a", "2"), entry("b", "3"))
    ours = tmp_path / "ours.cassette.jsonl"
    convert(source, ours)
    recorded = list(Cassette.open(ours))
    replace_file(ours, reversed(recorded), models=(), recorder="test 1")
    convert(ours, tmp_path / "back.yaml")
    assert as_vcrpy_sees(tmp_path / "back.yaml") == as_vcrpy_sees(source)


def test_yaml_and_json_are_one_thing(tmp_path: Path) -> None:
    source = write(tmp_path / "in.yaml", entry("a", "1"), ENTRIES["events"])
    convert(source, tmp_path / "out.json")
    assert as_vcrpy_sees(tmp_path / "out.json") == as_vcrpy_sees(source)


_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
_NAME = st.sampled_from(["Accept", "User-Agent", "X-Thing", "content-type", "Date"])
_HEADERS = st.dictionaries(
    _NAME, st.lists(st.text("abc/;=, 1", min_size=1, max_size=9), min_size=1, max_size=3)
)
_BODY = st.none() | _TEXT | st.binary(max_size=40)
_ENTRY = st.builds(
    entry,
    _BODY,
    _BODY,
    method=st.sampled_from(["GET", "POST", "put"]),
    uri=st.sampled_from(
        ["https://a.example/v1/x?q=1", "http://b.example:81/", "https://c.example"]
    ),
    headers=_HEADERS,
    answer_headers=_HEADERS,
    code=st.integers(200, 599),
    message=st.none() | st.text("abc ", max_size=5),
)


@settings(max_examples=40)
@given(st.lists(_ENTRY, max_size=5))
def test_any_cassette_comes_back(
    tmp_path_factory: pytest.TempPathFactory, entries: Sequence[Entry]
) -> None:
    source = write(tmp_path_factory.mktemp("any") / "in.yaml", *entries)
    assert as_vcrpy_sees(round_trip(source)) == as_vcrpy_sees(source)


def test_our_form_is_readable_and_keyed(tmp_path: Path) -> None:
    source = write(
        tmp_path / "in.yaml",
        entry('{"b": 1, "a": 2}', gzip.compress(b'{"x":1}'), answer_headers={"Content-Encoding": ["gzip"]}),
        ENTRIES["events"],
    )  # fmt: skip
    convert(source, tmp_path / "ours.cassette.jsonl")
    first, second = Cassette.open(tmp_path / "ours.cassette.jsonl")
    assert first.request == canonical_request("POST", "/v1/chat?city=%E6%9D%AD", b'{"a":2,"b":1}')
    assert first.key == request_key(first.request)
    assert first.response.body == b'{"x":1}'
    assert len(second.response.events) == 3


class TestSecrets:
    KEY = "sk-synthetic-0123456789abcdefghijkl"

    def leaky(self) -> Entry:
        return entry(
            json.dumps({"api_key": "short", "say": self.KEY}),
            gzip.compress(f'{{"echo": "{self.KEY}"}}'.encode()),
            uri=f"https://user:synthetic-pass@api.example.com/v1/x?key=k1&q=2&a={self.KEY}",
            headers={
                "Authorization": [f"Bearer {self.KEY}"],
                "Cookie": ["sid=synthetic-cookie-value"],
                "X-My-Token": ["t1"],
                "Accept": ["*/*"],
            },
            answer_headers={
                "Set-Cookie": ["a=synthetic-set-1", "b=synthetic-set-2"],
                "Content-Encoding": ["gzip"],
                "X-Request-Id": ["42"],
            },
        )

    @pytest.mark.trap("C4")
    def test_none_is_written_and_each_is_counted(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.yaml", self.leaky(), entry("x", f"later: {self.KEY}"))
        ours = tmp_path / "ours.cassette.jsonl"
        done = convert(source, ours)
        convert(ours, tmp_path / "back.yaml")
        for file in (ours, tmp_path / "back.yaml"):
            text = file.read_text()
            for secret in (
                self.KEY, "synthetic-pass", "synthetic-cookie", "synthetic-set", '"short"', "t1", "k1&"
            ):  # fmt: skip
                assert secret not in text
        back = yaml.safe_load((tmp_path / "back.yaml").read_text())["interactions"]
        assert back[0]["request"]["uri"] == "https://***:***@api.example.com/v1/x?key=***&q=2&a=***"
        assert back[0]["request"]["headers"] == {
            "Authorization": ["***"], "Cookie": ["***"], "X-My-Token": ["***"], "Accept": ["*/*"]
        }  # fmt: skip
        assert back[0]["response"]["headers"]["Set-Cookie"] == ["***", "***"]
        assert back[0]["response"]["body"]["string"] == '{"echo": "***"}'
        assert "Content-Encoding" not in back[0]["response"]["headers"]
        assert back[1]["response"]["body"]["string"] == "later: ***"
        assert done.masked == {
            "headers authorization": 1, "headers cookie": 1, "headers x-my-token": 1,
            "headers set-cookie": 1, "addresses": 1, "request bodies": 1, "response bodies": 2,
        }  # fmt: skip

    def test_masking_again_changes_nothing(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.yaml", self.leaky())
        once = round_trip(source)
        again = convert(once, tmp_path / "again.cassette.jsonl")
        assert again.masked == {}
        convert(tmp_path / "again.cassette.jsonl", tmp_path / "again.yaml")
        assert (tmp_path / "again.yaml").read_text() == once.read_text()


@pytest.mark.trap("C5")
@pytest.mark.parametrize(
    "payload",
    [
        "!!python/object/apply:os.system ['touch {mark}']",
        '!!python/object/apply:builtins.eval [\'open("{mark}", "w")\']',
        "!!python/object/new:os.system ['touch {mark}']",
        "!!python/name:os.system ''",
        "!!python/module:antigravity ''",
    ],
)
def test_a_file_runs_no_code(tmp_path: Path, payload: str) -> None:
    mark = tmp_path / "mark"
    source = tmp_path / "in.yaml"
    source.write_text(
        "version: 1\ninteractions:\n- request:\n    method: GET\n    uri: http://x.example/\n"
        f"    headers: {{}}\n    body: {payload.format(mark=mark)}\n  response: {{}}\n"
    )
    with pytest.raises(CassetteError, match="only data is read"):
        convert(source, tmp_path / "out.cassette.jsonl")
    assert not mark.exists()
    assert not (tmp_path / "out.cassette.jsonl").exists()


def test_tags_of_old_vcrpy_are_data(tmp_path: Path) -> None:
    source = tmp_path / "in.yaml"
    source.write_text(
        "interactions:\n- request:\n    method: !!python/unicode GET\n    uri: http://x.example/\n"
        "    body: !!python/object/new:_io.BytesIO\n      state: !!python/tuple [!!binary YWJj, 0, null]\n"
        "    headers: {Accept: [!!python/unicode '*/*']}\n"
        "  response:\n    status: {code: 200, message: OK}\n    headers: {}\n"
        "    body: {string: !!python/unicode 'yes'}\nversion: 1\n"
    )
    convert(source, tmp_path / "out.cassette.jsonl")
    [interaction] = Cassette.open(tmp_path / "out.cassette.jsonl")
    assert interaction.request.body == b"abc"
    assert interaction.response.body == b"yes"


class TestFromOurs:
    def recordings(self) -> list[Interaction]:
        request = canonical_request("POST", "/v1/chat/completions", b'{"model":"synthetic"}')
        events = (Event(5, b"data: 1\n\n"), Event(9, b"data: 2\n\n"))
        kind = {"content-type": "text/event-stream"}
        answers = [Response(200, kind, events), Response(200, kind, events, "ReadError: cut")]
        key = request_key(request)
        return [Interaction(key, "case-1", n, request, a) for n, a in enumerate(answers)]

    def test_what_vcrpy_cannot_hold_is_named_and_counted(self, tmp_path: Path) -> None:
        ours = tmp_path / "ours.cassette.jsonl"
        replace_file(ours, self.recordings(), models=["synthetic"], recorder="test 1")
        done = convert(ours, tmp_path / "out.yaml", base_url="https://api.example.com/v1")
        assert sorted(done.lost.values()) == [1, 2, 2, 2]
        assert any("error" in what and count == 1 for what, count in done.lost.items())
        [asked, _], answers, _ = as_vcrpy_sees(tmp_path / "out.yaml")
        assert asked == (
            "POST", "https://api.example.com/v1/chat/completions", b'{"model":"synthetic"}', []
        )  # fmt: skip
        assert answers[0]["body"]["string"] == b"data: 1\n\ndata: 2\n\n"

    def test_nothing_lost_says_nothing(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.yaml", *ENTRIES.values())
        convert(source, tmp_path / "ours.cassette.jsonl")
        assert convert(tmp_path / "ours.cassette.jsonl", tmp_path / "back.yaml").lost == {}


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("- request: {}\n", "before 1.0"),
            ("a: 1\n", "no list 'interactions'"),
            ("version: 2\ninteractions: []\n", "format version 2"),
            ("interactions: [\n", "not YAML"),
            ("interactions: [{response: {}}]\n", "interaction 1: it must have a mapping 'request'"),
            ("interactions: [{request: {method: GET}, response: {}}]\n", "a text 'uri'"),
            ("interactions: [{request: {method: GET, uri: /}, response: {}}]\n", "interaction 1: .*status"),
        ],
    )  # fmt: skip
    def test_no_cassette(self, tmp_path: Path, text: str, told: str) -> None:
        (tmp_path / "in.yaml").write_text(text)
        with pytest.raises(CassetteError, match=told):
            convert(tmp_path / "in.yaml", tmp_path / "out.cassette.jsonl")

    def test_bytes_in_json(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.yaml", entry("a"), ENTRIES["a body of bytes"])
        with pytest.raises(
            CassetteError, match="Interaction 2 has a body that is not text"
        ) as told:
            convert(source, tmp_path / "out.json")
        assert "out.yaml" in str(told.value)

    def test_unreadable_coding(self, tmp_path: Path) -> None:
        hidden = entry("a", b"\xff\xfe\xfd", answer_headers={"content-encoding": ["x-secret"]})
        source = write(tmp_path / "in.yaml", hidden)
        with pytest.raises(CassetteError, match="content-encoding 'x-secret'"):
            convert(source, tmp_path / "out.cassette.jsonl")

    def test_files(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.yaml", entry())
        target = tmp_path / "out.cassette.jsonl"
        with pytest.raises(UsageError, match="does not say a format"):
            convert(source, tmp_path / "out.txt")
        with pytest.raises(CassetteError, match="does not exist"):
            convert(tmp_path / "none.yaml", target)
        convert(source, target)
        with pytest.raises(UsageError, match="exists already"):
            convert(source, target)
        convert(source, target, force=True)
        with pytest.raises(UsageError, match="Both"):
            convert(target, tmp_path / "other.cassette.jsonl")


@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_newer_compressions_are_read_and_come_back(tmp_path: Path, coding: str) -> None:
    module = importlib.import_module({"br": "brotli", "zstd": "zstandard"}[coding])
    plain = b'{"city": "Hangzhou"}' * 9
    source = write(
        tmp_path / "in.yaml",
        entry("x", module.compress(plain), answer_headers={"Content-Encoding": [coding]}),
    )
    back = round_trip(source)
    [interaction] = Cassette.open(tmp_path / "ours.cassette.jsonl")
    assert interaction.response.body == plain
    assert as_vcrpy_sees(back) == as_vcrpy_sees(source)
