"""Scrubbers: the same placeholder for the same value, twice is once, and replay finds the recording."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.cassette import (
    Cassette,
    CassetteMiss,
    CassetteTransport,
    Event,
    Interaction,
    Request,
    Response,
    canonical_request,
)
from callbench.cassette.scrubbers import Scrubbing, emails, field, pattern, phones
from callbench.errors import CassetteError, UsageError

MAIL = "li.wei@mail.cn"
MAIL_ID = f"<email:{hashlib.sha256(MAIL.encode()).hexdigest()[:6]}>"


def text(value: str, *scrubbers: str) -> str:
    return Scrubbing.of(scrubbers or ["emails", "phones"]).text(value)


class TestTexts:
    def test_same_value_same_placeholder(self) -> None:
        assert text(f"{MAIL}, again {MAIL}!") == f"{MAIL_ID}, again {MAIL_ID}!"

    def test_another_value_another_placeholder(self) -> None:
        assert text("wei.li@mail.cn") not in (MAIL_ID, "wei.li@mail.cn")

    @pytest.mark.parametrize(
        "number",
        ["+8613912345678", "+86 139 1234 5678", "13912345678", "139-1234-5678", "(212) 456-7890",
         "212-456-7890", "+49 30 1234567"],
    )  # fmt: skip
    def test_phones(self, number: str) -> None:
        assert re.fullmatch(r"call <phone:[0-9a-f]{6}>\.", text(f"call {number}."))

    @pytest.mark.parametrize(
        "harmless",
        ["+1 415 555 0123", "(415) 555-0199", "1700000000000", "0.13912345678", "id13912345678",
         "2026-11-30", "192.168.100.200", "+0800", "13912345678.5", "3+13912345678",
         "someone@example.com", "a@b.test", "x@team.example.org", "git@github.com:o/r",
         "logo@2x.png", "@pytest.mark", "a@localhost"],
    )  # fmt: skip
    def test_what_is_nobodys_stays(self, harmless: str) -> None:
        assert text(harmless) == harmless

    def test_pattern_and_its_group(self) -> None:
        found = text(
            "order ORD-123456, ref 77", "pattern:order=ORD-[0-9]{6}", "pattern:ref=ref ([0-9]+)"
        )
        assert re.fullmatch(r"order <order:[0-9a-f]{6}>, ref <ref:[0-9a-f]{6}>", found)

    def test_a_pattern_that_fits_placeholders_leaves_them(self) -> None:
        once = text(f"{MAIL} 12", "emails", "pattern:hex=[0-9a-f]+")
        assert MAIL_ID in once

    def test_keyed(self) -> None:
        keyed = Scrubbing.of(["emails"], key="k")
        digest = hmac.new(b"k", MAIL.encode(), "sha256").hexdigest()
        assert keyed.text(MAIL) == f"<email:{digest[:12]}>"
        assert keyed.names == ("emails (keyed)",)

    @given(
        st.lists(
            st.sampled_from(
                ["a@b.cn", "+8613912345678", "x", " ", "<email:", "0", "ab12cd", ">", "@", "."]
            )
        )
    )
    def test_twice_is_once(self, parts: list[str]) -> None:
        scrubbing = Scrubbing.of(["emails", "phones", "pattern:n=[0-9]{2}"])
        once = scrubbing.text("".join(parts))
        assert scrubbing.text(once) == once

    @pytest.mark.parametrize(
        "name", ["faces", "pattern:x", "pattern:x=(", "pattern:X=a", "pattern:x=a*", "field:user"]
    )
    def test_refused(self, name: str) -> None:
        with pytest.raises(UsageError):
            Scrubbing.of([name])


class TestDocuments:
    def test_request(self) -> None:
        request = canonical_request(
            "POST",
            f"/v1/users/{MAIL}",
            json.dumps({"user": "u-1", "messages": [{"content": f"{MAIL}"}], MAIL: 1}).encode(),
        )
        scrubbed = Scrubbing.of([emails(), field("/user"), field("/messages/*/name")]).request(
            request
        )
        body = scrubbed.json()
        assert scrubbed.path == f"/users/{MAIL_ID}"
        assert body["messages"] == [{"content": MAIL_ID}]
        assert body[MAIL_ID] == 1
        assert re.fullmatch(r"<field:[0-9a-f]{6}>", body["user"])

    def test_a_field_with_a_placeholder_in_it(self) -> None:
        request = Request("POST", "/x", json.dumps({"user": f"Li <{MAIL}>"}).encode())
        scrubbing = Scrubbing.of(["emails", "field:/user"])
        once = scrubbing.request(request)
        assert "Li" not in once.json()["user"]
        assert scrubbing.request(once) == once

    def test_a_value_streamed_in_pieces(self) -> None:
        pieces = ["write to li.", "wei@ma", "il.cn", " now"]
        events = [
            Event(
                n,
                b"data: " + json.dumps({"choices": [{"delta": {"content": p}}]}).encode() + b"\n\n",
            )
            for n, p in enumerate(pieces)
        ]
        response = Response(200, {"content-type": "text/event-stream"}, tuple(events))
        scrubbed = Scrubbing.of([emails()]).response(response)
        told = [json.loads(e.data[6:])["choices"][0]["delta"]["content"] for e in scrubbed.events]
        assert told == [f"write to {MAIL_ID}", "", "", " now"]
        assert scrubbed.events[3] is events[3]
        assert [event.at_ms for event in scrubbed.events] == [0, 1, 2, 3]

    def test_parallel_answers_are_told_apart_by_their_index(self) -> None:
        events = []
        for index, piece in [(0, "li.wei@ma"), (1, "x "), (0, "il.cn"), (1, "y")]:
            chunk = {"choices": [{"index": index, "delta": {"content": piece}}]}
            events.append(Event(0, b"data: " + json.dumps(chunk).encode() + b"\n\n"))
        response = Response(200, {"content-type": "text/event-stream"}, tuple(events))
        body = Scrubbing.of([emails()]).response(response).body.decode()
        assert MAIL_ID in body
        assert "li.wei" not in body

    def test_error_and_plain_text(self) -> None:
        response = Response(500, {}, (Event(0, f"no {MAIL}".encode()),), f"ReadError: {MAIL}")
        scrubbed = Scrubbing.of([emails()]).response(response)
        assert scrubbed.body == f"no {MAIL_ID}".encode()
        assert scrubbed.error == f"ReadError: {MAIL_ID}"


class _Answering(httpx2.AsyncBaseTransport):
    """A synthetic server: repeats what it was asked."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            200, headers={"content-type": "application/json"}, content=request.content
        )


