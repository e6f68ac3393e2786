"""Public sets where they are there, and official code with the modules it needs stubbed."""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

CRASH = "the official code raised"

Official = Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], str]


@pytest.fixture(scope="session")
def bfcl_official() -> Official:
    """The official AST checker: function document, arguments, answers -> kind of error or ``""``."""
    pytest.importorskip("bfcl_eval", reason="make test installs bfcl-eval")
    name = "bfcl_eval.constants.model_config"
    stub = ModuleType(name)  # the real one imports the client of every vendor
    stub.MODEL_CONFIG_MAPPING = {"m": SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, name, stub)
        module = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
    python = importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON

    def check(function: dict[str, Any], arguments: dict[str, Any], answers: dict[str, Any]) -> str:
        called = [{function["name"]: arguments}]
        wanted = [{function["name"]: answers}]
        try:
            result = module.ast_checker([function], called, wanted, python, "simple", "m")
        except (AttributeError, KeyError, TypeError):
            return CRASH
        return "" if result["valid"] else str(result["error_type"])

    return check


@pytest.fixture(scope="session")
def seqeval() -> Any:
    """``seqeval.metrics``; of scikit-learn it needs one class of warning only."""
    pytest.importorskip("seqeval", reason="make test installs seqeval")
    stub = ModuleType("sklearn.exceptions")
    stub.UndefinedMetricWarning = UserWarning  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setitem(sys.modules, "sklearn", ModuleType("sklearn"))
        patch.setitem(sys.modules, "sklearn.exceptions", stub)
        return importlib.import_module("seqeval.metrics.sequence_labeling")


def shared(*parts: str) -> Path:
    """A file of the public sets beside the checkout; skips where it is not there."""
    beside = Path(__file__).parents[5] / "shared" / "data"
    path = Path(os.environ.get("CALLBENCH_SHARED_DATA", beside)).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no public set at hand: {'/'.join(parts)}")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
