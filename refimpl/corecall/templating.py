"""Sandboxed Jinja for prompts: data are values, never templates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Template
from jinja2.runtime import Context

from .budget import BUDGET, Budget, LimitError
from .jsontext import dumps
from .sandbox import BoundedEnvironment
from .types import CallError

MAX_SOURCE = 1_000_000
"""Longest template, in characters."""

_KEPT_SOURCE = 100_000  # a longer template is compiled anew each time

_ENVIRONMENT = BoundedEnvironment()


def _compile(source: str) -> Template:
    if len(source) > MAX_SOURCE:
        raise LimitError(f"it has more than {MAX_SOURCE:,} characters")
    return _ENVIRONMENT.from_string(source)


_compiled = lru_cache(maxsize=256)(_compile)


def render(which: str, source: str, variables: dict[str, Any]) -> str:
    """Render the template ``source``; ``which`` names the prompt in the error.

    Unknown variables are errors, and values that look like templates stay text. What a template
    may take is bounded, see :mod:`corecall.budget`. Raises ``CallError``.

    Contract: llm.render.3, llm.render.4, llm.render.5, llm.render.6, llm.render.7, llm.render.8,
    llm.render.9, llm.render.11, llm.limit.7.
    """
    try:
        template = (_compiled if len(source) <= _KEPT_SOURCE else _compile)(source)
        context = Context(
            _ENVIRONMENT, {**_ENVIRONMENT.globals, **variables}, template.name, template.blocks
        )
        budget = Budget()
        allowance = BUDGET.set(budget)
        try:
            return budget.joined(template.root_render_func(context))
        finally:
            BUDGET.reset(allowance)
    except Exception as error:  # a template can raise what Python can, SyntaxError included
        place = getattr(error, "lineno", None)
        where = f", line {place}" if place else ""
        raise CallError(
            f"the {which} does not render{where}: {str(error) or type(error).__name__}",
            {"prompt": which},
        ) from error


def tag_safe_json(value: Any) -> str:
    """Return ``value`` as JSON, not ASCII-escaped, that cannot close a tag around it.

    ``</`` is written ``<\\/``: the same JSON, no end of an element. Raises ``ValueError`` like
    :func:`corecall.jsontext.dumps`.

    Contract: llm.context.4, llm.context.5.
    """
    return dumps(value).replace("</", "<\\/")
