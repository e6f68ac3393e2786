"""Open a model for use: its address, its key, and the transport that reaches it.

Nothing is started or imported here. A model that lives in process is a transport that starts its
engine at the first request; engines are shared by everyone in the process and stop at its exit.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

import httpx2

from callbench.errors import UsageError
from callbench.models import weights
from callbench.models.catalogue import ModelProfile


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model ready to be asked.

    ``transport`` makes the transport that reaches it; ``None`` stands for plain HTTP. The key is
    never shown.
    """

    base_url: str
    model: str
    api_key: str = field(repr=False)
    transport: Callable[[], httpx2.AsyncBaseTransport] | None


class Engine(Protocol):
    """What runs in process: stopped once, at the end."""

    def close(self) -> None:
        """Stop it and free what it holds."""


class Engines:
    """The engines of a process, one per profile, made at the first need."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engines: dict[tuple[object, ...], Engine] = {}

    def transport(self, profile: ModelProfile) -> httpx2.AsyncBaseTransport:
        """Return a new transport to the profile's engine; the engine starts when it is used."""
        with self._lock:
            if profile.engine == "llama":
                return self._llama(profile)
            return self._needle(profile)

    def close(self) -> None:
        """Stop every engine."""
        with self._lock:
            engines, self._engines = self._engines, {}
        for engine in engines.values():
            engine.close()

    def _llama(self, profile: ModelProfile) -> httpx2.AsyncBaseTransport:
        from callbench.models.llama import LlamaEngine, LlamaTransport

        engine = self._engines.get(_identity(profile))
        if not isinstance(engine, LlamaEngine):
            engine = self._engines[_identity(profile)] = LlamaEngine(
                profile.model,
                lambda: next(iter(weights.locate(profile).values())),
                context=profile.context,
                threads=profile.threads,
                chat_template=profile.chat_template,
            )
        return LlamaTransport(engine)

    def _needle(self, profile: ModelProfile) -> httpx2.AsyncBaseTransport:
        from callbench.models.needle import NeedleEngine, NeedleTransport

        engine = self._engines.get(_identity(profile))
        if not isinstance(engine, NeedleEngine):
            engine = self._engines[_identity(profile)] = NeedleEngine(
                lambda: weights.locate(profile), timeout=profile.timeout
            )
        return NeedleTransport(engine, profile.model)


def _identity(profile: ModelProfile) -> tuple[object, ...]:
    """Return what two profiles must share to share an engine."""
    return (
        profile.engine,
        profile.model,
        profile.path,
        profile.weights,
        profile.context,
        profile.threads,
        profile.chat_template,
    )


@cache
def process_engines() -> Engines:
    """Return the engines of this process; they are closed at its exit."""
    engines = Engines()
    atexit.register(engines.close)
    return engines


def open_model(
    profile: ModelProfile, *, replaying: bool = False, engines: Engines | None = None
) -> OpenedModel:
    """Open a model. When only ``replaying`` no key is needed and nothing will be started.

    ``engines`` are those of the process by default. ``UsageError`` when the profile names a key
    variable that is not set.
    """
    if profile.engine == "http":
        key = "" if replaying else _key(profile)
        return OpenedModel(profile.base_url, profile.model, key, None)
    shared = engines or process_engines()
    return OpenedModel(profile.base_url, profile.model, "", lambda: shared.transport(profile))


def _key(profile: ModelProfile) -> str:
    if not profile.api_key_env:
        return ""
    key = os.environ.get(profile.api_key_env, "").strip()
    if not key:
        raise UsageError(
            f"{profile.name}: the environment variable {profile.api_key_env} is not set.",
            remedy=f"It holds the key of {profile.base_url}: export {profile.api_key_env}=…",
        )
    return key
