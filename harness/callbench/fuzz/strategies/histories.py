"""Records of earlier steps and paths into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from callbench.fuzz.strategies.values import json_objects, names, texts

_GARBAGE: tuple[Any, ...] = (
    "",
    "/",
    "//",
    " ",
    "no/such/step",
    "../a",
    "$.a",
    "a.b",
    "{{ a }}",
    "\x00",
    "a" * 10_000,
    "/".join("a" * 500),
    None,
    0,
    1.5,
    True,
    b"a/b",
    ["a", "b"],
    {"a": "b"},
)


def spellings(identity: UUID) -> SearchStrategy[UUID | str]:
    """Draw ways to write a step id that is a UUID, all of which name the same step.

    The UUID itself, or its 8-4-4-4-12 form in lower, upper or mixed case::

        @given(st.uuids().flatmap(lambda u: st.tuples(st.just(u), spellings(u))))
        def test_either_spelling_finds_the_step(drawn): ...
    """
    text = str(identity)
    mixed = "".join(letter.upper() if place % 2 else letter for place, letter in enumerate(text))
    return st.sampled_from([identity, text, text.upper(), mixed])


@cache
def step_ids() -> SearchStrategy[UUID | str]:
    """Draw step ids: UUIDs in every spelling, plain names, names that only look like UUIDs.

    A UUID without hyphens, in braces, as a URN or one digit short is a plain name::

        @given(step_ids())
        def test_a_record_is_found_under_its_own_id(step_id): ...
    """
    uuids = st.uuids().flatmap(spellings)
    look_alikes = st.uuids().flatmap(
        lambda u: st.sampled_from([u.hex, f"{{{u}}}", u.urn, str(u)[:-1], f"{u} ", f"{u}\n"])
    )
    return st.one_of(names(), st.sampled_from(["step1", "weather", "步骤一"]), uuids, look_alikes)


@cache
def records() -> SearchStrategy[dict[str, Any]]:
    """Draw one ``ExecutorHistory`` as a dict; name and description may be absent.

    ``{"stepId", "outputData", "stepName"?, "stepDescription"?}``; make your own record of it::

        @given(records())
        def test_a_record_is_accepted(record):
            MyHistory(**record)
    """
    return st.fixed_dictionaries(
        {"stepId": step_ids(), "outputData": json_objects(max_leaves=10)},
        optional={"stepName": texts(), "stepDescription": texts()},
    )


@cache
def histories(max_size: int = 4) -> SearchStrategy[list[dict[str, Any]]]:
    """Draw histories: up to ``max_size`` :func:`records`, oldest first.

    Now and then a step stands there twice, maybe in another spelling of its id; the last record of
    a step counts::

        @given(histories())
        def test_the_last_record_counts(history): ...
    """
    return st.lists(records(), max_size=max_size).flatmap(_with_a_second_run)


def _with_a_second_run(history: list[dict[str, Any]]) -> SearchStrategy[list[dict[str, Any]]]:
    if not history:
        return st.just(history)
    first = history[0]["stepId"]
    identity = _identity(first)
    again = spellings(identity) if identity is not None else st.just(first)
    second = st.builds(lambda step_id, record: {**record, "stepId": step_id}, again, records())
    return st.one_of(st.just(history), second.map(lambda record: [*history, record]))


def right_paths(history: Sequence[dict[str, Any]]) -> SearchStrategy[str]:
    """Draw a path ``step/key/…`` that leads to a value in ``history``, a list of :func:`records`.

    The step may be spelled in another way, and lists are entered by index. What no path can name
    (an id or a key with ``/`` in it, a step with the id ``""`` as a whole) is not drawn; without any
    step that a path can name the strategy is empty::

        @given(histories().filter(bool).flatmap(lambda h: st.tuples(st.just(h), right_paths(h))))
        def test_it_is_found(drawn): ...
    """
    steps = [record for record in history if "/" not in str(record["stepId"])]
    steps = [record for record in steps if record["stepId"] or _keys(record["outputData"])]
    return st.composite(_walk)(steps) if steps else st.nothing()


def paths(history: Sequence[dict[str, Any]]) -> SearchStrategy[Any]:
    """Draw any path: a right one, one that misses by a little, garbage, things that are no text.

    A near miss changes, adds, drops or doubles a segment of a right one, or writes an index in a way
    that is none (``01``, ``-1``, ``１``)::

        @given(histories().flatmap(lambda h: st.tuples(st.just(h), paths(h))))
        def test_it_never_raises(drawn): ...
    """
    right = right_paths(history)
    garbage = st.one_of(st.sampled_from(_GARBAGE), st.text(max_size=8))
    return st.one_of(right, right.flatmap(_near_misses), garbage)


def _identity(step_id: UUID | str) -> UUID | None:
    """Return the UUID that ``step_id`` is or spells, ``None`` for a plain name."""
    if isinstance(step_id, UUID):
        return step_id
    try:
        identity = UUID(step_id)
    except ValueError:
        return None
    return identity if str(identity) == step_id.lower() else None


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [key for key in value if "/" not in key]
    return [str(place) for place in range(len(value))] if isinstance(value, list) else []


def _walk(draw: DrawFn, steps: list[dict[str, Any]]) -> str:
    step = draw(st.sampled_from(steps))
    step_id = step["stepId"]
    identity = _identity(step_id)
    segments = [str(draw(spellings(identity))) if identity is not None else step_id]
    value = step["outputData"]
    while (keys := _keys(value)) and (segments == [""] or draw(st.integers(0, 4))):
        key = draw(st.sampled_from(keys))
        value = value[int(key) if isinstance(value, list) else key]
        segments.append(key)
    return "/".join(segments)


_BENDS: tuple[Callable[[str], str], ...] = (
    lambda segment: "",
    lambda segment: segment + "x",
    lambda segment: segment[:-1],
    str.swapcase,
    lambda segment: f"{segment}/",
    lambda segment: f"{segment}/{segment}",
    lambda segment: f"{segment}/0",
    lambda segment: f"{segment}/length",
    lambda segment: f"0{segment}",
    lambda segment: f"-{segment}",
    lambda segment: f"+{segment}",
    lambda segment: f" {segment}",
    lambda segment: f"{segment}.0",
    lambda segment: segment.replace("0", "０").replace("1", "１"),
    lambda segment: segment.replace("~", "~0"),
    lambda segment: "9" * 5000,
)


def _near_misses(path: str) -> SearchStrategy[str]:
    segments = path.split("/")
    bent = st.builds(
        lambda place, bend: "/".join(
            bend(segment) if number == place else segment for number, segment in enumerate(segments)
        ),
        st.integers(0, len(segments) - 1),
        st.sampled_from(_BENDS),
    )
    dropped = st.integers(0, len(segments) - 1).map(
        lambda place: "/".join(segments[:place] + segments[place + 1 :])
    )
    return st.one_of(bent, dropped)
