from __future__ import annotations
from dataclasses import dataclass
from typing import Any
import httpx2


@dataclass
class Opened:
    base_url: str
    api_key: str
    transport: Any


_S: list[Any] = []


def open_model(profile, *, replaying: bool) -> Opened:
    def make():
        if not _S:
            import xllamacpp as x

            p = x.CommonParams()
            p.model.path = str(weights)
            p.n_ctx = 8192
            p.n_parallel = 1
            p.hostnames = ["127.0.0.1"]
            p.port = 0
            p.cpuparams.n_threads = 2
            p.cpuparams_batch.n_threads = 2
            p.verbosity = -1
            p.ui = False
            p.cache_ram_mib = 0
            _S.append(x.Server(p))
        inner = httpx2.AsyncHTTPTransport()
        address = httpx2.URL(_S[0].listening_address)

        class T(httpx2.AsyncBaseTransport):
            async def handle_async_request(self, request):
                request.url = request.url.copy_with(
                    host=address.host, port=address.port, scheme="http"
                )
                return await inner.handle_async_request(request)

        return T()

    return Opened("http://127.0.0.1/v1", "", make)
