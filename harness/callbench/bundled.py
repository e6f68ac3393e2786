"""Where the data that ships with callbench stands: the one place that knows.

The wheel carries ``datasets/`` and ``cassettes/`` under ``callbench/_bundled``; a checkout has
them at its root. Nothing else in the harness looks for either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from callbench.errors import UsageError

_PACKAGE = Path(__file__).resolve().parent


def bundled(kind: Literal["datasets", "cassettes"], *, package: Path = _PACKAGE) -> Path:
    """Return the directory of bundled data of this kind: the wheel's copy, else the checkout's.

    ``package`` is the directory of the callbench package. Raises :class:`UsageError` when this
    installation has neither copy.
    """
    wheel = package / "_bundled" / kind
    if wheel.is_dir():
        return wheel
    root = package.parent.parent
    # Only a checkout has its pyproject there; two levels above site-packages anything may stand.
    checkout = root / kind
    if (root / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    raise UsageError(
        f"this installation of callbench has no bundled {kind}: neither {wheel} nor {checkout} exists",
        remedy="Reinstall callbench, or name a file of your own.",
    )
