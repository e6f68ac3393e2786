"""The scrubbers a project records with: the table ``[scrub]`` of ``callbench.toml``.

::

    [scrub]
    use = ["emails", "phones"]
    fields = ["/user", "/metadata/customer"]
    patterns = { order = "ORD-[0-9]{6}" }
    key_env = "SCRUB_KEY"      # optional: placeholders that nobody without the key can confirm
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from callbench.cassette.scrubbers import Field, Pattern, Scrubber, Scrubbing, by_name
from callbench.errors import UsageError
from callbench.models.catalogue import config_table

_KEYS = ("use", "fields", "patterns", "key_env")


def scrubbing_of(config: Path | None = None) -> Scrubbing:
    """Return what the configuration asks for, nothing without one.

    Raises ``UsageError`` naming file, key and rule.
    """
    table, source = config_table("scrub", config)
    where = f"{source}: [scrub]"
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key {key!r}.", remedy=f"Keys: {', '.join(_KEYS)}.")
    patterns = table.get("patterns", {})
    if not isinstance(patterns, dict) or not all(isinstance(p, str) for p in patterns.values()):
        raise UsageError(f"{where}: patterns must be a table of names and regular expressions.")
    try:
        scrubbers: list[Scrubber] = [
            *map(by_name, _texts(table, "use", where)),
            *map(Field, _texts(table, "fields", where)),
            *(Pattern(name, regex) for name, regex in patterns.items()),
        ]
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", remedy=error.remedy) from error
    return Scrubbing(tuple(scrubbers), _key(table, where) if scrubbers else b"")


def _texts(table: dict[str, Any], key: str, where: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{where}: {key} must be a list of texts.")
    return value


def _key(table: dict[str, Any], where: str) -> bytes:
    name = table.get("key_env")
    if name is None:
        return b""
    if not isinstance(name, str):
        raise UsageError(f"{where}: key_env must be the name of an environment variable.")
    key = os.environ.get(name, "")
    if not key:
        raise UsageError(
            f"{where}: the variable {name} (key_env) is not set.",
            remedy="Replay needs the key that the cassette was scrubbed with.",
        )
    return key.encode()
