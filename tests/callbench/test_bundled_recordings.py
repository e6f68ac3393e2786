"""The recordings that ship answer the dataset that ships: every request, and nothing beside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from callbench.bundled import bundled
from callbench.cassette.scope import CaseScope, Exchange
from callbench.cassette.store import Cassette
from callbench.cassette.transport import Mode
from callbench.dataset.loader import load_dataset
from callbench.models.catalogue import load_catalogue
from callbench.run.engine import run_cases
from callbench.run.session import open_models, roles_of
from callbench.run.system import SlotSystem

MODELS = [("smollm2", None), ("smollm2", "needle3"), ("gemma3-270m", None)]
MOST_BYTES = 15_000_000


def shipped(model: str, function_model: str | None) -> Path:
    name = "+".join(filter(None, (model, function_model)))
    return bundled("cassettes") / f"everyday.{name}.cassette.jsonl"


@pytest.mark.parametrize(("model", "function_model"), MODELS)
async def test_every_case_replays_and_every_recording_is_used(
    model: str, function_model: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # no callbench.toml of the developer's own
    used: set[tuple[str, str, int]] = set()
    add = CaseScope.add

    def noted(self: CaseScope, exchange: Exchange) -> None:
        used.add((exchange.key, exchange.case, exchange.ordinal))
        add(self, exchange)

    monkeypatch.setattr(CaseScope, "add", noted)
    dataset = load_dataset("everyday")
    roles = roles_of(load_catalogue(), model, function_model)
    with Cassette.open(shipped(model, function_model)) as cassette:
        async with open_models(roles, cassette, Mode.REPLAY, command="") as models:
            system = SlotSystem(models)
            async for done in run_cases(dataset.cases, system, concurrency=1, deadline=60):
                assert done.miss is None, done.miss
                assert done.outcome.status in ("ok", "unparsed")
        recorded = {(one.key, one.case, one.ordinal) for one in cassette}
    assert used == recorded


def test_they_are_small_and_name_no_machine_and_no_key() -> None:
    paths = [shipped(*names) for names in MODELS]
    assert sum(path.stat().st_size for path in paths) < MOST_BYTES
    for path in paths:
        content = path.read_bytes()
        assert not re.search(rb"/(?:home|root|Users)/|\bsk-[A-Za-z0-9]{8}|[Bb]earer ", content)


def test_the_dataset_is_in_pairs_of_both_languages() -> None:
    cases = list(load_dataset("everyday").cases)
    assert len(cases) >= 200
    pairs: dict[str, list[str]] = {}
    for case in cases:
        pairs.setdefault(case.cluster, []).append(case.lang)
    assert all(sorted(langs) == ["en", "zh"] for langs in pairs.values())
