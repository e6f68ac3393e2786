"""Bodies that vcrpy kept as they traveled: compression is taken off, so that they can be read and searched."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from callbench.errors import CassetteError

_GZIP = 16 + zlib.MAX_WBITS


def decompressed(body: bytes, encoding: str) -> bytes | None:
    """The body with the codings of a ``content-encoding`` taken off; ``None`` if it is not coded so.

    Recorders often keep the header of a body they have decoded: text counts as decoded. Raises
    ``CassetteError`` for a coding that nothing installed here can read.
    """
    codings = [name.strip().lower() for name in encoding.split(",")]
    codings = [name for name in codings if name not in ("", "identity")]
    if not codings or not body or _is_text(body):
        return None
    for name in reversed(codings):
        decode = _decoder(name)
        try:
            body = decode(body)
        except Exception:  # noqa: BLE001 - each coding has errors of its own
            return None
    return body


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoder(name: str) -> Callable[[bytes], bytes]:
    if name in ("gzip", "x-gzip"):
        return lambda body: _inflate(body, _GZIP)
    if name == "deflate":
        return _deflate
    if name == "br":
        return _either(name, "brotli", "brotlicffi").decompress  # type: ignore[no-any-return]
    if name == "zstd":
        module = _either(name, "compression.zstd", "zstandard")
        return lambda body: bytes(
            module.decompress(body)
            if not hasattr(module, "ZstdDecompressor") or module.__name__ != "zstandard"
            else module.ZstdDecompressor().decompressobj().decompress(body)
        )
    raise CassetteError(
        f"A body has the content-encoding {name!r}, which cannot be read here; so nobody can tell "
        "whether it holds a secret.",
        remedy="Record that cassette again with decode_compressed_response=True.",
    )


def _inflate(body: bytes, bits: int) -> bytes:
    whole = b""
    while body:  # members may follow each other
        member = zlib.decompressobj(bits)
        whole += member.decompress(body) + member.flush()
        if not member.eof:
            raise zlib.error("cut")
        body = member.unused_data
    return whole


def _deflate(body: bytes) -> bytes:
    try:
        return _inflate(body, zlib.MAX_WBITS)
    except zlib.error:
        return _inflate(body, -zlib.MAX_WBITS)


def _either(coding: str, *names: str) -> Any:
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise CassetteError(
        f"A body has the content-encoding {coding!r}; reading it needs the package {names[-1]!r}.",
        remedy=f"Install it: pip install {names[-1]}",
    )
