"""Separating a model's ``<think>…</think>`` from its answer while both stream in.

Whole replies go through :mod:`corecall.reply`; this is for showing text as it arrives.
"""

from __future__ import annotations

import re
from typing import NamedTuple

OPENING = "<think>"
CLOSING = "</think>"
_CLOSING = re.compile(CLOSING)
_MARK = re.compile(r"</?think>|\{")


class Split(NamedTuple):
    """Text of one delta, told apart."""

    thought: str
    content: str


class ThoughtSplitter:
    """Splits the deltas of one reply; a tag may be cut between deltas anywhere.

    Only the exact tags count, and only until the answer opens a brace: from there on a tag
    may stand in a JSON string, and everything is content. Apart from the tags no character
    is lost, and within each kind the order stays.

    Args:
        inside: the reply begins inside a thought, since the prompt template has opened it.
    """

    __slots__ = ("_answering", "_held", "_inside", "unopened")

    def __init__(self, *, inside: bool = False) -> None:
        self._inside = inside
        self._answering = False
        self._held = ""
        self.unopened = False
        """A thought ended that had not begun: content handed out before was the thought."""

    def feed(self, text: str) -> Split:
        """Take one delta. What may be the beginning of a tag is held back."""
        text = self._held + text
        self._held = ""
        thought: list[str] = []
        content: list[str] = []
        position = 0
        while not self._answering:
            pieces = thought if self._inside else content
            mark = (_CLOSING if self._inside else _MARK).search(text, position)
            if mark is None:
                end = self._hold(text, position)
                pieces.append(text[position:end])
                return Split("".join(thought), "".join(content))
            pieces.append(text[position : mark.start()])
            position = mark.end()
            match mark[0]:
                case "{":
                    self._answering = True
                    position = mark.start()
                case "<think>":
                    self._inside = True
                case _:
                    self.unopened = self.unopened or not self._inside
                    self._inside = False
        content.append(text[position:])
        return Split("".join(thought), "".join(content))

    def flush(self) -> Split:
        """End the reply; return what was held back, which was no tag after all."""
        held, self._held = self._held, ""
        return Split(held, "") if self._inside else Split("", held)

    def _hold(self, text: str, start: int) -> int:
        """Keep the longest end of ``text`` that begins a tag; return where it begins."""
        for length in range(min(len(CLOSING) - 1, len(text) - start), 0, -1):
            end = text[-length:]
            if CLOSING.startswith(end) or (OPENING.startswith(end) and not self._inside):
                self._held = end
                return len(text) - length
        return len(text)
