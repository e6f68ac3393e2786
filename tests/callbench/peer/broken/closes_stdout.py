"""Closes its standard output and goes on living."""

import os
import time

from plumbing import converse


def answer(run):
    os.close(1)
    time.sleep(60)


converse("closer", answer)
