"""Finding the answer object in what a model wrote.

The rules, in the order they apply:

1. A reply that is JSON as a whole is that value; nothing in its strings is looked at.
2. Otherwise one scan from left to right. Fences and prose are text. ``<think>`` starts a
   thought that ends at the next ``</think>`` or, without one, at the end; a ``</think>``
   that closes nothing makes everything before it a thought. Tags inside the strings of a
   JSON value are part of the value.
3. ``{`` begins an object when ``}`` or a string and a colon follow, else it is text.
   ``{name:`` and ``{'name':`` begin a malformed one if a bracket closes it, else are text.
   ``[`` begins an array when only JSON follows up to its end, or such an object comes first.
4. A value reaches to where its brackets balance, strings respected. One that is malformed is
   skipped whole, one that never closes reaches to the end: its inner objects are no answer.
5. The last object wins.

Contract: reply.scan.1, reply.scan.2, reply.scan.3, reply.scan.4, reply.scan.5, reply.scan.6,
reply.scan.7, reply.scan.8, reply.scan.9, reply.thought.1, reply.thought.2, reply.thought.3,
reply.thought.4, reply.thought.5, reply.thought.6, reply.thought.7, reply.thought.8,
reply.process.5.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .jsontext import BLANK, OPEN_STRING, STRING, duplicate_keys, loads
from .repair import Repaired, repair_object

__all__ = ["ParsedReply", "loads", "parse_arguments", "parse_reply", "process_response"]

_B = r"[ \t\r\n]*+"
# A brace that nothing of an object follows is not even looked at: texts of braces are read at once.
_IN_TEXT = re.compile(rf"\{{(?={_B}(?:[}}\"'‘“]|[^\W\d]))|\[|</?think>")
_OBJECT = re.compile(rf"(?:\[{_B})*+\{{{_B}(?:\}}|{STRING}{_B}:)", re.DOTALL)
_LOOSE_OBJECT = re.compile(
    rf"(?:\[{_B})*+\{{{_B}(?:[^\W\d][\w-]*+|'(?:[^'\\\n]|\\.)*+'|‘[^‘’\n]*+’|“[^“”\n]*+”){_B}:"
)
_STRUCTURE = re.compile(OPEN_STRING + r"|[{}\[\]]|</?think>", re.DOTALL)
# The same in a Python dict, where an apostrophe begins a string as well.
_PYTHON_STRUCTURE = re.compile(
    rf"{OPEN_STRING}|{OPEN_STRING.replace(chr(34), chr(39))}|[{{}}\[\]]|</?think>", re.DOTALL
)
_JSON_TOKEN = re.compile(
    rf"[ \t\r\n,:]++|{OPEN_STRING}|[{{}}\[\]]|-?[0-9][0-9.eE+-]*+|true|false|null", re.DOTALL
)
_JSON_START = frozenset('{["-0123456789tfn')
_OPENING, _CLOSING = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply holds.

    ``object`` is the answer, ``None`` when there is none, and then ``problem`` says why in
    words a model can act on. ``text`` is the JSON text of the answer as the model wrote it,
    or, after a repair, as it was mended. ``repairs`` names the repairs made, ``duplicates``
    the keys that stand more than once in one object (the last value counts).
    """

    object: dict[str, Any] | None
    text: str = ""
    repairs: tuple[str, ...] = ()
    problem: str = ""
    duplicates: tuple[str, ...] = ()


def process_response(text: str) -> str:
    """Return the JSON text of the answer object in ``text``, or ``"{}"``.

    Contract: reply.process.1, reply.process.2.
    """
    return parse_reply(text).text or "{}"


def parse_reply(text: str, *, repair: bool = False) -> ParsedReply:
    """Find the answer object in a reply; never raises on any text.

    With ``repair`` a malformed object is mended when no valid one was found, see
    :mod:`corecall.repair`. Valid JSON is never touched.

    Contract: reply.process.3, reply.process.4, reply.repair.1.
    """
    body = text.strip(BLANK)
    if not body:
        return ParsedReply(None, problem=_emptiness(text))
    if body[0] in _JSON_START:
        try:
            return _of_value(body, loads(body))
        except ValueError:
            pass  # not JSON as a whole: the scan looks for JSON inside
    found = _scan(body)
    if found.answer is not None:
        answer_text, value = found.answer
        return _of_value(answer_text, value)
    if repair and (mended := _mend(body, found)):
        return mended
    return ParsedReply(None, problem=found.problem())


def parse_arguments(text: str, *, repair: bool = False) -> ParsedReply:
    """Read the arguments of a tool call: one object and nothing else.

    Blank arguments and ``null`` are how endpoints write a call without arguments, so both are
    ``{}``. Never raises on any text.

    Contract: reply.tool.3, reply.tool.4, reply.tool.5.
    """
    body = text.strip(BLANK)
    if body in ("", "null"):
        return ParsedReply({}, "{}")
    try:
        value = loads(text)
    except ValueError as error:
        mended = repair_object(body, alone=True) if repair else None
        if mended is None:
            return ParsedReply(None, problem=f"the arguments are malformed: {error}")
        return _of_repair(mended)
    return _of_value(body, value, "the arguments are")


