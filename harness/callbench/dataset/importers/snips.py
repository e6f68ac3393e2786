"""The custom-intent sets of Snips: ``{intent: [{"data": [{"text", "entity"}]}]}``.

The parts of a sentence, joined as they are, are the sentence; a part with an ``entity`` is a span.
Some of the training files are in Windows-1252 and not in UTF-8; their cases are tagged ``cp1252``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from callbench.dataset.importers.base import Item, Member, Source
from callbench.dataset.importers.node import Node
from callbench.dataset.importers.spans import Sentence, draft, repeated
from callbench.errors import DatasetError

_WANTED = 'a file of Snips: {intent: [{"data": [{"text": …, "entity": …}]}]}'


class Snips:
    """Reads Snips."""

    name = "snips"
    summary = "Snips custom intents: JSON files with spans; one case per sentence"
    licence = "CC0-1.0"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield one item for every sentence."""
        members = source.files("train_*.json", "validate_*.json") or source.files("*.json")
        if not members:
            raise DatasetError(
                f"{source.path}: no *.json in it.", remedy=f"This must be {_WANTED}."
            )
        for member in members:
            sentences = list(_sentences(member))
            slots = repeated(sentences)
            for sentence in sentences:
                yield draft(sentence, slots[sentence.intent])


def _sentences(member: Member) -> Iterator[Sentence]:
    value, encoding = _load(member)
    number = 0
    for intent, examples in Node(value, member.full, _WANTED).entries():
        for example in examples.items():
            number += 1
            parts = list(example["data"].items())
            spans = [
                (entity.text(), part["text"].text())
                for part in parts
                if (entity := part.get("entity")) is not None
            ]
            yield Sentence(
                origin=f"{member.name}#{number}",
                id=f"{member.stem}/{number}",
                lang="en",
                intent=intent,
                text="".join(part["text"].text() for part in parts),
                spans=tuple(spans),
                tags=("snips", intent.lower(), *encoding),
            )


def _load(member: Member) -> tuple[Any, tuple[str, ...]]:
    """Return the document, and the encoding to be told of when it is not UTF-8."""
    raw = member.read()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return json.loads(raw.decode("cp1252")), ("cp1252",)
        except ValueError as error:
            raise DatasetError(
                f"{member.full}: neither UTF-8 nor Windows-1252 JSON: {error}.",
                remedy=f"This must be {_WANTED}.",
            ) from None
    return member.json(), ()
