"""DataBase and CoreCall: the base of every Call and its fixed lifecycle (seed CoreCall).

    instance(executor, node, **kwargs)      construct
      └─ _set_input(executor)               keep the models, assemble the variables,
           └─ _init(call_vars)              build the input, dump it into ``self.input``
    exec(executor, input_data)              forward every chunk of _exec
      ├─ _exec(input_data)
      └─ _after_exec(input_data)            not run when _exec raises

Subclasses override ``info``, ``_init``, ``_exec`` and ``_after_exec``, never the rest.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.json_schema import SkipJsonSchema

from . import history
from .slot.limits import copy_json, plain_schema
from .types import (
    Boolean,
    CallError,
    CallIds,
    CallInfo,
    CallOutputChunk,
    CallOutputType,
    CallVars,
    ExecutorHistory,
    LanguageType,
    NodeInfo,
)

if TYPE_CHECKING:
    from .executor import StepExecutor

logger = logging.getLogger(__name__)

Message = dict[str, str]


class Chunk(Protocol):
    """One piece of a model's reply."""

    @property
    def content(self) -> str | None: ...


class Reasoning(Protocol):
    """What a Call needs of a reasoning model: ``call(messages, streaming=…, **options)``.

    See :class:`corecall.ReasoningModel` for the options there are.
    """

    @property
    def call(self) -> Callable[..., AsyncIterator[Chunk]]: ...


class Function(Protocol):
    """What a Call needs of a function model; see :class:`corecall.FunctionModel`."""

    async def call(self, messages: list[Message], schema: dict[str, Any]) -> dict[str, Any]: ...


class ModelPair(Protocol):
    """The two models of an executor; ``function`` may be absent."""

    @property
    def reasoning(self) -> Reasoning: ...

    @property
    def function(self) -> Function | None: ...


