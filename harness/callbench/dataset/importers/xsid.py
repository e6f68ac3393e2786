"""xSID: sentences in a CoNLL-like format, one ``LANG.SPLIT.conll`` for each language.

Four columns: number, word, intent, BIO label. Comments above give ``text``, ``intent`` and, in all but
the English files, ``id`` and ``text-en``. English sentences have no id and pair with the others by
position, so the pairs share a cluster; where the source has both, a ``text-en`` that is not the English
sentence of its number is misaligned. The gold are the columns: the ``slots`` comment of the English
files is what the labels were before they were revised, and is not read.

Our cases are English or Chinese. Sentences of other languages are excluded as ``language``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from callbench.dataset.importers.base import Excluded, Item, Member, Source
from callbench.dataset.importers.spans import Sentence, draft, repeated
from callbench.errors import DatasetError

_WANTED = "xSID: number, word, intent and BIO label, with tabs between"
_COMMENT = re.compile(r"#\s*([A-Za-z][\w-]*)\s*[=:]\s?(.*)")
_LANGUAGES = re.compile(
    "ar|da|de|en|es|fr|gsw|hi|id|it|ja|kk|ko|lt|nap|nb|nl|no|pt|sr|tr|vi|zh", re.IGNORECASE
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_OTHER_SCRIPT = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")


class XSid:
    """Reads xSID."""

    name = "xsid"
    summary = "xSID: CoNLL-like files; one case per sentence, English and Chinese"
    licence = "CC-BY-SA-4.0"

    def read(self, source: Source) -> Iterator[Item]:
        """Yield one item for every sentence."""
        members = source.files("*.conll", "*.conllu")
        if not members and source.given is not None:
            members = [source.given]
        if not members:
            raise DatasetError(
                f"{source.path}: no *.conll in it.", remedy=f"This must be {_WANTED}."
            )
        english: dict[str, str] = {}
        # Versions of the set name their files alike, so several of them need their name in the id.
        several = len({member.parts[:-1] for member in members}) > 1
        for member in members:
            folder = "".join(f"{part}/" for part in member.parts[:-1]) if several else ""
            yield from _File(member, folder, english).read()


@dataclass(slots=True)
class _Block:
    """The lines of one sentence. ``number`` counts from 1, ``line`` is where it starts."""

    number: int
    line: int
    comments: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    intents: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


class _File:
    """One file on its way to cases.

    ``english`` holds the English sentences of the source by cluster, for the files after them.
    """

    def __init__(self, member: Member, folder: str, english: dict[str, str]) -> None:
        self.member = member
        self.folder = folder
        self.english = english

    def read(self) -> Iterator[Item]:
        blocks = list(self._blocks())
        code, split = self._named()
        lang = code or _guess(blocks)
        if lang not in ("en", "zh"):
            for block in blocks:
                why = f"The language is {lang or 'unknown'}; cases are en or zh."
                yield Excluded(self._origin(block), "language", why)
            return
        sentences = [self._sentence(block, lang, split) for block in blocks]
        slots = repeated(sentences)
        for sentence in sentences:
            yield draft(sentence, slots[sentence.intent])

    def _origin(self, block: _Block) -> str:
        return f"{self.member.name}#{block.number}"

    def _named(self) -> tuple[str, str]:
        """Return the language that the file's name gives, empty when it gives none, and the split."""
        parts = re.split(r"[._-]", self.member.stem)
        code = next((part for part in parts if _LANGUAGES.fullmatch(part)), "")
        return code.lower(), ".".join(part for part in parts if part != code)

    def _blocks(self) -> Iterator[_Block]:
        block: _Block | None = None
        number = 0
        for line_number, line in enumerate(_lines(self.member.text()), start=1):
            if not line.strip():
                if block is not None:
                    yield self._whole(block)
                block = None
                continue
            if block is None:
                number += 1
                block = _Block(number, line_number)
            self._line(block, line_number, line)
        if block is not None:
            yield self._whole(block)

    def _whole(self, block: _Block) -> _Block:
        if not block.words:
            raise self._fail(block.line, "comments without any word below them")
        return block

    def _line(self, block: _Block, number: int, line: str) -> None:
        columns = line.split("\t")
        if line.startswith("#") and len(columns) != 4:
            found = _COMMENT.fullmatch(line.rstrip())
            if found:
                block.comments.setdefault(found[1].lower(), found[2])
            return
        if len(columns) != 4:
            raise self._fail(number, f"{len(columns)} columns, not 4")
        _, word, intent, label = (column.strip() for column in columns)
        if label != "O" and label[:2] not in ("B-", "I-"):
            raise self._fail(number, f'"{label}" is no BIO label')
        if not intent or label in ("B-", "I-"):
            raise self._fail(number, "an empty column")
        block.words.append(word)
        block.intents.append(intent)
        block.labels.append(label)

    def _fail(self, line: int, rule: str) -> DatasetError:
        return DatasetError(
            f"{self.member.full}:{line}: {rule}.", remedy=f"This must be {_WANTED}."
        )

    def _sentence(self, block: _Block, lang: str, split: str) -> Sentence:
        source_id = block.comments.get("id", "").strip() or str(block.number)
        faults: list[tuple[str, str]] = []
        text, places = _align(block, lang)
        if places is None:
            faults.append(("", "The words and the text of the sentence differ."))
        cluster = f"xsid-{self.folder}{split}-{source_id}" if split else f"xsid-{source_id}"
        if lang == "en":
            self.english[cluster] = text
        pair = self.english.get(cluster)
        if pair is not None and block.comments.get("text-en", pair).strip() != pair.strip():
            faults.append(("", f'The English sentence with this number is "{pair}".'))
        if "" in block.words:
            faults.append(("", f"Word {block.words.index('') + 1} is empty."))
        intent = block.comments.get("intent", "").strip() or block.intents[0]
        if {intent, *block.intents} != {intent}:
            faults.append(("", "The words and the comment name different intents."))
        spans = []
        for slot, first, last, sound in _spans(block.labels):
            if places is None:
                value = ("" if lang == "zh" else " ").join(block.words[first : last + 1])
                faults.append((slot, "The words and the text of the sentence differ."))
            else:
                value = text[places[first][0] : places[last][1]]
            if not sound:
                faults.append((slot, "The span begins with I- and not with B-."))
            spans.append((slot, value))
        return Sentence(
            origin=self._origin(block),
            id=f"{self.folder}{self.member.stem}/{source_id}",
            lang=lang,
            intent=intent,
            text=text,
            spans=tuple(spans),
            cluster=cluster,
            tags=("xsid", intent.split("/")[0].lower()),
            faults=tuple(dict.fromkeys(faults)),
        )


