"""The file format: lossless, shared texts once, events as what changed, described by its JSON Schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.cassette import Event, Interaction, Request, Response, canonical_request
from callbench.cassette import format as lines
from callbench.cassette.coding import FormatError, decode_events, encode_events
from callbench.cassette.writer import encode

SCHEMA = json.loads(files("callbench.cassette").joinpath("cassette.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LONG = st.builds(
    lambda start, unit: start + unit * 210, TEXT, st.sampled_from(["x", "杭", "⟦", "a ", "\n"])
)
PROSE = st.lists(
    TEXT | LONG | st.sampled_from(["\n\n", "\r\n\r\n", "\n \t\n", "⟦", "⟧", "⟦0123456789ab⟧"])
).map("".join)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | PROSE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
BODIES = (
    st.binary(max_size=60)
    | PROSE.map(str.encode)
    | JSON.map(lambda value: json.dumps(value).encode())
)
EVENTS = st.lists(
    st.builds(Event, st.integers(0, 10**6), st.binary(max_size=40) | PROSE.map(str.encode)),
    max_size=6,
).map(tuple)
RESPONSES = st.builds(
    Response,
    status=st.integers(0, 599),
    headers=st.dictionaries(TEXT, TEXT, max_size=2),
    events=EVENTS,
    error=st.none() | TEXT,
    elapsed_ms=st.integers(0, 10**6),
)
INTERACTIONS = st.builds(
    Interaction,
    key=st.binary(min_size=32, max_size=32).map(bytes.hex),
    case=TEXT,
    ordinal=st.integers(0, 99),
    request=st.builds(lambda path, body: canonical_request("POST", "/" + path, body), TEXT, BODIES),
    response=RESPONSES,
    usage=st.none() | st.just({"prompt_tokens": 3, "completion_tokens": 4}),
    recorded_at=st.none() | st.just("2031-02-03T04:05:06Z"),
)

REQUEST = canonical_request("POST", "/v1/chat/completions", b'{"model":"m"}')


def parse(data: bytes) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Texts and other lines of a piece of a file, read with the standard library only."""
    values = [json.loads(line) for line in data.decode().split("\n")[:-1]]
    texts = {value["text"]: value["value"] for value in values if "text" in value}
    return texts, [value for value in values if "text" not in value]


class TestLossless:
    @given(INTERACTIONS)
    def test_interaction(self, interaction: Interaction) -> None:
        data = encode(interaction, lambda _: None).data
        texts, (value,) = parse(data)
        assert lines.decode_interaction(value, texts.__getitem__) == interaction

    @given(INTERACTIONS)
    def test_every_line_is_of_the_schema(self, interaction: Interaction) -> None:
        for line in encode(interaction, lambda _: None).data.split(b"\n")[:-1]:
            VALIDATOR.validate(json.loads(line))

    @given(st.lists(st.binary(max_size=30) | PROSE.map(str.encode), max_size=8))
    def test_events(self, texts: list[bytes]) -> None:
        events = tuple(Event(number, data) for number, data in enumerate(texts))
        assert decode_events(json.loads(json.dumps(encode_events(events)))) == events

    def test_header_is_of_the_schema(self) -> None:
        header = json.loads(lines.encode_header("callbench 1.2.3", ["b", "a", "b"]))
        VALIDATOR.validate(header)
        lines.check_header(header)
        assert header["recorder"] == {"name": "callbench", "version": "1.2.3"}
        assert header["models"] == ["a", "b"]
        assert header["scrubbing"]["request_headers"] == []


