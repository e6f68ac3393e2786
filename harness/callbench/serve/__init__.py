"""The replay server: recorded answers over HTTP on 127.0.0.1, for a client in any language.

``answering`` decides which recording answers a request, ``server`` speaks HTTP/1.1, ``writing`` puts a
response on the wire, with the way it fails. The server is our own, on asyncio's streams: a framework keeps
connections, chunks and lengths to itself, and those are what faults break.
"""
