"""What looks like a secret or like somebody's address or number, in a text.

Precision matters: a check that cries wolf is switched off. Each rule names a shape that providers give
their keys; ``entropy`` is for the rest, random strings that are neither hashes, ids nor encoded data.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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


@dataclass(frozen=True, slots=True)
class _Shape:
    """A regular expression, and literals of which a text must hold one: they are quick to look for."""

    rule: str
    literals: tuple[str, ...]
    regex: re.Pattern[str]
    check: Callable[[str], bool] | None = None

    def hits(self, text: str, lowered: str) -> Iterator[tuple[int, str]]:
        """Where it matches, and what (its group ``value`` if it has one)."""
        for literal in self.literals:
            if literal in lowered:
                break
        else:
            return
        for found in self.regex.finditer(text):
            group = found.lastgroup or 0  # "value", where only a part is the key
            if self.check is None or self.check(found[group]):
                yield found.start(group), found[group]


def _is_no_phrase(key: str) -> bool:
    """Whether some part of a key is neither a word nor a number: ``sk-learn-release-2024`` is none."""
    return any(
        len(part) > 3 and not (_WORD.fullmatch(part) or (part.isdigit() and len(part) <= 10))
        for part in re.split("[-_]", key)
    )


def _is_unquoted_key(value: str) -> bool:
    """Whether a value without quotes is a key, not an expression: some part is long and has digits."""
    parts = re.split("[-_]", value)
    return any(
        len(part) >= 12 and sum(c.isdigit() for c in part) >= 3 and _random_enough(part)
        for part in parts
    )


def _random_enough(value: str) -> bool:
    """Whether an assigned value is a key rather than the name of one."""
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    return digits >= 2 and letters >= 2 and _entropy(value) >= 3.0 and value.isascii()


def _entropy(text: str) -> float:
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())


def _keys(
    regex: str, *literals: str, check: Callable[[str], bool] | None = None, ends: bool = False
) -> _Shape:
    """The shape of a provider's key, which begins a word (and ends one)."""
    end = "(?![A-Za-z0-9])" if ends else ""
    return _Shape("key", literals, re.compile(rf"(?<![A-Za-z0-9_-])(?:{regex}){end}"), check)


