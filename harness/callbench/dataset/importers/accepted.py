"""The gold of one BFCL call, taken apart: lists of accepted values, at any depth.

What the lists mean stands in ``bfcl.py``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from callbench.dataset.importers.base import Defect
from callbench.dataset.tooling import tooling
from corecall import pointer

_MOST_ALTERNATIVES = 64
_OMIT = ""


@dataclass(slots=True)
class AcceptedCall:
    """The gold of one call, taken apart: what is expected, what else is accepted, what is wrong."""

    schema: dict[str, Any]
    expected: dict[str, Any] = field(default_factory=dict)
    accept: dict[str, dict[str, Any]] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)

    def arguments(self, given: Any) -> AcceptedCall:
        """Take in the accepted values of each parameter; returns itself."""
        if not isinstance(given, dict):
            raise TypeError("it is no object of parameters")
        for name, values in given.items():
            self._slot(self.expected, (), name, self._values((name,), values))
        return self

    def _slot(
        self, into: dict[str, Any], above: tuple[Any, ...], name: str, values: list[Any]
    ) -> None:
        path = (*above, name)
        place = pointer.join([str(token) for token in path])
        given = [value for value in values if value != _OMIT]
        omit = len(given) < len(values)
        if omit and self._empty_is_value(path):
            given.append(_OMIT)
        required = tooling(self.schema).declared.requires(above, name)
        if not values:
            kind = "required-but-absent" if required else "misaligned"
            self.defects.append(
                Defect(f"/expected{place}", kind, "The gold accepts no value at all.")
            )
        entry: dict[str, Any] = {}
        if given:
            into[name] = self._first(path, given[0])
            rest = [found for value in given[1:] for found in self._all(path, value)]
            if rest:
                entry["values"] = rest
            if omit:
                entry["may_omit"] = True
        if entry:
            self.accept[place] = {**entry, **self.accept.get(place, {})}
        if omit and required:
            self.defects.append(
                Defect(
                    f"/accept/{pointer.join([place])[1:]}/may_omit"
                    if given
                    else f"/expected{place}",
                    "required-but-omittable",
                    "The schema requires it, and the gold says that it may be left out.",
                )
            )

    def _values(self, path: tuple[Any, ...], written: Any) -> list[Any]:
        """Return the accepted values that are written for a place.

        Two objects deep the set is not consistent: a list of what the schema itself calls a list
        is one value there, else it is a list of accepted ones as everywhere.
        """
        if not isinstance(written, list):
            return [written]
        depth = sum(isinstance(token, str) for token in path)
        if depth > 2 and not any(isinstance(value, list) for value in written):
            nodes = tooling(self.schema).declared.at(path)
            if any(node.get("type") == "array" for node in nodes):
                return [written]
        return written

    def _empty_is_value(self, path: tuple[Any, ...]) -> bool:
        nodes = tooling(self.schema).declared.at(path)
        return any(
            _OMIT in node["enum"] if "enum" in node else node.get("default") == _OMIT
            for node in nodes
        )

    def _first(self, path: tuple[Any, ...], value: Any) -> Any:
        """Return the expected form of an accepted value, noting what else is right beneath it."""
        if isinstance(value, dict):
            made: dict[str, Any] = {}
            for name, values in value.items():
                self._slot(made, path, name, self._values((*path, name), values))
            return made
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return [self._first((*path, index), item) for index, item in enumerate(value)]
        return value

    def _all(self, path: tuple[Any, ...], value: Any) -> list[Any]:
        """Return every form that an accepted value stands for."""
        if isinstance(value, dict):
            choices = []
            for name, values in value.items():
                forms: list[tuple[str, Any] | None] = []
                for each in self._values((*path, name), values):
                    if each == _OMIT:
                        forms.append(None)
                    else:
                        forms += [(name, form) for form in self._all((*path, name), each)]
                choices.append(forms)
            return [dict(pair for pair in pick if pair) for pick in _product(choices)]
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            parts = [self._all((*path, index), item) for index, item in enumerate(value)]
            return [list(pick) for pick in _product(parts)]
        return [value]


def _product(choices: list[list[Any]]) -> list[tuple[Any, ...]]:
    size = 1
    for each in choices:
        size *= len(each)
    if size > _MOST_ALTERNATIVES:
        raise OverflowError
    return list(itertools.product(*choices))
