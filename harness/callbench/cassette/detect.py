"""What looks like a secret or like somebody's address or number, in a text.

Precision matters: a check that cries wolf is switched off. Each rule names a shape that providers give
their keys; ``entropy`` is for the rest, random strings that are neither hashes, ids nor encoded data.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from callbench.cassette.shapes import emails_in, phones_in


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found: the rule, where it begins in the text, and the value, which is never shown whole."""

    rule: str
    start: int
    value: str

    @property
    def shown(self) -> str:
        """The first four characters and the length."""
        return f"{self.value[:4]}… ({len(self.value)} characters)"


_B = r"(?<![A-Za-z0-9_-])"  # a key begins a word
_SHAPES = {
    "key": "|".join(
        [
            _B + r"sk-(?=[\w-]*\d)[A-Za-z0-9][A-Za-z0-9_-]{18,250}",  # OpenAI, Anthropic, DeepSeek
            _B + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
            _B + r"gh[pousr]_[A-Za-z0-9]{30,255}",
            _B + r"github_pat_[A-Za-z0-9_]{22,255}",
            _B + r"glpat-[A-Za-z0-9_-]{20,64}",
            _B + r"AIza[0-9A-Za-z_-]{35}",
            _B + r"ya29\.[0-9A-Za-z_-]{20,}",
            _B + r"xox[abeoprs]-[0-9A-Za-z-]{10,250}",
            _B + r"hf_[A-Za-z0-9]{30,64}",
            _B + r"(?:gsk|npm|r8|pplx|nvapi|xai|tvly|fw|csk)[_-](?=[\w-]*\d)[A-Za-z0-9_-]{30,200}",
            _B + r"[rs]k_live_[0-9A-Za-z]{16,250}",
            _B + r"SG\.[\w-]{16,32}\.[\w-]{32,64}",
            _B + r"LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])",
            _B + r"AKID(?=[A-Za-z]*\d)[A-Za-z0-9]{32}(?![A-Za-z0-9])",
        ]
    ),
    "jwt": _B + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}",
    "private-key": r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s)*[A-Za-z0-9+/]{16}",
    "bearer": r"(?i:\bbearer)[ +](?=[\w.~+/-]*\d)(?=[\w.~+/-]*[A-Za-z])[A-Za-z0-9._~+/-]{20,}=*",
    "basic-auth": r"(?i:\bauthorization\b[\"' ]*[:=][\"' \[]*basic) +[A-Za-z0-9+/]{12,}=*",
    "url-credentials": r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>\\`]{1,100}:[^\s/@\"'<>\\`]{3,100}@(?=[\w\[])",
    "assigned": (
        r"(?i:\b|_)(?i:(?:api|access|secret|private|auth)[_-]?key|(?:client|app)[_-]?secret|passw(?:or)?d"
        r"|(?:access|auth|refresh|bearer)[_-]?token)[\"']?\s{0,3}[:=]\s{0,3}[\"'](?P<value>[^\"'\s\\]{12,200})[\"']"
    ),
}
_KEYED = re.compile(
    "|".join(f"(?P<{name.replace('-', '_')}>{regex})" for name, regex in _SHAPES.items())
)

_PLACEHOLDER = re.compile(
    r"(?i)\*{3}|<[^>]+>|\$\{?\w|\{[\w.]*\}|%[sd(]|x{6}|\.{3}|…"
    r"|(?:password|passwd|pass|pw|secret|token|changeme|your[-_ ]?\w+|placeholder|redacted|dummy)$"
)

_TOKEN = re.compile(r"(?<![A-Za-z0-9+/=_.%-])[A-Za-z0-9+/_-]{28,200}={0,2}(?![A-Za-z0-9+/=_%-])")
_HASH = re.compile(r"(?i)(?:0x)?[0-9a-f-]+")
_ID = re.compile(r"(?i)sha\d{1,3}-|(?:chatcmpl|call|toolu|msg|req|run|resp|fp|gen|rs|fc)[-_]")
ENTROPY = 4.3
"""Bits for each character: random base64 of 32 characters has 4.6, words and paths 3 to 4."""
_CHANGES = 0.4
"""Share of neighbors of another class (upper, lower, digit, sign): 0.6 in random text, 0.2 in names."""


def secrets_in(text: str, *, entropy: bool = True) -> Iterator[Hit]:
    """What looks like a credential. ``entropy``: also random strings of no known shape."""
    spans = []
    for found in _KEYED.finditer(text):
        rule = (found.lastgroup or "").replace("_", "-")
        value, start = found[0], found.start()
        if rule == "assigned":
            value, start = found["value"], found.start("value")
            if not _random_enough(value):
                continue
        told = value[:-1].rpartition(":")[2] if rule == "url-credentials" else value
        if not _PLACEHOLDER.search(told):
            spans.append(found.span())
            yield Hit(rule, start, value)
    if entropy:
        for found in _TOKEN.finditer(text):
            free = not any(start < found.end() and found.start() < end for start, end in spans)
            if free and _is_random(found[0]):
                yield Hit("entropy", found.start(), found[0])


def personal_in(text: str) -> Iterator[Hit]:
    """What looks like an e-mail address or a phone number that may be somebody's."""
    for start, end in emails_in(text):
        yield Hit("email", start, text[start:end])
    for start, end in phones_in(text):
        yield Hit("phone", start, text[start:end])


def _random_enough(value: str) -> bool:
    """Whether an assigned value is a key rather than the name of one."""
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    return digits >= 2 and letters >= 2 and _entropy(value) >= 3.0 and value.isascii()


def _is_random(token: str) -> bool:
    if _HASH.fullmatch(token) or _ID.match(token):
        return False
    classes = [_class(c) for c in token]
    if not {"upper", "lower", "digit"} <= set(classes) or classes.count("digit") < 2:
        return False
    changes = sum(a != b for a, b in pairwise(classes)) / (len(token) - 1)
    return changes >= _CHANGES and _entropy(token) >= ENTROPY


def _class(character: str) -> str:
    if character.isdigit():
        return "digit"
    return "upper" if character.isupper() else "lower" if character.islower() else "sign"


def _entropy(text: str) -> float:
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())
