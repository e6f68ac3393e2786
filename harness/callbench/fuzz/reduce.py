"""The last steps of shrinking: smaller inputs near one, tried while they keep what is wanted.

Hypothesis shrinks what its strategies drew; what an edit made, and what a strategy cannot leave out, is
reduced here. The type of every value stays, so that an input stays one the operation is meant for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from callbench.fuzz.edits import Path, put
from callbench.peer.values import encode

OPTIONAL = frozenset({"base", "optional", "repair", "call"})
"""Members of an input that may be left out; any other is needed."""

_TEMPLATES = ("prompt", "user_prompt", "system_prompt")
"""They stay whole: a part of a template is another template, maybe none the contract speaks of."""

_FIXED = ("vars", "now")
"""Without it a prompt shows the time it is."""


def size(given: dict[str, Any]) -> int:
    """Return how long an input is when written; what is reduced becomes shorter by this."""
    return len(json.dumps(given, ensure_ascii=False, default=encode))


def reduced(
    given: dict[str, Any], holds: Callable[[dict[str, Any]], bool], most: int
) -> dict[str, Any]:
    """Return the smallest input found for which ``holds``, after at most ``most`` tries."""
    tries = 0
    progress = True
    while progress:
        progress = False
        for candidate in _renamed(given):
            if tries < most and size(candidate) < size(given):
                tries += 1
                if holds(candidate):
                    given, progress = candidate, True
                    break
        for path in list(_paths(given)):
            # Paths go stale as the input shrinks; the next round has fresh ones.
            found, value = _look(given, path)
            if not found:
                continue
            for change in _changes(value, path):
                if tries >= most:
                    return given
                candidate = put(given, path, change)
                if size(candidate) > size(given) or candidate == given:
                    continue
                tries += 1
                if holds(candidate):
                    given, progress = candidate, True
                    break
    return given


def _renamed(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield inputs with one text of it replaced by a letter wherever it stands, in names too."""
    known = set(_texts(given))
    short = next((name for name in "abcde" if name not in known), None)
    if short is None:
        return
    for old in sorted(known, key=lambda text: (-len(text), text)):
        if len(old) > 1 and old not in _FIXED:
            yield {name: _replaced(value, old, short) for name, value in given.items()}


def _texts(value: Any) -> Iterator[str]:
    for path in _paths(value):
        found, child = _look(value, path)
        if len(path) > 1 and isinstance(path[-1], str):
            yield path[-1]
        if found and isinstance(child, str):
            yield child


def _replaced(value: Any, old: str, new: str) -> Any:
    match value:
        case str():
            return value.replace(old, new)
        case list():
            return [_replaced(child, old, new) for child in value]
        case dict():
            return {
                name.replace(old, new): _replaced(child, old, new) for name, child in value.items()
            }
    return value


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of everything in ``value``, containers before what they hold."""
    children = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        children = reversed(list(enumerate(value)))
    for token, child in children:
        yield (*path, token)
        yield from _paths(child, (*path, token))


def _look(value: Any, path: Path) -> tuple[bool, Any]:
    for token in path:
        known = isinstance(value, dict) and token in value
        known = known or (isinstance(value, list) and isinstance(token, int) and token < len(value))
        if not known:
            return False, None
        value = value[token]
    return True, value


def _changes(value: Any, path: Path) -> Iterator[Callable[[Any, Any], None]]:
    if path in (_FIXED, _FIXED[:1]):
        return
    if len(path) > 1 or path[0] in OPTIONAL:
        yield _drop
    if path[-1] not in _TEMPLATES:
        yield from map(_setting, _simpler(value))
    if len(path) > 2 and isinstance(path[-1], str) and path[-1] != "a":
        yield _rename


def _drop(container: Any, token: Any) -> None:
    del container[token]


def _setting(value: Any) -> Callable[[Any, Any], None]:
    def change(container: Any, token: Any) -> None:
        container[token] = value

    return change


def _rename(container: Any, token: Any) -> None:
    if isinstance(container, dict) and "a" not in container:
        members = [("a" if key == token else key, child) for key, child in container.items()]
        container.clear()
        container.update(members)


def _simpler(value: Any) -> Iterator[Any]:
    """Yield simpler values of the same type, the simplest first."""
    match value:
        case bool():
            return
        case int():
            yield from (n for n in (0, 1, 2) if n < abs(value))
        case float():
            yield from (n for n in (0.5, 1.5) if value not in (0.5, n))
        case str():
            yield from _shorter(value)
        case bytes():
            yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
        case dict():
            yield {}
            yield from (child for child in value.values() if isinstance(child, dict))
        case list():
            yield []
            yield from (child for child in value if isinstance(child, list))
            half = len(value) // 2
            if half > 1:
                yield value[half:]
                yield value[:half]


def _shorter(text: str) -> Iterator[str]:
    if not text:
        return
    yield ""
    length = len(text)
    step = length // 2
    while step:
        for start in range(0, length, step):
            yield text[:start] + text[start + step :]
        step //= 2
    if length < 40:
        yield from (
            text[:at] + "a" + text[at + 1 :] for at in range(length) if not text[at].isascii()
        )
