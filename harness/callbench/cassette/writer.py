"""Interactions to lines: which shared texts must stand before them, and whole files in a given order."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import callbench
from callbench.cassette import format as lines
from callbench.cassette.interaction import Interaction


def recorder_name() -> str:
    """This software and its version, as the header names it."""
    return f"callbench {callbench.__version__}"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The lines that record one interaction: texts new to the file as ``(id, digest, line)``, then ``line``."""

    texts: tuple[tuple[str, str, bytes], ...]
    line: bytes

    @property
    def data(self) -> bytes:
        """All lines, in the order they must be written."""
        return b"".join((*(line for _, _, line in self.texts), self.line))


def encode(interaction: Interaction, digest_of: Callable[[str], str | None]) -> Encoded:
    """Encode for a file in which ``digest_of`` gives the SHA-256 of the text with an id, if it has one."""
    fresh: dict[str, tuple[str, bytes]] = {}

    def share(text: str) -> str:
        digest = lines.text_digest(text)

        def taken(identifier: str) -> bool:
            known = fresh[identifier][0] if identifier in fresh else digest_of(identifier)
            return known is not None and known != digest

        identifier = lines.text_id(digest, taken)
        if identifier not in fresh and digest_of(identifier) is None:
            fresh[identifier] = (digest, lines.encode_text(identifier, text))
        return identifier

    line = lines.encode_interaction(interaction, share)
    return Encoded(tuple((name, digest, text) for name, (digest, text) in fresh.items()), line)


def replace_file(
    path: Path,
    interactions: Iterable[Interaction],
    *,
    models: Iterable[str],
    recorder: str,
    scrubbers: Sequence[str] = (),
) -> None:
    """Write a whole cassette and put it in the place of ``path`` at once.

    Readers see the old file or the new one, never a part. Shared texts stand right before their first use.
    """
    path = path.resolve()
    digests: dict[str, str] = {}
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(lines.encode_header(recorder, models, scrubbers))
            for interaction in interactions:
                encoded = encode(interaction, digests.get)
                digests.update((identifier, digest) for identifier, digest, _ in encoded.texts)
                file.write(encoded.data)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
