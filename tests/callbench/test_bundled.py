"""Bundled data: the wheel's copy, else the checkout's, else a clear error."""

from pathlib import Path

import pytest

from callbench.bundled import bundled
from callbench.errors import ExitCode, UsageError


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package directory as deep below its root as ours: ``root/harness/callbench``."""
    package = tmp_path / "harness" / "callbench"
    package.mkdir(parents=True)
    return package


def test_the_checkout_is_found_from_the_package_itself() -> None:
    assert (bundled("datasets") / "everyday").is_dir()


def test_the_wheels_copy_comes_first(tmp_path: Path, package: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "datasets").mkdir()
    (package / "_bundled" / "datasets").mkdir(parents=True)
    assert bundled("datasets", package=package) == package / "_bundled" / "datasets"


def test_each_kind_has_its_own_directory(tmp_path: Path, package: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "cassettes").mkdir()
    assert bundled("cassettes", package=package) == tmp_path / "cassettes"


def test_a_directory_that_merely_stands_two_levels_up_is_not_ours(
    tmp_path: Path, package: Path
) -> None:
    (tmp_path / "datasets").mkdir()
    with pytest.raises(UsageError, match="no bundled datasets") as caught:
        bundled("datasets", package=package)
    assert caught.value.exit_code is ExitCode.USAGE
    assert "Reinstall" in str(caught.value)
