"""The Slot: fill a tool's parameters in two stages."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field, PrivateAttr

from .. import reply
from ..context import clock, shown_steps
from ..core import CoreCall, Message
from ..generator import GenerationError, JsonGenerator
from ..templating import render, tag_safe_json
from ..types import (
    Boolean,
    CallInfo,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    Integer,
    LanguageType,
    NodeInfo,
)
from .processor import SlotProcessor
from .prompt import SLOT_GEN_PROMPT, SLOT_MISSING_PROMPT
from .schema import SlotInput, SlotOutput, SlotTrace

if TYPE_CHECKING:
    from ..executor import StepExecutor

_INFO = {
    LanguageType.CHINESE: CallInfo(
        name="参数自动填充", description="根据步骤历史和背景信息，自动填充工具的参数。"
    ),
    LanguageType.ENGLISH: CallInfo(
        name="Slot", description="Fill a tool's parameters from step history and background."
    ),
}


class Slot(CoreCall, input_model=SlotInput, output_model=SlotOutput):
    """Fill the parameters that ``current_schema`` asks for and ``data`` lacks.

    Stage 1 asks the reasoning model with the full prompt; stage 2, only if something is
    still missing, asks the function model for what remains. Valid known data is never asked
    for again and never overwritten, and stage 2 only adds to stage 1.

    Extensions: ``ask_optional`` asks for optional parameters too; ``repair`` reads replies
    that are almost JSON; ``prompt`` replaces the stage 1 template.

    Contract: slot.config.2, slot.config.3, slot.config.4, slot.config.6.
    """

    hidden: ClassVar[bool] = True

    data: dict[str, Any] = Field(default_factory=dict, description="Known arguments")
    current_schema: dict[str, Any] = Field(default_factory=dict, description="Argument schema")
    summary: str = Field(default="", description="Summary of the background")
    facts: list[str] = Field(default_factory=list, description="Facts")
    step_num: Integer = Field(default=1, ge=0, description="How many of the latest steps are shown")
    ask_optional: Boolean = Field(default=False, description="Ask for optional parameters too")
    repair: Boolean = Field(default=False, description="Repair replies that are almost JSON")
    prompt: str | None = Field(default=None, description="Template in place of ours")

    _processor: SlotProcessor = PrivateAttr()
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)
    _known: dict[str, Any] = PrivateAttr(default_factory=dict)
    _vars: CallVars = PrivateAttr()
    _messages: list[Message] = PrivateAttr(default_factory=list)
    _trace: SlotTrace = PrivateAttr(default_factory=SlotTrace)

    @classmethod
    def info(cls, language: LanguageType = LanguageType.CHINESE) -> CallInfo:
        """Return name and description.

        Contract: slot.config.1.
        """
        return _INFO[language]

    @classmethod
    async def instance(
        cls, executor: StepExecutor, node: NodeInfo | None = None, **kwargs: Any
    ) -> Self:
        """Create the Slot; summary and facts are the executor's unless ``kwargs`` has them.

        Contract: slot.init.1, slot.init.2.
        """
        kwargs.setdefault("summary", executor.task.runtime.reasoning or "")
        kwargs.setdefault("facts", executor.background.facts)
        return await super().instance(executor, node, **kwargs)

    @property
    def trace(self) -> SlotTrace:
        """How the output of the last run came about (extension)."""
        return self._trace

    async def _init(self, call_vars: CallVars) -> SlotInput:
        """Check the known data against the schema; an invalid schema is a ``ValueError``.

        Contract: slot.init.3, slot.init.4, slot.init.5, slot.init.6, slot.init.7, slot.init.8.
        """
        self._vars = call_vars
        self._processor = SlotProcessor(self.current_schema)
        given = self._processor.convert_json(self._processor.pointed(self.data))
        self._given = self._processor.process_json(given)  # a null not admitted: not given
        return SlotInput(remaining_schema=self._processor.check_json(self._given))

    async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
        """Fill in two stages and yield exactly one DATA chunk, a ``SlotOutput``.

        Contract: slot.stage1.4, slot.stage2.1, slot.result.1, slot.result.2, slot.result.3,
        slot.result.4, slot.result.5, slot.result.8, slot.result.9, slot.error.2.
        """
        self._known, self._trace = self._given, SlotTrace()  # each run starts from what was given
        remaining = SlotInput.model_validate(input_data).remaining_schema
        asked = self._asked(remaining)
        if not asked:
            output = SlotOutput(slot_data={} if not remaining else self._known)
            output.remaining_schema = remaining
        else:
            self._trace.asked = True
            answer, data = await self._llm_slot_fill(asked)
            self._merge("stage1", data)
            remaining = self._processor.check_json(self._known)
            asked = self._asked(remaining)
            if asked:
                self._merge("stage2", await self._function_slot_fill(answer, asked))
                remaining = self._processor.check_json(self._known)
            output = SlotOutput(slot_data=self._known, remaining_schema=remaining)
        yield CallOutputChunk(type=CallOutputType.DATA, content=output.model_dump())

    async def _llm_slot_fill(self, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Stage 1: return the reasoning model's reply and the object in it, ``{}`` if none.

        The prompt shows the whole schema, whatever is ``asked``.

        Contract: slot.stage1.1, slot.stage1.2, slot.stage1.5, slot.trace.2, slot.error.1.
        """
        self._messages = self._prepare_messages()
        options: dict[str, Any] = {}
        if getattr(self._llm_obj.reasoning, "reply_mode", "text") != "text":
            options["response_schema"] = self._titled(self.current_schema)
        pieces = [text async for text in self._llm(self._messages, streaming=True, **options)]
        answer = "".join(pieces)
        self._trace.answers["stage1"] = answer
        data: dict[str, Any] = reply.loads(JsonGenerator.process_response(answer))
        if not data:
            data = self._second_look("stage1", answer)
        return answer, data

    async def _function_slot_fill(self, answer: str, asked: dict[str, Any]) -> dict[str, Any]:
        """Stage 2: return the function model's object for what is still asked.

        A model that gives no valid object leaves what it did give; a failing endpoint is a
        ``CallError``.

        Contract: slot.stage2.2, slot.stage2.3, slot.stage2.6, slot.stage2.7, slot.stage2.8,
        slot.error.3.
        """
        schema = self._titled(self._processor.ask_schema(asked, self._known))
        missing = ", ".join(asked.get("required", []))
        question = render(
            "slot prompt of stage 2",
            SLOT_MISSING_PROMPT[self._vars.language],
            {
                "missing": missing,
                "known": json.dumps(self._known, ensure_ascii=False),
                "schema": json.dumps(schema, ensure_ascii=False),
            },
        )
        messages = [
            *self._messages,
            {"role": "assistant", "content": answer if answer.strip() else "{}"},
            {"role": "user", "content": question},
        ]
        try:
            data = await self._json(messages, schema)
        except GenerationError as error:
            self._trace.answers["stage2"] = error.answer
            return error.object or self._second_look("stage2", error.answer)
        self._trace.answers["stage2"] = json.dumps(data, ensure_ascii=False)
        return data

    def _second_look(self, stage: str, answer: str) -> dict[str, Any]:
        """Return the object in a reply that seemed to hold none, repaired if asked; note what was.

        Contract: slot.trace.5, slot.trace.6.
        """
        parsed = reply.parse_reply(answer, repair=self.repair)
        if parsed.object is None:
            self._trace.unparsed.append(stage)
        self._trace.repairs += parsed.repairs
        return parsed.object or {}

    def _asked(self, remaining: dict[str, Any]) -> dict[str, Any]:
        """Return the pointer-keyed schema of what is worth asking a model for, ``{}``: nothing."""
        return self._processor.asked(remaining, self._known, optional=self.ask_optional)

    def _merge(self, stage: str, data: dict[str, Any]) -> None:
        """Lay a reply over what is known so far, and note what came of it.

        Contract: slot.stage1.3, slot.merge.1, slot.trace.3, slot.trace.4.
        """
        merge = self._processor.merge(self._known, data)
        self._known = merge.data
        self._trace.filled_by.update(dict.fromkeys(merge.filled, stage))
        self._trace.rejected += merge.rejected
        self._trace.undeclared += merge.undeclared

    def _titled(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Name the tool in a schema that goes to a model; function models pick it up.

        Contract: slot.stage1.6.
        """
        named = {"title": self.name, "description": self.description}
        return {**named, **schema, **named}

    def _prepare_messages(self) -> list[Message]:
        """Return the conversation, then the filling prompt as the user's turn.

        Contract: slot.prompt.5, slot.prompt.6, slot.prompt.7, slot.prompt.9, slot.prompt.10,
        slot.prompt.11, slot.prompt.12, slot.prompt.13, slot.prompt.14, slot.prompt.15.
        """
        call_vars = self._vars
        now = call_vars.now
        prompt = render(
            "slot prompt",
            self.prompt if self.prompt is not None else SLOT_GEN_PROMPT[call_vars.language],
            {
                "time": clock(now) if now else "",
                "summary": self.summary,
                "facts": self.facts,
                "history": shown_steps(call_vars, self.step_num),
                "question": call_vars.question,
                "tool": {"name": self.name, "description": self.description},
                "schema": tag_safe_json(self.current_schema),
                "known": tag_safe_json(self._known) if self._known else "",
                "language": call_vars.language.value,
            },
        )
        conversation = [
            {"role": record["role"], "content": record["content"]}
            for record in call_vars.background.conversation
        ]
        return [*conversation, {"role": "user", "content": prompt}]
