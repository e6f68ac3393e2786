"""A value of a parsed file that knows its place, so that what is not of the format says where.

Importers walk a source through :class:`Node`: every access names the type that the format has there,
and anything else is a ``DatasetError`` with the file, the record, the path in it and what was wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from callbench.dataset.declared import json_type
from callbench.dataset.importers.base import Excluded, Item, Member
from callbench.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Node:
    """``value`` as it was read; ``place`` as a person finds it, such as ``f.json#3: turns[2]``."""

    value: Any
    place: str
    wanted: str
    """What the file should be, for the remedy, such as ``a dialogue file of SGD``."""

    def fail(self, rule: str) -> DatasetError:
        """Return the error that says what is wrong here."""
        return DatasetError(f"{self.place}: {rule}.", remedy=f"This must be {self.wanted}.")

    def object(self) -> dict[str, Any]:
        """Return the value, an object."""
        if not isinstance(self.value, dict):
            raise self.fail(f"must be an object, is {json_type(self.value)}")
        return self.value

    def text(self) -> str:
        """Return the value, a string."""
        if not isinstance(self.value, str):
            raise self.fail(f"must be a string, is {json_type(self.value)}")
        return self.value

    def flag(self) -> bool:
        """Return the value, a boolean."""
        if not isinstance(self.value, bool):
            raise self.fail(f"must be a boolean, is {json_type(self.value)}")
        return self.value

    def items(self) -> Iterator[Node]:
        """Yield the items of the value, an array."""
        if not isinstance(self.value, list):
            raise self.fail(f"must be an array, is {json_type(self.value)}")
        for index, item in enumerate(self.value):
            yield Node(item, f"{self.place}[{index}]", self.wanted)

    def texts(self) -> list[str]:
        """Return the items of the value, an array of strings."""
        return [item.text() for item in self.items()]

    def entries(self) -> Iterator[tuple[str, Node]]:
        """Yield the members of the value, an object, in the file's order."""
        for key in self.object():
            yield key, self[key]

    def get(self, key: str) -> Node | None:
        """Return a member, ``None`` when the object does not have it."""
        return self[key] if key in self.object() else None

    def __getitem__(self, key: str) -> Node:
        """Return a member that must be there."""
        found = self.object()
        if key not in found:
            raise self.fail(f'the member "{key}" is missing')
        gap = "." if "#" in self.place else "#"
        return Node(found[key], f"{self.place}{gap}{key}", self.wanted)


def each(
    member: Member,
    records: Iterable[tuple[str | int, Any]],
    wanted: str,
    read: Callable[[str, Node], Iterator[Item]],
) -> Iterator[Item]:
    """Read the records of a file, each by its key and value, and leave out those of another shape.

    ``read`` takes the record's origin and its node. A file without any record of the right shape is not
    of the format: the ``DatasetError`` of its first one is raised. Where others are sound, a broken
    one is one item, whatever it holds.
    """
    sound = False
    first: DatasetError | None = None
    for key, value in records:
        origin = f"{member.name}#{key}"
        try:
            items = list(read(origin, Node(value, f"{member.full}#{key}", wanted)))
        except DatasetError as error:
            first = first or error
            yield Excluded(origin, "broken-record", error.message)
            continue
        sound = True
        yield from items
    if first is not None and not sound:
        raise first