class DataBase(BaseModel):
    """Base of every Call's input and output (seed CoreCall §3.1)."""

    @classmethod
    def model_json_schema(  # type: ignore[override]
        cls, override: dict[str, Any] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return a fresh JSON Schema with each entry of ``override`` laid over ``properties``.

        Undeclared names are added; ``required`` and definitions stay as they are; the
        result shares nothing with ``override`` (seed CoreCall §3.1.2). An override that is no
        JSON, or nests deeper than a schema may, is a ``SchemaError``, a ``ValueError``.

        Contract: core.data.1, core.data.2, core.data.3, core.data.4, core.data.5, core.data.6,
        core.data.7.
        """
        schema = super().model_json_schema(**kwargs)
        if override:
            schema.setdefault("properties", {}).update(copy_json(plain_schema(override)))
        return schema


class CoreCall(BaseModel):
    """Base of every Call (seed CoreCall §3.2).

    A subclass states its models in the class line; leaving one out is a ``TypeError``::

        class Weather(CoreCall, input_model=WeatherInput, output_model=WeatherOutput): ...

    Contract: core.class.1, core.class.2, core.class.6, core.class.7, core.class.8, core.class.9,
    core.class.10.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow")

    name: SkipJsonSchema[str] = Field(description="Name of the step")
    description: SkipJsonSchema[str] = Field(description="Description of the step")
    node: SkipJsonSchema[NodeInfo | None] = Field(default=None, description="Flow node")
    enable_filling: SkipJsonSchema[Boolean] = Field(
        default=False, description="Fill the input automatically before executing"
    )
    to_user: Boolean = Field(default=False, description="Whether the output goes to the user")
    input: SkipJsonSchema[dict[str, Any]] = Field(
        default_factory=dict, exclude=True, description="Input data, set by _set_input"
    )

    input_model: ClassVar[type[DataBase]]
    output_model: ClassVar[type[DataBase]]
    hidden: ClassVar[bool] = False  # whether lists of tools that users choose from leave it out

    _llm_obj: ModelPair = PrivateAttr()

    def __init_subclass__(
        cls, *, input_model: type[DataBase], output_model: type[DataBase], **kwargs: Any
    ) -> None:
        """Set the subclass's models (seed CoreCall §3.4.1).

        Contract: core.class.3, core.class.4, core.class.5.
        """
        super().__init_subclass__(**kwargs)
        cls.input_model = input_model
        cls.output_model = output_model

    @classmethod
    def info(cls, language: LanguageType = LanguageType.CHINESE) -> CallInfo:
        """Return the Call's name and description; each subclass has its own.

        Contract: core.info.1, core.info.2, core.info.3.
        """
        raise NotImplementedError(f"{cls.__name__}.info is not implemented")

    @classmethod
    async def instance(
        cls, executor: StepExecutor, node: NodeInfo | None = None, **kwargs: Any
    ) -> Self:
        """Construct the Call for ``executor`` and prepare its input (seed CoreCall §3.4.5).

        Name and description come from ``executor.step``; giving them again in ``kwargs``
        is a ``TypeError``.

        Contract: core.life.1, core.life.2, core.life.3, core.life.9.
        """
        call = cls(
            name=executor.step.name, description=executor.step.description, node=node, **kwargs
        )
        await call._set_input(executor)
        return call

    async def exec(
        self, executor: StepExecutor, input_data: dict[str, Any]
    ) -> AsyncGenerator[CallOutputChunk, None]:
        """Run the Call: forward every chunk, then clean up (seed CoreCall §3.4.10).

        Contract: core.life.10, core.life.11, core.life.13, core.life.15, core.life.16.
        """
        async with aclosing(self._exec(input_data)) as chunks:
            async for chunk in chunks:
                yield chunk
        await self._after_exec(input_data)

    async def _set_input(self, executor: StepExecutor) -> None:
        """Keep the models, assemble the variables, build ``self.input`` (seed §3.4.6).

        Contract: core.life.4, core.life.5, core.life.6, core.life.7, core.life.17.
        """
        self._llm_obj = executor.llm
        call_vars = self._assemble_call_vars(executor)
        input_data = await self._init(call_vars)
        # A partial model may hold what its fields do not expect; completing it is what Slot is for.
        self.input = input_data.model_dump(by_alias=True, exclude_none=True, warnings=False)

    @staticmethod
    def _assemble_call_vars(executor: StepExecutor) -> CallVars:
        """Gather what the Call may know, from where seed CoreCall §3.4.3 lists it.

        Raises ``ValueError`` when the task has no state.

        Contract: core.vars.1, core.vars.2, core.vars.3, core.vars.4, core.vars.5, core.vars.6.
        """
        task = executor.task
        if task.state is None:
            logger.error("task %s has no state", task.metadata.id)
            raise ValueError(f"task {task.metadata.id} has no state: no executor runs it")
        step_data: dict[Any, ExecutorHistory] = {}
        step_order: list[Any] = []
        for record in task.context:
            step_data[record.stepId] = record
            step_order.append(record.stepId)
        return CallVars(
            language=task.runtime.language,
            ids=CallIds(
                task_id=task.metadata.id,
                executor_id=task.state.executorId,
                session_id=task.runtime.sessionId,
                user_id=task.metadata.userId,
                app_id=task.state.appId,
                conversation_id=task.metadata.conversationId,
            ),
            question=executor.question,
            step_data=step_data,
            step_order=step_order,
            background=executor.background,
            thinking=task.runtime.reasoning or "",
            now=task.runtime.now,
        )

    @staticmethod
    def _extract_history_variables(path: str, history_data: Mapping[Any, ExecutorHistory]) -> Any:
        """Return the value at ``step_id/key/…``, or ``None``; see :func:`history.extract`.

        Contract: history.path.17.
        """
        return history.extract(path, history_data)

    async def _init(self, call_vars: CallVars) -> DataBase:
        """Build the Call's input; each subclass has its own (seed CoreCall §3.4.7).

        A partial model (``model_construct``) is what automatic filling completes.

        Contract: core.life.7, core.life.8.
        """
        raise NotImplementedError(f"{type(self).__name__}._init is not implemented")

    async def _exec(self, input_data: dict[str, Any]) -> AsyncGenerator[CallOutputChunk, None]:
        """Do the work, chunk by chunk; by default one empty TEXT chunk (seed §3.4.8).

        Contract: core.life.12.
        """
        yield CallOutputChunk(type=CallOutputType.TEXT, content="")

    async def _after_exec(self, input_data: dict[str, Any]) -> None:
        """Clean up after the last chunk; by default nothing (seed CoreCall §3.4.9).

        Contract: core.life.14.
        """

    async def _llm(
        self, messages: list[Message], streaming: bool = False, **options: Any
    ) -> AsyncGenerator[str, None]:
        """Yield the content of each chunk of the reasoning model's reply (seed §3.4.11).

        ``options`` (extension) reach the model as they are: ``temperature`` and, for
        models that ask schema-bound, ``response_schema``.

        Contract: core.model.1, core.model.2, core.model.3, core.model.4, core.model.7.
        """
        chunks = self._llm_obj.reasoning.call(messages, streaming=streaming, **options)
        try:
            async for chunk in chunks:
                yield "" if chunk.content is None else chunk.content
        finally:  # a caller who leaves early ends the request too
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    async def _json(self, messages: list[Message], schema: dict[str, Any]) -> dict[str, Any]:
        """Return an object of the function model that satisfies ``schema`` (seed §3.4.12).

        Raises ``CallError`` when there is no function model, or it gave no valid object.

        Contract: core.model.5, core.model.6, core.model.7.
        """
        function = self._llm_obj.function
        if function is None:
            logger.error("call %s: no function model is configured", self.name)
            raise CallError(f"no function model is configured, call {self.name!r} needs one")
        return await function.call(messages, schema)
