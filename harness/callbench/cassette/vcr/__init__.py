"""The bridge to any Python HTTP client: record and replay it unchanged.

    with use_cassette("port.cassette.jsonl", mode="record"):
        OpenAI().chat.completions.create(...)      # or requests, urllib3, httpx, aiohttp, urllib.request

The clients are patched where vcrpy patches them, but once for the process, and each request goes to the
cassette of the context that asks: a thread or task outside of any ``use_cassette`` has its real client.
Below is the same indexed store that everything else uses, so a request is found by its body too, in
constant time. ``files`` reads and writes vcrpy's own cassettes.
"""

from callbench.cassette.vcr.session import Session
from callbench.cassette.vcr.using import use_cassette

__all__ = ["Session", "use_cassette"]
