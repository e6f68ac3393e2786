"""Reading what a run left on disk: ``run.json`` and the append-only ``cases.jsonl``."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callbench.errors import DatasetError, UsageError

LOG = "cases.jsonl"
INFO = "run.json"

_KEYS = frozenset(
    {
        "id",
        "lang",
        "tags",
        "question",
        "status",
        "exact",
        "exact_strict",
        "schema_valid",
        "repaired",
        "slots",
        "calls",
        "prompt_tokens",
        "completion_tokens",
        "timing",
    }
)


class TruncatedRunWarning(UserWarning):
    """The last line of a run log was cut off, as by a kill or a full disk; it was left out."""


def read_info(directory: Path) -> dict[str, Any]:
    """Return ``run.json`` of a run directory. Raises :class:`UsageError` when it is no run."""
    path = directory / INFO
    try:
        info = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(
            f"{directory} is not a run: it has no {INFO}.",
            remedy="Give the directory that callbench run wrote, as in reports/<run-id>.",
        ) from None
    except ValueError as error:
        raise DatasetError(f"{path} is not JSON: {error}.") from None
    if not isinstance(info, dict):
        raise DatasetError(f"{path} does not hold an object.")
    return info


def not_a_record(path: Path, number: int) -> DatasetError:
    """Return the error for a line that is JSON but holds no case."""
    return DatasetError(
        f"{path}:{number}: not the record of a case.",
        remedy="The file was edited, or written by another version of callbench.",
    )


def iter_records(directory: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a run one at a time, in the order the cases ended.

    A last line that was cut off is left out with a :class:`TruncatedRunWarning`. Any other broken
    line, and a case that stands twice, is a :class:`DatasetError` with its number. In a run that
    asked each case several times a record has the number of its ``repeat``, from 0, and a case
    stands once for each.
    """
    path = directory / LOG
    if not path.is_file():
        raise UsageError(f"{directory} has no {LOG}.", remedy="The run has not scored a case yet.")
    lines: dict[tuple[str, int], int] = {}
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                record = json.loads(raw)
            except ValueError as error:
                if not raw.endswith(b"\n"):
                    warnings.warn(
                        f"{path}:{number}: the last line is cut off and was left out.",
                        TruncatedRunWarning,
                        stacklevel=2,
                    )
                    return
                raise DatasetError(f"{path}:{number}: not a JSON line: {error}.") from None
            if not isinstance(record, dict) or not record.keys() >= _KEYS:
                raise not_a_record(path, number)
            repeat = record.get("repeat", 0)
            if not isinstance(record["id"], str) or type(repeat) is not int:
                raise not_a_record(path, number)
            first = lines.setdefault((record["id"], repeat), number)
            if first != number:
                again = f" of repeat {repeat}" if "repeat" in record else ""
                raise DatasetError(
                    f"{path}:{number}: case {record['id']} has a second result{again}; "
                    f"the first is on line {first}.",
                )
            yield record
