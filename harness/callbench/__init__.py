"""callbench: replay, score and compare LLM Calls.

``load_run(path)`` gives the pandas frames of a finished run; everything else is the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callbench.report.frames import Run, load_run

__version__ = "0.1.0"
__all__ = ["Run", "__version__", "load_run"]


def __getattr__(name: str) -> object:
    # pandas takes most of a second to import; who only replays does not pay for it.
    if name in ("Run", "load_run"):
        from callbench.report import frames

        return getattr(frames, name)
    raise AttributeError(f"module 'callbench' has no attribute {name!r}")
