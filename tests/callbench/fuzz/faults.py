"""Peers with one fault each: the reference, but for one operation that a plausible slip got wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from callbench.conformance import reference
from callbench.peer import Answer, Hello
from callbench.peer.python import perform

Inputs = dict[str, Any]
Operation = Callable[[Inputs], Any]
RIGHT = reference.OPERATIONS


class Altered:
    """The reference in process, with some operations replaced or left out."""

    def __init__(self, operations: dict[str, Operation] | None = None) -> None:
        self.operations = {**RIGHT, **(operations or {})}
        self.hello = Hello("altered", "python", "0", frozenset(self.operations))
        self.asked = 0

    def run(
        self, op: str, given: Inputs, deadline: float, *, llm_base_url: str | None = None
    ) -> Answer:
        self.asked += 1
        return perform(self.operations, reference.error_kind, op, copy.deepcopy(given))

    def close(self) -> None:
        pass


def falsy_lost(inputs: Inputs) -> Any:
    return RIGHT["history.extract"](inputs) or None


def empty_keys_skipped(inputs: Inputs) -> Any:
    """`a//b` read as `a/b`."""
    path = inputs["path"]
    if isinstance(path, str):
        path = "/".join(segment for segment in path.split("/") if segment)
    return RIGHT["history.extract"]({**inputs, "path": path})


def negative_index(inputs: Inputs) -> Any:
    """`-1` taken for the last item, as in Python."""
    path, history = inputs["path"], inputs["history"]
    if isinstance(path, str) and path.endswith("/-1"):
        found = RIGHT["history.extract"]({"path": path[:-3], "history": history})
        if isinstance(found, list) and found:
            return found[-1]
    return RIGHT["history.extract"](inputs)


def first_record_counts(inputs: Inputs) -> Any:
    return RIGHT["history.extract"]({**inputs, "history": inputs["history"][::-1]})


def tilde_in_wrong_order(inputs: Inputs) -> Any:
    RIGHT["pointer.split"](inputs)
    pointer = inputs["pointer"]
    tokens = pointer.split("/")[1:] if pointer else []
    return [token.replace("~0", "~").replace("~1", "/") for token in tokens]


def no_null_in_enum(inputs: Inputs) -> Any:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            had = isinstance(value.get("enum"), list) and value["enum"][-1:] == [None]
            value = {**value, "enum": value["enum"][:-1]} if had else value
            return {name: without(child) for name, child in value.items()}
        return [without(child) for child in value] if isinstance(value, list) else value

    return without(RIGHT["slot.add_null"](inputs))


def shallow_merge(inputs: Inputs) -> Any:
    merged = RIGHT["slot.merge"](inputs)
    for name, value in inputs["new"].items():
        if isinstance(value, dict) and name in merged["filled"]:
            merged["data"][name] = value
    known, data = inputs["known"], merged["data"]
    for name, value in inputs["new"].items():
        if isinstance(known.get(name), dict) and isinstance(value, dict) and name in data:
            data[name] = {key: child for key, child in data[name].items() if key in value}
    return merged


def utf16_lengths(inputs: Inputs) -> Any:
    """Lengths in UTF-16 units: an emoji counts twice."""

    def wide(value: Any) -> Any:
        if isinstance(value, str):
            return "".join(char + "x" if ord(char) > 0xFFFF else char for char in value)
        if isinstance(value, dict):
            return {name: wide(child) for name, child in value.items()}
        return [wide(child) for child in value] if isinstance(value, list) else value

    if "Length" not in json.dumps(inputs["schema"]) or "enum" in json.dumps(inputs["schema"]):
        return RIGHT["slot.check"](inputs)
    return RIGHT["slot.check"]({**inputs, "data": wide(inputs["data"])})


def booleans_are_integers(inputs: Inputs) -> Any:
    extra, key = inputs["extra"], inputs["key"]
    if inputs["type"] == "integer" and isinstance(extra.get(key), bool):
        return int(extra[key])
    return RIGHT["callback.extra"](inputs)


def first_object_is_the_answer(inputs: Inputs) -> Any:
    decoder, text = json.JSONDecoder(), inputs["text"]
    right = RIGHT["reply.process"](inputs)
    start = text.find("{")
    if start < 0 or right == "{}" or "</think>" in text:
        return right
    try:
        _, end = decoder.raw_decode(text, start)
    except ValueError:
        return right
    return text[start:end]


def cr_is_no_line_end(inputs: Inputs) -> Any:
    chunks = [
        chunk.replace("\r\n", "\n").replace("\r", " ") if isinstance(chunk, str) else chunk
        for chunk in inputs["chunks"]
    ]
    return RIGHT["stream.decode"]({"chunks": chunks})


def every_null_is_dropped(inputs: Inputs) -> Any:
    given = RIGHT["slot.process"](inputs)
    return {name: value for name, value in given.items() if value is not None}


def leading_zeros_in_indexes(inputs: Inputs) -> Any:
    data = {
        f"{name[:-2]}{int(name[-2:])}" if name[-2:] in ("00", "01") and "/" in name else name: value
        for name, value in inputs["data"].items()
    }
    return RIGHT["slot.convert"]({**inputs, "data": data})


def window_of_zero_is_everything(inputs: Inputs) -> Any:
    """`history[-0:]` is the whole list."""
    call = dict(inputs.get("call", {}))
    if call.get("step_num") == 0:
        call["step_num"] = 1000
    return RIGHT["slot.messages"]({**inputs, "call": call})


def last_id_forgotten(inputs: Inputs) -> Any:
    """The id of an event does not stay for the next one."""
    events = RIGHT["stream.decode"](inputs)
    last = ""
    for event in events:
        event["id"], last = ("" if event["id"] == last else event["id"]), event["id"]
    return events


def required_names_of_arrays(inputs: Inputs) -> Any:
    """What an item of an array lacks is not seen."""
    remaining = RIGHT["slot.check"](inputs)
    if "required" in remaining and any("/0" in str(name) for name in remaining["required"]):
        return {}
    return remaining


FAULTS: dict[str, tuple[str, Operation]] = {
    function.__name__: (op, function)
    for op, function in (
        ("history.extract", falsy_lost),
        ("history.extract", empty_keys_skipped),
        ("history.extract", negative_index),
        ("history.extract", first_record_counts),
        ("pointer.split", tilde_in_wrong_order),
        ("slot.add_null", no_null_in_enum),
        ("slot.merge", shallow_merge),
        ("slot.check", utf16_lengths),
        ("slot.check", required_names_of_arrays),
        ("callback.extra", booleans_are_integers),
        ("reply.process", first_object_is_the_answer),
        ("stream.decode", cr_is_no_line_end),
        ("stream.decode", last_id_forgotten),
        ("slot.process", every_null_is_dropped),
        ("slot.convert", leading_zeros_in_indexes),
        ("slot.messages", window_of_zero_is_everything),
    )
}
