"""The structure of Draft 7, judged in Python: which subschemas apply where, and does a value hold.

The fast engine (:mod:`corecall.slot.compiled`) accepts; this one explains. It remembers every
(subschema, value) pair it has judged and keeps its own stack, so its time is bounded by the product
of the two and its depth by nothing. Leaf keywords are asked of the fast engine, so the two agree.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from corecall.slot.compiled import Compiled
from corecall.slot.patterns import mapped
from corecall.slot.references import Schema

_Question = tuple[Schema, Any]
_Judging = Generator[_Question, bool | None, bool]

_UNFOLDED = frozenset({"$ref", "allOf", "anyOf", "dependencies", "if", "oneOf"})
"""Keywords by which a subschema brings in others for the same value."""

_COMBINING = frozenset({"anyOf", "oneOf", "not", "contains", "propertyNames"})

_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


class Evaluator:
    """Judges values against one schema; made anew for each question, since it remembers by identity.

    With ``partial`` it judges what more data cannot mend: what is merely missing (``required``,
    ``minProperties``, dependent properties) is no fault, and of an object or array ``oneOf`` asks for
    one branch at least.
    With ``branches`` the subschemas that apply include the branches of ``anyOf`` and ``oneOf`` that
    hold, or else the only one that is made for the value's type.

    Contract: schema.limit.6.
    """

    def __init__(
        self, compiled: Compiled, *, partial: bool = False, branches: bool = False
    ) -> None:
        """Start with an empty memory."""
        self.compiled = compiled
        self._partial = partial
        self._branches = branches
        self._strict = Evaluator(compiled) if partial else self
        self._memory: dict[tuple[int, int], bool] = {}

    # -- does a value hold ---------------------------------------------------------------------

    def holds(self, schema: Schema, value: Any) -> bool:
        """Say whether ``value`` is valid against ``schema``, a subschema of the compiled one."""
        stack = [self._judge(schema, value)]
        answer: bool | None = None
        while stack:
            try:
                question = stack[-1].send(answer)
            except StopIteration as done:
                stack.pop()
                answer = bool(done.value)
            else:
                stack.append(self._judge(*question))
                answer = None
        return bool(answer)

    def _judge(self, schema: Schema, value: Any) -> _Judging:
        if isinstance(schema, bool):
            return schema
        key = (id(schema), id(value))
        if key not in self._memory:
            self._memory[key] = yield from self._judge_node(schema, value)
        return self._memory[key]

    def _judge_node(self, node: dict[str, Any], value: Any) -> _Judging:
        target = self.compiled.target(node)
        if target is not None:
            return bool((yield target.schema, value))
        if self.leaf_fault(node, value) or self.missing(node, value):
            return False
        if (yield from self._judge_combined(node, value)) is not None:
            return False
        condition = None
        if "if" in node and not self._partial:
            condition = yield node["if"], value
        for schema in self._conjuncts(node, value, condition):
            if not (yield schema, value):
                return False
        if isinstance(value, dict):
            for name, child in value.items():
                for schema in self.compiled.member_schemas(node, name):
                    if not (yield schema, child):
                        return False
        elif isinstance(value, list):
            for place, child in enumerate(value):
                item = item_schema(node, place)
                if item is not None and not (yield item, child):
                    return False
        return True

    def combined_fault(self, node: dict[str, Any], value: Any) -> str | None:
        """Return the keyword of ``node`` that combines subschemas and fails here, if one does.

        Contract: schema.check.5.
        """
        if _COMBINING.isdisjoint(node):
            return None
        steps = self._judge_combined(node, value)
        try:
            question = next(steps)
            while True:
                question = steps.send(self.holds(*question))
        except StopIteration as done:
            fault: str | None = done.value
            return fault

    def _judge_combined(
        self, node: dict[str, Any], value: Any
    ) -> Generator[_Question, bool | None, str | None]:
        if "anyOf" in node and not (yield from self._count(node["anyOf"], value, 1)):
            return "anyOf"
        if "oneOf" in node:
            growing = self._partial and isinstance(value, (dict, list))
            held = yield from self._count(node["oneOf"], value, 1 if growing else 2)
            if held != 1:
                return "oneOf"
        if "not" in node:
            refused: bool | None
            if self._partial:
                refused = self._strict.holds(node["not"], value)
            else:
                refused = yield node["not"], value
            if refused:
                return "not"
        if "contains" in node and isinstance(value, list):
            for child in value:
                if (yield node["contains"], child):
                    break
            else:
                return "contains"
        if "propertyNames" in node and isinstance(value, dict):
            for name in value:
                if not (yield node["propertyNames"], name):
                    return "propertyNames"
        return None

    def _count(
        self, schemas: list[Schema], value: Any, enough: int
    ) -> Generator[_Question, bool | None, int]:
        held = 0
        for schema in schemas:
            held += bool((yield schema, value))
            if held == enough:
                break
        return held

    # -- one node, one value -------------------------------------------------------------------

    def leaf_fault(self, node: dict[str, Any], value: Any) -> str | None:
        """Return the first keyword of ``node`` that fails by looking at ``value`` alone.

        Contract: schema.check.4.
        """
        if "type" in node and not has_type(value, node["type"]):
            return "type"
        if isinstance(value, str) and "pattern" in node:
            matcher = self.compiled.matchers[node["pattern"]]
            if not matcher.matches(value):
                return "pattern"
        if isinstance(value, dict) and not self._partial:
            fewest = node.get("minProperties", 0)
            if len(value) < fewest:
                return "minProperties"
        leaf = self.compiled.leaf(node)
        if leaf is None:
            return None
        if self.compiled.has_surrogates:
            value = mapped(value)
        try:
            valid = leaf.is_valid(value)
        except UnicodeEncodeError:  # a lone surrogate that the engine had to read
            valid = leaf.is_valid(mapped(value))
        return None if valid else str(next(leaf.iter_errors(mapped(value))).schema_path[-1])

    def missing(self, node: dict[str, Any], value: Any) -> list[str]:
        """Return the properties that ``node`` itself requires of ``value`` and that are not there."""
        if self._partial or not isinstance(value, dict):
            return []
        return [name for name in required(node, value) if name not in value]

    # -- which subschemas apply ----------------------------------------------------------------

    def applying(self, schemas: Sequence[Schema], value: Any) -> list[Schema]:
        """Return every subschema that must hold where ``schemas`` must, seen from ``value``.

        References followed, ``allOf``, ``then``, ``else`` and dependent schemas unfolded, in
        document order, each once, ``True`` left out.

        Contract: schema.check.3.
        """
        if len(schemas) == 1:  # nearly always, and then there is mostly nothing to unfold
            only = schemas[0]
            if isinstance(only, dict) and _UNFOLDED.isdisjoint(only):
                return [only]
        found: list[Schema] = []
        seen: set[int] = set()
        stack = list(schemas)[::-1]
        while stack:
            schema = self.compiled.resolve(stack.pop())
            if schema is True or id(schema) in seen:
                continue
            seen.add(id(schema))
            found.append(schema)
            if isinstance(schema, dict):
                more = list(self._conjuncts(schema, value, None))
                if self._branches:
                    more += self._chosen_branches(schema, value)
                stack += reversed(more)
        return found

    def applying_nodes(self, schemas: Sequence[Schema], value: Any) -> list[dict[str, Any]]:
        """Return :meth:`applying` without ``False``."""
        return [schema for schema in self.applying(schemas, value) if isinstance(schema, dict)]

    def _conjuncts(
        self, node: dict[str, Any], value: Any, condition: bool | None
    ) -> Iterator[Schema]:
        """Yield the subschemas of ``node`` that must hold too; ``condition`` is what ``if`` gave."""
        yield from node.get("allOf", ())
        if "if" in node and ("then" in node or "else" in node):
            if condition is None:
                condition = self._strict.holds(node["if"], value)
            keyword = "then" if condition else "else"
            if keyword in node:
                yield node[keyword]
        if "dependencies" in node and isinstance(value, dict):
            for name, dependency in node["dependencies"].items():
                if name in value and not isinstance(dependency, list):
                    yield dependency

    def _chosen_branches(self, node: dict[str, Any], value: Any) -> Iterator[Schema]:
        for keyword in ("anyOf", "oneOf"):
            if keyword not in node:
                continue
            branches = [schema for schema in node[keyword] if self.holds(schema, value)]
            if not branches:
                branches = self.fitting_branches(node[keyword], value)
                if len(branches) > 1:
                    continue
            yield from branches

    def fitting_branches(self, branches: list[Schema], value: Any) -> list[Schema]:
        """Return the branches made for the type of ``value``."""
        return [schema for schema in branches if self._fits(schema, value)]

    def _fits(self, schema: Schema, value: Any) -> bool:
        schema = self.compiled.resolve(schema)
        if isinstance(schema, bool):
            return schema
        return "type" not in schema or has_type(value, schema["type"])


def required(node: dict[str, Any], value: dict[str, Any]) -> Iterator[str]:
    """Yield the names that ``node`` itself requires of ``value``, dependent ones included.

    Contract: schema.check.7.
    """
    yield from node.get("required", ())
    if "dependencies" in node:
        for name, dependency in node["dependencies"].items():
            if name in value and isinstance(dependency, list):
                yield from dependency


def item_schema(node: dict[str, Any], place: int) -> Schema | None:
    """Return the subschema of ``node`` that holds for the item at ``place``.

    Contract: schema.check.9.
    """
    items = node.get("items")
    if not isinstance(items, list):
        return items
    return items[place] if place < len(items) else node.get("additionalItems")


def has_type(value: Any, types: str | list[str]) -> bool:
    """Say whether ``value`` is of one of the JSON Schema ``types``; 1.0 is an integer, true is not.

    Contract: schema.valid.5.
    """
    for name in (types,) if isinstance(types, str) else types:
        if name == "integer":
            if isinstance(value, bool):
                continue
            if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
                return True
        elif isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool)):
            return True
    return False


def type_name(value: Any) -> str:
    """Return the JSON Schema type of ``value``, ``integer`` for a whole number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "integer" if has_type(value, "integer") else "number"
    return next(name for name in _TYPES if has_type(value, name))
