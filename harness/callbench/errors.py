"""Every error a person can cause, and the exit code each one ends the command with.

    CallbenchError            70  a fault of ours
    ├── UsageError             2  wrong option, unknown model or dataset, bad configuration
    ├── DatasetError           3  a bad line in a dataset, an overlay or a case file
    ├── ProviderError          4  the model's endpoint failed or cannot be reached
    └── CassetteError          5  a miss, a stale or a damaged recording

Each error carries its own remedy: ``str(error)`` is the whole text a user sees.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command, documented in the README."""

    OK = 0
    FINDING = 1
    USAGE = 2
    DATASET = 3
    PROVIDER = 4
    CASSETTE = 5
    DIFFERENCE = 6
    INTERNAL = 70
    INTERRUPTED = 130
    TERMINATED = 143


class CallbenchError(Exception):
    """Base of all errors of the harness.

    ``message`` says what is wrong and where; ``remedy`` what to do about it.
    """

    exit_code = ExitCode.INTERNAL

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class UsageError(CallbenchError):
    """The command was asked for something that does not exist or cannot be."""

    exit_code = ExitCode.USAGE


class DatasetError(CallbenchError):
    """A dataset file breaks a rule; the message names file, line, field and rule."""

    exit_code = ExitCode.DATASET


class ProviderError(CallbenchError):
    """A model's endpoint failed; the message names it."""

    exit_code = ExitCode.PROVIDER


class CassetteError(CallbenchError):
    """A cassette has no answer for a request, or is damaged."""

    exit_code = ExitCode.CASSETTE