_WORD = re.compile(r"[A-Z]?[a-z]{1,19}|[A-Z]{1,15}")
_ASSIGNED_NAME = (
    r"(?:(?:api|access|secret|private|auth|account|subscription)[_-]?key|(?:client|app)[_-]?secret"
    r"|passw(?:or)?d|(?:access|auth|refresh|bearer)[_-]?token)"
)
_ASSIGNED_LITERALS = ("key", "secret", "passw", "token")
_SHAPES = (
    _Shape("url-credentials", ("://",), re.compile(
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>\\`]{1,100}:[^\s/@\"'<>\\`]{3,100}@(?=[\w\[])")),
    _Shape("private-key", ("private key",), re.compile(
        r"-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s)*[A-Za-z0-9+/]{16}")),
    _Shape("jwt", ("eyj",), re.compile(
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}")),
    _keys(r"sk-[A-Za-z0-9][A-Za-z0-9_-]{18,250}", "sk-", check=_is_no_phrase),  # OpenAI, Anthropic, …
    _keys(r"(?:gsk|npm|r8|pplx|nvapi|xai|tvly|csk|pcsk|jina|flp)[_-](?=[\w-]*\d)[A-Za-z0-9_-]{30,200}",
          "gsk", "npm", "r8", "pplx", "nvapi", "xai", "tvly", "csk", "jina", "flp", check=_is_no_phrase),
    _keys(r"fw_(?=[A-Za-z]*\d)[A-Za-z0-9]{22,40}", "fw_", ends=True),  # Fireworks
    _keys(r"sk_[0-9a-f]{48}", "sk_", ends=True),  # ElevenLabs
    _keys(r"[rs]k_(?:live|test)_[0-9A-Za-z]{16,250}|whsec_[0-9A-Za-z+/]{24,}", "k_live_", "k_test_", "whsec_"),
    _keys(r"hf_[A-Za-z0-9]{30,64}", "hf_"),
    _keys(r"AIza[0-9A-Za-z_-]{35}|GOCSPX-[0-9A-Za-z_-]{28}|AQ\.(?=[\w-]*\d)[0-9A-Za-z_-]{40,}"
          r"|ya29\.[0-9A-Za-z_-]{20,}|1//0[0-9A-Za-z_-]{40,}", "aiza", "gocspx-", "aq.", "ya29.", "1//0"),
    _keys(r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "akia", "asia", "abia", "acca", ends=True),
    _keys(r"ABSK[A-Za-z0-9+/]{100,}={0,2}", "absk"),  # Amazon Bedrock
    _keys(r"LTAI[A-Za-z0-9]{16,24}|AKID(?=[A-Za-z]*\d)[A-Za-z0-9]{32}|AKLT(?=[A-Za-z]*\d)[A-Za-z0-9]{30,}",
          "ltai", "akid", "aklt", ends=True),  # Alibaba, Tencent, Volcengine
    _keys(r"bce-v3/ALTAK-[A-Za-z0-9]{16,32}/[0-9a-f]{40}", "bce-v3"),  # Baidu
    _keys(r"[0-9a-f]{32}\.(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{16}", ".", ends=True),  # Zhipu
    _keys(r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}|glpat-[A-Za-z0-9_-]{20,64}",
          "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    _keys(r"xox[abeoprs]-[0-9A-Za-z-]{10,250}|xapp-\d-[A-Z0-9]{8,}-\d+-[0-9a-f]{32,}", "xox", "xapp-"),
    _Shape("key", ("hooks.slack.com/services/",), re.compile(
        r"hooks\.slack\.com/services/T\w+/B\w+/[A-Za-z0-9]{20,}")),
    _keys(r"SG\.[\w-]{16,32}\.[\w-]{32,64}|key-[0-9a-f]{32}|SK[0-9a-f]{32}|dapi[0-9a-f]{32}(?:-\d)?",
          "sg.", "key-", "sk", "dapi", ends=True),  # SendGrid, Mailgun, Twilio, Databricks
    _keys(r"lsv2_[a-z]{2}_[0-9a-f]{32}|do[opr]_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
          r"|dp\.[a-z]{2,5}\.[A-Za-z0-9]{40,}|hvs\.[\w-]{24,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"
          r"|pypi-AgE[\w-]{50,}|ntn_[A-Za-z0-9]{40,}|lin_api_[A-Za-z0-9]{32,}|figd_[\w-]{36,}",
          "lsv2_", "_v1_", "shp", "dp.", "hvs.", "pat", "pypi-age", "ntn_", "lin_api_", "figd_"),
    _keys(r"[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}", ".", ends=True),  # Discord
    _keys(r"\d{8,10}:AA[A-Za-z0-9_-]{33}", ":aa", ends=True),  # Telegram
    _Shape("key", ("accountkey=", "sig="), re.compile(
        r"(?i:AccountKey=)(?P<value>[A-Za-z0-9+/]{86}==)|[?&]sig=[A-Za-z0-9%+/]{40,}")),  # Azure
    _Shape("bearer", ("bearer",), re.compile(
        r"(?i:\bbearer)[ +](?=[\w.~+/-]*\d)(?=[\w.~+/-]*[A-Za-z])[A-Za-z0-9._~+/-]{20,}=*")),
    _Shape("basic-auth", ("authorization",), re.compile(
        r"(?i:\bauthorization\b[\"' ]*[:=][\"' \[]*basic) +[A-Za-z0-9+/]{12,}=*")),
    _Shape("assigned", _ASSIGNED_LITERALS, re.compile(
        rf"(?i:\b|_|[a-z])(?i:{_ASSIGNED_NAME})[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']"
        r"(?P<value>[^\"'\s\\]{12,200})[\"']"), _random_enough),
    _Shape("assigned", _ASSIGNED_LITERALS, re.compile(
        rf"(?i:\b|_)(?i:{_ASSIGNED_NAME}) ?[:=] ?(?P<value>[A-Za-z0-9+/_-]{{16,200}}={{0,2}})(?=[\s\"',;&]|$)"),
        _is_unquoted_key),
)  # fmt: skip
"""What providers write of their keys, and how credentials are written down. Earlier ones have precedence."""
_WRITTEN = tuple(shape for shape in _SHAPES if shape.rule in ("basic-auth", "assigned"))
"""Those that a text without a long run of key characters may have."""
_RUN = re.compile(r"[A-Za-z0-9+/_=.%~-]{15,}")
_SHORTEST = 10
"""``a://b:ccc@d``; no shape is shorter."""

_PLACEHOLDER = re.compile(
    r"(?i)\*{3}|<[^>]+>|\$\{?\w|\{[\w.]*\}|%[sd(]|x{6}|\.{3}|…"
    r"|(?:password|passwd|pass|pw|secret|token|changeme|your[-_ ]?\w+|placeholder|redacted|dummy)$"
)

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9+/=_.%-])(?<!\bh1:)[A-Za-z0-9+/_-]{28,200}={0,2}(?![A-Za-z0-9+/=_%-])"
)
_ASSIGNED_END = re.compile(rf"(?i){_ASSIGNED_NAME}$")
_HASH = re.compile(r"(?i)(?:0x)?[0-9a-f-]+")
_ID = re.compile(r"(?i)sha\d{1,3}-|(?:chatcmpl|call|toolu|msg|req|run|resp|fp|gen|rs|fc)[-_]")
ENTROPY = 4.3
"""Bits for each character: random base64 of 32 characters has 4.6, words and paths 3 to 4."""
_CHANGES = 0.4
"""Share of neighbors of another class (upper, lower, digit, sign): 0.6 in random text, 0.2 in names."""


