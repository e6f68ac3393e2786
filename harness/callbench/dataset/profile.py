"""What a dataset is made of: counts of its cases, tools, slots and of what the cases hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from callbench.dataset.case import Case
from callbench.dataset.slots import flatten, resolve, to_pointer
from callbench.dataset.tooling import tooling

_HELD = ("conversation", "facts", "summary", "steps", "data", "now", "accept", "unfillable")


def profile(cases: Iterable[Case]) -> dict[str, Any]:
    """Return the counts as one JSON object.

    ``clusters`` counts dialogues, a case without one being its own; ``largest_cluster`` the cases of
    the largest. ``with`` counts the cases that hold a field. ``slots`` are those of the expected
    objects, by type as the schema declares it; ``known`` of them stand in ``data``. ``offered``
    counts the top-level parameters of the tools, per case. ``characters`` are quantiles of the
    question's length.
    """
    langs: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    tools: set[str] = set()
    clusters: Counter[tuple[bool, str]] = Counter()
    held: Counter[str] = Counter()
    types: Counter[str] = Counter()
    slots: Counter[str] = Counter()
    lengths: list[int] = []
    for case in cases:
        langs[case.lang] += 1
        tags.update(case.tags)
        tools.add(case.tool.name)
        clusters[(bool(case.cluster), case.cluster or case.id)] += 1
        held.update(name for name in _HELD if getattr(case, name))
        lengths.append(len(case.question))
        properties = case.schema.get("properties", {})
        slots["offered"] += len(properties)
        slots["unfillable"] += len(case.unfillable)
        declared = tooling(case.schema).declared
        for path in flatten(case.expected):
            label = declared.label(path)
            types[label.type or "any"] += 1
            slots["expected"] += 1
            slots["required"] += label.required
            slots["nested"] += len(path) > 1
            place = to_pointer(path)
            slots["known"] += resolve(case.data, place) is not None
            slots["with_alternatives"] += place in case.accept
            slots["may_omit"] += place in case.accept and case.accept[place].may_omit
    lengths.sort()
    return {
        "cases": sum(langs.values()),
        "langs": _ordered(langs),
        "tools": len(tools),
        "clusters": len(clusters),
        "largest_cluster": max(clusters.values(), default=0),
        "with": {name: held[name] for name in _HELD},
        "slots": {name: slots[name] for name in _SLOTS},
        "types": _ordered(types),
        "characters": {name: _at(lengths, share) for name, share in _QUANTILES},
        "tags": _ordered(tags),
    }


_SLOTS = (
    "offered", "expected", "required", "nested", "known", "with_alternatives", "may_omit",
    "unfillable",
)  # fmt: skip
_QUANTILES = (("min", 0.0), ("p50", 0.5), ("p95", 0.95), ("max", 1.0))


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _at(ordered: Sequence[int], share: float) -> int:
    return ordered[round(share * (len(ordered) - 1))] if ordered else 0
