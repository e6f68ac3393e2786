"""Tables: CSV or Parquet, with a mapping that says which column is which field of a case.

The mapping is TOML (``--mapping FILE``)::

    schema_file = "tool.json"        # the schema of all cases, beside this file; or map a column
    delimiter = ","                  # CSV only

    [columns]                        # field of a case = column
    id = "case"
    question = "utterance"
    expected = "arguments"           # a JSON object; or give [expected]

    [expected]                       # parameter, or its pointer = column; typed by the schema
    city = "city"
    "/range/max" = "max_price"

    [constants]                      # field of a case = the same value for every row
    "tool.name" = "find_hotel"
    lang = "en"
    tags = ["hotels"]

Fields are those of a case, ``tool.name`` and ``tool.description`` included. A field that is no text is read
as JSON, ``facts`` and ``tags`` also as one text. An empty cell, or null in Parquet, means that the field
or parameter is not given; a cell of an argument that does not fit its type is kept as text, a defect.
``lang`` is told by the question where it is not mapped, ``id`` is the row's number.
"""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from callbench.dataset.checks import case_schema, nearest
from callbench.dataset.importers.base import Draft, Excluded, Item, Member, Source
from callbench.dataset.importers.records import language
from callbench.dataset.importers.source import loads
from callbench.dataset.importers.types import draft7
from callbench.dataset.tooling import tooling
from callbench.errors import DatasetError, UsageError
from corecall.slot.processor import DataError, SchemaError

_TEXTS = ("id", "lang", "question", "summary", "now", "cluster", "tool.name", "tool.description")
_LONGEST_CELL = 2**27
_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Columns:
    """What a mapping file says."""

    columns: dict[str, str]
    expected: dict[str, str]
    constants: dict[str, Any]
    schema: dict[str, Any] | None
    delimiter: str

    def wanted(self) -> set[str]:
        """Return the columns it names."""
        return {*self.columns.values(), *self.expected.values()}


class _Table:
    licence = ""
    name = ""

    def read(self, source: Source) -> Iterator[Item]:
        """Yield one item for every row."""
        mapping = _mapping(source, self.name)
        for member in [source.given] if source.given else source.files(*self.patterns()):
            for number, row in self.rows(member, mapping):
                yield _item(row, f"{member.name}#{number}", number, mapping)

    def patterns(self) -> tuple[str, ...]:
        raise NotImplementedError

    def rows(self, member: Member, mapping: Columns) -> Iterator[tuple[int, dict[str, Any]]]:
        raise NotImplementedError


class Csv(_Table):
    """Reads comma separated values with a header."""

    name = "csv"
    summary = "a table with a header, and a mapping of its columns (--mapping)"

    def patterns(self) -> tuple[str, ...]:
        """Return the names of such files."""
        return ("*.csv", "*.tsv")

    def rows(self, member: Member, mapping: Columns) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each row with the number of the line it ends on."""
        csv.field_size_limit(_LONGEST_CELL)  # the module's own: a cell may hold a whole schema
        with member.open() as stream:
            raw = io.BufferedReader(_Raw(stream))
            text = io.TextIOWrapper(raw, "utf-8-sig", newline="")
            reader = csv.reader(text, delimiter=mapping.delimiter, strict=True)
            try:
                header = next(reader, [])
                _columns(member, header, mapping)
                for column in sorted(mapping.wanted()):
                    if header.count(column) > 1:
                        raise DatasetError(
                            f'{member.full}:1: the column "{column}" stands twice.',
                            remedy="Rename one of them, so that the mapping can name it.",
                        )
                for row in reader:
                    if not row:
                        continue
                    if len(row) != len(header):
                        raise DatasetError(
                            f"{member.full}:{reader.line_num}: {len(row)} cells, the header has "
                            f"{len(header)}.",
                            remedy="Quote a cell that holds the delimiter or a line break.",
                        )
                    yield reader.line_num, dict(zip(header, row, strict=True))
            except UnicodeDecodeError as error:
                raise DatasetError(
                    f"{member.full}:{reader.line_num + 1}: {error}.", remedy="Save it as UTF-8 CSV."
                ) from None
            except csv.Error as error:
                raise DatasetError(
                    f"{member.full}:{reader.line_num}: {error}.",
                    remedy='Close every quote, and write a quote inside a cell as "".',
                ) from None


class Parquet(_Table):
    """Reads Parquet in batches."""

    name = "parquet"
    summary = "a Parquet table, and a mapping of its columns (--mapping)"

    def patterns(self) -> tuple[str, ...]:
        """Return the names of such files."""
        return ("*.parquet", "*.pq")

    def rows(self, member: Member, mapping: Columns) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each row with its number from 1."""
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise UsageError(
                "Reading Parquet needs pyarrow.", remedy="pip install 'callbench[parquet]'"
            ) from None
        with member.open() as stream:
            seekable = stream if getattr(stream, "seekable", bool)() else io.BytesIO(member.read())
            try:
                table = parquet.ParquetFile(seekable)
                _columns(member, table.schema_arrow.names, mapping)
                number = 0
                for batch in table.iter_batches(_ROWS, columns=sorted(mapping.wanted())):
                    for row in batch.to_pylist():
                        number += 1
                        yield number, row
            except pyarrow.ArrowException as error:
                raise DatasetError(
                    f"{member.full}: cannot be read as Parquet: {error}.", remedy="Is it whole?"
                ) from error


