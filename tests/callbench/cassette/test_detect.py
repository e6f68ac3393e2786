"""What keys of many providers look like, by their public documentation, and what only looks like one.

Values are drawn at random, so that no file holds one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid

import pytest

from callbench.cassette.detect import personal_in, secrets_in

_DRAW = random.Random(11)
_ALNUM = string.ascii_letters + string.digits
_URL = _ALNUM + "-_"
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + "234567"


def draw(size: int, alphabet: str = _ALNUM) -> str:
    """A random text with a digit in it, where the alphabet has any."""
    while True:
        text = "".join(_DRAW.choices(alphabet, k=size))
        if not set(alphabet) & set(string.digits) or any(c.isdigit() for c in text):
            return text


KEYS = {
    "openai": "sk-" + draw(48), "openai project": "sk-proj-" + draw(120, _URL),
    "openai service": "sk-svcacct-" + draw(120, _URL), "anthropic": "sk-ant-api03-" + draw(93, _URL),
    "openrouter": "sk-or-v1-" + draw(64, _HEX), "deepseek, dashscope": "sk-" + draw(32, _HEX),
    "siliconflow": "sk-" + draw(48, string.ascii_lowercase), "langfuse": f"sk-lf-{uuid.uuid4()}",
    "groq": "gsk_" + draw(52), "fireworks": "fw_" + draw(24), "perplexity": "pplx-" + draw(48),
    "replicate": "r8_" + draw(37), "hugging face": "hf_" + draw(34, string.ascii_letters),
    "nvidia": "nvapi-" + draw(64, _URL), "xai": "xai-" + draw(80), "cerebras": "csk-" + draw(48),
    "google": "AIza" + draw(35, _URL), "google express": "AQ." + draw(50, _URL),
    "google oauth": "ya29." + draw(60, _URL), "google refresh": "1//0" + draw(60, _URL),
    "google client": "GOCSPX-" + draw(28, _URL), "aws": "AKIA" + draw(16, _UPPER),
    "bedrock": "ABSK" + draw(130), "azure storage": "AccountKey=" + draw(86) + "==",
    "azure sas": "https://x.blob.example/c?sv=2022&sig=" + draw(43) + "%3D",
    "zhipu": draw(32, _HEX) + "." + draw(15) + "Q", "tencent": "AKID" + draw(32), "aliyun": "LTAI" + draw(20),
    "volcengine": "AKLT" + draw(43), "baidu": "bce-v3/ALTAK-" + draw(21) + "/" + draw(40, _HEX),
    "github": "ghp_" + draw(36), "gitlab": "glpat-" + draw(20), "npm": "npm_" + draw(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + draw(100, _URL), "slack app": f"xapp-1-A0{draw(9, _UPPER)}-1234567890123-{draw(64, _HEX)}",
    "slack hook": f"https://hooks.slack.com/services/T0{draw(8, _UPPER)}/B0{draw(8, _UPPER)}/{draw(24)}",
    "stripe test": "sk_test_" + draw(24), "stripe hook": "whsec_" + draw(32),
    "sendgrid": f"SG.{draw(22)}.{draw(43)}", "twilio": "SK" + draw(32, _HEX), "mailgun": "key-" + draw(32, _HEX),
    "discord": f"MTA{draw(23)}.{draw(6)}.{draw(38)}", "telegram": "1234567890:AA" + draw(33, _URL),
    "langsmith": f"lsv2_pt_{draw(32, _HEX)}_{draw(10, _HEX)}", "tavily": "tvly-dev-" + draw(32),
    "pinecone": "pcsk_" + draw(60), "jina": "jina_" + draw(60), "elevenlabs": "sk_" + draw(48, _HEX),
    "databricks": "dapi" + draw(32, _HEX), "digitalocean": "dop_v1_" + draw(64, _HEX),
    "shopify": "shpat_" + draw(32, _HEX), "notion": "ntn_" + draw(46), "linear": "lin_api_" + draw(40),
    "figma": "figd_" + draw(40), "doppler": "dp.pt." + draw(43), "vault": "hvs." + draw(90),
    "airtable": f"pat{draw(14)}.{draw(64, _HEX)}",
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_providers(name: str) -> None:
    for text in (f"use {KEYS[name]} now", json.dumps({"say": KEYS[name]}), f"见{KEYS[name]}。"):
        (found,) = secrets_in(text, entropy=False)
        assert found.value in KEYS[name]
        assert len(found.value) > len(KEYS[name]) / 3


_VALUE = draw(32, _HEX)


@pytest.mark.parametrize(
    "text",
    [
        f"OPENAI_API_KEY={_VALUE}", f"export AZURE_OPENAI_API_KEY={_VALUE}\n", f"api_key: {_VALUE}",
        f"curl -H 'api-key: {_VALUE}' x", f"Authorization: Bearer {_VALUE}", f"?api_key={_VALUE}&a=1",
        f'{{"api_key": "{_VALUE}"}}', f"const apiKey = '{_VALUE}';", 'PASSWORD="p1!ss#w0rd{x"',
    ],
)  # fmt: skip
def test_values_given_to_keys(text: str) -> None:
    assert [hit.rule for hit in secrets_in(text, entropy=False)] in (["assigned"], ["bearer"])


@pytest.mark.parametrize(
    "text",
    [
        "sk-estimator-html-representation-doc-link-2-of-3", "npm_config_registry_https_registry_npmjs_org_1",
        "fw_version_2_3_1_build_20240101_release_candidate", "r8_some_long_identifier_with_words_and_1",
        "xai-explainability-methods-for-deep-learning-2024", "task-2024-01-15-final-report-v2",
        "sk-proj-your-key-here-1234567890", "api_key=os.getenv('OPENAI_API_KEY')", "max_tokens=1024",
        "api_key = settings.openai_api_key", "password: correct-horse-battery9staple",
        "the key: 20261130-20261201-20261202", "api_key=sha256_of_the_1st_and_2nd_and_3rd_and_4th",
        "key-value-store-partition-0123456789abcdef", "see hooks.slack.com/services/ for more",
        "订单 20261130123456789，电话另告", "https://example.com/a?sig=short&v=2",
    ],
)  # fmt: skip
def test_what_only_looks_like_one(text: str) -> None:
    assert [*secrets_in(text), *personal_in(text)] == []


def test_hashes_ids_and_numbers_are_none() -> None:
    for _ in range(100):
        data = _DRAW.randbytes(64)
        number = _DRAW.randrange(10**9)
        for text in (
            hashlib.sha1(data).hexdigest(), hashlib.sha256(data).hexdigest(), str(uuid.UUID(bytes=data[:16])),
            f"sha512-{base64.b64encode(data).decode()}", f"h1:{base64.b64encode(data[:32]).decode()}",
            f"chatcmpl-{draw(29)}", f"toolu_{draw(24)}", f"ISBN 978{number:010d}", f"1Z{draw(16, _UPPER)}",
            f"2026-11-30T18:06:10.{number % 1000:03d}Z", f"{number / 7:.12f}", f"ORD-{number}", f"¥{number:,}.00",
            f"{1600000000000 + number}", f"31.{number:09d}, 121.{number:09d}", f"10.0.{number % 255}.1:5432",
        ):  # fmt: skip
            assert [*secrets_in(text), *personal_in(text)] == [], text
