"""A synthetic model on loopback, for tests of the command only: a function decides each answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = str | int
Decide = Callable[[dict[str, Any]], Answer]


@dataclass
class SyntheticModel:
    """``decide`` maps a request body to the reply's text, or to an error status."""

    decide: Decide
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def synthetic_model(decide: Decide) -> Iterator[SyntheticModel]:
    """Serve for the block, on a free port of 127.0.0.1."""
    model = SyntheticModel(decide)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            model.bodies.append(body)
            answer = model.decide(body)
            if isinstance(answer, int):
                self._send(answer, "application/json", b'{"error": {"message": "synthetic"}}')
            elif body["stream"]:
                self._send(200, "text/event-stream", _events(answer))
            else:
                choice = {"message": {"content": answer}, "finish_reason": "stop"}
                self._send(200, "application/json", json.dumps({"choices": [choice]}).encode())

        def _send(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *args: Any) -> None:
            pass  # a client that was killed

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _events(text: str) -> bytes:
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)] or [""]
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        for piece in pieces
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    usage = {"prompt_tokens": 10, "completion_tokens": len(pieces)}
    chunks.append({"choices": [], "usage": usage})
    lines = [b"data: " + json.dumps(chunk, ensure_ascii=False).encode() for chunk in chunks]
    return b"\n\n".join([*lines, b"data: [DONE]", b""])
