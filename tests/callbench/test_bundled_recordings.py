"""The recordings that ship answer the dataset that ships: every request, and nothing beside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from callbench.cassette.scope import CaseScope, Exchange
from callbench.cassette.store import Cassette
from callbench.dataset.loader import load_dataset
from callbench.run.cassettes import cassette_path
from callbench.run.config import RunConfig
from callbench.run.engine import run_cases
from callbench.run.opening import opened

RECORDED = [
    RunConfig(model="smollm2"),
    RunConfig(model="smollm2", function_model="needle3"),
    RunConfig(model="gemma3-270m"),
    RunConfig(model="smollm2", system="fewshot", shots=3),
    RunConfig(model="needle3", system="stage2"),
]
MOST_BYTES = 15_000_000


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> set[tuple[str, str, int]]:
    """The recordings that a run of the test uses."""
    monkeypatch.chdir(tmp_path)  # no callbench.toml and no cassettes of the developer's own
    used: set[tuple[str, str, int]] = set()
    add = CaseScope.add

    def noted(self: CaseScope, exchange: Exchange) -> None:
        used.add((exchange.key, exchange.case, exchange.ordinal))
        add(self, exchange)

    monkeypatch.setattr(CaseScope, "add", noted)
    return used


async def replay(config: RunConfig) -> set[tuple[str, str, int]]:
    """Replay the whole dataset; return what the cassette holds."""
    dataset = load_dataset(config.dataset)
    async with opened(config, dataset, dataset) as run:
        async for done in run_cases(dataset.cases, run.system, concurrency=1, deadline=60):
            assert done.miss is None, done.miss
            assert done.outcome.status in ("ok", "unparsed")
    with Cassette.open(cassette_path(config, dataset.name)) as cassette:
        return {(one.key, one.case, one.ordinal) for one in cassette}


@pytest.mark.parametrize("config", RECORDED, ids=lambda config: f"{config.model}-{config.system}")
async def test_every_case_replays_and_every_recording_is_used(
    config: RunConfig, used: set[tuple[str, str, int]]
) -> None:
    assert used == await replay(config)


async def test_the_first_stage_alone_replays_from_the_recordings_of_both(
    used: set[tuple[str, str, int]],
) -> None:
    recorded = await replay(RunConfig(model="smollm2", system="stage1"))
    assert used < recorded  # those of stage 2 are left
    assert {case for _, case, _ in used} == {case for _, case, _ in recorded}


def test_they_are_small_and_name_no_machine_and_no_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # the bundled files, not ones of this directory
    paths = [cassette_path(config, config.dataset) for config in RECORDED]
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
