"""Credentials are found, masked in everything that is stored, and looked for once more before writing (C4)."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.cassette import Event, Request, Response, canonical_request
from callbench.cassette.scrub import holds_secret, mask_request, mask_response, secrets_of

SECRET = "sk-synthetic/0123+abc"
SECRETS = (SECRET,)


class TestSecrets:
    @pytest.mark.parametrize("name", ["Authorization", "authorization", "Proxy-Authorization"])
    def test_bearer(self, name: str) -> None:
        assert secrets_of([(name.encode(), f"Bearer {SECRET}".encode())], "/x") == SECRETS

    @pytest.mark.parametrize("name", ["api-key", "X-API-Key", "x-goog-api-key", "x-auth-token"])
    def test_plain_key_headers(self, name: str) -> None:
        assert secrets_of([(name.encode(), SECRET.encode())], "/x") == SECRETS

    def test_basic_hides_the_password_too(self) -> None:
        token = base64.b64encode(b"user:synthetic-password").decode()
        assert set(secrets_of([(b"authorization", f"Basic {token}".encode())], "/x")) == {
            token,
            "synthetic-password",
        }
        assert secrets_of([(b"authorization", b"Basic not-base-64!")], "/x") == ("not-base-64!",)

    def test_cookies(self) -> None:
        assert set(secrets_of([(b"cookie", b"sid=0123456789; lang=zh; t=abcdefgh")], "/x")) == {
            "0123456789",
            "abcdefgh",
        }

    @pytest.mark.parametrize(
        "name", ["key", "api_key", "api-key", "access_token", "token", "sig", "Subscription-Key"]
    )
    def test_query(self, name: str) -> None:
        assert set(secrets_of([], f"/x?a=1&{name}=synthetic%2Fsecret")) == {
            "synthetic%2Fsecret",
            "synthetic/secret",
        }

    def test_other_headers_and_parameters_hold_none(self) -> None:
        assert (
            secrets_of(
                [(b"content-type", b"application/json")],
                "/x?model=synthetic-model&monkey=123456789",
            )
            == ()
        )

    @pytest.mark.parametrize(("value", "found"), [("1234567", ()), ("12345678", ("12345678",))])
    def test_placeholders_are_too_short(self, value: str, found: tuple[str, ...]) -> None:
        assert secrets_of([(b"authorization", f"Bearer {value}".encode())], "/x") == found

    def test_further_ones_longest_first(self) -> None:
        assert secrets_of([(b"api-key", b"12345678")], "/x", ["1234567890"]) == (
            "1234567890",
            "12345678",
        )


class TestRequests:
    def test_body_and_path(self) -> None:
        body = json.dumps({"a": f"my key is {SECRET}!", SECRET: 1}).encode()
        request = mask_request(canonical_request("POST", f"/v1/x/{SECRET}?k=1", body), SECRETS)
        assert request == Request("POST", "/x/***?k=1", b'{"a":"my key is ***!","***":1}')

    @pytest.mark.parametrize(
        "spelling",
        [
            "sk-synthetic\\/0123+abc",
            "\\u0073k-synthetic/0123+abc",
        ],
    )
    def test_however_json_spells_it(self, spelling: str) -> None:
        request = canonical_request("POST", "/x", b'{"a":"%s"}' % spelling.encode())
        assert mask_request(request, SECRETS).body == b'{"a":"***"}'

    def test_quotes_and_percent_encoding(self) -> None:
        secret = 'a"b\\c d/杭州'
        request = canonical_request("POST", "/x", json.dumps({"a": secret}).encode())
        assert mask_request(request, [secret]).body == b'{"a":"***"}'
        form = canonical_request("POST", "/x", b"k=sk-synthetic%2F0123%2Babc&q=1")
        assert mask_request(form, SECRETS).body == b"k=***&q=1"

    def test_key_like_parameters_however_short(self) -> None:
        request = Request("GET", "/x?key=1&a=key&empty&Token=&token=t", b"")
        assert mask_request(request, ()).path == "/x?key=***&a=key&empty&Token=***&token=***"
        assert mask_request(request, SECRETS).path == "/x?key=***&a=key&empty&Token=***&token=***"

    def test_nothing_else_changes(self) -> None:
        request = canonical_request("POST", "/x?a=1", b'{"a":"sk-synthetic"}')
        assert mask_request(request, SECRETS) == request
        assert mask_request(request, ()) == request


def stream(*events: str, kind: str = "text/event-stream") -> Response:
    return Response(
        200, {"content-type": kind}, tuple(Event(n, text.encode()) for n, text in enumerate(events))
    )


def masked(*events: str, kind: str = "text/event-stream") -> list[str]:
    return [
        event.data.decode() for event in mask_response(stream(*events, kind=kind), SECRETS).events
    ]


def delta(content: str) -> str:
    return f"data: {json.dumps({'choices': [{'delta': {'content': content}}]}, separators=(',', ':'))}\n\n"


class TestResponses:
    def test_echo_in_one_event(self) -> None:
        assert masked(delta("a"), delta(f"key {SECRET}."), delta("b")) == [
            delta("a"),
            delta("key ***."),
            delta("b"),
        ]

    def test_echo_in_a_whole_body(self) -> None:
        assert masked(f'{{"error": "bad key {SECRET}"}}', kind="application/json") == [
            '{"error": "bad key ***"}'
        ]
        assert masked(f"bad key {SECRET}", kind="text/plain") == ["bad key ***"]

    def test_escaped_echo_in_a_whole_body(self) -> None:
        (body,) = masked(
            '{"error": "bad key \\u0073k-synthetic\\/0123+abc"}', kind="application/json"
        )
        assert json.loads(body) == {"error": "bad key ***"}

    def test_echo_piece_by_piece(self) -> None:
        """A model streams a key token by token: no event holds it, all of them do."""
        pieces = ["the key is s", "k-synth", "etic", "/0123+abc, yes", " sk-synthetic is no key"]
        assert masked(*map(delta, pieces)) == [
            delta("the key is ***"),
            delta(""),
            delta(""),
            delta(", yes"),
            delta(" sk-synthetic is no key"),
        ]

    def test_two_echoes_that_touch(self) -> None:
        assert masked(
            delta(f"{SECRET[:5]}"), delta(f"{SECRET[5:]}{SECRET[:3]}"), delta(f"{SECRET[3:]}x")
        ) == [
            delta("***"),
            delta("***"),
            delta("x"),
        ]

    def test_other_fields_of_a_masked_event_stay(self) -> None:
        assert masked("event: message\nid: 7\ndata: sk-syn\n\n", "data: thetic/0123+abc\n\n") == [
            "event: message\nid: 7\ndata: ***\n\n",
            "data: \n\n",
        ]

    def test_events_without_a_credential_keep_their_bytes(self) -> None:
        events = ['data:{ "a" : 1 }\r\n\r\n', ": ping\n\n", "data: [DONE]\n\n"]
        assert masked(*events) == events

    def test_bytes_that_are_not_text(self) -> None:
        response = Response(200, {}, (Event(0, b"\xff" + SECRET.encode() + b"\xfe"),))
        assert mask_response(response, SECRETS).events[0].data == b"\xff***\xfe"

    def test_headers_and_error(self) -> None:
        response = Response(200, {"retry-after": SECRET}, (), f"ReadError: {SECRET}")
        assert mask_response(response, SECRETS) == Response(
            200, {"retry-after": "***"}, (), "ReadError: ***"
        )

    @given(st.lists(st.integers(0, 40), max_size=8), st.text("sk-x/ ", max_size=8))
    def test_however_it_is_cut(self, borders: list[int], before: str) -> None:
        text = f"{before}{SECRET} after"
        ends = sorted({min(border, len(text)) for border in borders} | {len(text)})
        pieces = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        contents = [
            json.loads(event.removeprefix("data: "))["choices"][0]["delta"]["content"]
            for event in masked(*map(delta, pieces))
        ]
        assert "".join(contents) == f"{before}*** after"

    def test_without_secrets_nothing_is_touched(self) -> None:
        response = stream(delta(SECRET))
        assert mask_response(response, ()) is response


class TestLastCheck:
    @pytest.mark.parametrize("data", [SECRET, json.dumps(SECRET), "sk-synthetic%2F0123%2Babc"])
    def test_sees_every_spelling(self, data: str) -> None:
        assert holds_secret(f"…{data}…".encode(), SECRETS)

    def test_is_calm_otherwise(self) -> None:
        assert not holds_secret(b"sk-synthetic", SECRETS)
        assert not holds_secret(SECRET.encode(), ())


@pytest.mark.trap("C4")
class TestBodiesAndAddresses:
    """What a request carries elsewhere than in its headers (C4)."""

    @pytest.mark.parametrize(
        "name",
        [
            "api_key",
            "apiKey",
            "api-key",
            "authorization",
            "password",
            "client_secret",
            "access_token",
        ],
    )
    def test_members_of_the_body(self, name: str) -> None:
        body = json.dumps(
            {name: "hunter2-hunter2", "model": "m", "say": "my hunter2-hunter2"}
        ).encode()
        secrets = secrets_of([], "/x", body=body)
        assert "hunter2-hunter2" in secrets
        request = mask_request(canonical_request("POST", "/x", body), secrets)
        assert request.json() == {name: "***", "model": "m", "say": "my ***"}

    def test_a_bearer_token_in_the_body_is_masked_in_the_answer(self) -> None:
        body = b'{"authorization":"Bearer hunter2-hunter2"}'
        secrets = secrets_of([], "/x", body=body)
        response = Response(200, {}, (Event(0, b"no: hunter2-hunter2"),))
        assert mask_response(response, secrets).body == b"no: ***"

    def test_short_values_are_masked_in_their_place_only(self) -> None:
        request = canonical_request("POST", "/x", b'{"password":"abc","say":"abc"}')
        assert mask_request(request, secrets_of([], "/x", body=request.body)).json() == {
            "password": "***", "say": "abc",
        }  # fmt: skip

    def test_arguments_of_a_tool_and_usual_members_stay(self) -> None:
        body = {
            "max_tokens": 5,
            "prompt_cache_key": "k",
            "token": "x",
            "tools": [
                {"function": {"parameters": {"properties": {"password": {"type": "string"}}}}}
            ],
            "messages": [{"role": "user", "password": "a tool's own business"}],
        }
        request = canonical_request("POST", "/x", json.dumps(body).encode())
        assert mask_request(request, ()) == request

    def test_forms(self) -> None:
        body = b"grant_type=x&client_secret=hunter2%2Bhunter2&q=1"
        assert "hunter2+hunter2" in secrets_of([], "/x", body=body)
        masked = mask_request(canonical_request("POST", "/x", body), ())
        assert masked.body == b"grant_type=x&client_secret=***&q=1"

    def test_addresses(self) -> None:
        body = b'{"messages":[{"content":"see https://me:hunter2-hunter2@host.example/x"}]}'
        masked = mask_request(canonical_request("POST", "/x", body), ())
        assert b"https://***:***@host.example/x" in masked.body
        assert mask_request(masked, ()) == masked

    def test_an_address_streamed_in_pieces(self) -> None:
        text = "https://me:hunter2@host.example"
        response = mask_response(stream(*(delta(c) for c in text)), ())
        told = "".join(
            json.loads(event.data[6:])["choices"][0]["delta"]["content"]
            for event in response.events
        )
        assert told == "https://***:***@host.example"
        assert mask_response(response, ()) == response

    @given(st.binary(max_size=40))
    def test_any_body_twice_is_once(self, tail: bytes) -> None:
        for head in (b'{"password":"x","a":"', b"api_key=", b"http://a:b@", b""):
            request = canonical_request("POST", "/x?key=1", head + tail)
            once = mask_request(request, secrets_of([], "/x", body=request.body))
            assert mask_request(once, secrets_of([], "/x", body=once.body)) == once