class TestSharedTexts:
    LONG = "You fill the parameters of a tool. " * 8

    def request(self, content: str) -> Request:
        return canonical_request("POST", "/v1/x", json.dumps({"content": content}).encode())

    def interaction(self, content: str) -> Interaction:
        return Interaction("0" * 64, "case", 0, self.request(content), Response(200))

    def test_long_paragraphs_stand_apart_and_short_ones_in_place(self) -> None:
        encoded = encode(self.interaction(f"Short.\n\n{self.LONG}\n \n  End ⟦1⟧"), lambda _: None)
        ((identifier, digest, text),) = encoded.texts
        assert len(identifier) == 12
        assert digest.startswith(identifier)
        assert json.loads(text) == {"text": identifier, "value": self.LONG}
        assert json.loads(encoded.line)["request"]["json"] == {
            "content": f"Short.\n\n⟦{identifier}⟧\n \n  End ⟦⟧1⟧"
        }

    @pytest.mark.parametrize(("length", "shared"), [(199, 0), (200, 1)])
    def test_from_200_characters_on(self, length: int, shared: int) -> None:
        assert len(encode(self.interaction("杭" * length), lambda _: None).texts) == shared

    def test_a_text_is_written_once(self) -> None:
        encoded = encode(self.interaction(f"{self.LONG}\n\n{self.LONG}"), lambda _: None)
        assert len(encoded.texts) == 1
        ((identifier, digest, _),) = encoded.texts
        assert encode(self.interaction(self.LONG), {identifier: digest}.get).texts == ()

    def test_two_texts_with_the_same_start_of_their_digest_stay_apart(self) -> None:
        ((identifier, _, _),) = encode(self.interaction(self.LONG), lambda _: None).texts
        other = {identifier: "f" * 64}
        ((longer, digest, _),) = encode(self.interaction(self.LONG), other.get).texts
        assert len(longer) == 13
        assert digest.startswith(longer)

    def test_readable_as_it_is(self) -> None:
        """Chinese text is not escaped: a reviewer reads it in the diff."""
        assert (
            "订一张去杭州的票"
            in encode(self.interaction("订一张去杭州的票"), lambda _: None).line.decode()
        )


class TestEvents:
    A = 'data: {"id":"chatcmpl-1","choices":[{"delta":{"content":"Hang"}}]}\n\n'
    B = 'data: {"id":"chatcmpl-1","choices":[{"delta":{"content":"zhou"}}]}\n\n'

    def test_an_event_says_what_changed(self) -> None:
        events = [Event(5, self.A.encode()), Event(9, self.B.encode()), Event(12, self.B.encode())]
        head = self.A.index("Hang")
        tail = len(self.A) - head - len("Hang")
        assert encode_events(events) == [
            [5, self.A],
            [9, head, tail, "zhou"],
            [12, len(self.B), 0, ""],
        ]

    def test_characters_count_not_bytes(self) -> None:
        old, new = self.A.replace("Hang", "杭"), self.A.replace("Hang", "州")
        encoded = encode_events([Event(0, old.encode()), Event(1, new.encode())])
        assert encoded[1] == [1, self.A.index("Hang"), len(self.A) - self.A.index("Hang") - 4, "州"]

    def test_little_in_common_is_written_out(self) -> None:
        assert encode_events([Event(0, b"data: a\n\n"), Event(1, b"data: b\n\n")]) == [
            [0, "data: a\n\n"],
            [1, "data: b\n\n"],
        ]

    def test_bytes_that_are_not_text(self) -> None:
        events = (Event(0, self.A.encode()), Event(1, b"data: \xe6\x9d"), Event(2, self.B.encode()))
        encoded = encode_events(events)
        assert encoded[1] == [1, {"base64": "ZGF0YTog5p0="}]
        assert encoded[2][-1] == "zhou"
        assert decode_events(encoded) == events

    @pytest.mark.parametrize(
        "events",
        [
            "x",
            [[0]],
            [[0, "a", "b"]],
            [["0", "a"]],
            [[0, None]],
            [[0, {"base64": "!"}]],
            [[0, {}]],
            [[0, 1, 0, "a"]],
            [[0, "abc"], [0, 0, 4, ""]],
            [[0, "abc"], [0, -1, 0, ""]],
            [[0, "abc"], [0, 0, -1, ""]],
            [[0, "abc"], [0, 1, 1, 5]],
            [7],
            [None],
        ],
    )
    def test_anything_else_is_refused(self, events: Any) -> None:
        with pytest.raises(FormatError, match="response/events"):
            decode_events(events)

    def test_the_refusal_names_the_event(self) -> None:
        with pytest.raises(FormatError, match="response/events/1"):
            decode_events([[0, "a"], [0, 9, 9, ""]])


