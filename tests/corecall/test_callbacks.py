"""The tool callback contract."""

from __future__ import annotations

import asyncio
import logging
import re
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
    @pytest.mark.rule("callback.input.1", "callback.output.1", "callback.output.2")
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

    @pytest.mark.rule("callback.input.1")
    def test_an_input_is_its_arguments_and_extra(self) -> None:
        given = CallbackInput(arguments_in_json="{}")
        assert given.model_dump() == {"arguments_in_json": "{}", "extra": {}}

    @pytest.mark.rule("callback.input.2")
    @pytest.mark.parametrize("text", ["", " { }\n", "{'a': 1}", "no JSON", '{"a": 1, "a": 2}'])
    def test_arguments_are_kept_as_written(self, text: str) -> None:
        assert CallbackInput(arguments_in_json=text).arguments_in_json == text

    @pytest.mark.rule("callback.output.1", "callback.output.3")
    def test_everything_in_an_output_may_be_left_out(self) -> None:
        assert CallbackOutput().model_dump() == {"response": "", "tool_output": None, "extra": {}}

    @pytest.mark.rule("callback.output.2")
    def test_neither_text_nor_structure_is_made_from_the_other(self) -> None:
        result = ToolResult(parts=[TextPart(text="t")])
        assert CallbackOutput(tool_output=result).response == ""
        assert CallbackOutput(response="x").tool_output is None
        both = CallbackOutput(response="x", tool_output=result)
        assert (both.response, both.tool_output) == ("x", result)

    @pytest.mark.rule("callback.output.3")
    def test_no_structured_output_is_not_an_empty_one(self) -> None:
        assert CallbackOutput(tool_output=None) != CallbackOutput(tool_output=ToolResult())
        assert CallbackOutput(tool_output=ToolResult()).tool_output == ToolResult(parts=[])

    @pytest.mark.rule("callback.part.7")
    def test_a_result_has_no_parts_unless_given(self) -> None:
        assert ToolResult().parts == []
        assert ToolResult().parts is not ToolResult().parts

    @pytest.mark.rule("callback.record.1", "callback.input.1")
    def test_keyword_only_and_required(self) -> None:
        with pytest.raises(TypeError):
            CallbackInput("{}")  # type: ignore[call-arg,arg-type,misc]
        with pytest.raises(TypeError):
            CallbackOutput("x")  # type: ignore[call-arg,arg-type,misc]
        with pytest.raises(ValidationError, match="arguments_in_json"):
            CallbackInput()  # type: ignore[call-arg]

    @pytest.mark.rule("callback.record.2")
    def test_unknown_fields_of_a_dict_are_ignored(self) -> None:
        given = CallbackInput.model_validate({"arguments_in_json": "{}", "new": 1})
        assert given == CallbackInput(arguments_in_json="{}")
        part = {"type": "text", "text": "x", "new": 1}
        output = CallbackOutput.model_validate(
            {"tool_output": {"parts": [part], "new": 1}, "new": 1}
        )
        assert output == CallbackOutput(tool_output=ToolResult(parts=[TextPart(text="x")]))

    @pytest.mark.rule("callback.record.3")
    @pytest.mark.parametrize(
        ("kind", "fields", "name"),
        [
            (CallbackInput, {"arguments_in_json": b"{}"}, "arguments_in_json"),
            (CallbackInput, {"arguments_in_json": {}}, "arguments_in_json"),
            (CallbackInput, {"arguments_in_json": None}, "arguments_in_json"),
            (CallbackInput, {"arguments_in_json": "{}", "extra": None}, "extra"),
            (CallbackInput, {"arguments_in_json": "{}", "extra": {1: 1}}, "extra"),
            (CallbackOutput, {"response": 1}, "response"),
            (CallbackOutput, {"response": None}, "response"),
            (CallbackOutput, {"tool_output": "x"}, "tool_output"),
            (CallbackOutput, {"extra": []}, "extra"),
            (TextPart, {"text": 1}, "text"),
            (ToolArgument, {"text": 1}, "text"),
            (ToolResult, {"parts": None}, "parts"),
            (ToolResult, {"parts": ["x"]}, "parts"),
            (ToolResult, {"parts": [{"type": "image", "url": "u", "mime_type": 5}]}, "parts"),
        ],
    )
    def test_values_are_not_converted(self, kind: Any, fields: Any, name: str) -> None:
        with pytest.raises(ValidationError) as caught:
            kind(**fields)
        assert caught.value.errors()[0]["loc"][0] == name

    @pytest.mark.rule("callback.record.3")
    def test_a_record_may_be_given_as_itself_or_as_an_object(self) -> None:
        part = TextPart(text="t")
        result = ToolResult(parts=[part])
        for parts in ([part], [{"type": "text", "text": "t"}]):
            assert CallbackOutput(tool_output={"parts": parts}).tool_output == result  # type: ignore[arg-type]
        assert CallbackOutput(tool_output=result).tool_output == result

    @pytest.mark.rule("callback.record.4")
    @pytest.mark.parametrize(
        ("record", "name"),
        [
            (CallbackInput(arguments_in_json="{}"), "arguments_in_json"),
            (CallbackOutput(), "response"),
            (CallbackOutput(), "tool_output"),
            (ToolResult(), "parts"),
            (TextPart(text="t"), "text"),
            (ImagePart(url="u"), "url"),
        ],
    )
    def test_a_field_is_not_replaced(self, record: Any, name: str) -> None:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(record, name, "x")

    @pytest.mark.rule("callback.extra.1")
    def test_extra_holds_any_value_as_the_same_object(self) -> None:
        value = object()
        assert CallbackOutput(extra={"key": value}).extra["key"] is value
        given = CallbackInput(arguments_in_json="", extra={"key": value})
        assert callback_input_from(given) is given
        assert given.extra["key"] is value

    @pytest.mark.rule("callback.extra.2")
    def test_extra_is_not_shared(self) -> None:
        extra: dict[str, Any] = {"key": 1}
        one, other = CallbackOutput(extra=extra), CallbackOutput(extra=extra)
        extra["later"] = 1
        one.extra["own"] = 1
        assert other.extra == {"key": 1}
        assert CallbackOutput().extra is not CallbackOutput().extra


