"""Opening a model: keys from the environment, engines started late, once, and stopped."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from callbench.errors import UsageError
from callbench.models.catalogue import ModelProfile, load_catalogue
from callbench.models.llama import LlamaTransport
from callbench.models.needle import NeedleTransport
from callbench.models.opening import Engines, open_model, process_engines

FAR = ModelProfile(name="far", model="m", base_url="https://h/v1", api_key_env="CB_TEST_KEY")


class TestEndpoint:
    def test_the_key_comes_from_the_environment_and_is_not_shown(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CB_TEST_KEY", " sk-secret\n")
        opened = open_model(FAR)
        assert (opened.base_url, opened.model, opened.api_key) == ("https://h/v1", "m", "sk-secret")
        assert opened.transport is None
        assert "sk-secret" not in repr(opened)

    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_an_unset_variable_is_named(
        self, monkeypatch: pytest.MonkeyPatch, value: str | None
    ) -> None:
        monkeypatch.delenv("CB_TEST_KEY", raising=False)
        if value is not None:
            monkeypatch.setenv("CB_TEST_KEY", value)
        with pytest.raises(UsageError, match="far: the environment variable CB_TEST_KEY is not se"):
            open_model(FAR)

    def test_a_replay_needs_no_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CB_TEST_KEY", raising=False)
        assert open_model(FAR, replaying=True).api_key == ""

    def test_an_endpoint_without_a_key(self) -> None:
        assert open_model(replace(FAR, api_key_env="")).api_key == ""


class FakeEngine:
    closed = 0

    def close(self) -> None:
        self.closed += 1


class TestEmbedded:
    @pytest.mark.parametrize(
        ("name", "kind"), [("smollm2", LlamaTransport), ("needle3", NeedleTransport)]
    )
    def test_engines_are_shared_by_profile(self, name: str, kind: type) -> None:
        engines = Engines()
        profile = load_catalogue().profile(name)
        first, second = (open_model(profile, engines=engines).transport for _ in range(2))
        assert first is not None
        assert second is not None
        one, two = first(), second()
        assert isinstance(one, kind)
        assert one is not two
        assert vars(one)["_engine"] is vars(two)["_engine"]
        other = replace(profile, model="another", extra={"top_k": 1})
        assert vars(engines.transport(other))["_engine"] is not vars(one)["_engine"]
        engines.close()

    def test_one_set_of_engines_per_process(self) -> None:
        assert process_engines() is process_engines()

    def test_opening_imports_and_starts_nothing(self) -> None:
        """Who replays does not pay for engines, and needs none installed."""
        script = (
            "import sys\n"
            "from callbench.models.catalogue import load_catalogue\n"
            "from callbench.models.opening import open_model\n"
            "for profile in load_catalogue(): open_model(profile, replaying=True)\n"
            "heavy = {'xllamacpp', 'needle', 'pandas', 'callbench.models.llama'} & set(sys.modules)\n"
            "assert not heavy, heavy\n"
        )
        command = [sys.executable, "-W", "error", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
