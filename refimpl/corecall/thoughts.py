"""Separating a model's ``<think>…</think>`` from its answer while both stream in.

Whole replies go through :mod:`corecall.reply`; this is for showing text as it arrives.
"""

from __future__ import annotations

import re
from typing import NamedTuple

OPENING = "<think>"
CLOSING = "</think>"
_CLOSING = re.compile(CLOSING)
_MARK = re.compile(r"<think>|\{")


class Split(NamedTuple):
    """Text of one delta, told apart."""

    thought: str
    content: str


class ThoughtSplitter:
    """Splits the deltas of one reply; a tag may be cut between deltas anywhere.

    Only the exact tags count, and only until the answer opens a brace: from there on a tag
    may stand in a JSON string, and everything is content. So is a closing tag that closes
    nothing; :mod:`corecall.reply` needs it to tell that what came before was a thought.
    Apart from the tags that count no character is lost, and within each kind order stays.

    Attributes:
        answering: the answer has begun; from here on :meth:`feed` changes nothing.

    Contract: stream.thoughts.1, stream.thoughts.2, stream.thoughts.3, stream.thoughts.4,
    stream.thoughts.5.
    """

    __slots__ = ("_held", "_inside", "answering")

    def __init__(self) -> None:
        self._inside = False
        self.answering = False
        self._held = ""

    def feed(self, text: str) -> Split:
        """Take one delta. What may be the beginning of a tag is held back."""
        text = self._held + text
        self._held = ""
        thought: list[str] = []
        content: list[str] = []
        position = 0
        while not self.answering:
            pieces = thought if self._inside else content
            mark = (_CLOSING if self._inside else _MARK).search(text, position)
            if mark is None:
                end = self._hold(text, position)
                pieces.append(text[position:end])
                return Split("".join(thought), "".join(content))
            pieces.append(text[position : mark.start()])
            if mark[0] == "{":
                self.answering = True
                position = mark.start()
            else:
                self._inside = not self._inside
                position = mark.end()
        content.append(text[position:])
        return Split("".join(thought), "".join(content))

    def flush(self) -> Split:
        """End the reply; return what was held back, which was no tag after all."""
        held, self._held = self._held, ""
        return Split(held, "") if self._inside else Split("", held)

    def _hold(self, text: str, start: int) -> int:
        """Keep the longest end of ``text`` that begins the next tag; return where it begins."""
        tag = CLOSING if self._inside else OPENING
        for length in range(min(len(tag) - 1, len(text) - start), 0, -1):
            if tag.startswith(text[-length:]):
                self._held = text[-length:]
                return len(text) - length
        return len(text)
