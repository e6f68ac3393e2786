"""What importers need to write the line of a case."""

from __future__ import annotations

import re
from typing import Any

from corecall import pointer

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")


def case_record(
    base: dict[str, Any],
    tool: dict[str, Any],
    schema: dict[str, Any],
    expected: dict[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """Return the line of a case, without the fields that are empty.

    ``base`` has ``id``, ``lang``, ``question`` and ``cluster``, and may have ``conversation``, ``facts`` and
    ``now``; ``tool`` is the set's own, with ``name`` and ``description``.
    """
    record = {
        "id": base["id"],
        "lang": base["lang"],
        "tool": {
            "name": str(tool.get("name", "")),
            "description": str(tool.get("description", "")),
        },
        "schema": schema,
        "question": base["question"],
        "conversation": base.get("conversation"),
        "facts": base.get("facts"),
        "summary": base.get("summary"),
        "now": base.get("now"),
        "expected": expected,
        **more,
        "cluster": base["cluster"],
    }
    return {key: value for key, value in record.items() if value or key in ("question", "expected")}


def messages(question: Any) -> list[dict[str, str]] | None:
    """Return the messages of all turns up to the last one of a user, ``None`` without one."""
    if isinstance(question, str):
        return [{"role": "user", "content": question}]
    flat = [
        message
        for turn in (question if isinstance(question, list) else [])
        for message in (turn if isinstance(turn, list) else [turn])
        if isinstance(message, dict)
    ]
    last = max((at for at, each in enumerate(flat) if each.get("role") == "user"), default=None)
    if last is None:
        return None
    return [
        {
            "role": each["role"] if each.get("role") in ("user", "system") else "assistant",
            "content": _content(each.get("content")),
        }
        for each in flat[: last + 1]
    ]


def _content(content: Any) -> str:
    """Return the text of a message, which may also be a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return str(content or "")


def language(text: str) -> str:
    """Return ``zh`` for a text that is mostly Chinese, else ``en``."""
    han = len(_HAN.findall(text))
    if not han or _KANA_HANGUL.search(text):
        return "en"
    return "zh" if han >= len(_LATIN_WORD.findall(text)) else "en"


def declared_places(schema: dict[str, Any]) -> list[str]:
    """Return the pointers of the parameters that a schema declares at its top."""
    members = schema.get("properties")
    return [pointer.join([name]) for name in members] if isinstance(members, dict) else []


def first_place(schema: dict[str, Any], name: str) -> str | None:
    """Return the pointer of the parameter of this name, outermost first, dots as levels.

    In a list it is that of the first item.
    """
    queue: list[tuple[list[str], Any]] = [([], schema)]
    while queue:
        path, node = queue.pop(0)
        if not isinstance(node, dict):
            continue
        members = node.get("properties")
        if isinstance(members, dict):
            if name in members:
                return pointer.join([*path, name])
            queue += [([*path, key], member) for key, member in members.items()]
        queue.append(([*path, "0"], node.get("items")))
    head, dot, rest = name.partition(".")
    members = schema.get("properties")
    if dot and isinstance(members, dict) and isinstance(members.get(head), dict):
        inner = first_place(members[head], rest)
        return None if inner is None else pointer.join([head]) + inner
    return None
