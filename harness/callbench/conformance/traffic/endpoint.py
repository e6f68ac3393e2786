"""An OpenAI-compatible endpoint on 127.0.0.1: a base URL for each case, answers by turn."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

from callbench.conformance.traffic.http import (
    MOST_HEAD,
    BadRequest,
    Received,
    read_request,
    write_reply,
)
from callbench.conformance.traffic.script import MODELS, Reply, Script, error_reply

_TARGET = re.compile(r"/c/([0-9]+)/v1(/.*|)")
_PATH = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came to a case.

    ``path`` is what stands behind the base URL, ``body`` the JSON object sent (``{}`` if it was
    none). ``model`` is ``""`` unless it is one of the two. ``problem`` says why the answer was an
    error of the endpoint's own; ``turn`` is the number of the answer given, else None.
    """

    method: str
    path: str
    authorization: str
    body: dict[str, Any]
    model: str = ""
    problem: str = ""
    turn: int | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, those that are objects."""
        found = self.body.get("messages")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


class Visit:
    """A case while it runs: where it is asked, what it answers, and what it was asked so far."""

    def __init__(self, base_url: str, script: Script) -> None:
        self.base_url = base_url
        self.script = script
        self.asked: list[Asked] = []
        self._turns = dict.fromkeys(MODELS, 0)

    def reply(self, path: str, received: Received) -> Reply:
        """Note a request and return its answer."""
        body = _object(received.body)
        model = body.get("model") if body is not None else None
        key = received.headers.get("authorization", "")
        status, problem, turn = self._turn(received.method, path, body, model)
        known = model if isinstance(model, str) and model in MODELS else ""
        asked = Asked(received.method, path, key, body or {}, known, problem, turn)
        self.asked.append(asked)
        return error_reply(status, problem) if turn is None else self.script.of(known)[turn]

    def _turn(
        self, method: str, path: str, body: dict[str, Any] | None, model: Any
    ) -> tuple[int, str, int | None]:
        """Return the number of the answer, or a status and what is wrong."""
        if (method, path) != ("POST", _PATH):
            return 404, f"{method} {path} is not POST {_PATH}", None
        if body is None:
            return 400, "the body is no JSON object", None
        if model not in MODELS:
            return 404, f"the model {json.dumps(model)} is neither reasoning nor function", None
        turn = self._turns[model]
        self._turns[model] += 1
        given = len(self.script.of(model))
        if turn < given:
            return 200, "", turn
        if given and self.script.again and model == "function":
            return 200, "", given - 1
        answers = "1 answer" if given == 1 else f"{given or 'no'} answers"
        problem = f"{self.script.what} {answers} of the {model} model, and it was asked once more"
        return 500, problem, None


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class Endpoint:
    """Serves cases from one thread, at a port of its own, until it is closed.

    Use it as a context manager; :meth:`visit` from any thread.
    """

    def __init__(self) -> None:
        self._visits: dict[int, Visit] = {}
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        started = asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MOST_HEAD)
        self._server = asyncio.run_coroutine_threadsafe(started, self._loop).result()
        self._port = self._server.sockets[0].getsockname()[1]

    @contextmanager
    def visit(self, script: Script) -> Iterator[Visit]:
        """Serve a script at a base URL of its own; whoever asks there afterwards gets 404."""
        number = next(self._numbers)
        visit = Visit(f"http://127.0.0.1:{self._port}/c/{number}/v1", script)
        self._visits[number] = visit
        try:
            yield visit
        finally:
            del self._visits[number]

    def close(self) -> None:
        """End all connections, and the thread."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _end(self) -> None:
        self._server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            try:
                if (received := await read_request(reader, writer)) is not None:
                    await write_reply(writer, self._reply(received))
            except BadRequest as error:
                await write_reply(writer, error_reply(400, str(error)))
            finally:
                writer.close()

    def _reply(self, received: Received) -> Reply:
        found = _TARGET.fullmatch(received.target)
        visit = self._visits.get(int(found[1])) if found else None
        if found is None or visit is None:
            return error_reply(404, f"no case is running at {received.target[:200]}")
        return visit.reply(found[2], received)
