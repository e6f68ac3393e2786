"""The tool callback contract (seed ``callback_extra``, DESIGN §3.6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import ValidationError

from corecall.callbacks import (
    AudioPart,
    CallbackHandlers,
    CallbackInput,
    CallbackOutput,
    FilePart,
    ImagePart,
    TextPart,
    ToolArgument,
    ToolResult,
    VideoPart,
    callback_input_from,
    callback_output_from,
)


class TestRecords:
    def test_the_example_of_the_seed(self) -> None:
        given = CallbackInput(
            arguments_in_json='{"query": "hello", "limit": 10}',
            extra={"request_id": "12345", "timeout": 30},
        )
        assert given.arguments() == {"query": "hello", "limit": 10}
        assert given.extra_as("timeout", int) == 30
        output = CallbackOutput(
            response="Processed successfully",
            tool_output=ToolResult(parts=[TextPart(text="ok")]),
            extra={"processing_time": 1.23, "cached": False},
        )
        assert output.tool_output is not None
        assert output.tool_output.parts == [TextPart(text="ok")]

    def test_defaults(self) -> None:
        output = CallbackOutput()
        assert (output.response, output.tool_output, output.extra) == ("", None, {})
        assert CallbackInput(arguments_in_json="{}").extra == {}
        assert ToolResult().parts == []

    def test_keyword_only_and_required(self) -> None:
        with pytest.raises(TypeError):
            CallbackInput("{}")  # type: ignore[call-arg,arg-type,misc]
        with pytest.raises(TypeError):
            CallbackOutput("x")  # type: ignore[call-arg,arg-type,misc]
        with pytest.raises(ValidationError, match="arguments_in_json"):
            CallbackInput()  # type: ignore[call-arg]

    def test_unknown_fields_of_a_dict_are_ignored(self) -> None:
        given = CallbackInput.model_validate({"arguments_in_json": "{}", "new": 1})
        assert given == CallbackInput(arguments_in_json="{}")
        part = {"type": "text", "text": "x", "new": 1}
        output = CallbackOutput.model_validate(
            {"tool_output": {"parts": [part], "new": 1}, "new": 1}
        )
        assert output == CallbackOutput(tool_output=ToolResult(parts=[TextPart(text="x")]))

    def test_types_are_not_coerced_and_records_not_changed(self) -> None:
        with pytest.raises(ValidationError):
            CallbackInput(arguments_in_json=b"{}")  # type: ignore[arg-type]
        with pytest.raises(ValidationError):
            CallbackOutput(response=1)  # type: ignore[arg-type]
        with pytest.raises(ValidationError):
            CallbackOutput().response = "x"  # type: ignore[misc]

    def test_extra_keeps_its_values_and_is_not_shared(self) -> None:
        value = object()
        extra = {"key": value}
        output = CallbackOutput(extra=extra)
        extra["later"] = 1
        assert output.extra == {"key": value}
        assert output.extra["key"] is value
        assert CallbackOutput().extra is not CallbackOutput().extra


class TestArguments:
    @pytest.mark.parametrize("text", ["", "  ", "null", "{}"])  # r076
    def test_none(self, text: str) -> None:
        assert CallbackInput(arguments_in_json=text).arguments() == {}

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ('{"a": 1,\n "b" 2}', r"^arguments_in_json: .*line 2 column 6 \(char 14\)"),
            ('{"a": NaN}', r"line 1 column 7"),
            ("[]", "^arguments_in_json: the arguments are a JSON array, not an object"),
            ('"x"', "not an object"),
        ],
    )
    def test_not_an_object(self, text: str, reason: str) -> None:
        with pytest.raises(ValueError, match=reason):
            CallbackInput(arguments_in_json=text).arguments()


class TestExtraAs:
    def test_the_value_itself(self) -> None:
        value = {"x": [1]}
        output = CallbackOutput(extra={"d": value, "n": None, "b": True, "f": 0.0, "s": ""})
        assert output.extra_as("d", dict) is value
        assert output.extra_as("b", bool) is True
        assert output.extra_as("f", float) == 0.0
        assert output.extra_as("s", str) == ""
        assert output.extra_as("n", object) is None
        assert output.extra_as("b", object) is True

    def test_a_missing_key(self) -> None:
        with pytest.raises(KeyError, match=r"extra has no 'timeout'; it has \['a', 'b'\]"):
            CallbackOutput(extra={"b": 1, "a": 2}).extra_as("timeout", int)

    @pytest.mark.parametrize(
        ("value", "kind", "found"),
        [("30", int, "str"), (True, int, "bool"), (None, str, "NoneType"), (1, float, "int")],
    )
    def test_another_type(self, value: Any, kind: type, found: str) -> None:
        with pytest.raises(
            TypeError, match=rf"extra\['k'\] is of type {found}, not {kind.__name__}"
        ):
            CallbackOutput(extra={"k": value}).extra_as("k", kind)


class TestParts:
    @pytest.mark.parametrize(
        ("kind", "name"),
        [(ImagePart, "image"), (AudioPart, "audio"), (VideoPart, "video"), (FilePart, "file")],
    )
    def test_media_come_by_url_or_in_base64(self, kind: type[FilePart], name: str) -> None:
        at_url = kind(url="https://example.org/x")
        inside = kind(base64_data="aGk=", mime_type="image/png")
        result = ToolResult(parts=[TextPart(text="t"), at_url, inside])
        assert ToolResult.model_validate(result.model_dump()) == result
        assert [part.type for part in result.parts] == ["text", name, name]
        assert kind(url="https://example.org/x", mime_type="a/b").mime_type == "a/b"

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({}, "either url or base64_data"),
            ({"url": ""}, "either url or base64_data"),
            ({"url": "u", "base64_data": "aGk=", "mime_type": "a/b"}, "either url or base64_data"),
            ({"base64_data": "aGk="}, "mime_type"),
            ({"base64_data": "aG*k=", "mime_type": "a/b"}, "not base64"),
            ({"base64_data": "aGk", "mime_type": "a/b"}, "not base64"),
        ],
    )
    def test_one_source(self, fields: dict[str, str], reason: str) -> None:
        with pytest.raises(ValidationError, match=reason):
            ImagePart(**fields)  # type: ignore[arg-type]

    def test_an_unknown_kind_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="hologram"):
            ToolResult.model_validate({"parts": [{"type": "hologram", "url": "u"}]})


class TestConverters:
    def test_inputs(self) -> None:
        given = CallbackInput(arguments_in_json="{}", extra={"a": 1})
        assert callback_input_from(given) is given
        assert callback_input_from("{}") == CallbackInput(arguments_in_json="{}")
        assert callback_input_from(ToolArgument(text="[]")) == CallbackInput(arguments_in_json="[]")

    def test_outputs(self) -> None:
        output = CallbackOutput(response="x")
        result = ToolResult(parts=[TextPart(text="t")])
        assert callback_output_from(output) is output
        assert callback_output_from("x") == output
        assert callback_output_from(result) == CallbackOutput(tool_output=result)

    @pytest.mark.parametrize(
        "value", [None, 1, b"{}", {}, {"arguments_in_json": "{}"}, [], object()]
    )
    def test_anything_else_gives_none(self, value: object) -> None:
        assert callback_input_from(value) is None
        assert callback_output_from(value) is None

    def test_each_side_has_its_own_kinds(self) -> None:
        assert callback_input_from(ToolResult()) is None
        assert callback_input_from(CallbackOutput()) is None
        assert callback_output_from(ToolArgument(text="")) is None
        assert callback_output_from(CallbackInput(arguments_in_json="")) is None


INPUT = CallbackInput(arguments_in_json="{}")
OUTPUT = CallbackOutput(response="x")


class TestHandlers:
    async def test_sync_and_async_in_the_order_of_registration(self) -> None:
        seen: list[Any] = []
        handlers = CallbackHandlers()

        async def slow(value: object) -> None:
            await asyncio.sleep(0)
            seen.append(("slow", value))

        for register in (handlers.on_start, handlers.on_end, handlers.on_error):
            register(lambda value: seen.append(("first", value)))
            register(slow)
            register(lambda value: seen.append(("last", value)))
        error = ValueError("x")
        await handlers.start(INPUT)
        await handlers.end(OUTPUT)
        await handlers.error(error)
        order = ["first", "slow", "last"]
        assert seen == [(name, value) for value in (INPUT, OUTPUT, error) for name in order]

    async def test_each_event_reaches_its_own_hooks(self) -> None:
        seen: list[str] = []
        handlers = CallbackHandlers()
        handlers.on_start(lambda _: seen.append("start"))
        handlers.on_end(lambda _: seen.append("end"))
        handlers.on_end_with_stream(lambda _: seen.append("stream"))
        handlers.on_error(lambda _: seen.append("error"))
        await handlers.end_with_stream([])
        await handlers.error(ValueError())
        await handlers.end(OUTPUT)
        await handlers.start(INPUT)
        assert seen == ["stream", "error", "end", "start"]

    async def test_registering_gives_the_hook_back(self) -> None:
        handlers = CallbackHandlers()
        for register in (
            handlers.on_start,
            handlers.on_end,
            handlers.on_end_with_stream,
            handlers.on_error,
        ):
            hook = print
            assert register(hook) is hook

    async def test_each_hook_reads_a_stream_of_its_own(self) -> None:
        pieces = [CallbackOutput(response="a"), CallbackOutput(response="b")]
        seen: list[list[str]] = []
        handlers = CallbackHandlers()

        @handlers.on_end_with_stream
        async def one(stream: AsyncIterator[CallbackOutput]) -> None:
            async for piece in stream:
                seen.append([piece.response])
                break

        @handlers.on_end_with_stream
        async def all_of_it(stream: AsyncIterator[CallbackOutput]) -> None:
            seen.append([piece.response async for piece in stream])

        await handlers.end_with_stream(pieces)
        assert seen == [["a"], ["a", "b"]]

    @pytest.mark.parametrize("asynchronous", [False, True])
    async def test_a_hook_that_raises_is_logged_and_changes_nothing(
        self, asynchronous: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        seen: list[object] = []
        handlers = CallbackHandlers()

        def broken(value: object) -> None:
            raise LookupError("broken hook")

        async def broken_later(value: object) -> None:
            raise LookupError("broken hook")

        handlers.on_start(broken_later if asynchronous else broken)
        handlers.on_start(seen.append)
        with caplog.at_level(logging.ERROR, logger="corecall.callbacks"):
            await handlers.start(INPUT)
        assert seen == [INPUT]
        assert len(caplog.records) == 1
        assert "broken hook" in caplog.text

    @pytest.mark.parametrize("stop", [asyncio.CancelledError, KeyboardInterrupt])
    async def test_cancellation_passes(self, stop: type[BaseException]) -> None:
        handlers = CallbackHandlers()

        def cancel(value: object) -> None:
            raise stop

        handlers.on_end(cancel)
        with pytest.raises(stop):
            await handlers.end(OUTPUT)

    async def test_a_hook_may_register_another_for_the_next_time(self) -> None:
        seen: list[object] = []
        handlers = CallbackHandlers()
        handlers.on_start(lambda _: handlers.on_start(seen.append))
        await handlers.start(INPUT)
        assert seen == []
        await handlers.start(INPUT)
        assert seen == [INPUT]
