"""Systems under test: something that fills the slots of a case.

The reference :class:`corecall.Slot` is one, its stages alone (``stages.py``) and filling by
example (``fewshot.py``) are others; ``package:Class`` names another implementation with the
same attributes. The two baselines are in ``baselines.py``.
"""

from __future__ import annotations

import importlib
import json
import traceback
from contextlib import aclosing
from difflib import get_close_matches
from typing import Any, Protocol

from callbench.dataset.case import Case
from callbench.errors import CallbenchError, UsageError
from callbench.run.config import LANGUAGES
from callbench.run.trace import Tracer
from callbench.scoring.outcome import Outcome
from corecall.core import CoreCall, ModelPair
from corecall.executor import (
    StepExecutor,
    StepInfo,
    Task,
    TaskMetadata,
    TaskRuntime,
    TaskState,
)
from corecall.providers import TransportError
from corecall.slot.schema import SlotOutput, SlotTrace
from corecall.slot.slot import Slot
from corecall.types import CallError, ExecutorBackground, ExecutorHistory

SYSTEMS = ("slot", "stage1", "stage2", "fewshot", "empty", "copy")
"""The systems that have a name of their own."""


class System(Protocol):
    """Fills the slots of one case after another, also of several at a time."""

    async def fill(self, case: Case) -> Outcome:
        """Return what came of ``case``; a failing model is a status, not an exception."""
        ...


class SlotSystem:
    """A Slot class, run on each case through an executor of its own.

    The executor's callbacks tell ``tracer`` what happens; without one there are none.
    """

    def __init__(
        self,
        models: ModelPair,
        slot_class: type[CoreCall] = Slot,
        tracer: Tracer | None = None,
        **options: Any,
    ) -> None:
        self._models = models
        self._slot_class = slot_class
        self._tracer = tracer
        self._options = options
        self._ours = slot_class is Slot or slot_class.__module__.startswith("callbench.")

    async def fill(self, case: Case) -> Outcome:
        executor = executor_for(case, self._models)
        slot: CoreCall | None = None
        try:
            slot = await self._slot_class.instance(
                executor,
                None,
                data=case.data,
                current_schema=case.schema,
                step_num=len(case.steps),
                **self._options_of(case),
            )
            output = self._output(await self._contents(case, executor, slot))
        except TransportError as error:
            return Outcome(status="provider_error", slot_data=case.data, error=str(error))
        except CallError as error:  # a prompt that does not render, a system that breaks its word
            raise UsageError(f"case {case.id}: {error}") from error
        except (CallbenchError, TimeoutError):
            raise
        except Exception as error:
            if self._ours:
                raise
            raise UsageError(
                f"case {case.id}: {self._slot_class.__name__} failed: {_what(error)}",
                remedy="That is your class's own error: mend it and run again.",
            ) from error
        return _outcome(case, output, getattr(slot, "trace", None))

    def _options_of(self, case: Case) -> dict[str, Any]:
        """Return what the Slot class is given beside the case's own."""
        return self._options

    async def _contents(self, case: Case, executor: StepExecutor, slot: CoreCall) -> list[Any]:
        """Run ``slot`` and return what its chunks hold."""
        if self._tracer is None:  # what the executor does beside is felt in replay
            async with aclosing(slot.exec(executor, slot.input)) as chunks:
                return [chunk.content async for chunk in chunks]
        errors: list[Exception] = []
        executor.callbacks = self._tracer.handlers(case.id, self._slot_class.__name__)
        executor.callbacks.on_error(errors.append)
        await executor.run(slot)
        for error in errors:  # the executor keeps a CallError to itself
            raise error
        return [chunk.content for chunk in executor.chunks]

    def _output(self, contents: list[Any]) -> SlotOutput:
        if len(contents) != 1:
            raise CallError(f"{self._slot_class.__name__} gave {len(contents)} chunks, not one")
        try:
            output = SlotOutput.model_validate(contents[0])
            if not self._ours:
                json.dumps(output.slot_data)
        except (ValueError, TypeError) as error:
            told = "; ".join(str(error).splitlines()[1:3]) or str(error)
            raise CallError(
                f"{self._slot_class.__name__} gave no slot output "
                f"{{slot_data, remaining_schema}} in JSON: {told}"
            ) from error
        return output


def _outcome(case: Case, output: SlotOutput, trace: SlotTrace | None) -> Outcome:
    # The seed's empty result means that nothing had to be filled: the known data stand.
    asked = trace is not None and trace.asked
    slot_data = output.slot_data if asked else output.slot_data or dict(case.data)
    if trace is None:
        return Outcome(slot_data=slot_data, remaining_schema=output.remaining_schema)
    unread = bool(trace.answers) and len(trace.unparsed) == len(trace.answers)
    return Outcome(
        status="unparsed" if unread else "ok",
        slot_data=slot_data,
        remaining_schema=output.remaining_schema,
        filled_by=dict(trace.filled_by),
        rejected=tuple((r.pointer, r.value, r.reason) for r in trace.rejected),
        undeclared=tuple((r.pointer, r.value) for r in trace.undeclared),
        asked=trace.asked,
        repaired=bool(trace.repairs),
    )


def executor_for(case: Case, models: ModelPair) -> StepExecutor:
    """Return an executor that stands where ``case`` stands: its talk, facts, steps and clock."""
    return StepExecutor(
        task=Task(
            metadata=TaskMetadata(id=case.id, userId="callbench"),
            state=TaskState(executorId=case.id),
            runtime=TaskRuntime(
                language=LANGUAGES[case.lang], reasoning=case.summary, now=case.now
            ),
            context=[
                ExecutorHistory(
                    stepId=step.step_id,
                    stepName=step.step_name,
                    stepDescription=step.step_description,
                    outputData=step.output_data,
                )
                for step in case.steps
            ],
        ),
        question=case.question,
        background=ExecutorBackground(
            num=len(case.conversation),
            conversation=list(case.conversation),
            facts=list(case.facts),
        ),
        llm=models,
        step=StepInfo(name=case.tool.name, description=case.tool.description),
    )


def _what(error: BaseException) -> str:
    """Say an error of the user's own code: its kind, its text, and the line it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):
        place = ""  # its text names file and line
    return f"{type(error).__name__}: {error}{place}"


def load_slot_class(name: str) -> type[CoreCall]:
    """Return the class that ``package.module:Class`` names; ``UsageError`` if it is none."""
    module_name, _, class_name = name.partition(":")
    if not module_name or not class_name:
        near = get_close_matches(name.casefold(), SYSTEMS, n=1)
        raise UsageError(
            f'There is no system "{name}".',
            remedy=(f"Did you mean {near[0]}? " if near else "")
            + f"Systems: {', '.join(SYSTEMS)}, or your own class as package.module:Class.",
        )
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--system {name}: {error}",
            remedy="Name it package.module:Class, importable from here (try PYTHONPATH=.).",
        ) from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"--system {name}: importing it failed: {_what(error)}") from error
    found = getattr(module, class_name, None)
    if found is None:
        near = get_close_matches(class_name, vars(module), n=1)
        raise UsageError(
            f"--system {name}: {module_name} has no {class_name}.",
            remedy=f"Did you mean {near[0]}?" if near else "",
        )
    if not (isinstance(found, type) and issubclass(found, CoreCall)):
        raise UsageError(
            f"--system {name} is not a Slot: it must be a class derived from corecall.CoreCall"
        )
    return found
