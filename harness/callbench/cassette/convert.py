"""Cassettes of vcrpy (YAML, JSON) to ours and back: nothing lost that the other side can hold.

What must not or cannot pass is counted and named: credentials, which are masked on the way in, and on the
way out what vcrpy has no place for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from callbench.cassette.format import FORMAT, encode_interaction
from callbench.cassette.interaction import Interaction
from callbench.cassette.scrub import holds_secret, secrets_of
from callbench.cassette.store import Cassette
from callbench.cassette.vcr import files, mapping, secrecy
from callbench.cassette.writer import recorder_name, replace_file
from callbench.errors import CassetteError, UsageError

BASE_URL = "http://localhost"
"""The address that recordings get in vcrpy which never had one: callbench records no host."""

Kind = Literal["callbench", "vcrpy"]


@dataclass(frozen=True, slots=True)
class Converted:
    """A finished conversion. ``masked``, ``lost`` and ``changed`` map what to how often."""

    source: Path
    target: Path
    interactions: int
    masked: dict[str, int]
    lost: dict[str, int]
    changed: dict[str, int]


def convert(
    source: Path, target: Path, *, base_url: str = BASE_URL, force: bool = False
) -> Converted:
    """Write the cassette at ``source`` to ``target``, each in the format its name says.

    ``.yaml``, ``.yml`` and ``.json`` are vcrpy's, ``.jsonl`` is ours. ``base_url`` is the address of
    recordings that have none. An existing target is replaced only with ``force``. Raises ``UsageError`` for
    names that do not say a format, ``CassetteError`` for a source that cannot be read or written so.
    """
    come, go = _kind(source), _kind(target)
    if come == go == "callbench":
        raise UsageError(f"Both {source} and {target} are cassettes of callbench.")
    if not source.exists():
        raise CassetteError(f"{source} does not exist.")
    if target.exists() and (not force or target.samefile(source)):
        raise UsageError(
            f"{target} exists already.", remedy="Name another file, or replace it with --force."
        )
    masked: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    if come == "vcrpy":
        interactions = _from_vcrpy(source, masked, changed)
    else:
        interactions = list(Cassette.open(source))
    if go == "vcrpy":
        files.write_tape(target, _tape(interactions, base_url, lost))
    else:
        models = {interaction.request.model for interaction in interactions} - {""}
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, interactions, models=models, recorder=recorder_name())
    counts = (dict(+count) for count in (masked, lost, changed))
    return Converted(source, target, len(interactions), *counts)


def _kind(path: Path) -> Kind:
    """Whose format a name says; a file that says nothing is looked into."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return "callbench"
    if suffix in (".yaml", ".yml", ".json"):
        return "vcrpy"
    if path.is_file():
        with path.open("rb") as file:
            return "callbench" if FORMAT.encode() in file.read(200) else "vcrpy"
    raise UsageError(
        f"The name {path} does not say a format.",
        remedy="Use .yaml, .yml or .json for vcrpy, .cassette.jsonl for callbench.",
    )


def _from_vcrpy(path: Path, masked: Counter[str], changed: Counter[str]) -> list[Interaction]:
    tape = files.read_tape(path)
    entries = [mapping.modern(entry, changed) for entry in tape.interactions]
    secrets = _secrets(path, entries)
    ordinals: Counter[str] = Counter()
    interactions = []
    for place, entry in enumerate(entries):
        try:
            interaction = mapping.from_vcr(entry, place, secrets, masked)
        except CassetteError as error:
            raise _placed(path, place, error) from error
        if tape.more and place == 0:
            interaction = _with_members_of_file(interaction, tape, secrets)
        interactions.append(replace(interaction, ordinal=ordinals[interaction.key]))
        ordinals[interaction.key] += 1
        if holds_secret(encode_interaction(interactions[-1]), secrets):
            raise CassetteError(
                f"{path}, interaction {place + 1}: a credential in it cannot be masked.",
                remedy="Take it out of that cassette; its key should be revoked in any case.",
            )
    if tape.more and not entries:
        changed["members of the file beside its interactions, of which it has none: left out"] += 1
    return interactions


def _secrets(path: Path, entries: Iterable[dict[str, object]]) -> tuple[str, ...]:
    """The credentials of all exchanges: what one of them carries, another may repeat."""
    found: set[str] = set()
    for place, entry in enumerate(entries):
        request, response = entry["request"], entry["response"]
        assert isinstance(request, dict)
        assert isinstance(response, dict)
        try:
            sent, answer = mapping.body_bytes(request["body"]), mapping.readable(response)
        except CassetteError as error:
            raise _placed(path, place, error) from error
        except (TypeError, ValueError) as error:
            raise CassetteError(
                f"{path}, interaction {place + 1}: a body is neither text nor bytes: {error}"
            ) from error
        asked = mapping.headers_of(request)
        texts = [sent, answer, request["uri"].encode()]
        for headers in (asked, mapping.headers_of(response)):
            texts += [value.encode() for values in headers.values() for value in values]
        found |= secrecy.credentials(asked, mapping.target_of(request["uri"]), sent, texts)
    return secrets_of((), "", sorted(found))


def _with_members_of_file(
    interaction: Interaction, tape: files.Tape, secrets: Sequence[str]
) -> Interaction:
    vcr = dict(interaction.vcr or {})
    members = mapping.plain_data(dict(tape.more), secrets, "the file")
    vcr["more"] = {**vcr.get("more", {}), "cassette": members}
    return replace(interaction, vcr=vcr)


def _tape(interactions: Sequence[Interaction], base_url: str, lost: Counter[str]) -> files.Tape:
    """The interactions in the order of the vcrpy cassette they came from; others after them."""

    def place(interaction: Interaction) -> float:
        at = (interaction.vcr or {}).get("place")
        return at if isinstance(at, int) else float("inf")

    ordered = sorted(interactions, key=place)
    more: dict[str, Any] = next(
        (
            i.vcr["more"]["cassette"]
            for i in ordered
            if i.vcr and "cassette" in i.vcr.get("more", {})
        ),
        {},
    )
    return files.Tape(tuple(mapping.to_vcr(i, base_url, lost) for i in ordered), more)


def _placed(path: Path, place: int, error: CassetteError) -> CassetteError:
    return CassetteError(f"{path}, interaction {place + 1}: {error.message}", remedy=error.remedy)
