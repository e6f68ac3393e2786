"""Does a schema's graph of references stay harmless? Asked once, when the schema is compiled.

Two kinds of edges lead from one subschema to another: *in place* (``$ref``, ``allOf``, ``if`` …: the
same value is judged again) and *downward* (``properties``, ``items`` …: a part of the value is). A
cycle of in-place edges alone never ends, which is an error. Schemas whose paths multiply, such as
``allOf: [{$ref: n}, {$ref: n}]`` inside ``n``, take exponential time in an engine without memory;
they are sent to :mod:`corecall.slot.evaluate`, which has one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corecall.slot.limits import SchemaError
from corecall.slot.references import Index, subschemas

_INTO = {
    "additionalItems": "items",
    "additionalProperties": "additional",
    "allOf": "in_place",
    "anyOf": "in_place",
    "contains": "items",
    "dependencies": "in_place",
    "else": "in_place",
    "if": "in_place",
    "items": "items",
    "not": "in_place",
    "oneOf": "in_place",
    "patternProperties": "other_members",
    "propertyNames": "other_members",
    "then": "in_place",
}
"""Which of the :class:`_Edges` a keyword's subschemas are; ``definitions`` are none by themselves."""

_MAX_PATHS = 1_000
_MAX_LENGTH = 1_000


@dataclass(slots=True)
class _Edges:
    """Edges of one node; downward ones by the part of the value that they judge."""

    in_place: list[int] = field(default_factory=list)
    named: list[tuple[str, int]] = field(default_factory=list)
    other_members: list[int] = field(default_factory=list)
    additional: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)

    def all(self) -> Iterator[int]:
        yield from self.in_place
        yield from (target for _, target in self.named)
        yield from self.other_members
        yield from self.additional
        yield from self.items


def multiplies(index: Index) -> bool:
    """Say whether an engine without memory could take too long, or nest too deep, on this schema.

    Errs on the side of yes. Raises :class:`SchemaError` when a subschema is defined by itself.

    Contract: schema.valid.21, schema.limit.6, schema.engine.10.
    """
    if not index.targets:  # a tree: every subschema is reached on one path
        return False
    edges = {id(node): _edges(index, node) for node in index.nodes}
    in_place = {node: found.in_place for node, found in edges.items()}
    endless = set(edges).difference(_leaves_first(in_place))
    if endless:
        looping = next(node for node in edges if node in endless and _reaches(in_place, node))
        raise SchemaError(
            index.pointers[looping] or "", "refers back to itself without going down into the data"
        )
    order = _leaves_first({node: list(found.all()) for node, found in edges.items()})
    if _too_wide_or_long(edges, order):
        return True
    cyclic = set(edges).difference(order)
    return bool(cyclic) and _overlaps(edges, cyclic, in_place)


def _edges(index: Index, node: dict[str, Any]) -> _Edges:
    edges = _Edges()
    target = index.targets.get(id(node))
    if target is not None:
        if isinstance(target.schema, dict):
            edges.in_place.append(id(target.schema))
        return edges
    for keyword, name, child in subschemas(node):
        if not isinstance(child, dict):
            continue
        if keyword == "properties" and name is not None:
            edges.named.append((name, id(child)))
        else:
            into = _INTO.get(keyword)
            if into is not None:
                getattr(edges, into).append(id(child))
    return edges


def _leaves_first(graph: dict[int, list[int]]) -> list[int]:
    """Return the nodes that reach no cycle, each after everything it points at."""
    callers: defaultdict[int, list[int]] = defaultdict(list)
    waiting = {}
    for node, targets in graph.items():
        waiting[node] = len(targets)
        for target in targets:
            callers[target].append(node)
    order = [node for node, count in waiting.items() if not count]
    for node in order:  # grows while it is walked
        for caller in callers[node]:
            waiting[caller] -= 1
            if not waiting[caller]:
                order.append(caller)
    return order


def _reaches(graph: dict[int, list[int]], start: int) -> bool:
    """Say whether ``start`` reaches itself."""
    seen: set[int] = set()
    stack = list(graph[start])
    while stack:
        node = stack.pop()
        if node == start:
            return True
        if node not in seen:
            seen.add(node)
            stack += graph[node]
    return False


def _too_wide_or_long(edges: dict[int, _Edges], order: list[int]) -> bool:
    """Count, over the part without cycles, the paths that judge one place of a value; and lengths."""
    width: dict[int, int] = {}
    length: dict[int, int] = {}
    for node in order:
        found = edges[node]
        everywhere = [*found.in_place, *found.other_members, *found.additional, *found.items]
        named = max((width[target] for _, target in found.named), default=0)
        width[node] = 1 + named + sum(width[target] for target in everywhere)
        length[node] = 1 + max((length[target] for target in found.all()), default=0)
        if width[node] > _MAX_PATHS or length[node] > _MAX_LENGTH:
            return True
    return False


def _overlaps(edges: dict[int, _Edges], cyclic: set[int], in_place: dict[int, list[int]]) -> bool:
    """Say whether a value's part can be sent back into a cycle along two paths at once."""
    ways: dict[int, _Ways] = {}
    for node in _leaves_first(in_place):
        found = edges[node]
        own = _Ways(
            frozenset(name for name, target in found.named if target in cyclic),
            any(target in cyclic for target in found.other_members),
            any(target in cyclic for target in found.items),
        )
        loose = sum(target in cyclic for target in found.other_members)
        if loose > 1 or (loose and own.names) or sum(t in cyclic for t in found.items) > 1:
            return True
        if any(target in cyclic for target in found.additional):
            own = _Ways(own.names, True, own.items)
        for target in found.in_place:
            if own.meets(ways[target]):
                return True
            own = own.joined(ways[target])
        ways[node] = own
    return False


@dataclass(frozen=True, slots=True)
class _Ways:
    """The parts of a value that are sent back into a cycle from one place."""

    names: frozenset[str]
    any_member: bool
    items: bool

    def meets(self, other: _Ways) -> bool:
        mine, theirs = bool(self.names or self.any_member), bool(other.names or other.any_member)
        loose = (self.any_member and theirs) or (other.any_member and mine)
        return loose or bool(self.names & other.names) or (self.items and other.items)

    def joined(self, other: _Ways) -> _Ways:
        return _Ways(
            self.names | other.names, self.any_member or other.any_member, self.items or other.items
        )