class TestArguments:
    @pytest.mark.rule("callback.arguments.2")
    @pytest.mark.parametrize("text", ["", "  ", "\n\t\r", "null", " null\n", "{}", "\ufeff"])
    def test_none(self, text: str) -> None:
        assert CallbackInput(arguments_in_json=text).arguments() == {}

    @pytest.mark.rule("callback.arguments.1")
    def test_an_object(self) -> None:
        text = ' {"城市": "杭州", "n": 9007199254740993, "d": {"x": [1.5, null, false]}}\n'
        assert CallbackInput(arguments_in_json=text).arguments() == {
            "城市": "杭州",
            "n": 9007199254740993,
            "d": {"x": [1.5, None, False]},
        }

    @pytest.mark.rule("callback.arguments.1")
    def test_each_reading_is_its_own(self) -> None:
        given = CallbackInput(arguments_in_json='{"a": []}')
        given.arguments()["a"].append(1)
        assert given.arguments() == {"a": []}

    @pytest.mark.rule("callback.arguments.3")
    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ('{"a": 1,\n "b" 2}', "line 2 column 6 (char 14)"),
            ('\n\n  {"a" 1}', "line 3 column 8 (char 9)"),
            ('{"城市" 1}', "line 1 column 7 (char 6)"),
            ("x", "line 1 column 1 (char 0)"),
        ],
    )
    def test_malformed(self, text: str, place: str) -> None:
        reason = rf"^arguments_in_json: the arguments are malformed: .*{re.escape(place)}$"
        with pytest.raises(ValueError, match=reason):
            CallbackInput(arguments_in_json=text).arguments()

    @pytest.mark.rule("callback.arguments.4")
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("[]", "array"),
            ('[{"a": 1}]', "array"),
            ('"{}"', "string"),
            ("0", "number"),
            ("1.5", "number"),
            ("false", "boolean"),
        ],
    )
    def test_no_object(self, text: str, kind: str) -> None:
        reason = rf"^arguments_in_json: the arguments are a JSON {kind}, not an object$"
        with pytest.raises(ValueError, match=reason):
            CallbackInput(arguments_in_json=text).arguments()

    @pytest.mark.rule("callback.arguments.5")
    @pytest.mark.parametrize(
        "text",
        [
            '{"a": NaN}',
            '{"a": Infinity}',
            '{"a": -Infinity}',
            '{"a": 1e999}',
            "{'a': 1}",
            '{"a": 1,}',
            '{"a": 1',
            '{"a": True}',
            '{"a": "\\ud800"}',
            '{"a": 1} {"b": 2}',
            '```json\n{"a": 1}\n```',
            'call: {"a": 1}',
        ],
    )
    def test_nothing_is_repaired_and_nothing_stands_around_the_object(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"^arguments_in_json: the arguments are malformed"):
            CallbackInput(arguments_in_json=text).arguments()

    @pytest.mark.rule("callback.arguments.6")
    @pytest.mark.parametrize("depth", [100, 101, 100_000])
    def test_depth_is_bounded(self, depth: int) -> None:
        given = CallbackInput(arguments_in_json='{"a":' * depth + "1" + "}" * depth)
        if depth <= 100:
            assert list(given.arguments()) == ["a"]
        else:
            with pytest.raises(ValueError, match="nested deeper than 100"):
                given.arguments()