class _Raw(io.RawIOBase):
    """A stream that only has ``read``, as one out of a zip, made whole for the text layer."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._stream.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def _columns(member: Member, there: list[str], mapping: Columns) -> None:
    for column in sorted(mapping.wanted() - set(there)):
        raise DatasetError(
            f'{member.full}: there is no column "{column}", which the mapping names.',
            remedy=nearest(column, there) or f"Columns: {', '.join(there)}.",
        )


def _mapping(source: Source, name: str) -> Columns:
    named = source.extra.get("mapping")
    member = named.given if named else None
    if member is None:
        raise UsageError(
            f"The importer {name} needs --mapping FILE.toml.",
            remedy='It says which column is which field, as in [columns] question = "utterance".',
        )
    try:
        found = tomllib.loads(member.text())
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{member.full}: not TOML: {error}.", remedy="Mend the file.") from None
    tables = ("columns", "expected", "constants")
    known = (*tables, "schema_file", "delimiter")
    for key, value in found.items():
        if key not in known or (key in tables and not isinstance(value, dict)):
            raise UsageError(
                f'{member.full}: "{key}" is not part of a mapping.',
                remedy=nearest(key, known) or f"It has {', '.join(known)}.",
            )
    columns, constants = found.get("columns", {}), _flat(found.get("constants", {}))
    expected = found.get("expected", {})
    for column in (*columns.values(), *expected.values()):
        if not isinstance(column, str):
            raise UsageError(f"{member.full}: {column!r} is no column's name.", remedy="Quote it.")
    fields = {*case_schema()["properties"], "tool.name", "tool.description"} - {"tool"}
    for field in (*columns, *constants):
        if field not in fields:
            raise UsageError(
                f'{member.full}: a case has no field "{field}".',
                remedy=nearest(field, fields) or f"Fields: {', '.join(sorted(fields))}.",
            )
    schema = None
    if "schema_file" in found:
        beside = member.beside(str(found["schema_file"]))
        if beside is None:
            raise UsageError(
                f"{member.full}: there is no {found['schema_file']} beside it.",
                remedy="schema_file is a path from the mapping's own directory.",
            )
        schema = draft7(beside.json())
    return Columns(columns, expected, constants, schema, str(found.get("delimiter", ",")))


def _flat(constants: Mapping[str, Any]) -> dict[str, Any]:
    """Return constants with ``tool = {name = …}`` written as ``tool.name``."""
    flat = dict(constants)
    tool = flat.pop("tool", None)
    if isinstance(tool, dict):
        flat |= {f"tool.{key}": value for key, value in tool.items()}
    elif tool is not None:
        flat["tool.name"] = tool
    return flat


def _item(row: dict[str, Any], origin: str, number: int, mapping: Columns) -> Item:
    fields: dict[str, Any] = dict(mapping.constants)
    for field, column in mapping.columns.items():
        value = row[column]
        if value is None or value == "":
            continue
        try:
            fields[field] = _field(field, value)
        except ValueError as error:
            return Excluded(origin, "broken-cell", f'Column "{column}": no JSON: {error}.')
    tool = {key[5:]: fields.pop(key) for key in list(fields) if key.startswith("tool.")}
    schema = draft7(fields["schema"]) if "schema" in fields else mapping.schema
    record = {"id": str(number), **fields, "tool": tool}
    if schema is not None:
        record["schema"] = schema
    record.setdefault("lang", language(str(record.get("question", ""))))
    if mapping.expected:
        try:
            record["expected"] = _expected(row, mapping, schema or {}, record.get("expected", {}))
        except SchemaError as error:
            return Excluded(origin, "invalid-schema", f"{error}.")
        except DataError as error:
            return Excluded(origin, "broken-cell", f"{error}.")
    return Draft(origin, record)


def _field(field: str, value: Any) -> Any:
    value = _plain(value)
    if field in _TEXTS:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return value
    if field in ("facts", "tags") and not value.lstrip().startswith("["):
        return [value]
    return loads(value)


def _expected(
    row: dict[str, Any], mapping: Columns, schema: dict[str, Any], known: dict[str, Any]
) -> dict[str, Any]:
    tools = tooling(schema)
    given: dict[str, Any] = {}
    for name, column in mapping.expected.items():
        value = _plain(row[column])
        if value is None or value == "":
            continue
        place = name if name.startswith("/") else "/" + name.replace("~", "~0").replace("/", "~1")
        path = tools.declared.path(place)
        if isinstance(value, str) and not tools.declared.admits_type(path, ""):
            with suppress(ValueError):  # else kept as it stands, and the audit says so
                value = loads(value if value not in ("True", "False") else value.lower())
        given[place] = value
    return tools.processor.convert_json(given, known)


def _plain(value: Any) -> Any:
    """Return a cell as JSON has it."""
    match value:
        case datetime():
            return value.replace(tzinfo=None).isoformat(timespec="seconds")
        case date() | time():
            return value.isoformat()
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value