def _lines(text: str) -> list[str]:
    """Split at line ends only: a sentence may hold other separators."""
    return text.replace("\r\n", "\n").split("\n")


def _guess(blocks: list[_Block]) -> str:
    """Tell Chinese and English by what is written; other languages carry ``text-en``."""
    text = "".join(word for block in blocks for word in block.words)
    if _HAN.search(text) and not _OTHER_SCRIPT.search(text):
        return "zh"
    foreign = any({"text-en", "id"} & set(block.comments) for block in blocks)
    return "" if foreign or not text.isascii() else "en"


def _align(block: _Block, lang: str) -> tuple[str, list[tuple[int, int]] | None]:
    """Return the sentence and where each word stands in it, ``None`` when they differ."""
    joined = ("" if lang == "zh" else " ").join(block.words)
    text = block.comments.get("text", joined)
    places = []
    at = 0
    for word in block.words:
        while at < len(text) and text[at].isspace() and not text.startswith(word, at):
            at += 1
        if not text.startswith(word, at):
            return text, None
        places.append((at, at + len(word)))
        at += len(word)
    return text, places if not text[at:].strip() else None


def _spans(labels: list[str]) -> Iterator[tuple[str, int, int, bool]]:
    """Yield (slot, first word, last word, whether it begins with ``B-``).

    An ``I-`` that continues nothing begins a span, as in the CoNLL evaluation.
    """
    first, slot, sound = -1, "", True
    for index, label in enumerate([*labels, "O"]):
        if label == f"I-{slot}" and slot:
            continue
        if slot:
            yield slot, first, index - 1, sound
        first, slot, sound = index, label[2:], label.startswith("B-")