def secrets_in(text: str, *, entropy: bool = True) -> Iterator[Hit]:
    """What looks like a credential. ``entropy``: also random strings of no known shape."""
    runs = [found.span() for found in _RUN.finditer(text)]
    found = list(_known(text, _SHAPES if runs or "://" in text or "-----" in text else _WRITTEN))
    yield from found
    if entropy:
        spans = [(hit.start, hit.start + len(hit.value)) for hit in found]
        yield from _random(text, runs, spans)


def _known(text: str, shapes: Sequence[_Shape]) -> Iterator[Hit]:
    if len(text) < _SHORTEST:
        return
    lowered = text.lower()
    spans: list[tuple[int, int]] = []
    for shape in shapes:
        for start, value in shape.hits(text, lowered):
            end = start + len(value)
            told = value[:-1].rpartition(":")[2] if shape.rule == "url-credentials" else value
            if _PLACEHOLDER.search(told) or any(s < end and start < e for s, e in spans):
                continue
            spans.append((start, end))
            yield Hit(shape.rule, start, value)


def _random(
    text: str, runs: Iterable[tuple[int, int]], spans: Sequence[tuple[int, int]]
) -> Iterator[Hit]:
    """Random strings in ``runs`` and outside of ``spans``."""
    for run in runs:
        for found in _TOKEN.finditer(text, *run):
            free = not any(start < found.end() and found.start() < end for start, end in spans)
            if free and _is_random(found[0]):
                yield Hit("entropy", found.start(), found[0])


@lru_cache(maxsize=1024)
def names_a_credential(name: str) -> bool:
    """Whether a value with this name counts as given to a key or password."""
    return _ASSIGNED_END.search(name) is not None


def personal_in(text: str) -> Iterator[Hit]:
    """What looks like an e-mail address or a phone number that may be somebody's."""
    for start, end in emails_in(text):
        yield Hit("email", start, text[start:end])
    for start, end in phones_in(text):
        yield Hit("phone", start, text[start:end])


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
