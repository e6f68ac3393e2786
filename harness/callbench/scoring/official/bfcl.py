"""``bfcl-ast``: the AST checker of the Berkeley Function Calling Leaderboard, Python categories.

A case is right or wrong as a whole, under exact rules of type and loose rules of text. ``inputs``
makes the function document and the possible answers of a case; :func:`check` is the rule itself and
takes a set's own gold as well. Java and JavaScript are out of scope.

Where the official rule is surprising:

===================================== =========================================================
official                              ours (``callbench``)
===================================== =========================================================
strings lose case, spaces and         text is folded, signs, points and separators are kept:
``,./-_*^``: ``-5`` is ``5``,         ``1.5`` is never ``15``
``1.5`` is ``15``
``""`` among the answers means "may   a flag of its own; ``""``, null and absent differ
be left out", and is accepted itself
beside a list, ``""`` accepts ``[]``  only what is listed
an integer does for a float; 5.0      equal by value, at any depth
does not do for an integer; inside
lists 1 does not do for 1.0
``1``, ``1.0`` and ``true`` are equal a boolean is no number
in lists and objects, once past the
check of types
types are checked one level deep,     at any depth
objects compared one level deep
a value of the answer's type passes   the schema decides
where the schema says another type
a default given though the answer     equal to leaving it out
does not list it is unexpected
checking ends at the first error      every slot has a verdict
===================================== =========================================================

What was ``tuple`` in BFCL's own files is ``array`` in a case, which the checker treats alike. Where
the only answer there is "leave it out", the case expects nothing, and ``""`` is unexpected here, right
there. A required slot that the case says nothing supports is not required here: BFCL has no such cases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from callbench.dataset.case import Case
from callbench.scoring.official.scorer import Arguments, Result, Scorer, accepted, share
from corecall import pointer

Answers = dict[str, list[Any]]
"""Per parameter the accepted values; an object's members hold lists of their own."""

