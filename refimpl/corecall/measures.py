"""What Jinja's filters and the methods of text are going to make, charged beforehand.

Only those are here whose result can be far larger than what they are given, or which take far longer
than its length; the others are charged for what they made. A measure of a filter takes the filter's own
arguments and returns its value; one of a method takes the text and the method's arguments, and
returns those.

Contract: llm.limit.2, llm.limit.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .budget import BUDGET, LimitError

_MAX_INDENT = 8
_MAX_PRECISION = 300
_QUICK = 1_024
"""Copying so many characters takes about as long as anything else done with one."""


def _text(value: Any) -> str:
    return BUDGET.get().text(value)


def _times(count: Any) -> int:
    return max(count, 0) if isinstance(count, int) else 0


def _center(value: Any, width: Any = 80) -> Any:
    BUDGET.get().make(_times(width))
    return value


def _indent(value: Any, width: Any = 4, first: Any = False, blank: Any = False) -> Any:
    step = len(width) if isinstance(width, str) else _times(width)
    BUDGET.get().make((len(_text(value).splitlines()) + 1) * step)
    return value


def _join(value: Any, d: Any = "", attribute: Any = None) -> list[Any]:
    budget = BUDGET.get()
    items = list(value)
    for item in items:
        budget.make(len(budget.text(item)))
    budget.make(len(items) * len(_text(d)))
    return items


def _replace(value: Any, old: Any, new: Any, count: Any = None) -> Any:
    found = _text(value).count(_text(old))
    if isinstance(count, int) and count >= 0:
        found = min(found, count)
    BUDGET.get().make(found * len(_text(new)))
    return value


def _wordwrap(
    value: Any,
    width: Any = 79,
    break_long_words: Any = True,
    wrapstring: Any = "\n",
    *_: Any,
    **__: Any,
) -> Any:
    text = _text(value)
    width = max(_times(width), 1)
    lines = 2 * len(text) // width + len(text.splitlines()) + 1
    copied = sum(len(word) ** 2 for word in text.split()) // width // _QUICK
    BUDGET.get().make(8 * len(text) + copied + lines * len(_text(wrapstring or "\n")))
    return value


def _striptags(value: Any) -> Any:
    text = _text(value)
    BUDGET.get().make(text.count("<") * len(text) // _QUICK)
    return value


def _pprint(value: Any) -> Any:
    BUDGET.get().make(5 * len(_text(value)))
    return value


def _batch(value: Any, linecount: Any, fill_with: Any = None) -> Any:
    if fill_with is not None:
        BUDGET.get().make(_times(linecount))
    return value


def _slice(value: Any, slices: Any, fill_with: Any = None) -> Any:
    BUDGET.get().step(_times(slices))
    return value


def _tojson(value: Any, indent: Any = None) -> Any:
    if (len(indent) if isinstance(indent, str) else _times(indent)) > _MAX_INDENT:
        raise LimitError(f"it indents by more than {_MAX_INDENT}")
    return value


def _round(value: Any, precision: Any = 0, method: Any = "common") -> Any:
    if isinstance(precision, int) and abs(precision) > _MAX_PRECISION:
        raise LimitError(f"it rounds to more than {_MAX_PRECISION} places")
    return value


def _sum(value: Any, attribute: Any = None, start: Any = 0) -> Any:
    if isinstance(start, (int, float)):
        return value
    if attribute is not None:
        raise LimitError("with an attribute, sum adds up numbers only")
    items = list(value)
    total = sum(len(item) for item in items if isinstance(item, (list, tuple)))
    BUDGET.get().make(len(items) * total)
    return items


def _format(value: Any, *args: Any, **kwargs: Any) -> Any:
    BUDGET.get().printf(_text(value), kwargs or args)
    return value


FILTERS: Mapping[str, Callable[..., Any]] = {
    "batch": _batch,
    "center": _center,
    "format": _format,
    "indent": _indent,
    "join": _join,
    "pprint": _pprint,
    "replace": _replace,
    "round": _round,
    "slice": _slice,
    "striptags": _striptags,
    "sum": _sum,
    "tojson": _tojson,
    "wordwrap": _wordwrap,
}

Arguments = tuple[Any, ...]


def _padded(text: str, width: Any, *rest: Any) -> Arguments:
    BUDGET.get().make(_times(width))
    return (width, *rest)


def _expanded(text: str, tabsize: Any = 8) -> Arguments:
    BUDGET.get().make(text.count("\t") * _times(tabsize))
    return (tabsize,)


def _joined(text: str, values: Any) -> Arguments:
    return (_join(values, text),)


def _replaced(text: str, old: Any, new: Any, count: Any = -1) -> Arguments:
    _replace(text, old, new, count)
    return (old, new, count)


METHODS: Mapping[str, Callable[..., Arguments]] = {
    "center": _padded,
    "expandtabs": _expanded,
    "join": _joined,
    "ljust": _padded,
    "replace": _replaced,
    "rjust": _padded,
    "zfill": _padded,
}

CHEAP_FILTERS = frozenset({"string", "trim", "truncate"})
CHEAP_METHODS = frozenset(
    {
        "count",
        "endswith",
        "find",
        "index",
        "lstrip",
        "rfind",
        "rindex",
        "rstrip",
        "startswith",
        "strip",
    }
)
"""What only looks at a text, as fast as it can be copied."""
