"""SlotProcessor: everything the filler asks about one JSON Schema.

Draft 7. ``format`` is not asserted, patterns are ECMA-262, ``multipleOf`` is exact on decimals, NaN
and Infinity are not JSON. Arguments are never changed, and results share nothing with them.
"""

from __future__ import annotations

from typing import Any

from corecall.jsontext import BLANK
from corecall.pointer import join
from corecall.reply import loads
from corecall.slot.asking import ask_schema, asked, missing_optional
from corecall.slot.compiled import compile_schema
from corecall.slot.convert import convert
from corecall.slot.evaluate import Evaluator
from corecall.slot.limits import DataError, SchemaError, plain_data
from corecall.slot.merging import Merge, Refusal, merge
from corecall.slot.naming import pointed
from corecall.slot.nullable import add_null, drop_nulls
from corecall.slot.remaining import remaining_schema
from corecall.slot.violations import violations

__all__ = ["DataError", "Merge", "Refusal", "SchemaError", "SlotProcessor"]


class SlotProcessor:
    """Checks, converts and merges data for one schema.

    Making one for a schema seen before is cheap; compiled schemas are shared between them. Every
    method raises :class:`DataError` for data that is not JSON, or nested deeper than 100.

    Contract: schema.valid.1, schema.limit.1.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        """Check and compile ``schema``.

        Raises :class:`SchemaError`, a ``ValueError`` with the pointer of the fault, when it is no
        valid Draft 7 schema, nests deeper than 100, defines a subschema by itself, or refers to
        something outside (nothing is ever fetched) or to nothing.

        Contract: schema.valid.2, schema.valid.22, schema.check.21.
        """
        self._compiled = compile_schema(schema)

    def is_valid(self, data: Any) -> bool:
        """Say whether ``data`` satisfies the schema."""
        plain, longest = plain_data(data)
        verdict = self._compiled.fast_verdict(plain, longest)
        if verdict is None:
            verdict = Evaluator(self._compiled).holds(self._compiled.root, plain)
        return verdict

    def check_json(self, data: Any) -> dict[str, Any]:
        """Return ``{}`` exactly when ``data`` is valid, else the remaining schema.

        That is ``{"type": "object", "properties": {pointer: schema}, "required": [pointer, …]}``:
        every place that is wrong or missing, in document order, none beneath another, with the
        schema that holds there. It is a valid schema and needs nothing beside it.

        Contract: schema.check.1, schema.check.2.
        """
        plain, longest = plain_data(data)
        verdict = self._compiled.fast_verdict(plain, longest)
        if verdict:
            return {}
        found = violations(Evaluator(self._compiled), plain)
        places = [(violation.tokens, violation.schemas) for violation in found]
        if not places and verdict is None:
            return {}
        return remaining_schema(self._compiled, places)

    def convert_json(
        self, data: dict[str, Any], base: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return ``data``, keyed by pointers or names, as a plain object laid over a copy of ``base``.

        Keys apply in order. One that starts with ``/`` is a pointer, any other a name; the key ``""``
        is the member of that name, never the root. Objects merge deep, arrays and scalars replace;
        ``-``, and an index equal to the length, append. An object whose keys are all indexes is
        applied to the elements of an array that is there. Pointers that cannot apply are skipped
        with a warning in the log. Unknown keys and nulls are kept: this is about form only.

        Contract: schema.convert.1, schema.convert.13.
        """
        return convert(self._compiled, _object(data), _object({} if base is None else base))

    def merge(self, known: dict[str, Any], reply: dict[str, Any]) -> Merge:
        """Merge a model's ``reply``, nested or keyed by pointers, into ``known``.

        Valid known values are never overwritten. Members the schema does not declare, and values
        that break the schema of their own slot, are left out and reported; a null that the schema
        does not admit counts as not given. Objects that still lack something are merged.
        """
        known = _object(known)
        return merge(self._compiled, known, self.convert_json(self.pointed(reply, known), known))

    def pointed(self, data: Any, known: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return ``data`` for ``convert_json``: names that begin with ``/`` written as pointers.

        Only those that the schema, seen from ``known``, declares at its root and that could not
        be reached as a pointer; see :func:`corecall.slot.naming.pointed`.
        """
        return pointed(self._compiled, _object(data), _object(known or {}))

    def ask_schema(self, remaining: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
        """Return the nested schema a model is shown for ``remaining``, a result of this check.

        A nested answer to it, given to :meth:`merge`, fills those places. Forbidden keys are left
        out; ``{}`` means there is nothing to ask.
        """
        return ask_schema(self._compiled, remaining, _object(known))

    def asked(
        self, remaining: dict[str, Any], known: dict[str, Any], *, optional: bool = False
    ) -> dict[str, Any]:
        """Return what of ``remaining`` a model can be asked for, in the same form; ``{}``: nothing.

        Forbidden keys are never asked for. With ``optional`` declared optional properties that are
        absent are asked for too, each admitting null, which means unknown.
        """
        return asked(self._compiled, remaining, _object(known), optional=optional)

    def missing_optional(self, known: dict[str, Any]) -> list[str]:
        """Return the pointers of declared properties that ``known`` may have and has not."""
        return [join(tokens) for tokens in missing_optional(self._compiled, _object(known))]

    @staticmethod
    def add_null_to_basic_types(schema: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of ``schema`` in which values of basic type may also be null.

        Idempotent, and what was valid stays valid. See :mod:`corecall.slot.nullable`.

        Contract: schema.null.1, schema.null.10.
        """
        return add_null(compile_schema(schema))

    def process_json(self, text_or_object: str | dict[str, Any]) -> dict[str, Any]:
        """Return a strict-mode reply without the members that are null where the schema has no null.

        Blank text and ``null`` are ``{}``. Raises :class:`DataError` for text that is no JSON object.

        Contract: schema.process.1, schema.process.2.
        """
        value: Any = text_or_object
        if isinstance(value, str):
            value = _read(value) if value.strip(BLANK) else None
        return drop_nulls(self._compiled, _object({} if value is None else value))


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise DataError("", f"expected an object, got a Python {type(data).__name__}")
    plain: dict[str, Any] = plain_data(data)[0]
    return plain


def _read(text: str) -> Any:
    try:
        return loads(text)
    except ValueError as error:
        raise DataError("", f"not JSON: {error}") from error