_TYPES: dict[str, type[Any]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_NAMES = {"number": "float", "object": "dict"}
_PUNCTUATION = re.compile(r"[ \,\.\/\-\_\*\^]")


def inputs(case: Case) -> tuple[dict[str, Any], Answers]:
    """Return the function document and the possible answers of a case, in BFCL's form."""
    properties = case.schema.get("properties", {})
    unsupported = {place for place in case.unfillable if place.count("/") == 1}
    required = [
        name for name in case.schema.get("required", ()) if pointer.join([name]) not in unsupported
    ]
    names = [*case.expected, *(name for name in properties if name not in case.expected)]
    answers: Answers = {}
    for name in names:
        values = accepted(case, name)
        place = pointer.join([name])
        may_omit = _may_omit(case, place)
        if not values and not may_omit:
            continue
        answers[name] = [_alternatives(case, place, value) for value in values]
        answers[name] += [""] * may_omit
    return {
        "name": case.tool.name,
        "parameters": {
            "type": "dict",
            "properties": {name: _typed(schema) for name, schema in properties.items()},
            "required": required,
        },
    }, answers


def _typed(schema: Any) -> dict[str, Any]:
    """Return a property's schema with BFCL's names of types, its items' one level down."""
    told = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(told, list):
        told = next((name for name in told if name != "null"), None)
    name = _NAMES.get(told, told) if isinstance(told, str) else None
    typed: dict[str, Any] = {"type": name if name in _TYPES else "any"}
    if typed["type"] == "array":
        items = schema.get("items", {})
        typed["items"] = {"type": _typed(items)["type"]}
    return typed


def _may_omit(case: Case, place: str) -> bool:
    entry = case.accept.get(place)
    return entry is not None and entry.may_omit


def _alternatives(case: Case, place: str, value: Any) -> Any:
    """Return a value with the members of objects, alone or in a list, as lists of alternatives."""
    if isinstance(value, dict):
        return {key: _members(case, f"{place}/{pointer.escape(key)}", value[key]) for key in value}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [
            _alternatives(case, f"{place}/{at}", item) if isinstance(item, dict) else item
            for at, item in enumerate(value)
        ]
    return value


def _members(case: Case, place: str, value: Any) -> list[Any]:
    entry = case.accept.get(place)
    values = [value, *(entry.values if entry else ())]
    return [*values, ""] if _may_omit(case, place) else values


# -- the rule ---------------------------------------------------------------------------------


def check(function: Mapping[str, Any], arguments: Arguments, answers: Answers) -> str:
    """Return the kind of the first error, ``""`` for a right answer."""
    declared = function["parameters"]["properties"]
    if any(name not in arguments for name in function["parameters"]["required"]):
        return "simple_function_checker:missing_required"
    for name, value in arguments.items():
        if name not in declared or name not in answers:
            return "simple_function_checker:unexpected_param"
        error = _check_parameter(declared[name], value, answers[name])
        if error:
            return error
    if any(name not in arguments and "" not in values for name, values in answers.items()):
        return "simple_function_checker:missing_optional"
    return ""


def _check_parameter(schema: Mapping[str, Any], value: Any, answers: list[Any]) -> str:
    told = schema["type"]
    wanted = _TYPES[told]
    item_type = _TYPES[schema["items"]["type"]] if told in ("array", "tuple") else None
    if told == "float" and type(value) is int:
        value = float(value)
    error, variable = _check_type(value, answers, wanted, item_type)
    if error:
        return error
    if not variable:
        if wanted is dict:
            return _check_object(value, answers)
        if wanted is list:
            return (
                _check_objects(value, answers) if item_type is dict else _check_list(value, answers)
            )
        if wanted is str:
            right = [_standard(answer) for answer in answers if isinstance(answer, str)]
            return "" if _standard(value) in right else "value_error:string"
    return "" if value in answers else "value_error:others"


def _check_type(
    value: Any, answers: list[Any], wanted: type[Any], item_type: type[Any] | None
) -> tuple[str, bool]:
    """Return the error, and whether the answers are of another type than the function says."""
    answer_type = next((type(answer) for answer in answers if answer != ""), None)
    variable = answer_type is not None and answer_type is not wanted
    if type(value) is wanted:
        if item_type is None:
            return "", variable
        for answer in answers:
            items = value if isinstance(answer, list) else ()
            if not any(_check_type(item, answer, item_type, None)[0] for item in items):
                return "", variable
        return "type_error:nested", False
    if answer_type is not None and type(value) is answer_type:
        return "", True
    return "type_error:simple", False


def _standard(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return _PUNCTUATION.sub("", value).lower().replace("'", '"')


def _check_list(value: list[Any], answers: list[Any]) -> str:
    # The letters of an accepted text count as a list, as they do there.
    right = [[_standard(item) for item in one] for one in answers if isinstance(one, list | str)]
    return "" if [_standard(item) for item in value] in right else "value_error:list/tuple"


def _check_object(value: dict[str, Any], answers: list[Any]) -> str:
    error = "dict_checker:unclear"
    for answer in answers:
        if not isinstance(answer, dict):
            continue
        error = _check_members(value, answer)
        if not error:
            return ""
    return error


def _check_members(value: dict[str, Any], answer: dict[str, Any]) -> str:
    error = ""
    for key, member in value.items():
        if key not in answer:
            error = "value_error:dict_key"
            break
        if _standard(member) not in [_standard(right) for right in answer[key]]:
            error = "value_error:dict_value"
            break
    if any(key not in value and "" not in right for key, right in answer.items()):
        error = "value_error:dict_key"
    return error


def _check_objects(value: list[Any], answers: list[Any]) -> str:
    error = "list_dict_checker:unclear"
    for answer in answers:
        if not isinstance(answer, list | str) or len(value) != len(answer):
            error = "value_error:list_dict_count"
            continue
        found = ""
        for item, right in zip(value, answer, strict=True):
            found = error = _check_object(item, [right]) if isinstance(item, dict) else error
            if found:
                break
        if not found:
            return ""
    return error


def judge(case: Case, arguments: Arguments | None) -> Result:
    """Return ``{"right": 0 or 1, "error": kind of the first error}``."""
    if arguments is None:
        return {"right": 0, "error": "ast_decoder:decoder_failed"}
    function, answers = inputs(case)
    error = check(function, arguments, answers)
    return {"right": int(not error), "error": error}


SCORER = Scorer(
    name="bfcl-ast",
    version=1,
    summary="BFCL's AST checker: the call right as a whole; text without case, spaces, punctuation",
    source="bfcl-eval 2026.3.23, bfcl_eval/eval_checker/ast_eval/ast_checker.py",
    judge=judge,
    total=lambda judged: {"accuracy": share("right")(judged)},
)
