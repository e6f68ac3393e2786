"""Folding of text: which spellings of a string count as the same text.

Folded: compatibility forms (full-width digits, letters and punctuation), case, runs of spaces,
invisible characters, quotes, dashes and CJK punctuation. Nothing that carries a value is ever
removed: signs, decimal points, and the separators of numbers, versions, addresses and dates all
stay (TRAPS D1), and a raised or circled digit never runs into the digits beside it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u2060\u2066\u2067\u2068\u2069\ufeff"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4\u0060\u02bc\uff07"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u300c\u300d\u300e\u300f\u00ab\u00bb\uff02"
_DOTS = "\u2022\u2027\u30fb\uff65\u2219\u22c5"

_TYPOGRAPHY = str.maketrans(
    dict.fromkeys(_INVISIBLE, "")
    | dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_SINGLE_QUOTES, "'")
    | dict.fromkeys(_DOUBLE_QUOTES, '"')
    | dict.fromkeys(_DOTS, "\u00b7")
    | {
        "\u3002": ".",  # 。
        "\uff61": ".",  # ｡
        "\u3001": ",",  # 、
        "\uff64": ",",  # ､
        "\u3010": "[",  # 【
        "\u3011": "]",  # 】
        "\u3014": "[",  # 〔
        "\u3015": "]",  # 〕
        "\u301c": "~",  # 〜
        "\u2044": "/",  # fraction slash
    }
)

# NFKC turns these into plain digits; beside a digit that would make another number of it:
# 10² is not 102, 1½ is not 11/2, 10① is not 101.
_RAISED = "\u00b2\u00b3\u00b9\u2070-\u207b"
_LOWERED = "\u2080-\u208b"
_WHOLE = (
    "\u00bc-\u00be\u2150-\u215f\u2189\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3251-\u325f"
    "\u32b1-\u32cb\u3358-\u3370\u33e0-\u33fe\U0001f100-\U0001f10a"
)
_SQUARED = "\u3378\u3379\u339f-\u33af"  # units, some of them ending in a raised digit
_MARKS = (
    (re.compile(rf"(?<=[\d])(?=[{_RAISED}])|(?<=[{_RAISED}{_SQUARED}])(?=[\d])"), "^"),
    (re.compile(rf"(?<=[\d])(?=[{_LOWERED}])|(?<=[{_LOWERED}])(?=[\d])"), "_"),
    (re.compile(rf"(?<=[\d{_WHOLE}])(?=[{_WHOLE}])|(?<=[{_WHOLE}])(?=[\d])"), " "),
)


_MARKED = re.compile(f"[{_RAISED}{_LOWERED}{_WHOLE}{_SQUARED}]")
_SHORT = 100


def fold(text: str) -> str:
    """Return the form of ``text`` under which two spellings of one text are equal.

    Idempotent. ``fold("") == fold("  ") == ""``.
    """
    return _kept(text) if len(text) <= _SHORT else _fold(text)


def _fold(text: str) -> str:
    if text.isascii():
        folded = text.replace("`", "'").casefold()
    else:
        if _MARKED.search(text):
            for pattern, mark in _MARKS:
                text = pattern.sub(mark, text)
        # Before NFKC, which takes some quotes and dots apart; after it, for what it brings out.
        folded = unicodedata.normalize("NFKC", text.translate(_TYPOGRAPHY)).translate(_TYPOGRAPHY)
        folded = unicodedata.normalize("NFKC", folded.casefold())
    return " ".join(folded.split())


_kept = lru_cache(maxsize=4096)(_fold)