@dataclass(slots=True)
class _Found:
    """What one scan saw after the last thought."""

    answer: tuple[str, dict[str, Any]] | None = None
    other: str = ""
    malformed: list[tuple[int, str]] = field(default_factory=list)
    end: int = 0
    thought: bool = False

    def problem(self) -> str:
        if self.malformed:
            return self.malformed[-1][1]
        if self.other:
            return f"the reply holds {self.other}, not an object"
        if self.thought:
            return "the reply holds a thought and no JSON object after it"
        return "the reply holds no JSON object"


def _scan(text: str) -> _Found:
    """Collect the top-level JSON values of ``text``, in time linear in its length."""
    found = _Found(end=len(text))
    text_until = 0  # where loose objects are text: each one's end would be looked for anew
    position = 0
    while opener := _IN_TEXT.search(text, position):
        start, position = opener.span()
        if opener[0] == _CLOSING:
            found = _Found(end=len(text), thought=True)
            continue
        if opener[0] == _OPENING:
            found.thought = True
            close = text.find(_CLOSING, position)
            if close < 0:
                found.end = start
                break
            position = close + len(_CLOSING)
            continue
        if _OBJECT.match(text, start):
            end, closed = _balance(text, start)
        elif start >= text_until and (name := _LOOSE_OBJECT.match(text, start)):
            structure = _PYTHON_STRUCTURE if "'" in name[0] else _STRUCTURE
            end, closed = _balance(text, start, structure)
            if not closed:
                text_until = end
                found.malformed.append((start, "the JSON object is malformed and never closes"))
                continue
        elif opener[0] == "[":
            end, closed = _array(text, start)
            if not closed:
                position = _back_to_thought_end(text, start, end)
                continue
        else:
            continue
        if not closed:
            found.malformed.append((start, "the JSON is cut off: its brackets never close"))
            position = _back_to_thought_end(text, start, end)
            continue
        whole = _read(text[start:end], start, found)
        position = end if whole else _back_to_thought_end(text, start, end)
    return found


def _read(text: str, start: int, found: _Found) -> bool:
    """Note what the value at ``start`` is; say whether it is JSON."""
    try:
        value = loads(text)
    except ValueError as error:
        found.malformed.append((start, f"the JSON is malformed: {error}"))
        return False
    if isinstance(value, dict):
        found.answer = (text, value)
    else:
        found.other = "a JSON array"
    return True


def _balance(text: str, start: int, structure: re.Pattern[str] = _STRUCTURE) -> tuple[int, bool]:
    """Return the end of the value at ``start`` and whether its brackets closed there.

    A thought tag between tokens ends the search: no value holds one.
    """
    depth = 0
    for token in structure.finditer(text, start):
        match text[token.start()]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    return token.end(), True
            case "<":
                return token.start(), False
    return len(text), False


def _array(text: str, start: int) -> tuple[int, bool]:
    """Like :func:`_balance`, for an array; also ends where something is no JSON token."""
    depth, position = 0, start
    while token := _JSON_TOKEN.match(text, position):
        position = token.end()
        match token[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    return position, True
    return position, False


def _back_to_thought_end(text: str, start: int, end: int) -> int:
    """Where to go on after a value that is none: a stray quote may hide a thought's end."""
    close = text.rfind(_CLOSING, start, end)
    return end if close < 0 else close


def _mend(text: str, found: _Found) -> ParsedReply | None:
    """Mend the last malformed object that can be; each part of the text is read once.

    Contract: reply.repair.13, reply.repair.14.
    """
    end = found.end
    for start, _ in reversed(found.malformed):
        if mended := repair_object(text[start:end]):
            return _of_repair(mended)
        end = start
    return None


def _of_value(text: str, value: Any, subject: str = "the reply is") -> ParsedReply:
    if isinstance(value, dict):
        return ParsedReply(value, text, (), "", duplicate_keys(text, value))
    return ParsedReply(None, problem=f"{subject} {_KINDS[type(value)]}, not an object")


def _of_repair(mended: Repaired) -> ParsedReply:
    text = json.dumps(mended.object, ensure_ascii=False)
    return ParsedReply(mended.object, text, mended.repairs, "", mended.duplicates)


def _emptiness(text: str) -> str:
    return "the reply is only whitespace" if text else "the reply is empty"


_KINDS = {
    list: "a JSON array",
    str: "a JSON string",
    bool: "a JSON boolean",
    int: "a JSON number",
    float: "a JSON number",
    type(None): "JSON null",
}
