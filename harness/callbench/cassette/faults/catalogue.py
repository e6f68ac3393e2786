"""The kinds of faults there are, by name."""

from __future__ import annotations

from collections.abc import Mapping

from callbench.cassette.faults import content, wire
from callbench.cassette.faults.kind import Kind

CATALOGUE: Mapping[str, Kind] = {kind.name: kind for kind in (*wire.KINDS, *content.KINDS)}
