"""Records of scored cases, and runs on disk made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Record = dict[str, Any]


@pytest.fixture
def make_record() -> Callable[..., Record]:
    """Build a record; ``slots`` are ``(pointer, verdict, more)``."""

    def make(name: str = "a", *slots: tuple[str, str, Record], **fields: Any) -> Record:
        exact = all(verdict in ("correct", "known", "correctly_omitted") for _, verdict, _ in slots)
        status = fields.get("status", "ok")
        flag = None if status == "provider_error" else exact and status == "ok"
        return {
            "id": name,
            "lang": "en",
            "tags": [],
            "cluster": "",
            "question": f"Question {name}?",
            "status": status,
            "exact": flag,
            "exact_strict": flag,
            "schema_valid": None if flag is None else status == "ok",
            "repaired": False,
            "slot_data": {},
            "slots": [
                {
                    "pointer": pointer,
                    "verdict": verdict,
                    "rung": "json" if verdict == "correct" else "",
                    "stage": "",
                    "type": "string",
                    "required": True,
                    **more,
                }
                for pointer, verdict, more in slots
            ],
            "error": "",
            "calls": 1,
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "timing": {"ms": 1.0, "first_event_ms": 0.5},
        } | fields

    return make


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run directory from records, or raw bytes for lines."""

    def write(*lines: Record | bytes, info: Record | None = None) -> Path:
        directory = tmp_path / "run-1"
        directory.mkdir(exist_ok=True)
        told = {"run_id": "run-1", "model": "smollm2", "dataset": "everyday"}
        (directory / "run.json").write_text(json.dumps(told if info is None else info))
        raw = [
            line
            if isinstance(line, bytes)
            else json.dumps(line, ensure_ascii=False).encode() + b"\n"
            for line in lines
        ]
        (directory / "cases.jsonl").write_bytes(b"".join(raw))
        return directory

    return write
