"""``callbench cassette convert`` says what it did, in words and as one object."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from callbench.cli import app

from .test_convert import entry, write


def test_words_and_object(tmp_path: Path) -> None:
    source = write(tmp_path / "in.yaml", entry("a", headers={"Authorization": ["Bearer x"]}))
    ours = tmp_path / "ours.cassette.jsonl"
    done = CliRunner().invoke(app, ["cassette", "convert", str(source), str(ours)])
    assert done.exit_code == 0
    assert "1 interactions" in done.output
    assert "masked: 1 headers authorization" in done.output
    back = CliRunner().invoke(
        app, ["cassette", "convert", str(ours), str(tmp_path / "back.json"), "--json"]
    )
    assert json.loads(back.output) == {
        "in": str(ours), "out": str(tmp_path / "back.json"), "interactions": 1,
        "masked": {}, "lost": {}, "changed": {},
    }  # fmt: skip
