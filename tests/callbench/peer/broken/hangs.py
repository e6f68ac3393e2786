"""Never answers a pointer of two levels, and ignores that anyone waits."""

import time

from plumbing import converse, right, send


def answer(run):
    if run["input"].get("pointer", "").count("/") == 2:
        time.sleep(60)
    send(right(run))


converse("hanger", answer)
