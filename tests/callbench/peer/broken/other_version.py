"""Speaks none of the versions that are offered."""

from plumbing import requests, send

for _ in requests():
    send({"cmd": "hello", "version": 0})
    break
