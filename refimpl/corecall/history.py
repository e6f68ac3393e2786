"""Reading a value out of earlier steps by path (seed CoreCall §3.4.4 and §7)."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from .types import ExecutorHistory, step_key

logger = logging.getLogger(__name__)

# Python refuses to convert very long digit strings; no list is that long anyway.
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_MISSING: Any = object()


def extract(path: str, history: Mapping[Any, ExecutorHistory]) -> Any:
    """Return the value at ``path`` (``step_id/key/to/variable``) in ``history``, or ``None``.

    The step id alone gives the step's whole ``outputData``. The value is the object that
    stands in the history, not a copy, and falsy values come back as they are. Segments are
    not unescaped; an empty segment is the key ``""``. A list is entered by a plain decimal
    index (extension). Whatever is wrong with the path is logged at ERROR and gives
    ``None``; nothing is ever raised.

    Contract: history.path.1, history.path.2, history.path.3, history.path.4, history.path.5,
    history.path.6, history.path.9, history.path.10, history.path.11, history.path.12,
    history.path.13.
    """
    if not isinstance(path, str) or not path:
        logger.error("history path %r is not a non-empty string", path)
        return None
    if not isinstance(history, Mapping):
        logger.error("history path %r: the history is no mapping", path)
        return None
    step_id, *keys = path.split("/")
    data = getattr(_find_step(step_id, history), "outputData", _MISSING)
    if data is _MISSING:
        logger.error("history path %r: no step %r in the history", path, step_id)
        return None
    for key in keys:
        data = _descend(data, key)
        if data is _MISSING:
            logger.error("history path %r: nothing at key %r", path, key)
            return None
    return data


def _find_step(step_id: str, history: Mapping[Any, ExecutorHistory]) -> Any:
    """Return the record of ``step_id``, or ``None``.

    Contract: history.step.1, history.step.2, history.step.3, history.step.4.
    """
    key = step_key(step_id)
    if key in history:
        return history[key]
    if isinstance(key, UUID):  # filed under a string that spells the same UUID
        for filed, record in history.items():
            if step_key(filed) == key:
                return record
    return None


def _descend(data: Any, key: str) -> Any:
    """Return what ``data`` has at ``key``, or ``_MISSING``.

    Contract: history.path.6, history.path.7, history.path.8, history.path.14, history.path.15,
    history.path.16.
    """
    if isinstance(data, Mapping):
        return data.get(key, _MISSING)
    if isinstance(data, list) and _INDEX.fullmatch(key) and int(key) < len(data):
        return data[int(key)]
    return _MISSING
