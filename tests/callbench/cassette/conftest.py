"""Builders shared by the cassette tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from callbench.cassette import Event, Interaction, Request, Response, canonical_request, request_key

Build = Callable[..., Interaction]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test keeps its cassette; nothing is there yet."""
    return tmp_path / "synthetic.cassette.jsonl"


@pytest.fixture
def ask() -> Callable[..., Request]:
    """Builds a chat request from the text of its user turn."""

    def build(content: str = "Hangzhou?", model: str = "synthetic", **members: object) -> Request:
        body = {"model": model, "messages": [{"role": "user", "content": content}], **members}
        return canonical_request("POST", "/v1/chat/completions", json.dumps(body).encode())

    return build


@pytest.fixture
def recording(ask: Callable[..., Request]) -> Build:
    """Builds a recording: what was asked, for which case, and the answer."""

    def build(
        content: str = "Hangzhou?",
        case: str = "a",
        ordinal: int = 0,
        answer: str = "yes",
        **members: object,
    ) -> Interaction:
        request = ask(content, **members)
        response = Response(200, {"content-type": "application/json"}, (Event(3, answer.encode()),))
        return Interaction(request_key(request), case, ordinal, request, response)

    return build
