"""What differs between two requests, in words a person can act on.

Only what differs is shown: which turn of the conversation and which words in it, which setting, which place
in a schema. Chinese, Japanese and Korean text is compared character by character, other text word by word.
Runs only after a miss, and does a bounded amount of work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from callbench.cassette import jsontext
from callbench.cassette.interaction import Request

MOST_DIFFERENCES = 8
"""Further differences are only counted."""

CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]+|\s+|.", re.DOTALL)
_CONTEXT = 30
_LONGEST_SNIPPET = 160
_MOST_TOKENS = 1500
_MOST_CHANGES = 12
"""Further changes of one text are only counted."""
_SENTENCE = re.compile(r"[^\n.!?。！？]*[\n.!?。！？]+|[^\n.!?。！？]+")
_SCHEMA_ROOTS = frozenset({"schema", "parameters", "input_schema"})


def differences(recorded: Request, asked: Request) -> list[str]:
    """One line per difference, ``recorded`` on the left; an empty list when there is none."""
    found = list(_requests(recorded, asked))
    if len(found) > MOST_DIFFERENCES:
        rest = len(found) - MOST_DIFFERENCES
        found[MOST_DIFFERENCES:] = [f"… and {rest} more difference{'s' if rest > 1 else ''}"]
    return found


def text_difference(old: str, new: str) -> str:
    """The differing words of two texts as ``…before [-old-]{+new+} after…``, on one line."""
    hunks = [hunk for hunk in _hunks(old, new) if hunk != ("", "")]
    changes = [number for number, (before, after) in enumerate(hunks) if before != after]
    if not changes:
        return _shorten(old).replace("\n", "⏎")
    rest = len(changes) - _MOST_CHANGES
    if rest > 0:
        hunks = hunks[: changes[_MOST_CHANGES]]
    parts: list[str] = []
    for number, (before, after) in enumerate(hunks):
        if before == after:
            parts.append(_elide(before, first=number == 0, last=number == len(hunks) - 1))
        else:
            parts.append(f"[-{_shorten(before)}-]" if before else "")
            parts.append(f"{{+{_shorten(after)}+}}" if after else "")
    if rest > 0:
        parts.append(f" and {rest} more change{'s' if rest > 1 else ''}")
    return "".join(parts).replace("\n", "⏎")


def _requests(old: Request, new: Request) -> Iterator[str]:
    if old.method != new.method:
        yield f"method: {old.method} -> {new.method}"
    if old.path != new.path:
        yield f"path: {old.path} -> {new.path}"
    if old.body == new.body:
        return
    before, after = old.json(), new.json()
    if isinstance(before, dict) and isinstance(after, dict):
        found = list(_objects(before, after, ()))
        yield from found or ["body: the same values, written in another way"]
    else:
        yield f"body: {_bodies(old.body, new.body)}"


def _bodies(old: bytes, new: bytes) -> str:
    try:
        return text_difference(old.decode(), new.decode())
    except UnicodeDecodeError:
        return f"{len(old)} bytes -> {len(new)} bytes"


# --- values ---------------------------------------------------------------------------------------

_Path = tuple[str | int, ...]


def _values(old: Any, new: Any, path: _Path) -> Iterator[str]:
    if type(old) is type(new) and old == new and not isinstance(old, (dict, list)):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _objects(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, path)
    elif isinstance(old, str) and isinstance(new, str) and len(old) + len(new) > 2 * _CONTEXT:
        yield f'{_place(path)}: "{text_difference(old, new)}"'
    else:
        yield f"{_place(path)}: {_show(old)} -> {_show(new)}"


def _objects(old: dict[str, Any], new: dict[str, Any], path: _Path) -> Iterator[str]:
    for name, value in old.items():
        if name not in new:
            yield f"{_place((*path, name))}: {_show(value)} -> not given"
        elif path == () and name == "messages":
            yield from _messages(value, new[name])
        else:
            yield from _values(value, new[name], (*path, name))
    for name, value in new.items():
        if name not in old:
            yield f"{_place((*path, name))}: not given -> {_show(value)}"
    if path and old.keys() == new.keys() and list(old) != list(new):
        yield f"{_place(path)}: order of members: {', '.join(old)} -> {', '.join(new)}"


def _lists(old: list[Any], new: list[Any], path: _Path) -> Iterator[str]:
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        yield from _values(before, after, (*path, index))
    for index, gone in enumerate(old[len(new) :], len(new)):
        yield f"{_place((*path, index))}: {_show(gone)} -> not given"
    for index, come in enumerate(new[len(old) :], len(old)):
        yield f"{_place((*path, index))}: not given -> {_show(come)}"


def _messages(old: Any, new: Any) -> Iterator[str]:
    """Conversations are aligned first: a turn put in is one difference, not all turns after it."""
    if not isinstance(old, list) or not isinstance(new, list):
        yield from _values(old, new, ("messages",))
        return
    matcher = SequenceMatcher(
        None, [_frozen(turn) for turn in old], [_frozen(turn) for turn in new], autojunk=False
    )
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind == "equal":
            continue
        pairs = min(old_to - old_from, new_to - new_from)
        for offset in range(pairs):
            yield from _turns(old[old_from + offset], new[new_from + offset], new_from + offset)
        for index in range(old_from + pairs, old_to):
            yield f"{_turn_name(old[index], index)}: {_show_turn(old[index])} -> not given"
        for index in range(new_from + pairs, new_to):
            yield f"{_turn_name(new[index], index)}: not given -> {_show_turn(new[index])}"


def _turns(old: Any, new: Any, index: int) -> Iterator[str]:
    name = _turn_name(new, index)
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield from _values(old, new, (name,))
        return
    for field in dict.fromkeys((*old, *new)):
        place = (name,) if field == "content" else (name, field)
        if field not in old:
            yield f"{_place(place)}: not given -> {_show(new[field])}"
        elif field not in new:
            yield f"{_place(place)}: {_show(old[field])} -> not given"
        else:
            yield from _values(old[field], new[field], place)


def _turn_name(turn: Any, index: int) -> str:
    role = turn.get("role") if isinstance(turn, dict) else None
    return f"messages[{index}] ({role})" if isinstance(role, str) else f"messages[{index}]"


def _show_turn(turn: Any) -> str:
    content = turn.get("content") if isinstance(turn, dict) else None
    return _show(content if content is not None else turn)


def _frozen(value: Any) -> bytes:
    return jsontext.dumps(value)


def _place(path: _Path) -> str:
    """``response_format.json_schema.schema/properties/city``: dots outside a schema, a pointer inside."""
    text = ""
    in_schema = False
    for step in path:
        if isinstance(step, int) and not in_schema:
            text += f"[{step}]"
        elif in_schema:
            text += f"/{step}"
        else:
            text += f".{step}" if text else str(step)
        in_schema = in_schema or step in _SCHEMA_ROOTS
    return text


def _show(value: Any) -> str:
    return _shorten(jsontext.dumps(value).decode())


def _shorten(text: str) -> str:
    if len(text) <= _LONGEST_SNIPPET:
        return text
    half = _LONGEST_SNIPPET // 2
    return f"{text[:half]}…{text[-half:]}"


# --- texts ----------------------------------------------------------------------------------------


def _hunks(old: str, new: str) -> Iterator[tuple[str, str]]:
    """The stretches of two texts in turn, equal or not; coarse where too much differs."""
    words_old, words_new = _TOKEN.findall(old), _TOKEN.findall(new)
    head = _common(words_old, words_new)
    tail = _common(words_old[head:][::-1], words_new[head:][::-1])
    middle_old = words_old[head : len(words_old) - tail]
    middle_new = words_new[head : len(words_new) - tail]
    start, end = "".join(words_old[:head]), "".join(words_old[len(words_old) - tail :])
    if start:
        yield start, start
    yield from _middle(middle_old, middle_new)
    if tail:
        yield end, end


def _middle(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    if max(len(old), len(new)) > _MOST_TOKENS:
        yield from _sentences(old, new)
    else:
        yield from _words(old, new)


def _sentences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is too long for words: sentences are aligned first, then the words of those that differ."""
    one, other = _SENTENCE.findall("".join(old)), _SENTENCE.findall("".join(new))
    if max(len(one), len(other)) > _MOST_TOKENS:
        yield "".join(old), "".join(new)
        return
    for kind, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        before, after = "".join(one[a:b]), "".join(other[c:d])
        if kind == "replace" and b - a == d - c:
            for sentence, changed in zip(one[a:b], other[c:d], strict=True):
                yield from _changed(sentence, changed)
        elif kind == "replace":
            yield from _changed(before, after)
        else:
            yield before, after


def _changed(old: str, new: str) -> Iterator[tuple[str, str]]:
    words = _TOKEN.findall(old), _TOKEN.findall(new)
    if max(map(len, words)) > _MOST_TOKENS:
        yield old, new
    else:
        yield from _words(*words)


def _words(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    before = after = ""  # the change under way: a mere space between two changes belongs to both
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        text_old, text_new = "".join(old[a:b]), "".join(new[c:d])
        if kind == "equal" and not text_old.isspace():
            yield before, after
            yield text_old, text_new
            before = after = ""
        else:
            before += text_old
            after += text_new
    yield before, after


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many elements two sequences share at their start."""
    return next(
        (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _elide(text: str, *, first: bool, last: bool) -> str:
    """The ends of an equal stretch that touch a change; whole words where there are any."""
    keep = (0 if first else _CONTEXT) + (0 if last else _CONTEXT)
    if len(text) <= keep:
        return text
    head = "" if first else text[:_CONTEXT]
    tail = "" if last else text[-_CONTEXT:]
    if " " in head[_CONTEXT // 2 :]:
        head = head[: head.rindex(" ")]
    if " " in tail[: _CONTEXT // 2]:
        tail = tail[tail.index(" ") + 1 :]
    return f"{head}…{tail}"
