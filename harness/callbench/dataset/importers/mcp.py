"""Tools of an MCP server: a saved answer to ``tools/list`` gives the schemas.

The file is the JSON-RPC answer (``{"result": {"tools": […]}}``), its result, or a list of such pages.
It has no questions, so ``--questions FILE`` names JSON Lines (or one JSON array) of

    {"tool": "get_weather", "question": "…", "expected": {…}}

with ``id`` (else the record's number), ``lang`` (else the question tells) and any other field of a case, as
``accept``, ``now``, ``facts`` or ``unfillable``. ``tool`` is the name of a tool of the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Draft, Excluded, Item, Source
from callbench.dataset.importers.records import case_record, language
from callbench.dataset.importers.types import draft7
from callbench.errors import DatasetError, UsageError

_LINE = '{"tool": "get_weather", "question": "…", "expected": {"city": "Oslo"}}'


class Mcp:
    """Reads a saved tools/list answer and questions for its tools."""

    name = "mcp"
    summary = "a saved MCP tools/list answer, with questions for its tools (--questions)"
    licence = ""

    def read(self, source: Source) -> Iterator[Item]:
        """Yield one item for every question."""
        named = source.extra.get("questions")
        questions = named.given if named else None
        if questions is None:
            raise UsageError(
                "A tools/list answer has schemas and no questions: name a file with --questions.",
                remedy=f"One JSON object a line, as in {_LINE}.",
            )
        tools = _tools(source)
        for number, entry in questions.records():
            origin = f"{questions.name}#{number}"
            if not isinstance(entry, dict) or not {"tool", "question", "expected"} <= entry.keys():
                raise DatasetError(
                    f"{questions.full}:{number}: a question needs tool, question and expected.",
                    remedy=f"As in {_LINE}.",
                )
            yield _item(entry, origin, number, tools)


def _item(
    entry: dict[str, Any], origin: str, number: int, tools: dict[str, dict[str, Any]]
) -> Item:
    fields = dict(entry)
    called = str(fields.pop("tool"))
    tool = tools.get(called)
    if tool is None:
        return Excluded(origin, "unknown-tool", f'There is no tool "{called}" in the list.')
    question, name = fields.pop("question"), str(fields.pop("id", number))
    base = {
        "id": name,
        "lang": fields.pop("lang", None) or language(str(question)),
        "question": question,
        "cluster": fields.pop("cluster", name),
    }
    tags = ["mcp", *fields.pop("tags", [])]
    schema = draft7(tool.get("inputSchema", tool.get("input_schema")))
    return Draft(
        origin, case_record(base, tool, schema, fields.pop("expected"), **fields, tags=tags)
    )


def _tools(source: Source) -> dict[str, dict[str, Any]]:
    files = [source.given] if source.given else source.files("*.json")
    found: dict[str, dict[str, Any]] = {}
    for member in files:
        pages = member.json()
        for page in pages if isinstance(pages, list) else [pages]:
            inner = page.get("result", page) if isinstance(page, dict) else None
            if isinstance(page, dict) and page.get("error"):
                raise DatasetError(
                    f"{member.full}: the server answered with an error: {_reason(page['error'])}.",
                    remedy="Ask it for tools/list again and save that answer.",
                )
            tools = inner.get("tools", [inner]) if isinstance(inner, dict) else None
            if not isinstance(tools, list) or not all(
                isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools
            ):
                raise DatasetError(
                    f"{member.full}: no answer to tools/list: there is no list of tools in it.",
                    remedy='As in {"result": {"tools": [{"name", "description", "inputSchema"}]}}.',
                )
            for tool in tools:
                if tool["name"] in found:
                    raise DatasetError(
                        f'{member.full}: the tool "{tool["name"]}" stands twice.',
                        remedy="Keep one of the two.",
                    )
                found[tool["name"]] = tool
    return found


def _reason(error: Any) -> str:
    """Return what a JSON-RPC error says."""
    return str(error.get("message", error) if isinstance(error, dict) else error).rstrip(".")
