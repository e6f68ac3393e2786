"""corecall: a compact, exact reference implementation of the Call framework.

Start with :class:`CoreCall` (the base and its lifecycle), :class:`LLM` and :class:`Slot`
(the two Calls), :class:`StepExecutor` (runs one Call) and :class:`ReasoningModel` /
:class:`FunctionModel` (any OpenAI-compatible endpoint). :func:`call_llm` asks a model with
few-shot examples.
"""

from __future__ import annotations

from .callbacks import CallbackHandlers, CallbackInput, CallbackOutput, ToolResult
from .core import CoreCall, DataBase
from .executor import (
    StepExecutor,
    StepInfo,
    StepStatus,
    Task,
    TaskMetadata,
    TaskRuntime,
    TaskState,
)
from .fewshot import Example, call_llm
from .generator import GenerationError, JsonGenerator
from .llm.llm import LLM
from .llm.schema import LLMInput, LLMOutput
from .providers import (
    ChatClient,
    Endpoint,
    FunctionModel,
    Models,
    ReasoningModel,
    TransportError,
)
from .slot.processor import SlotProcessor
from .slot.schema import SlotInput, SlotOutput, SlotTrace
from .slot.slot import Slot
from .types import (
    CallError,
    CallIds,
    CallInfo,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    ExecutorBackground,
    ExecutorHistory,
    LanguageType,
    NodeInfo,
)

__all__ = [
    "LLM",
    "CallError",
    "CallIds",
    "CallInfo",
    "CallOutputChunk",
    "CallOutputType",
    "CallVars",
    "CallbackHandlers",
    "CallbackInput",
    "CallbackOutput",
    "ChatClient",
    "CoreCall",
    "DataBase",
    "Endpoint",
    "Example",
    "ExecutorBackground",
    "ExecutorHistory",
    "FunctionModel",
    "GenerationError",
    "JsonGenerator",
    "LLMInput",
    "LLMOutput",
    "LanguageType",
    "Models",
    "NodeInfo",
    "ReasoningModel",
    "Slot",
    "SlotInput",
    "SlotOutput",
    "SlotProcessor",
    "SlotTrace",
    "StepExecutor",
    "StepInfo",
    "StepStatus",
    "Task",
    "TaskMetadata",
    "TaskRuntime",
    "TaskState",
    "ToolResult",
    "TransportError",
    "call_llm",
]
