"""A working directory with a dataset, a model profile and a synthetic model; the command in process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from callbench import cli

from .synthetic_model import Answer, SyntheticModel, synthetic_model

KEY = "sk-synthetic-0123456789abcdef"

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "nights": {"type": "integer"}},
    "required": ["city", "nights"],
}


def case(number: int, city: str, lang: str = "en", **more: Any) -> dict[str, Any]:
    return {
        "id": f"hotel-{number}",
        "lang": lang,
        "tool": {"name": "book_hotel", "description": "Book a hotel"},
        "schema": SCHEMA,
        "question": f"{number} nights in {city}, please",
        "expected": {"city": city, "nights": number},
        "tags": ["odd" if number % 2 else "even"],
        **more,
    }


CASES = [case(1, "Oslo"), case(2, "杭州", "zh"), case(3, "Lyon"), case(4, "Rome")]


def right_answer(body: dict[str, Any]) -> Answer:
    """Answer each case of ``CASES`` rightly."""
    talk = json.dumps(body["messages"], ensure_ascii=False)
    for one in CASES:
        if one["question"] in talk:
            return json.dumps(one["expected"], ensure_ascii=False)
    return "I do not know."


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


Invoke = Callable[..., Result]


@pytest.fixture
def model() -> Iterator[SyntheticModel]:
    with synthetic_model(right_answer) as made:
        yield made


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: SyntheticModel) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYNTHETIC_KEY", KEY)
    write_cases(tmp_path / "hotels.jsonl", CASES)
    (tmp_path / "callbench.toml").write_text(
        f'[models.synthetic]\nbase_url = "{model.url}"\nmodel = "s1"\n'
        'api_key_env = "SYNTHETIC_KEY"\n',
        encoding="utf-8",
    )
    return tmp_path


def write_cases(path: Path, cases: list[dict[str, Any]]) -> None:
    lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in cases]
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def callbench(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Invoke:
    """Run the command with these words, as its entry point does."""

    def invoke(*words: str) -> Result:
        monkeypatch.setattr("sys.argv", ["callbench", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        told = capfd.readouterr()
        assert isinstance(stop.value.code, int)
        return Result(int(stop.value.code), told.out, told.err)

    return invoke
