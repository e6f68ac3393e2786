"""What ``corecall`` exports."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import corecall

PROMISED = {
    "DataBase", "CoreCall", "LLM", "LLMInput", "LLMOutput", "Slot", "SlotInput", "SlotOutput",
    "SlotProcessor", "JsonGenerator", "CallVars", "CallIds", "CallInfo", "CallOutputChunk",
    "CallOutputType", "CallError", "LanguageType", "NodeInfo", "ExecutorHistory",
    "ExecutorBackground", "Task", "StepExecutor", "ReasoningModel", "FunctionModel",
    "Example", "call_llm",
}  # fmt: skip


def test_the_promised_names_are_exported() -> None:
    assert set(corecall.__all__) >= PROMISED


def test_all_lists_every_public_name_sorted_and_nothing_else() -> None:
    modules = {module.name for module in pkgutil.iter_modules(corecall.__path__)}
    public = {name for name in vars(corecall) if not name.startswith("_")}
    assert public - modules - {"annotations"} == set(corecall.__all__)
    assert len(set(corecall.__all__)) == len(corecall.__all__)


def test_it_never_imports_the_harness() -> None:
    code = "import corecall, sys; sys.exit(any(m.startswith('callbench') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
