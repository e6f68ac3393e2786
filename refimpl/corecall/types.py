"""The values that travel through a Call: enums, context, history, output, errors.

Field names follow the seed (CoreCall document, §9), camelCase where the seed has it.
Step ids accept either spelling of a UUID, see :func:`step_key`.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def step_key(step_id: object) -> object:
    """Return the key under which a step's history is filed.

    An id written 8-4-4-4-12 hex, in any case, is that UUID; anything else is itself
    (the seed types step ids ``UUID`` and also writes ``step1/result``).

    Contract: core.type.9.
    """
    if isinstance(step_id, str) and _UUID.fullmatch(step_id):
        return UUID(step_id)
    return step_id


StepId = Annotated[UUID | str, BeforeValidator(step_key)]


def _no_conversion(value: object) -> object:
    if isinstance(value, str | bytes | bool):
        raise ValueError(f"a number is wanted, not a {type(value).__name__}")
    return value


Integer = Annotated[int, BeforeValidator(_no_conversion)]
"""A whole number; text that spells one and a boolean are refused."""

Number = Annotated[float, BeforeValidator(_no_conversion), Field(allow_inf_nan=False)]
"""A finite number; text that spells one and a boolean are refused."""

Boolean = Annotated[bool, Field(strict=True)]
"""``True`` or ``False``, and nothing that may stand for one."""


class LanguageType(StrEnum):
    """Language of a task, of its prompts and of its texts.

    Contract: core.type.1.
    """

    CHINESE = "zh"
    ENGLISH = "en"


class CallOutputType(StrEnum):
    """Kind of an output chunk (seed CoreCall §9.5).

    Contract: core.type.2.
    """

    TEXT = "text"
    DATA = "data"
    ERROR = "error"


class CallError(Exception):
    """A Call failed. ``str(error)`` is the message; ``data`` holds what else is known.

    Contract: core.type.14.
    """

    def __init__(self, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = data if data is not None else {}

    def __str__(self) -> str:
        return self.message


class CallOutputChunk(BaseModel):
    """One piece of a Call's streamed output; ERROR content is ``{"message", "data"}``.

    Contract: core.type.2, core.type.3.
    """

    type: CallOutputType
    content: str | dict[str, Any]


class CallInfo(BaseModel):
    """Name and description of a Call, in one language.

    Contract: core.info.1.
    """

    name: str
    description: str


class NodeInfo(BaseModel):
    """The flow node a Call runs for; ``override`` is laid over its input schema.

    Contract: core.type.15.
    """

    model_config = ConfigDict(extra="allow")

    id: str = ""
    name: str = ""
    description: str = ""
    override: dict[str, Any] | None = None


class CallIds(BaseModel):
    """Identifiers of the task a Call runs in (seed CoreCall §9.2).

    Contract: core.type.5, core.type.6.
    """

    task_id: UUID | str
    executor_id: str
    session_id: str | None = None
    user_id: str
    app_id: UUID | str | None = None
    conversation_id: UUID | str | None = None


class ExecutorHistory(BaseModel):
    """What one step put out (seed CoreCall §9.3).

    Templates see it as ``step_name``, ``step_description``, ``output_data``.

    Contract: core.type.7, core.type.8, core.type.10, core.type.16.
    """

    model_config = ConfigDict(extra="allow")

    stepId: StepId
    outputData: dict[str, Any]
    stepName: str = ""
    stepDescription: str = ""

    @property
    def step_name(self) -> str:
        return self.stepName

    @property
    def step_description(self) -> str:
        return self.stepDescription

    @property
    def output_data(self) -> dict[str, Any]:
        return self.outputData


def _complete_record(record: dict[str, str]) -> dict[str, str]:
    missing = [key for key in ("role", "content") if key not in record]
    if missing:
        raise ValueError(f"a conversation record has no {' and no '.join(missing)}")
    return record


ConversationRecord = Annotated[dict[str, str], AfterValidator(_complete_record)]


class ExecutorBackground(BaseModel):
    """Conversation and facts an executor holds (seed CoreCall §9.4).

    ``conversation`` is oldest first, each record ``{"role", "content"}`` and perhaps more text;
    a record without one of the two is a ``ValueError``. ``num`` is the largest number of
    records the caller keeps; nothing here cuts by it.

    Contract: core.class.10, core.type.11, core.type.12, core.type.13.
    """

    num: Integer = 0
    conversation: list[ConversationRecord] = Field(default_factory=list)
    facts: list[str] = Field(default_factory=list)


class CallVars(BaseModel):
    """Everything a Call may know about the task it runs in (seed CoreCall §9.1).

    ``step_order`` lists every run in order, so a step that ran twice stands there twice;
    ``step_data`` holds its last record. ``now`` is the task's clock, ``None`` the wall's.

    Contract: core.type.4.
    """

    language: LanguageType
    ids: CallIds
    question: str
    step_data: dict[StepId, ExecutorHistory]
    step_order: list[StepId]
    background: ExecutorBackground
    thinking: str
    now: datetime | None = None
