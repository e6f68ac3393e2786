"""Neighbors of a value: small edits, which cost a thousandth of a draw and lie where faults lie.

Each function takes a number ``turn`` that chooses among the edits; the same turn gives the same ones.
Results share what was not edited with the value; nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

Path = tuple[str | int, ...]

_MOST_PLACES = 400

_ODD: tuple[Any, ...] = (None, "", 0, False, [], {}, "a", 1, True, "null", "0", -1, [1], {"a": 1})
_ODD_NAMES = ("a", "b", "", "0", "~1", "a/b", "m~n", "城市", "/a", "-", "01", "required")
_PIECES = (
    '"', "{", "}", "[", "]", ",", ":", "\\", "\n", "\r", " ", "0", "-", "/", "~", "~1", "~01", "'",
    "{}", "```", "<think>", "</think>", '{"a": 1}', "\\u00e9", "\ufeff", "null", "1e2", "//", "城", "😀",
)  # fmt: skip


def edited(value: Any, turn: int, count: int) -> list[Any]:
    """Return up to ``count`` values, each of which differs from the JSON value in one place.

    A member or an item is dropped, doubled, renamed, put under another, or is another value; the
    root stays what it is.
    """
    places = list(islice(_places(value), _MOST_PLACES))
    if not places:
        return []
    found: list[Any] = []
    for number in range(count):
        path = places[(turn + 7 * number) % len(places)]
        edit = _EDITS[(turn // 3 + number) % len(_EDITS)]
        found.append(_with(value, path, edit, turn + number))
    return found


def edited_texts(text: str, turn: int, count: int) -> list[str]:
    """Return ``count`` texts near to ``text``: cut, with a piece left out, put in, or doubled."""
    found: list[str] = []
    for number in range(count):
        place = (turn + 11 * number) % (len(text) + 1)
        piece = _PIECES[(turn // 5 + number * 3) % len(_PIECES)]
        match (turn // 2 + number) % 4:
            case 0:
                found.append(text[:place] + piece + text[place:])
            case 1:
                found.append(text[:place] + text[place + 1 :])
            case 2:
                found.append(text[:place])
            case _:
                found.append(text[:place] + piece + text[place + 1 :])
    return found


def near_text(text: str, turn: int) -> str:
    """Return a text near to ``text``: as long, in other letters, or edited."""
    match turn % 7:
        case 0:
            return "😀" * len(text)  # as long in code points, in nothing else
        case 1:
            return text.swapcase()
        case 2:
            return f"{text} "
    return edited_texts(text, turn, 1)[0]


def put(value: Any, path: Path, change: Callable[[Any, Any], None]) -> Any:
    """Return ``value`` with the container of ``path`` copied and changed: ``change(copy, token)``."""
    *before, last = path
    root = copied = _copy(value)
    for token in before:
        copied[token] = _copy(copied[token])
        copied = copied[token]
    change(copied, last)
    return root


def _copy(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else list(value)


def _places(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield (*path, name)
            yield from _places(child, (*path, name))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield (*path, index)
            yield from _places(child, (*path, index))


def _with(value: Any, path: Path, edit: _Edit, turn: int) -> Any:
    return put(value, path, lambda container, token: edit(container, token, turn))


_Edit = Callable[[Any, Any, int], None]


def _drop(container: Any, token: Any, _: int) -> None:
    del container[token]


def _odd(container: Any, token: Any, turn: int) -> None:
    container[token] = _ODD[turn % len(_ODD)]


def _near(container: Any, token: Any, turn: int) -> None:
    value = container[token]
    match value:
        case bool():
            container[token] = not value
        case int():
            container[token] = value + (1 if turn % 2 else -1)
        case str():
            container[token] = near_text(value, turn)
        case dict():
            container[token] = {**value, _ODD_NAMES[turn % len(_ODD_NAMES)]: 1}
        case list():
            container[token] = [*value, *value[:1]] if value else [None]
        case _:
            container[token] = _ODD[turn % len(_ODD)]


def _wrap(container: Any, token: Any, turn: int) -> None:
    value = container[token]
    container[token] = [value] if turn % 2 else {"a": value}


def _rename(container: Any, token: Any, turn: int) -> None:
    if isinstance(container, dict):
        name = _ODD_NAMES[turn % len(_ODD_NAMES)]
        members = [(name if key == token else key, child) for key, child in container.items()]
        container.clear()
        container.update(members)
    else:
        container[token], container[0] = container[0], container[token]


_EDITS: tuple[_Edit, ...] = (_drop, _odd, _near, _odd, _rename, _near, _odd, _wrap)
