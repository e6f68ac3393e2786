"""Embedded models on llama.cpp: a native OpenAI-compatible server inside this process.

The server listens on a free port of 127.0.0.1 and nowhere else, and answers only requests with
the token made at its start. ``LlamaTransport`` is the way in: an httpx2 transport that starts the
server at the first request, so a replay neither imports nor starts anything.

Answers repeat: temperature 0, one sequence at a time, no reuse of an earlier prompt's state.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2

from callbench.errors import ProviderError, UsageError
from callbench.models.grammar import for_llama, reduced

HOST = "127.0.0.1"

_DROPPED = {"host", "content-length", "authorization", "accept-encoding"}
_QUIET = -1


class LlamaEngine:
    """One model in one server. ``start`` may be called from any thread, and again."""

    def __init__(
        self,
        name: str,
        weights: Callable[[], Path],
        *,
        context: int = 8192,
        threads: int | None = None,
        chat_template: str = "",
    ) -> None:
        self.name = name
        self._weights = weights
        self._context = context
        self._threads = threads or _half_of_the_cores()
        self._template = chat_template
        self._token = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._server: Any = None
        self._address = ""

    @property
    def token(self) -> str:
        """The bearer token the server wants."""
        return self._token

    def start(self) -> str:
        """Return the server's address, ``http://127.0.0.1:PORT``, starting it if need be.

        ``UsageError`` when the engine or the weights are missing, ``ProviderError`` when the
        weights cannot be loaded.
        """
        with self._lock:
            if self._server is None:
                self._server = self._started()
                self._address = self._server.listening_address
            return self._address

    def close(self) -> None:
        """Stop the server and free the model."""
        with self._lock:
            self._server = None  # the last reference: its destructor joins the threads
            self._address = ""

    def __enter__(self) -> LlamaEngine:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _started(self) -> Any:
        path = self._weights()
        xllamacpp = _engine()
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.model_alias = {self.name}  # else every answer names a path of this machine
        params.hostnames = [HOST]
        params.port = 0
        params.api_keys = [self._token]
        params.ui = False
        params.endpoint_slots = False
        params.n_ctx = self._context
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.n_gpu_layers = 0
        params.cache_prompt = False
        params.cache_ram_mib = 0
        params.n_ctx_checkpoints = 0
        params.sampling.temp = 0.0
        params.sampling.seed = 7
        params.verbosity = _QUIET
        if self._template:
            params.chat_template = self._template
        params.warmup = False  # the first token below does that
        try:
            server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise ProviderError(
                f"{self.name}: llama.cpp cannot load {path}: {error}",
                remedy=f"Check the file: callbench models check {self.name}",
            ) from error
        # A server stopped before its loop has begun waits for itself forever; once it has
        # answered, the loop runs.
        server.handle_completions({"prompt": "a", "max_tokens": 1})
        return server


class LlamaTransport(httpx2.AsyncBaseTransport):
    """Sends chat completions to an engine, schemas put into the dialect of its grammars.

    When the engine refuses a schema (HTTP 400) the request goes again with the schema reduced to
    its shape, then with any JSON object admitted; other refusals are passed on as they are.
    """

    def __init__(self, engine: LlamaEngine, http: httpx2.AsyncBaseTransport | None = None) -> None:
        self._engine = engine
        self._http = http or httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request; raises what ``LlamaEngine.start`` raises."""
        content = await request.aread()
        address = httpx2.URL(await asyncio.to_thread(self._engine.start))
        for body in _bodies(content):
            sent = self._request(request, address, body)
            response = await self._http.handle_async_request(sent)
            if response.status_code != httpx2.codes.BAD_REQUEST:
                break
            text = await response.aread()
            await response.aclose()
            response = httpx2.Response(
                response.status_code, headers={"content-type": "application/json"}, content=text
            )
            if b"exceed_context_size" in text:
                break  # a smaller schema would not make the prompt shorter
        return response

    async def aclose(self) -> None:
        """Close the connections; the engine stays up for others."""
        await self._http.aclose()

    def _request(self, request: httpx2.Request, address: httpx2.URL, body: bytes) -> httpx2.Request:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _DROPPED}
        headers["authorization"] = f"Bearer {self._engine.token}"
        return httpx2.Request(
            request.method,
            request.url.copy_with(scheme="http", host=HOST, port=address.port),
            headers=headers,
            content=body,
            extensions=request.extensions,
        )


def _bodies(content: bytes) -> Iterator[bytes]:
    """Yield the body to send, then what to fall back to while the engine refuses the schema."""
    try:
        body = json.loads(content)
        schema = body["response_format"]["json_schema"]["schema"]
    except (ValueError, KeyError, TypeError):
        yield content
        return
    if not isinstance(schema, dict):
        yield content
        return
    for form in (for_llama, reduced, _any_object):
        # ``dumps`` keeps the order of properties, which is the order they are generated in.
        inner = {"type": "json_schema", "json_schema": {"name": "reply", "schema": form(schema)}}
        yield json.dumps({**body, "response_format": inner}, ensure_ascii=False).encode()


def _any_object(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object"}


def _engine() -> Any:
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise UsageError(
            f"Embedded models need llama.cpp, which is not installed ({error}).",
            remedy="Install it: pip install 'callbench[local]'",
        ) from error


def _half_of_the_cores() -> int:
    # The engine's threads wait for each other in busy loops. Two engines with a thread per core
    # take turns at waiting, and become slower a hundredfold (measured on 2 cores).
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) // 2)
