"""Scanning: every shape of secret is found wherever it hides, what only looks like one is not."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from callbench.cassette import Cassette, Event, Interaction, Response
from callbench.cassette.scan import Allowed, scan_file, scan_paths
from callbench.errors import UsageError

# Put together here, so that no file holds a whole one.
SECRETS = {
    "openai": "sk-" + "proj-9fKq27TbXw31LmZc80Rv",
    "anthropic": "sk-ant-" + "api03-9fKq27TbXw31LmZc80Rv",
    "aws": "AKIA" + "IOSFODNN7QWERTYU",
    "github": "ghp_" + "9fKq27TbXw31LmZc80RvA1b2C3d4E5f6G7h8",
    "github fine": "github_pat_" + "11ABCDEFG0aBcDeFgHiJkL_mNoP",
    "google": "AIza" + "SyD9fKq27TbXw31LmZc80RvA1b2C3d4E5fG",
    "slack": "xoxb-" + "123456789012-abcdefGHIJKL",
    "hugging face": "hf_" + "9fKqTbXwLmZcRvAbCdEfGhIjKlMnOpQrSt",
    "stripe": "sk_live_" + "9fKq27TbXw31LmZc",
    "aliyun": "LTAI" + "5t9fKq27TbXw31LmZc",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.9fKq27TbXw31LmZc80RvA1b2C3",
    "pem": "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA9fKq27TbXw31",
    "bearer": "Bearer " + "9fKq27TbXw31LmZc80RvA1b2",
    "url": "postgres://admin:" + "t0p5ecret@db.internal/x",
    "assigned": 'client_secret = "' + '9fKq27TbXw31LmZc"',
}  # fmt: skip

HARMLESS = [
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "123e4567-e89b-12d3-a456-426614174000",
    "chatcmpl-9fKq27TbXw31LmZc80RvA1b2C3d4E5",
    "call_9fKq27TbXw31LmZc80RvA1b2C3d4E5",
    "sha512-9fKq27TbXw31LmZc80RvA1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8U9v0W1x2Y3z4A5b6C7d8==",
    "harness/callbench/cassette/hygiene/test_findings_of_a_file.py",
    "test_a_function_with_a_long_name_2_and_3_numbers_4",
    "AbstractSingletonProxyFactoryBean2Configuration3Loader",
    base64.b64encode("data: {\"choices\": [], \"note\": \"杭州\"}".encode()).decode(),
    'password = "your-password-here"', "api_key = os.environ['API_KEY']", "Bearer ***",
    "https://***:***@host.example/x", "https://user:$PASSWORD@host.example/", "sk-learn-contrib-tutorial",
    "Authorization: Bearer {token}", "eyJ is how a token begins",
    "2026-11-30T18:06:10Z 1700000000000 3.14159265358979 192.168.1.1",
]  # fmt: skip


def scan(path: Path, text: str) -> list[tuple[int, str]]:
    path.write_text(text, "utf-8")
    return [(found.line, found.rule) for found in scan_file(path)]


@pytest.mark.parametrize("name", SECRETS)
def test_in_a_text_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"first\nsay {SECRETS[name]} now\n", "utf-8")
    found = list(scan_file(path))
    if name != "pem":  # over two lines: seen in JSON, where they are one text
        assert [one.line for one in found] == [2]
        secret = SECRETS[name].removeprefix("Bearer ").split(":")[-1].split('"')[-2:][0]
        assert secret not in str(found[0])


@pytest.mark.parametrize("name", SECRETS)
def test_escaped_in_json(tmp_path: Path, name: str) -> None:
    spelled = "".join(f"\\u{ord(c):04x}" for c in SECRETS[name])
    assert [line for line, _ in scan(tmp_path / "a.jsonl", f'{{}}\n{{"a":["{spelled}"]}}\n')] == [2]
    assert len(scan(tmp_path / "a.json", f'{{"a":["{spelled}"]}}')) == 1


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_one(tmp_path: Path, text: str) -> None:
    assert scan(tmp_path / "a.txt", text) == []
    assert scan(tmp_path / "a.jsonl", json.dumps({"content": text})) == []


def test_a_random_string_of_no_known_shape(tmp_path: Path) -> None:
    draw = random.Random(7)
    alphabet = string.ascii_letters + string.digits
    tokens = ["".join(draw.choices(alphabet, k=40)) for _ in range(100)]
    found = scan(tmp_path / "a.txt", "\n".join(tokens))
    assert len(found) >= 95
    assert {rule for _, rule in found} == {"entropy"}
    known = json.dumps({"id": tokens[0], "system_fingerprint": tokens[1], "signature": tokens[2]})
    assert scan(tmp_path / "b.json", known) == []


def _recorded(path: Path, one: Interaction, response: Response) -> list[tuple[int, str]]:
    with Cassette.open(path) as cassette:
        cassette.append(replace(one, response=response))
    return [(found.line, found.rule) for found in scan_file(path)]


@pytest.mark.parametrize("name", ["openai", "github", "jwt", "url"])
def test_streamed_in_pieces(path: Path, recording: Callable[..., Interaction], name: str) -> None:
    events = tuple(
        Event(
            n, b"data: " + json.dumps({"choices": [{"delta": {"content": c}}]}).encode() + b"\n\n"
        )
        for n, c in enumerate(SECRETS[name])
    )
    response = Response(200, {"content-type": "text/event-stream"}, events)
    assert [line for line, _ in _recorded(path, recording(), response)] == [2]


def test_in_the_arguments_of_a_tool_call(path: Path, recording: Callable[..., Interaction]) -> None:
    arguments = json.dumps({"note": SECRETS["aws"], "password": "9fKq27TbXw31LmZc"}).replace(
        "A", "\\u0041"
    )
    body = {"choices": [{"message": {"tool_calls": [{"function": {"arguments": arguments}}]}}]}
    response = Response(200, {}, (Event(0, json.dumps(body).encode()),))
    assert sorted(_recorded(path, recording(), response)) == [(2, "assigned"), (2, "key")]


def test_in_base64_and_in_a_shared_text(path: Path, recording: Callable[..., Interaction]) -> None:
    packed = base64.b64encode(f"token: {SECRETS['github']}".encode()).decode()
    assert _recorded(path, recording(packed), Response(200)) == [(2, "key")]
    long = path.with_name("long.cassette.jsonl")
    text = "word " * 50 + SECRETS["github"]
    assert _recorded(long, recording(text), Response(200)) == [(2, "key"), (3, "key")]


def test_personal_data(tmp_path: Path) -> None:
    text = "ask li.wei@mail.cn\nor 13912345678\nor +1 415 555 0123\nor x@example.com\n"
    assert scan(tmp_path / "a.md", text) == [(1, "email"), (2, "phone")]


def test_a_damaged_cassette_is_looked_through_as_text(tmp_path: Path) -> None:
    header = '{"format":"callbench-cassette","version":1}'
    text = f'{header}\n{{"broken\n{{"a":"{SECRETS["aws"]}"}}\n'
    assert (3, "key") in scan(tmp_path / "a.cassette.jsonl", text)


def test_directories_without_caches_and_binaries(tmp_path: Path) -> None:
    for name in (".git/a", "node_modules/a", ".mypy_cache/a", "sub/.github/a.yml", "b.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SECRETS["aws"])
    (tmp_path / "c.bin").write_bytes(b"\0" + SECRETS["aws"].encode())
    found = {Path(one.file).relative_to(tmp_path).as_posix() for one in scan_paths([tmp_path])}
    assert found == {"b.py", "sub/.github/a.yml"}


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_text_of_two_bytes_a_character_is_no_binary(tmp_path: Path, coding: str) -> None:
    """What ``command > file`` writes in PowerShell."""
    mark = {"utf-16": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[coding]
    path = tmp_path / "a.log"
    path.write_bytes(mark + f"first\nsay {SECRETS['aws']}\n".encode(coding))
    assert [(one.line, one.rule) for one in scan_file(path)] == [(2, "key")]


def test_a_file_that_cannot_be_read_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("nothing")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=r"a\.txt cannot be looked through: Permission denied"):
        list(scan_paths([tmp_path]))


class TestAllowed:
    def read(self, tmp_path: Path, text: str) -> Allowed:
        path = tmp_path / "allow.toml"
        path.write_text(text, "utf-8")
        return Allowed.read(path)

    def test_by_file_rule_and_value(self, tmp_path: Path) -> None:
        file = tmp_path / "data" / "a.txt"
        file.parent.mkdir()
        file.write_text("li.wei@mail.cn wei.li@mail.cn 13912345678", "utf-8")
        allowed = self.read(
            tmp_path,
            '[[allow]]\nreason = "invented"\nfiles = ["data/*"]\nrules = ["email"]\n'
            'values = ["li.wei@mail.cn"]\n',
        )
        left = [(one.rule, one.message) for one in scan_paths([file], allowed)]
        assert [rule for rule, _ in left] == ["email", "phone"]
        assert "wei." in left[0][1]
        assert (allowed.covered.total(), allowed.stale()) == (1, [])

    def test_entries_that_cover_nothing_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("li.wei@mail.cn", "utf-8")
        entry = '[[allow]]\nreason = "{}"\nvalues = ["{}"]\n'
        allowed = self.read(
            tmp_path, entry.format("gone", "wei@mail.cn") + entry.format("x", "li.wei@mail.cn")
        )
        assert list(scan_paths([tmp_path / "a.txt"], allowed)) == []
        assert allowed.stale() == ["allow 1 covers nothing: gone"]

    @pytest.mark.parametrize(
        "text",
        ['[[allow]]\nfiles = ["a"]', '[[allow]]\nreason = "x"', '[[allow]]\nreason = "x"\nfile = ["a"]',
         '[[allow]]\nreason = "x"\nfiles = "a"', '[[allow]]\nreason = " "\nfiles = ["a"]',
         '[[allow]]\nreason = "x"\nfiles = ["a"]\nrules = ["phones"]', "allow = 1", "[other]", "="],
    )  # fmt: skip
    def test_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(UsageError):
            self.read(tmp_path, text)
