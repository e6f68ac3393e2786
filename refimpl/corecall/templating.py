"""Sandboxed Jinja for prompts: data are values, never templates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from .jsontext import dumps
from .types import CallError

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
    undefined=StrictUndefined,
)


@lru_cache(maxsize=256)
def _compile(source: str) -> Template:
    return _ENVIRONMENT.from_string(source)


def render(which: str, source: str, variables: dict[str, Any]) -> str:
    """Render the template ``source``; ``which`` names the prompt in the error.

    Unknown variables are errors, and values that look like templates stay text.
    Raises ``CallError``.
    """
    try:
        return _compile(source).render(variables)
    except Exception as error:  # a template can raise what Python can, SyntaxError included
        place = getattr(error, "lineno", None)
        where = f", line {place}" if place else ""
        raise CallError(
            f"the {which} does not render{where}: {error or type(error).__name__}",
            {"prompt": which},
        ) from error


def tag_safe_json(value: Any) -> str:
    """Return ``value`` as JSON, not ASCII-escaped, that cannot close a tag around it.

    ``</`` is written ``<\\/``: the same JSON, no end of an element. Raises ``ValueError`` like
    :func:`corecall.jsontext.dumps`.
    """
    return dumps(value).replace("</", "<\\/")
