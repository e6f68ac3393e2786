"""``python -m callbench.conformance.reference``: the reference as a peer on standard input and output."""

from __future__ import annotations

import sys

from callbench.conformance import reference
from callbench.peer.serving import serve

if __name__ == "__main__":
    sys.exit(serve(reference, name="corecall", release=reference.RELEASE))