def interaction_value(**changes: Any) -> dict[str, Any]:
    interaction = Interaction("0" * 64, "case", 0, REQUEST, Response(200))
    value: dict[str, Any] = json.loads(lines.encode_interaction(interaction))
    return {**value, **changes}


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"key": "short"}, "'key' must be 64"),
            ({"key": 5}, "'key' must be 64"),
            ({"case": None}, "'case' must be a string"),
            ({"ordinal": -1}, "'ordinal' must be"),
            ({"ordinal": True}, "'ordinal' must be"),
            ({"request": []}, "'request' must be an object"),
            ({"response": "x"}, "'response' must be an object"),
            ({"extra": 1}, "unknown field 'extra'"),
            ({"request": {"method": "POST"}}, "'request/path'"),
            ({"request": {"method": "POST", "path": "/", "json": 1, "text": ""}}, "one of"),
            ({"request": {"method": "POST", "path": "/", "json": 1, "x": ""}}, "one of"),
            ({"request": {"method": "POST", "path": "/", "form": ""}}, "one of"),
            ({"request": {"method": "POST", "path": "/", "base64": "!!"}}, "base64"),
            ({"request": {"method": "POST", "path": "/", "text": 7}}, "base64|text"),
            ({"response": {"status": "200", "headers": {}, "events": []}}, "response/status"),
            ({"response": {"status": 200, "headers": [], "events": []}}, "response/headers"),
            ({"response": {"status": 200, "headers": {"a": 1}, "events": []}}, "response/headers"),
            (
                {"response": {"status": 200, "headers": {}, "events": [], "error": 1}},
                "response/error",
            ),
            (
                {"response": {"status": 200, "headers": {}, "events": [], "elapsed_ms": "1"}},
                "elapsed_ms",
            ),
            (
                {"response": {"status": 200, "headers": {}, "events": [], "trailers": {}}},
                "response/trailers",
            ),
            ({"response": {"status": 200, "headers": {}}}, "response/events"),
        ],
    )
    def test_name_field_and_rule(self, changes: dict[str, Any], reason: str) -> None:
        with pytest.raises(FormatError, match=reason):
            lines.decode_interaction(interaction_value(**changes), str)

    @pytest.mark.parametrize("name", ["key", "case", "ordinal", "request", "response"])
    def test_missing_fields(self, name: str) -> None:
        value = interaction_value()
        del value[name]
        with pytest.raises(FormatError, match=f"'{name}' is missing"):
            lines.check_interaction(value)

    def test_an_edited_text_is_noticed(self) -> None:
        text = "x" * 200
        value = {"text": lines.text_digest(text)[:12], "value": text}
        assert lines.check_text(value) == (value["text"], text, lines.text_digest(text))
        with pytest.raises(FormatError, match="edited"):
            lines.check_text({**value, "value": text + "!"})
        with pytest.raises(FormatError, match="edited"):
            lines.check_text({"text": lines.text_digest(text)[:11], "value": text})
        with pytest.raises(FormatError, match="has the fields"):
            lines.check_text({**value, "more": 1})
        with pytest.raises(FormatError, match="must be strings"):
            lines.check_text({"text": value["text"], "value": 1})

    def test_a_newer_format_is_refused(self) -> None:
        header = json.loads(lines.encode_header("callbench 9", []))
        with pytest.raises(FormatError, match="version 2"):
            lines.check_header({**header, "version": 2})
        with pytest.raises(FormatError, match="header"):
            lines.check_header({"text": "x"})