class TestExtraAs:
    @pytest.mark.rule("callback.extra.3")
    def test_the_value_itself(self) -> None:
        value = {"x": [1]}
        output = CallbackOutput(extra={"d": value, "n": None, "b": True, "f": 0.0, "s": ""})
        assert output.extra_as("d", dict) is value
        assert output.extra_as("b", bool) is True
        assert output.extra_as("f", float) == 0.0
        assert output.extra_as("s", str) == ""
        assert output.extra_as("n", object) is None
        assert output.extra_as("b", object) is True

    @pytest.mark.rule("callback.extra.4")
    def test_a_missing_key(self) -> None:
        with pytest.raises(KeyError, match=r"extra has no 'timeout'; it has \['a', 'b'\]"):
            CallbackOutput(extra={"b": 1, "a": 2}).extra_as("timeout", int)

    @pytest.mark.rule("callback.extra.3")
    def test_a_type_of_the_callers_own(self) -> None:
        class Budget:
            pass

        class Small(Budget):
            pass

        budget = Small()
        assert CallbackOutput(extra={"k": budget}).extra_as("k", Budget) is budget

    @pytest.mark.parametrize(
        ("value", "kind", "found"),
        [
            pytest.param("30", int, "str", marks=pytest.mark.rule("callback.extra.5")),
            pytest.param(None, str, "NoneType", marks=pytest.mark.rule("callback.extra.5")),
            pytest.param([], dict, "list", marks=pytest.mark.rule("callback.extra.5")),
            pytest.param(True, int, "bool", marks=pytest.mark.rule("callback.extra.6")),
            pytest.param(False, float, "bool", marks=pytest.mark.rule("callback.extra.6")),
            pytest.param(1, float, "int", marks=pytest.mark.rule("callback.extra.6")),
            pytest.param(1.0, int, "float", marks=pytest.mark.rule("callback.extra.6")),
            pytest.param(1, bool, "int", marks=pytest.mark.rule("callback.extra.6")),
        ],
    )
    def test_another_type(self, value: Any, kind: type, found: str) -> None:
        with pytest.raises(
            TypeError, match=rf"extra\['k'\] is of type {found}, not {kind.__name__}"
        ):
            CallbackOutput(extra={"k": value}).extra_as("k", kind)


ONE_SOURCE = "give either url or base64_data"


