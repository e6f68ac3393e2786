"""Building a value to a schema, keyword by keyword."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import DrawFn

from callbench.fuzz.strategies.reading import (
    Reader,
    compiled,
    item_schemas,
    matches,
    member_schemas,
)
from callbench.fuzz.strategies.schemas import Schema
from callbench.fuzz.strategies.values import names, scalars, texts

_TYPES = ("string", "integer", "number", "boolean", "null", "object", "array")
_SHALLOW = 4
"""From here on optional parts are left out."""
_BOTTOM = 8
"""Here what a recursive schema still requires is given up."""

_HINTS = {
    "string": ("minLength", "maxLength", "pattern"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "object": ("properties", "required", "patternProperties", "minProperties", "dependencies"),
    "array": ("items", "minItems", "contains", "uniqueItems"),
}


class Maker:
    """Makes values with ``draw``; what to make is the conjunction of several schemas."""

    def __init__(self, draw: DrawFn, reader: Reader) -> None:
        self._draw = draw
        self._reader = reader

    def value(self, schemas: list[Schema], depth: int = 0) -> Any:
        """Return a value that all ``schemas`` should accept."""
        nodes = self._applying(schemas)
        chosen = self._listed(nodes)
        if chosen is not None:
            return chosen[0]
        kinds = [kind for kind in _TYPES if all(_admits(node, kind) for node in nodes)]
        if depth >= _BOTTOM or not kinds:
            return self._draw(scalars())
        if depth >= _SHALLOW:
            flat = [kind for kind in kinds if kind not in ("object", "array")]
            kinds = flat or kinds
        hinted = [
            kind
            for kind in kinds
            if any(keyword in node for node in nodes for keyword in _HINTS.get(kind, ()))
        ]
        match self._draw(st.sampled_from(hinted * 4 + kinds)):
            case "object":
                return self._object(nodes, depth)
            case "array":
                return self._array(nodes, depth)
            case "string":
                return self._string(nodes)
            case "boolean":
                return self._draw(st.booleans())
            case "null":
                return None
            case kind:
                return self._number(nodes, whole=kind == "integer")

    def _applying(self, schemas: list[Schema]) -> list[dict[str, Any]]:
        """Unfold what applies to the same value, choosing a branch wherever there is a choice."""
        found: list[dict[str, Any]] = []
        seen: set[int] = set()
        stack = list(schemas)
        while stack:
            node = self._reader.resolved(stack.pop())
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            found.append(node)
            stack += node.get("allOf", ())
            for keyword in ("anyOf", "oneOf"):
                branches = [branch for branch in node.get(keyword, ()) if branch is not False]
                if branches:
                    stack.append(self._draw(st.sampled_from(branches)))
            if "if" in node:
                if self._draw(st.booleans()):
                    stack += [node["if"], node.get("then", True)]
                else:
                    stack.append(node.get("else", True))
        return found

    def _listed(self, nodes: list[dict[str, Any]]) -> tuple[Any] | None:
        """Return one of the values that ``const`` and ``enum`` list, preferring those that fit."""
        lists = [[node["const"]] for node in nodes if "const" in node]
        lists += [node["enum"] for node in nodes if "enum" in node]
        if not lists:
            return None
        listed = min(lists, key=len)
        fitting = [item for item in listed if all(self._reader.holds(node, item) for node in nodes)]
        return (self._draw(st.sampled_from(fitting or listed)),)

    def _string(self, nodes: list[dict[str, Any]]) -> str:
        patterns = [node["pattern"] for node in nodes if "pattern" in node]
        low = _most(nodes, "minLength", 0)
        high = _least(nodes, "maxLength", max(low, 30))
        text = ""
        for _ in range(3):
            text = self._draw(_matching(patterns[0]) if patterns else texts())
            if not patterns:
                return text.ljust(low, "a")[:high]
            if low <= len(text) <= high and all(matches(pattern, text) for pattern in patterns):
                break
        return text

    def _number(self, nodes: list[dict[str, Any]], *, whole: bool) -> int | float:
        steps = [Fraction(str(node["multipleOf"])) for node in nodes if "multipleOf" in node]
        if whole and steps:
            steps.append(Fraction(1))
        step = Fraction(1)
        for number, other in enumerate(steps):
            step = other if number == 0 else _common_multiple(step, other)
        low, high = _range(nodes, step)
        if low > high:
            low = high
        if not (whole or steps) and self._draw(st.booleans()):
            half = [Fraction(part, 2) for part in (low * 2, low * 2 + 1, high * 2 - 1, high * 2)]
            return float(self._draw(st.sampled_from(half)))
        drawn = self._draw(st.integers(low, high)) * step
        if drawn.denominator == 1:
            exact = int(drawn)
            spelled = self._draw(st.integers(0, 7)) == 7 and abs(exact) < 2**53
            return float(exact) if spelled else exact  # 1.0 is an integer too
        return float(drawn)

    def _array(self, nodes: list[dict[str, Any]], depth: int) -> list[Any]:
        contained = [node["contains"] for node in nodes if "contains" in node]
        low = _most(nodes, "minItems", 0)
        low = max(low, 1 if contained else 0)
        high = max(low, _least(nodes, "maxItems", low + 2))
        size = low if depth >= _SHALLOW else self._draw(st.integers(low, min(high, low + 2)))
        unique = any(node.get("uniqueItems") for node in nodes)
        items: list[Any] = []
        for place in range(size):
            schemas = item_schemas(nodes, place)
            if False in schemas:
                break
            if place == 0:
                schemas = [*schemas, *contained]
            item = self.value(schemas, depth + 1)
            for _ in range(3):
                if not (unique and item in items):
                    break
                item = self.value(schemas, depth + 1)
            if unique and item in items and place >= low:
                break
            items.append(item)
        return items

    def _object(self, nodes: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        draw = self._draw
        required = dict.fromkeys(name for node in nodes for name in node.get("required", ()))
        optional = dict.fromkeys(name for node in nodes for name in node.get("properties", ()))
        low = _most(nodes, "minProperties", 0)
        high = _least(nodes, "maxProperties", len(required) + len(optional) + 2)
        chosen = list(required)
        spare = [name for name in optional if name not in required]
        if spare and (depth < _SHALLOW or len(chosen) < low):
            chosen += draw(st.lists(st.sampled_from(spare), unique=True))
        spare = [name for name in spare if name not in chosen]
        wanted = draw(st.integers(0, 2)) if depth < _SHALLOW else 0
        for _ in range(max(wanted if wanted == 2 else 0, low - len(chosen))):
            spare.append(draw(self._further_names(nodes)))
        for name in spare:
            if len(chosen) >= max(low, len(required) + (wanted == 2)):
                break
            if name not in chosen:
                chosen.append(name)
        chosen = chosen[: max(high, len(required))]
        chosen, nodes = self._with_dependencies(chosen, nodes)
        made: dict[str, Any] = {}
        for name in draw(st.permutations(chosen)):
            schemas = member_schemas(nodes, name)
            refused = any(self._reader.resolved(schema) is False for schema in schemas)
            if name in required or not (refused or self._bad_name(nodes, name)):
                made[name] = self.value(schemas, depth + 1)
        while lacking := self._brought_in(nodes, made):
            for name in lacking:
                made[name] = self.value(member_schemas(nodes, name), depth + 1)
        return made

    def _brought_in(self, nodes: list[dict[str, Any]], made: dict[str, Any]) -> list[str]:
        """Return the names that conditions and dependencies require, now that ``made`` is there."""
        lacking: dict[str, None] = {}
        for node in nodes:
            if "if" in node:
                keyword = "then" if self._reader.holds(node["if"], made) else "else"
                branch = self._reader.resolved(node.get(keyword, True))
                if isinstance(branch, dict):
                    lacking |= dict.fromkeys(branch.get("required", ()))
            for name, dependency in node.get("dependencies", {}).items():
                if name in made and isinstance(dependency, list):
                    lacking |= dict.fromkeys(dependency)
        return [name for name in lacking if name not in made]

    def _further_names(self, nodes: list[dict[str, Any]]) -> st.SearchStrategy[str]:
        patterns = [pattern for node in nodes for pattern in node.get("patternProperties", ())]
        return st.one_of(names(), *map(_matching, patterns[:2]))

    def _bad_name(self, nodes: list[dict[str, Any]], name: str) -> bool:
        return any(
            not self._reader.holds(node["propertyNames"], name)
            for node in nodes
            if "propertyNames" in node
        )

    def _with_dependencies(
        self, chosen: list[str], nodes: list[dict[str, Any]]
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """Add the names and the schemas that the names there bring in."""
        nodes = list(nodes)
        chosen = list(chosen)
        for name in chosen:  # grows on the way
            for node in list(nodes):
                dependency = node.get("dependencies", {}).get(name)
                if isinstance(dependency, list):
                    chosen += [other for other in dependency if other not in chosen]
                elif dependency is not None:
                    more = [
                        found
                        for found in self._applying([dependency])
                        if not any(found is known for known in nodes)
                    ]
                    nodes += more
                    for found in more:
                        chosen += [n for n in found.get("required", ()) if n not in chosen]
        return chosen, nodes


def _admits(node: dict[str, Any], kind: str) -> bool:
    types = node.get("type", _TYPES)
    types = (types,) if isinstance(types, str) else types
    return kind in types or (kind == "integer" and "number" in types)


def _most(nodes: list[dict[str, Any]], keyword: str, default: int) -> int:
    return int(max([default, *(node[keyword] for node in nodes if keyword in node)]))


def _least(nodes: list[dict[str, Any]], keyword: str, default: int) -> int:
    return int(min([default, *(node[keyword] for node in nodes if keyword in node)]))


def _common_multiple(one: Fraction, other: Fraction) -> Fraction:
    return Fraction(
        math.lcm(one.numerator, other.numerator), math.gcd(one.denominator, other.denominator)
    )


def _range(nodes: list[dict[str, Any]], step: Fraction) -> tuple[int, int]:
    """Return the range of whole multiples of ``step`` that the bounds leave."""
    low, high = -(10**9), 10**9
    bounded_low = bounded_high = False
    for node in nodes:
        for keyword in ("minimum", "exclusiveMinimum"):
            if keyword in node:
                ratio = Fraction(str(node[keyword])) / step
                least = math.ceil(ratio)
                low = max(low, least + (keyword != "minimum" and least == ratio))
                bounded_low = True
        for keyword in ("maximum", "exclusiveMaximum"):
            if keyword in node:
                ratio = Fraction(str(node[keyword])) / step
                most = math.floor(ratio)
                high = min(high, most - (keyword != "maximum" and most == ratio))
                bounded_high = True
    if not bounded_low:
        low = min(high, 0) - 10
    if not bounded_high:
        high = max(low, 0) + 10
    return low, high


def _matching(pattern: str) -> st.SearchStrategy[str]:
    """Draw texts in which ``pattern`` is found; any text, when Python does not read it."""
    found = compiled(pattern)
    if found is None:
        return texts()
    try:
        return st.from_regex(found, alphabet=_alphabet(pattern))
    except InvalidArgument:
        return texts()


def _alphabet(pattern: str) -> st.SearchStrategy[str]:
    return st.characters(codec="ascii" if pattern.isascii() else "utf-8")
