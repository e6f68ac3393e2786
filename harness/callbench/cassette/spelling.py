"""Finding a credential however it is spelled: escaped by JSON, once or again, percent-encoded, in base64."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from callbench.cassette import jsontext


def _is_coded(data: bytes) -> bool:
    """Whether there may be an escape in the data; a pattern would take longer than all the rest."""
    return b"%" in data or b"\\u" in data or b"\\/" in data


def holds_secret(data: bytes, secrets: Sequence[str]) -> bool:
    """Whether any spelling of a credential occurs in ``data``."""
    coded = bool(secrets) and _is_coded(data)
    return any(
        any(literal in data for literal in _literals(secret))
        or (coded and _escaped_bytes(secret).search(data) is not None)
        for secret in secrets
    )


def replace_secrets(data: bytes, secrets: Sequence[str], mask: bytes) -> bytes:
    """The data with every spelling of the credentials replaced."""
    coded = bool(secrets) and _is_coded(data)
    for secret in secrets:
        for literal in _literals(secret):
            if literal in data:
                data = data.replace(literal, mask)
        if coded:
            data = _escaped_bytes(secret).sub(mask, data)
    return data


def spans(text: str, secrets: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where in a text a spelling of a credential stands."""
    coded = "%" in text or "\\" in text
    for secret in secrets:
        for found in _escaped(secret).finditer(text) if coded or secret in text else ():
            yield found.span()
        for core in _in_base64(secret):
            start = text.find(core)
            while start >= 0:
                yield start, start + len(core)
                start = text.find(core, start + len(core))


@lru_cache(maxsize=256)
def _literals(secret: str) -> tuple[bytes, ...]:
    plain = secret.encode("utf-8", "surrogateescape")
    in_json = jsontext.dumps(plain.decode("utf-8", "replace"))[1:-1]
    nested = jsontext.dumps(in_json.decode())[1:-1]
    cores = (core.encode() for core in _in_base64(secret))
    return tuple(dict.fromkeys((nested, in_json, plain, *cores)))


@lru_cache(maxsize=256)
def _in_base64(secret: str) -> tuple[str, ...]:
    """The characters that the credential has in base64 wherever it begins in what is encoded."""
    data = secret.encode("utf-8", "surrogateescape")
    cores = []
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + data).decode()
        core = coded[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
        cores += [core, core.translate(str.maketrans("+/", "-_"))]
    return tuple(dict.fromkeys(cores))


@lru_cache(maxsize=256)
def _escaped(secret: str) -> re.Pattern[str]:
    """Matches the credential with any of its characters escaped in any of the usual ways."""
    return re.compile("".join(map(_spellings, secret)))


@lru_cache(maxsize=256)
def _escaped_bytes(secret: str) -> re.Pattern[bytes]:
    return re.compile(_escaped(secret).pattern.encode("utf-8", "surrogateescape"))


def _spellings(character: str) -> str:
    """Each alternative begins with a literal, by which the search for the pattern is fast."""
    literal = re.escape(character)
    found = [r"\\{1,16}" if character == "\\" else literal]
    if character in "\"/'":
        found.append(rf"\\\\{{0,15}}{literal}")
    elif character == " ":
        found.append(r"\+")
    data = character.encode("utf-8", "surrogateescape")
    found.append("".join(f"%{_digits(data[at : at + 1])}" for at in range(len(data))))
    units = character.encode("utf-16-be", "surrogatepass")
    found.append(
        "".join(rf"\\\\{{0,15}}u{_digits(units[at : at + 2])}" for at in range(0, len(units), 2))
    )
    return f"(?:{'|'.join(found)})"


def _digits(data: bytes) -> str:
    """The hex digits of bytes, in either case."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in data.hex())
