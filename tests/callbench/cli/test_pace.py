"""``callbench run --pace``: the same records, in time; what it does not go with."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Invoke

HOTELS = ("hotels.jsonl", "--model", "synthetic", "--limit", "2")
SYSTEM = '''
import threading, urllib.request
from corecall.slot.schema import SlotInput, SlotOutput
from corecall.slot.slot import Slot


class Dials(Slot, input_model=SlotInput, output_model=SlotOutput):
    """Asks the network on a thread of its own, beside what it is given."""

    async def _exec(self, input_data):
        caught = []

        def ask():
            try:
                urllib.request.urlopen("http://192.0.2.1/v1", timeout=5)
            except Exception as error:
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        raise caught[0]
        yield
'''


def test_a_run_in_time_has_the_same_records(callbench: Invoke, place: Path) -> None:
    assert callbench("record", *HOTELS, "--out", "recorded", "--quiet").code == 0
    assert callbench("run", *HOTELS, "--out", "instant", "--quiet").code == 0
    assert callbench("run", *HOTELS, "--out", "paced", "--pace", "8x", "--quiet").code == 0
    assert (place / "paced/cases.jsonl").read_bytes() == (
        place / "instant/cases.jsonl"
    ).read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "--mode", "record"), "--mode record"),
        (("run", "--mode", "live"), "--mode live"),
        (("run", "--faults", "all"), "--faults"),
        (("run", "--system", "empty"), "--system empty"),
        (("run", "--impl", "python:callbench.conformance.reference"), "--impl"),
        (("record",), "--pace"),
    ],
)
def test_what_it_does_not_go_with(callbench: Invoke, words: tuple[str, ...], told: str) -> None:
    verb, *rest = words
    result = callbench(verb, *HOTELS, *rest, "--pace", "real")
    assert (result.code, told in result.err) == (2, True)


@pytest.mark.trap("C6")
def test_a_system_that_dials_in_replay_is_told_so(
    callbench: Invoke, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing leaves the process in replay, whatever a system of the user's own does (C6)."""
    (place / "dialing_system.py").write_text(SYSTEM, encoding="utf-8")
    monkeypatch.syspath_prepend(str(place))
    result = callbench("run", *HOTELS, "--system", "dialing_system:Dials", "--out", "run")
    assert result.code == 5
    assert "2 of 2 cases were not replayed" in result.err
    assert "192.0.2.1:80" in result.err
