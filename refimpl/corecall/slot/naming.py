"""Names that begin with ``/``, which a key of a reply could also mean as a pointer."""

from __future__ import annotations

from typing import Any

from corecall.pointer import join, unescape
from corecall.slot.compiled import Compiled
from corecall.slot.evaluate import Evaluator, required


def pointed(compiled: Compiled, data: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return ``data`` with the keys that are names though they begin with ``/`` as pointers to them.

    A key is a name when the root declares or requires a property of just that name and, read as a
    pointer, it would begin with a name that the root does not. Then it is what a model was shown.

    Contract: slot.merge.29.
    """
    if not any(key.startswith("/") for key in data):
        return data
    evaluator = Evaluator(compiled, partial=True, branches=True)
    names: set[str] = set()
    for node in evaluator.applying_nodes((compiled.root,), known):
        names.update(node.get("properties", ()), required(node, known))

    def is_name(key: str) -> bool:
        return key in names and unescape(key[1:].partition("/")[0]) not in names

    return {
        join((key,)) if key.startswith("/") and is_name(key) else key: value
        for key, value in data.items()
    }