class TestParts:
    @pytest.mark.rule("callback.part.1", "callback.part.4", "callback.part.7")
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
            pytest.param({}, ONE_SOURCE, marks=pytest.mark.rule("callback.part.2")),
            pytest.param(
                {"url": "u", "base64_data": "aGk=", "mime_type": "a/b"},
                ONE_SOURCE,
                marks=pytest.mark.rule("callback.part.2"),
            ),
            pytest.param(
                {"mime_type": "a/b"}, ONE_SOURCE, marks=pytest.mark.rule("callback.part.2")
            ),
            pytest.param({"url": ""}, ONE_SOURCE, marks=pytest.mark.rule("callback.part.3")),
            pytest.param(
                {"base64_data": "", "mime_type": "a/b"},
                ONE_SOURCE,
                marks=pytest.mark.rule("callback.part.3"),
            ),
            pytest.param(
                {"base64_data": "aGk=", "mime_type": ""},
                "base64_data needs its mime_type",
                marks=pytest.mark.rule("callback.part.3", "callback.part.4"),
            ),
            pytest.param(
                {"base64_data": "aGk="},
                "base64_data needs its mime_type",
                marks=pytest.mark.rule("callback.part.4"),
            ),
        ],
    )
    def test_one_source(self, fields: dict[str, str], reason: str) -> None:
        with pytest.raises(ValidationError, match=reason):
            ImagePart(**fields)  # type: ignore[arg-type]

    @pytest.mark.rule("callback.part.3")
    def test_an_empty_text_is_a_source_not_given(self) -> None:
        assert ImagePart(url="u", base64_data="").url == "u"
        assert ImagePart(url="", base64_data="aGk=", mime_type="a/b").base64_data == "aGk="

    @pytest.mark.rule("callback.part.5")
    @pytest.mark.parametrize(
        "text",
        ["aG*k=", "aGk", "aGk==", "aGk=\n", " aGk=", "aG k=", "_-8=", "aGk=aGk=", "é", "===="],
    )
    def test_what_is_not_base64_is_refused(self, text: str) -> None:
        with pytest.raises(ValidationError, match="base64_data is not base64"):
            FilePart(base64_data=text, mime_type="a/b")

    @pytest.mark.rule("callback.part.5")
    @pytest.mark.parametrize("text", ["aGk=", "AA==", "+/+/", "QUJD"])
    def test_standard_base64_is_kept_as_written(self, text: str) -> None:
        assert FilePart(base64_data=text, mime_type="a/b").base64_data == text

    @pytest.mark.rule("callback.part.1")
    def test_a_text_part_may_be_empty_but_not_without_text(self) -> None:
        assert TextPart(text="").model_dump() == {"type": "text", "text": ""}
        with pytest.raises(ValidationError, match="text"):
            TextPart()  # type: ignore[call-arg]

    @pytest.mark.rule("callback.part.6")
    def test_an_unknown_kind_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="hologram"):
            ToolResult.model_validate({"parts": [{"type": "hologram", "url": "u"}]})

    @pytest.mark.rule("callback.part.6")
    def test_a_part_without_a_kind_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="type"):
            ToolResult.model_validate({"parts": [{"text": "t"}]})


class TestConverters:
    @pytest.mark.rule("callback.convert.1")
    def test_a_record_is_itself(self) -> None:
        given = CallbackInput(arguments_in_json="{}", extra={"a": 1})
        output = CallbackOutput(response="x")
        assert callback_input_from(given) is given
        assert callback_output_from(output) is output

    @pytest.mark.rule("callback.convert.2")
    @pytest.mark.parametrize("text", ["{}", "", "no JSON", " x "])
    def test_text(self, text: str) -> None:
        assert callback_input_from(text) == CallbackInput(arguments_in_json=text)
        assert callback_output_from(text) == CallbackOutput(response=text)

    @pytest.mark.rule("callback.convert.3")
    def test_bare_arguments_and_results(self) -> None:
        result = ToolResult(parts=[TextPart(text="t")])
        assert callback_input_from(ToolArgument(text="[]")) == CallbackInput(arguments_in_json="[]")
        assert callback_output_from(result) == CallbackOutput(tool_output=result)

    @pytest.mark.rule("callback.convert.4")
    @pytest.mark.parametrize(
        "value", [None, 1, b"{}", {}, {"arguments_in_json": "{}"}, [], object()]
    )
    def test_anything_else_gives_none(self, value: object) -> None:
        assert callback_input_from(value) is None
        assert callback_output_from(value) is None

    @pytest.mark.rule("callback.convert.5")
    def test_each_side_has_its_own_kinds(self) -> None:
        assert callback_input_from(ToolResult()) is None
        assert callback_input_from(CallbackOutput()) is None
        assert callback_output_from(ToolArgument(text="")) is None
        assert callback_output_from(CallbackInput(arguments_in_json="")) is None


