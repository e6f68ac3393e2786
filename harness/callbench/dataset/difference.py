"""What differs between two datasets: cases joined by id, field by field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from callbench.dataset.lines import parse
from callbench.dataset.loader import Dataset
from callbench.dataset.problems import Fault
from callbench.dataset.slots import ABSENT
from callbench.errors import DatasetError
from corecall import pointer


@dataclass(frozen=True, slots=True)
class Change:
    """A field that differs: its pointer in the case, and both values (``ABSENT``: not there)."""

    pointer: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """Cases of two datasets by id, in file order.

    ``changed`` maps an id to its changes; ``moved`` says that the cases of both stand in another
    order. ``gold_only``: the ids of which nothing but what is right has changed, so that their
    recordings still answer.
    """

    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    changed: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    same: int = 0
    moved: bool = False

    @property
    def differs(self) -> bool:
        """Whether there is any difference."""
        return bool(self.only_before or self.only_after or self.changed or self.moved)

    @property
    def gold_only(self) -> tuple[str, ...]:
        """The ids of which nothing but what is right has changed."""
        return tuple(
            name
            for name, changes in self.changed.items()
            if all(change.pointer.startswith(_NOT_ASKED) for change in changes)
        )


_NOT_ASKED = ("/expected", "/accept", "/unfillable", "/tags", "/cluster", "/defects")
"""Fields that no request holds."""


def difference(before: Dataset, after: Dataset) -> Difference:
    """Compare two datasets. Equal cases may be written differently (spaces, order of members)."""
    first, second = _digests(before), _digests(after)
    shared = [name for name in first if name in second]
    unlike = frozenset(name for name in shared if first[name] != second[name])
    old, new = _records(before, unlike), _records(after, unlike)
    return Difference(
        only_before=tuple(name for name in first if name not in second),
        only_after=tuple(name for name in second if name not in first),
        changed={
            name: tuple(_changes(old[name], new[name], [])) for name in shared if name in unlike
        },
        same=len(shared) - len(unlike),
        moved=shared != [name for name in second if name in first],
    )


def case_sha256(record: dict[str, Any]) -> str:
    """Return the hash of a case: over its JSON without spaces, its fields sorted by name.

    The order inside the fields counts: models are asked in the order of a schema's properties.
    """
    ordered = {key: record[key] for key in sorted(record)}
    text = json.dumps(ordered, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def records(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield the cases of a dataset as they stand in its files, parsed."""
    for path, number, raw in dataset.lines():
        record = parse(raw)
        if isinstance(record, Fault):
            raise DatasetError(f"{path}:{number}: the file changed while it was in use.")
        yield record


def _digests(dataset: Dataset) -> dict[str, str]:
    return {record["id"]: case_sha256(record) for record in records(dataset)}


def _records(dataset: Dataset, ids: frozenset[str]) -> dict[str, dict[str, Any]]:
    if not ids:
        return {}
    return {record["id"]: record for record in records(dataset) if record["id"] in ids}


def _changes(old: Any, new: Any, path: list[str]) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _changes(old.get(key, ABSENT), new.get(key, ABSENT), [*path, key])
        if list(old) != list(new) and set(old) == set(new) and path[:1] == ["schema"]:
            yield Change(pointer.join(path), list(old), list(new))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _changes(one, other, [*path, str(index)])
    elif type(old) is not type(new) or old != new:
        yield Change(pointer.join(path), old, new)
