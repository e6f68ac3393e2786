"""The canonical request and its key: what decides which recording answers, and what does not."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.cassette.key import canonical_request, path_after_base, request_key

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)

BODY = {
    "model": "smollm2",
    "messages": [{"role": "user", "content": "订一张去杭州的票"}],
    "temperature": 0.5,
    "tools": [{"function": {"name": "book", "parameters": {"properties": {"a": {}, "b": {}}}}}],
}


def key(body: object, target: str = "/v1/chat/completions", method: str = "POST") -> str:
    text = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return request_key(canonical_request(method, target, text))


class TestKey:
    def test_is_the_documented_digest(self) -> None:
        expected = hashlib.sha256(
            b'POST /chat/completions\n{"a":[1,{"z":0,"b":"\xe6\x9d\xad"}],"m":1.5}'
        )
        body = b'{ "m": 1.50,\n "a": [1, {"z": 0, "b": "\\u676d"}] }'
        assert key(body) == expected.hexdigest()

    def test_whitespace_and_order_of_top_level_members_do_not_matter(self) -> None:
        reordered = json.dumps(dict(reversed(BODY.items())), indent=3).encode()
        assert key(reordered) == key(BODY)

    @pytest.mark.trap("C1")
    @pytest.mark.parametrize(
        "body",
        [
            {**BODY, "model": "gemma3"},
            {**BODY, "messages": [{"role": "user", "content": "订一张去苏州的票"}]},
            {**BODY, "messages": [{"role": "system", "content": "订一张去杭州的票"}]},
            {**BODY, "temperature": 0.6},
            {**BODY, "stream": True},
            {**BODY, "tools": []},
            {name: value for name, value in BODY.items() if name != "tools"},
        ],
    )
    def test_everything_in_the_body_counts(self, body: object) -> None:
        """C1: another prompt, model or setting never gets the old answer."""
        assert key(body) != key(BODY)

    def test_order_inside_a_schema_counts(self) -> None:
        one: dict[str, object] = {"response_format": {"schema": {"properties": {"a": {}, "b": {}}}}}
        other: dict[str, object] = {
            "response_format": {"schema": {"properties": {"b": {}, "a": {}}}}
        }
        assert key(one) != key(other)

    def test_method_and_path_count(self) -> None:
        assert (
            len(
                {
                    key(BODY),
                    key(BODY, method="PUT"),
                    key(BODY, "/v1/completions"),
                    key(BODY, "/v1/chat/completions?a=1"),
                }
            )
            == 4
        )

    def test_method_in_any_case_is_one(self) -> None:
        assert key(BODY, method="post") == key(BODY)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("1", "1.0"),
            ("1", "true"),
            ("0", "false"),
            ("null", '""'),
            ("[]", "{}"),
            ('"1"', "1"),
            ("18446744073709551616", "18446744073709551617"),
            ("-9999999999999999998", "-9999999999999999999"),
            ("[1,2]", "[2,1]"),
        ],
    )
    def test_different_values_have_different_keys(self, one: str, other: str) -> None:
        """Also integers that 64 bits do not hold and a float would round together."""
        assert key(b'{"x":%s}' % one.encode()) != key(b'{"x":%s}' % other.encode())

    def test_large_integers_keep_whitespace_irrelevant(self) -> None:
        assert key(b'{"b": 1, "a": 18446744073709551617}') == key(
            b'{"a":18446744073709551617,"b":1}'
        )

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"plain",
            b"\xff\xfe",
            b'{"a": NaN}',
            b'{"a": 1e999}',
            b'{"a": "\\ud800"}',
            b"[" * 300 + b"]" * 300,
            b"q=%E5%A4%A9%E6%B4%A5",
        ],
    )
    def test_what_is_not_json_counts_byte_by_byte(self, body: bytes) -> None:
        request = canonical_request("POST", "/x", body)
        assert request.body == body
        assert request_key(request) == hashlib.sha256(b"POST /x\n" + body).hexdigest()
        assert key(body) != key(body + b" ")

    @given(JSON)
    def test_canonical_form_is_stable(self, value: object) -> None:
        once = canonical_request("POST", "/x", json.dumps(value).encode())
        assert canonical_request("POST", "/x", once.body) == once
        assert json.loads(once.body) == value


class TestPath:
    @pytest.mark.parametrize(
        ("target", "base_url", "path"),
        [
            ("/v1/chat/completions", "", "/chat/completions"),
            ("/openai/v1/chat/completions?x=1", "", "/chat/completions?x=1"),
            ("/api/paas/v4/chat/completions", "", "/chat/completions"),
            ("/v1beta/openai/chat/completions", "", "/openai/chat/completions"),
            ("/chat/completions", "", "/chat/completions"),
            ("/v1", "", "/v1"),
            ("/video/1", "", "/video/1"),
            ("/x?next=/v1/y", "", "/x?next=/v1/y"),
            ("/deep/base/chat/completions", "https://host/deep/base/", "/chat/completions"),
            ("/deep/baseline/chat", "https://host/deep/base", "/deep/baseline/chat"),
            ("/other/chat", "https://host/deep/base", "/other/chat"),
            ("/v1/chat/completions", "http://127.0.0.1:1", "/chat/completions"),
        ],
    )
    def test_the_base_of_the_endpoint_is_left_out(
        self, target: str, base_url: str, path: str
    ) -> None:
        assert path_after_base(target, base_url) == path
