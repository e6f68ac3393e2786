"""The system ``fewshot``: cases are filled by example, with one :func:`corecall.call_llm` each.

What the model is shown is short, since small models read slowly and forget: a system text, the
examples as turns, and the case as a few labeled lines. The reply is bound to the schema as the
profile says, then read, converted and merged as the Slot does it.

Recorded traffic depends on every character here: change it, and record again.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from callbench.dataset.case import Case, Step
from callbench.run.examples import ExamplePool
from callbench.run.stages import Stage1
from callbench.run.system import SlotSystem
from callbench.run.trace import Tracer
from corecall import reply
from corecall.core import Chunk, Message, ModelPair, Reasoning
from corecall.fewshot import Example, call_llm
from corecall.generator import JsonGenerator
from corecall.slot.schema import SlotInput, SlotOutput

SYSTEM = {
    "en": (
        "Fill in the arguments of a tool call. Take each value from the first of these that gives "
        "it: user input > background > earlier tool outputs. Invent nothing: leave out what is "
        "not given. Output only one JSON object that follows the JSON Schema."
    ),
    "zh": (
        "填写一次工具调用的参数。每个参数的值按以下优先级取用：用户输入 > 背景信息 > 历史工具输出。"
        "不要编造：没有给出的参数不要填。只输出一个符合JSON Schema的JSON对象。"
    ),
}

_LABELS = {
    "en": {
        "time": "Time",
        "summary": "Summary",
        "fact": "Fact",
        "user": "User",
        "assistant": "Assistant",
        "system": "System",
        "step": "Output of",
        "question": "Question",
        "tool": "Tool",
        "known": "Known arguments",
    },
    "zh": {
        "time": "时间",
        "summary": "总结",
        "fact": "事实",
        "user": "用户",
        "assistant": "助手",
        "system": "系统",
        "step": "工具输出",
        "question": "问题",
        "tool": "工具",
        "known": "已知参数",
    },
}


class FewShot(Stage1, input_model=SlotInput, output_model=SlotOutput):
    """A Slot that asks the reasoning model once, with examples in place of the Slot's prompt."""

    system: str = Field(description="System text")
    # Each is an Example; before Python 3.12 pydantic takes no typing.TypedDict.
    examples: list[Any] = Field(default_factory=list, description="Examples, in order")
    message: str = Field(description="The case, as the examples show theirs")

    async def _llm_slot_fill(self, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        model = _Bound(self._llm_obj.reasoning, self._titled(self.current_schema))
        answer = await call_llm(self.system, model, self.message, self.examples)
        self._trace.answers["stage1"] = answer
        data: dict[str, Any] = reply.loads(JsonGenerator.process_response(answer))
        return answer, data or self._second_look("stage1", answer)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A reasoning model bound to a schema in the way its profile says, as the Slot binds it.

    So what differs between ``slot`` and ``fewshot`` is the prompt and not the decoding.
    """

    model: Reasoning
    schema: dict[str, Any]

    def call(self, messages: list[Message], streaming: bool = False) -> AsyncIterator[Chunk]:
        return self.model.call(messages, streaming=streaming, response_schema=self.schema)


class FewShotSystem(SlotSystem):
    """:class:`FewShot` on each case, with its examples out of the whole dataset."""

    def __init__(
        self,
        models: ModelPair,
        pool: ExamplePool,
        shots: int,
        tracer: Tracer | None = None,
        **options: Any,
    ) -> None:
        super().__init__(models, FewShot, tracer, **options)
        self._pool = pool
        self._shots = shots

    def _options_of(self, case: Case) -> dict[str, Any]:
        return {
            **super()._options_of(case),
            "system": SYSTEM[case.lang],
            "examples": [example_of(other) for other in self._pool.examples(case, self._shots)],
            "message": shown(case),
        }


def example_of(case: Case) -> Example:
    """Return a case as an example: what a model is shown of it, and the arguments expected."""
    return {"input": shown(case), "output": _json(case.expected)}


def shown(case: Case) -> str:
    """Return a case as labeled lines, without the arguments expected; the question comes last."""
    label = _LABELS[case.lang]
    lines = [
        (label["tool"], f"{case.tool.name} - {case.tool.description}".removesuffix(" - ")),
        ("JSON Schema", _json(case.schema)),
        (label["time"], case.now.strftime("%Y-%m-%d %H:%M:%S") if case.now else ""),
        (label["summary"], case.summary),
        *((label["fact"], fact) for fact in case.facts),
        *((_step(step, label["step"]), _json(step.output_data)) for step in case.steps),
        *((label.get(turn["role"], turn["role"]), turn["content"]) for turn in case.conversation),
        (label["known"], _json(case.data) if case.data else ""),
        (label["question"], case.question),
    ]
    colon = "：" if case.lang == "zh" else ": "
    return "\n".join(f"{name}{colon}{text}" for name, text in lines if text)


def _step(step: Step, label: str) -> str:
    told = f" ({step.step_description})" if step.step_description else ""
    return f"{label} {step.step_name or step.step_id}{told}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