async def _ask(path: Path, mode: str, content: str, scrubbers: list[str]) -> str:
    with Cassette.open(path, scrubbers=scrubbers) as cassette:
        transport = CassetteTransport(cassette, mode, _Answering())
        async with httpx2.AsyncClient(transport=transport) as client:
            answer = await client.post("http://x.example/v1/chat", json={"m": content})
        return answer.text


def _read(path: Path) -> str:
    return path.read_text("utf-8")


class TestReplay:
    async def test_record_then_replay(self, path: Path) -> None:
        await _ask(path, "record", f"mail {MAIL}", ["emails"])
        assert MAIL not in _read(path)
        assert await _ask(path, "replay", f"mail {MAIL}", ["emails"]) == json.dumps(
            {"m": f"mail {MAIL_ID}"}, separators=(",", ":")
        )
        with pytest.raises(CassetteMiss):
            await _ask(path, "replay", "mail another@mail.cn", ["emails"])

    async def test_rerecording_scrubs_too(self, path: Path) -> None:
        await _ask(path, "rerecord", MAIL, ["emails"])
        assert MAIL not in _read(path)

    async def test_a_miss_says_that_scrubbers_differ(self, path: Path) -> None:
        await _ask(path, "record", MAIL, ["emails"])
        with pytest.raises(
            CassetteMiss, match=r"recorded with the scrubbers emails; this run uses phones"
        ):
            await _ask(path, "replay", MAIL, ["phones"])

    async def test_one_file_does_not_mix(self, path: Path) -> None:
        await _ask(path, "record", MAIL, ["emails"])
        with pytest.raises(
            CassetteError, match="with the scrubbers emails, this run uses no scrubbers"
        ):
            await _ask(path, "record", MAIL, [])

    async def test_the_header_names_them_and_keeps_them(self, path: Path) -> None:
        await _ask(path, "record", MAIL, ["emails", "phones"])
        await _ask(path, "record", "more", ["phones", "emails"])
        header = json.loads(_read(path).splitlines()[0])
        assert header["scrubbing"]["scrubbers"] == ["emails", "phones"]


def test_a_caller_that_does_not_scrub_cannot_write_it(
    path: Path, recording: Callable[..., Interaction]
) -> None:
    one = recording(MAIL, answer=f"hello {MAIL}")
    with Cassette.open(path, scrubbers=[emails(), phones(), pattern("w", "hel+o")]) as cassette:
        cassette.append(one)
        assert cassette.find(cassette.key_of(one.request), "a", 0) is not None
    assert MAIL not in _read(path)
    assert "hello" not in _read(path)