INPUT = CallbackInput(arguments_in_json="{}")
OUTPUT = CallbackOutput(response="x")


class TestHandlers:
    @pytest.mark.rule("callback.handler.2", "callback.handler.3", "callback.handler.4")
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

    @pytest.mark.rule("callback.handler.1")
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

    @pytest.mark.rule("callback.handler.8")
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

    @pytest.mark.rule("callback.handler.10")
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

    @pytest.mark.rule("callback.handler.5")
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

    @pytest.mark.rule("callback.handler.6")
    @pytest.mark.parametrize("stop", [asyncio.CancelledError, KeyboardInterrupt])
    async def test_cancellation_passes(self, stop: type[BaseException]) -> None:
        handlers = CallbackHandlers()

        def cancel(value: object) -> None:
            raise stop

        handlers.on_end(cancel)
        with pytest.raises(stop):
            await handlers.end(OUTPUT)

    @pytest.mark.rule("callback.handler.7")
    async def test_a_hook_may_register_another_for_the_next_time(self) -> None:
        seen: list[object] = []
        handlers = CallbackHandlers()
        handlers.on_start(lambda _: handlers.on_start(seen.append))
        await handlers.start(INPUT)
        assert seen == []
        await handlers.start(INPUT)
        assert seen == [INPUT]

    @pytest.mark.rule("callback.handler.3")
    async def test_an_async_hook_is_done_before_the_next_begins(self) -> None:
        seen: list[str] = []
        handlers = CallbackHandlers()

        @handlers.on_end
        async def slow(value: object) -> None:
            seen.append("begin")
            for _ in range(3):
                await asyncio.sleep(0)
            seen.append("done")

        handlers.on_end(lambda _: seen.append("next"))
        await handlers.end(OUTPUT)
        assert seen == ["begin", "done", "next"]

    @pytest.mark.rule("callback.handler.4")
    async def test_what_a_hook_returns_changes_nothing(self) -> None:
        seen: list[object] = []
        handlers = CallbackHandlers()
        handlers.on_start(lambda _: CallbackInput(arguments_in_json="other"))
        handlers.on_start(seen.append)
        await handlers.start(INPUT)
        assert len(seen) == 1
        assert seen[0] is INPUT

    @pytest.mark.rule("callback.handler.5")
    async def test_every_event_survives_a_hook_that_raises(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        seen: list[str] = []
        handlers = CallbackHandlers()

        def broken(value: object) -> None:
            raise LookupError("broken hook")

        for name in ("start", "end", "end_with_stream", "error"):
            register = getattr(handlers, f"on_{name}")
            register(broken)
            register(lambda _, name=name: seen.append(name))
        await handlers.start(INPUT)
        await handlers.end(OUTPUT)
        await handlers.end_with_stream([OUTPUT])
        await handlers.error(ValueError())
        assert seen == ["start", "end", "end_with_stream", "error"]
        assert [record.levelno for record in caplog.records] == [logging.ERROR] * 4

    @pytest.mark.rule("callback.handler.9")
    async def test_a_hook_registered_twice_is_called_twice(self) -> None:
        seen: list[object] = []
        handlers = CallbackHandlers()
        handlers.on_end(seen.append)
        handlers.on_end(seen.append)
        await handlers.end(OUTPUT)
        assert seen == [OUTPUT, OUTPUT]

    @pytest.mark.rule("callback.handler.11")
    async def test_a_kept_stream_holds_the_pieces_of_its_time(self) -> None:
        pieces = [CallbackOutput(response="a")]
        kept: list[AsyncIterator[CallbackOutput]] = []
        handlers = CallbackHandlers()
        handlers.on_end_with_stream(kept.append)
        await handlers.end_with_stream(pieces)
        pieces.append(CallbackOutput(response="b"))
        assert [piece.response async for piece in kept[0]] == ["a"]
