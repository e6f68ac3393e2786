"""What the importers of span-labelled sets share: a sentence with its labelled parts as a case.

The tool is the intent. Its schema are the slots that the file has for this intent, in the order in
which they first occur, all optional strings: the sets have no schema of their own. A slot that stands
twice in some sentence of the intent is a list of strings in all of them, compared without order. The
gold is the text of the spans as it stands in the sentence. A sentence without any span is a case with
``{}``: every slot is to be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from callbench.dataset.importers.base import Defect, Draft
from callbench.dataset.importers.dialogue import without_empty
from corecall import pointer


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. ``spans`` are (slot, text) in the order of the text.

    ``faults`` are (slot, what is wrong); the slot is ``""`` for what concerns the whole sentence.
    """

    origin: str
    id: str
    lang: str
    intent: str
    text: str
    spans: tuple[tuple[str, str], ...]
    cluster: str = ""
    tags: tuple[str, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()


def repeated(sentences: Iterable[Sentence]) -> dict[str, dict[str, bool]]:
    """Return for every intent its slots, and for each whether it stands twice in some sentence."""
    found: dict[str, dict[str, bool]] = {}
    for sentence in sentences:
        slots = found.setdefault(sentence.intent, {})
        for slot, count in Counter(slot for slot, _ in sentence.spans).items():
            slots[slot] = slots.get(slot, False) or count > 1
    return found


def draft(sentence: Sentence, slots: dict[str, bool]) -> Draft:
    """Make a sentence a case, given the slots of its intent from :func:`repeated`."""
    expected: dict[str, Any] = {}
    accept: dict[str, Any] = {}
    for slot, text in sentence.spans:
        if slots[slot]:
            expected.setdefault(slot, []).append(text)
            accept[pointer.join([slot])] = {"match": "set"}
        else:
            expected[slot] = text
    record: dict[str, Any] = {
        "id": sentence.id,
        "lang": sentence.lang,
        "tool": {"name": sentence.intent},
        "schema": {
            "type": "object",
            "properties": {slot: _property(many) for slot, many in slots.items()},
        },
        "question": sentence.text,
        "expected": expected,
        "accept": accept,
        "tags": list(sentence.tags),
    }
    if sentence.cluster:
        record["cluster"] = sentence.cluster
    return Draft(sentence.origin, without_empty(record), tuple(_defects(sentence)))


def _property(many: bool) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}} if many else {"type": "string"}


def _defects(sentence: Sentence) -> Iterable[Defect]:
    for slot, why in sentence.faults:
        place = pointer.join(["expected", slot]) if slot else "/question"
        yield Defect(place, "misaligned", why)
