"""A valid case line to break, and a way to write dataset files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Record = dict[str, Any]


@pytest.fixture
def record() -> Record:
    """A fresh valid line that uses every field."""
    return {
        "id": "hotel-1",
        "lang": "en",
        "tool": {"name": "book_hotel", "description": "Books a hotel."},
        "schema": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "nights": {"type": "integer", "minimum": 1},
                "phone": {"type": "string"},
                "rooms": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"beds": {"type": "integer"}},
                        "required": ["beds"],
                    },
                },
                "note": {"type": "string"},
            },
            "required": ["city", "nights", "phone"],
        },
        "question": "Two nights in Hangzhou, please.",
        "conversation": [
            {"role": "user", "content": "I need a hotel."},
            {"role": "assistant", "content": "Where?"},
        ],
        "facts": ["The user likes quiet rooms."],
        "summary": "Planning a trip.",
        "steps": [
            {
                "step_id": "s1",
                "step_name": "search",
                "step_description": "Searches.",
                "output_data": {"found": 3},
            }
        ],
        "data": {"nights": 2},
        "now": "2026-03-12T09:30:00",
        "expected": {"city": "Hangzhou", "nights": 2},
        "accept": {"/city": {"values": ["Hangzhou City"], "match": "text", "may_omit": False}},
        "unfillable": ["/phone"],
        "defects": {"/steps/0": "misaligned"},
        "tags": ["flat"],
        "cluster": "d1",
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write records, or raw bytes, as the lines of a dataset file."""

    def write(*lines: Record | bytes, name: str = "cases.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            b"".join(
                line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
                for line in lines
            )
        )
        return path

    return write
