"""A real server on loopback for the bridge's tests; what it answers is synthetic."""

from __future__ import annotations

import gzip
import json
import threading
import time
import xmlrpc.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMPLETION = {
    "id": "synthetic",
    "object": "chat.completion",
    "created": 1,
    "model": "synthetic",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "杭州 ✓"},
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}
BINARY = bytes(range(256)) * 3
LARGE = BINARY * 2800
"""More than any client's buffer."""
PIECES = ("Hang", "zhou ", "杭", "州")


@dataclass
class Server:
    """The running server: its address, how often it was asked, and a gate in the middle of streams."""

    url: str
    stop: Any
    asked: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server

    def log_message(self, *_: Any) -> None:
        pass

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def do_GET(self) -> None:
        body = self._body()
        self.state.asked.append(f"{self.command} {self.path}")
        number = len(self.state.asked)
        if self.path.startswith("/v1/binary"):
            self._answer(BINARY, "application/octet-stream")
        elif self.path.startswith("/v1/large"):
            self._answer(LARGE, "application/octet-stream")
        elif self.path.startswith("/v1/gzip"):
            data = gzip.compress(json.dumps(COMPLETION).encode())
            self._answer(data, "application/json", {"content-encoding": "gzip"})
        elif self.path.startswith("/v1/empty"):
            self.send_response(204)
            self.end_headers()
        elif self.path.startswith("/v1/busy"):
            self._answer(
                b'{"error":{"message":"busy"}}', "application/json", {"retry-after": "7"}, 429
            )
        elif self.path.startswith("/v1/echo"):
            told = f"{number} {self.headers.get('authorization')} {body.decode()}"
            self._answer(told.encode(), "text/plain", {"set-cookie": "session=synthetic-cookie-1"})
        elif self.path.startswith("/v1/moved"):
            self._answer(b"", "text/plain", {"location": self.path.replace("moved", "echo")}, 302)
        elif self.path.startswith("/v1/rpc"):
            self._answer(xmlrpc.client.dumps((3,), methodresponse=True).encode(), "text/xml")
        elif self.path.startswith("/v1/cut"):
            self._events(cut=True)
        elif b'"stream":true' in body.replace(b" ", b""):
            self._events()
        else:
            self._answer(json.dumps(COMPLETION | {"created": number}).encode(), "application/json")

    do_POST = do_GET
    do_HEAD = do_GET

    def _answer(
        self, data: bytes, kind: str, headers: dict[str, str] | None = None, status: int = 200
    ) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _events(self, *, cut: bool = False) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(PIECES):
            if number == 2:
                self.state.gate.wait(10)
                if cut:
                    self.close_connection = True
                    return
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
            chunk = {
                "id": "synthetic",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "synthetic",
                "choices": [choice],
            }
            self._chunk(b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n")
            time.sleep(0.002)  # so that chunks stay apart on the wire
        self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


@contextmanager
def running() -> Iterator[Server]:
    """A server in a thread; ``stop()`` takes it down before the test ends."""
    handler = type("Handler", (_Handler,), {})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    stopped: list[bool] = []

    def stop() -> None:
        if not stopped:
            stopped.append(True)
            httpd.shutdown()
            httpd.server_close()
            thread.join()

    state = Server(f"http://127.0.0.1:{httpd.server_address[1]}/v1", stop)
    handler.state = state
    thread.start()
    yield state
    state.gate.set()
    stop()
