"""Where clients put credentials beside the usual headers: each is found, and masked in its place (C4)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from callbench.cassette.interaction import Event, Response
from callbench.cassette.key import canonical_request
from callbench.cassette.scrub import mask_request, mask_response, secrets_of

SECRET = "Zq9-xK27mTn4.synthetic"


@pytest.mark.parametrize(
    "name",
    [
        "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "x-functions-key", "Helicone-Auth",
        "x-portkey-api-key", "CF-Access-Client-Secret", "X-Token", "apikey", "x-password",
    ],
)  # fmt: skip
def test_headers_of_other_providers(name: str) -> None:
    assert SECRET in secrets_of([(name.encode(), SECRET.encode())], "/x")


@pytest.mark.parametrize(
    "name", ["Idempotency-Key", "X-Author", "X-Stainless-Lang", "Accept", "OpenAI-Organization"]
)
def test_headers_that_hold_none(name: str) -> None:
    assert secrets_of([(name.encode(), SECRET.encode())], "/x") == ()


def test_a_signature_of_aws_alone_is_a_credential() -> None:
    """A server may echo a part: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html."""
    value = (
        "AWS4-HMAC-SHA256 Credential=AKIASYNTHETIC0000000/20261201/us-east-1/bedrock/aws4_request, "
        "SignedHeaders=host;x-amz-date, Signature=0123456789abcdef0123456789abcdef"
    )
    found = secrets_of([(b"authorization", value.encode())], "/x")
    assert {"AKIASYNTHETIC0000000", "0123456789abcdef0123456789abcdef"} < set(found)
    assert "host;x-amz-date" not in found


@pytest.mark.parametrize(
    "name",
    ["X-Amz-Signature", "X-Amz-Security-Token", "x-api-key", "subscription_key", "auth_key", "appid"],
)  # fmt: skip
def test_parameters(name: str) -> None:
    assert SECRET in secrets_of([], f"/x?a=1&{name}={SECRET}")
    request = canonical_request("GET", f"/x?a=1&{name}=short", b"")
    assert mask_request(request, ()).path == f"/x?a=1&{name}=***"


def test_a_code_is_a_credential_when_it_is_long() -> None:
    request = canonical_request("GET", f"/x?code={SECRET}", b"")
    assert mask_request(request, ()).path == "/x?code=***"
    assert mask_request(canonical_request("GET", "/x?code=EUR", b""), ()).path == "/x?code=EUR"


@pytest.mark.parametrize(
    "path",
    [
        ("extra_headers", "Authorization"),
        ("provider", "api_key"),
        ("tools", 0, "headers", "X-Custom-Token"),
        ("tools", 0, "authorization"),
        ("data_sources", 0, "parameters", "authentication", "key"),
        ("openai_api_key",),
        ("aws_secret_access_key",),
    ],
)
def test_deep_in_a_body(path: tuple[str | int, ...]) -> None:
    def body(secret: str) -> dict[str, Any]:
        value: Any = secret
        for step in reversed(path):
            value = [value] if isinstance(step, int) else {step: value}
        return {"model": "m", "messages": [{"role": "user", "content": "a"}], **value}

    sent = json.dumps(body(SECRET)).encode()
    assert SECRET in secrets_of([], "/x", body=sent)
    assert mask_request(canonical_request("POST", "/x", sent), ()).json() == body("***")


def test_what_tools_take_and_what_is_said_stays() -> None:
    body = {
        "messages": [{"content": [{"type": "tool_use", "input": {"api_key": "a", "password": "b"}}]}],
        "tools": [
            {"function": {"name": "login", "parameters": {"default": {"password": "hunter2"}}}},
            {"name": "x", "input_schema": {"properties": {"headers": {"key": "a"}}}},
        ],
        "response_format": {"json_schema": {"schema": {"default": {"api_key": "x"}}}},
        "metadata": {"key": "a", "token": "b", "total_tokens": "c"},
    }  # fmt: skip
    request = canonical_request("POST", "/x", json.dumps(body).encode())
    assert mask_request(request, ()) == request
    assert secrets_of([], "/x", body=request.body) == ()


def test_fields_of_a_multipart_body() -> None:
    sent = (
        b'--b\r\nContent-Disposition: form-data; name="api_key"\r\n\r\n' + SECRET.encode() + b"\r\n"
        b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper\r\n--b--\r\n'
    )
    assert secrets_of([], "/x", body=sent) == (SECRET,)
    masked = mask_request(canonical_request("POST", "/x", sent), ()).body
    assert masked == sent.replace(SECRET.encode(), b"***")


def test_a_form_with_a_token() -> None:
    request = canonical_request("POST", "/x", f"token={SECRET}&text=hello".encode())
    assert mask_request(request, ()).body == b"token=***&text=hello"


@pytest.mark.parametrize(
    ("body", "masked"),
    [
        (
            {"access_token": SECRET, "expires_in": 3600},
            {"access_token": "***", "expires_in": 3600},
        ),
        (
            {"client_secret": {"value": SECRET, "at": 1}},
            {"client_secret": {"value": "***", "at": 1}},
        ),
        ({"next_page_token": "abc", "token": " the"}, {"next_page_token": "abc", "token": " the"}),
    ],
)
def test_what_a_server_gives_out(body: Any, masked: Any) -> None:
    response = Response(
        200,
        {"content-type": "application/json"},
        (Event(0, json.dumps(body, indent=1).encode()),),
    )
    once = mask_response(response, ())
    assert json.loads(once.body) == masked
    assert (once == response) == (body == masked)
    assert mask_response(once, ()) == once


def _percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


@pytest.mark.parametrize(
    "spelling",
    [
        _percent(SECRET),
        _percent(SECRET).upper().replace("%5A", "Z"),
        "".join(f"\\u{ord(c):04X}" for c in SECRET),
        "".join(f"\\\\\\u{ord(c):04x}" for c in SECRET),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(f"me:{SECRET}".encode()).decode(),
        base64.b64encode(f"m:{SECRET}@x".encode()).decode(),
    ],
)
def test_an_answer_that_spells_it_otherwise(spelling: str) -> None:
    response = Response(400, {}, (Event(0, f"no: {spelling}.".encode()),))
    body = mask_response(response, (SECRET,)).body.decode()
    assert body.startswith("no: ")
    assert body.endswith(".")
    assert "***" in body
    # Nothing of it is left but what base64 mixes with the characters beside it.
    left = body.replace("***", "")
    assert len(left) < len("no: .") + 10


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("application/x-ndjson", ['{"message":{"content":"%s"}}\n'] * 3),
        ("text/plain", ['data: {"choices":[{"delta":{"content":"%s"}}]}\n\n'] * 3),
    ],
)
def test_pieces_of_a_stream_that_is_not_called_one(kind: str, lines: list[str]) -> None:
    pieces = (SECRET[:4], SECRET[4:9], SECRET[9:] + " ok")
    body = "".join(line % piece for line, piece in zip(lines, pieces, strict=True))
    response = Response(200, {"content-type": kind}, (Event(7, body.encode()),))
    masked = mask_response(response, (SECRET,))
    texts = ("***", "", " ok")
    assert masked.body.decode() == "".join(
        line % piece for line, piece in zip(lines, texts, strict=True)
    )
