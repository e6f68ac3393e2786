"""Schemas and data that are too much, or that are not what they say: one error by name, or the result."""

from __future__ import annotations

import json
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from corecall import DataBase, SlotProcessor
from corecall.generator import strict
from corecall.slot.processor import DataError, SchemaError

LIMIT = "arrays and objects"


def nested(depth: int, leaf: Any = 1, *, arrays: bool = False) -> Any:
    value = leaf
    for _ in range(depth):
        value = [value] if arrays else {"a": value}
    return value


def doubled(times: int) -> list[Any]:
    value: list[Any] = [1]
    for _ in range(times):
        value = [value, value]
    return value


SCHEMA: dict[str, Any] = {"properties": {"a": {"type": "object"}, "x": {"type": "array"}}}

ON_DATA: dict[str, Callable[[SlotProcessor, Any], Any]] = {
    "check_json": lambda processor, data: processor.check_json(data),
    "is_valid": lambda processor, data: processor.is_valid(data),
    "convert_json": lambda processor, data: processor.convert_json(data),
    "convert_json base": lambda processor, data: processor.convert_json({}, data),
    "process_json": lambda processor, data: processor.process_json(data),
    "merge reply": lambda processor, data: processor.merge({}, data),
    "merge known": lambda processor, data: processor.merge(data, {}),
    "ask_schema": lambda processor, data: processor.ask_schema({"required": []}, data),
    "asked": lambda processor, data: processor.asked({}, data, optional=True),
}
ON_SCHEMA: dict[str, Callable[[Any], Any]] = {
    "SlotProcessor": SlotProcessor,
    "add_null_to_basic_types": SlotProcessor.add_null_to_basic_types,
    "strict": strict,
}
on_data = pytest.mark.parametrize("operation", ON_DATA.values(), ids=ON_DATA)
on_schema = pytest.mark.parametrize("operation", ON_SCHEMA.values(), ids=ON_SCHEMA)


def itself() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


def listed() -> dict[str, Any]:
    value: list[Any] = []
    value.append(value)
    return {"x": value}


class TestTooMuchData:
    @on_data
    @pytest.mark.rule("schema.limit.1")
    @pytest.mark.parametrize(
        "data",
        [nested(101), nested(100_000), {"x": nested(100_000, arrays=True)}, itself(), listed()],
        ids=["101", "100,000", "arrays", "itself", "list in itself"],
    )
    def test_too_deep_is_named_everywhere(
        self, operation: Callable[[SlotProcessor, Any], Any], data: Any
    ) -> None:
        with pytest.raises(DataError, match="nested deeper than 100"):
            operation(SlotProcessor(SCHEMA), data)

    @on_data
    @pytest.mark.rule("schema.limit.8")
    def test_too_many_is_named_everywhere(
        self, operation: Callable[[SlotProcessor, Any], Any]
    ) -> None:
        with pytest.raises(DataError, match=LIMIT):
            operation(SlotProcessor(SCHEMA), {"x": doubled(40)})

    @pytest.mark.rule("schema.limit.8")
    def test_the_limit_is_exact_and_scalars_are_free(self) -> None:
        processor = SlotProcessor({})
        assert processor.check_json({"l": [[] for _ in range(249_998)]}) == {}
        with pytest.raises(DataError, match=LIMIT):
            processor.check_json({"l": [[] for _ in range(249_999)]})
        assert processor.check_json({"l": [0] * 1_000_000}) == {}

    @pytest.mark.rule("schema.limit.8")
    def test_values_that_must_be_copied_are_counted_alike(self) -> None:
        with pytest.raises(DataError, match=LIMIT):
            SlotProcessor({}).check_json({"l": [() for _ in range(249_999)]})


@pytest.mark.trap("D20")
class TestTooMuchSchema:
    @on_schema
    @pytest.mark.rule("schema.limit.2", "schema.limit.3")
    @pytest.mark.parametrize(
        "schema",
        [
            {"properties": {"a": {"enum": [nested(100_000)]}}},
            {"default": nested(100_000, arrays=True)},
            {"x-note": nested(251)},
            {"items": itself()},
            {"enum": listed()["x"]},
        ],
    )
    def test_too_deep_is_named_everywhere(
        self, operation: Callable[[Any], Any], schema: dict[str, Any]
    ) -> None:
        with pytest.raises(SchemaError, match="nested deeper than 250"):
            operation(schema)

    @on_schema
    @pytest.mark.rule("schema.limit.2")
    def test_subschemas_too_deep_are_named_everywhere(
        self, operation: Callable[[Any], Any]
    ) -> None:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(100):
            schema = {"properties": {"a": schema}, "required": ["a"]}
        with pytest.raises(SchemaError, match="nested deeper than 100"):
            operation(schema)

    @on_schema
    @pytest.mark.rule("schema.limit.8")
    def test_a_schema_that_holds_itself_twice_over_is_too_many(
        self, operation: Callable[[Any], Any]
    ) -> None:
        schema: dict[str, Any] = {"type": "integer"}
        for _ in range(40):
            schema = {"anyOf": [schema, schema]}
        with pytest.raises(SchemaError, match=LIMIT):
            operation({"properties": {"x": schema}})
        with pytest.raises(SchemaError, match=LIMIT):
            operation({"enum": doubled(40)})
        with pytest.raises(SchemaError, match=LIMIT):
            operation({"enum": [tuple(doubled(1)) for _ in range(49_999)]})

    @pytest.mark.rule("schema.limit.8")
    def test_the_limit_is_exact(self) -> None:
        assert SlotProcessor({"enum": [[] for _ in range(49_998)]}).check_json([]) == {}
        with pytest.raises(SchemaError, match=LIMIT):
            SlotProcessor({"enum": [[] for _ in range(49_999)]})

    @on_schema
    @pytest.mark.rule("schema.limit.6")
    @pytest.mark.parametrize(
        "loop",
        [
            {"$ref": "#/definitions/a"},
            {"allOf": [{"$ref": "#/definitions/a"}]},
            {"anyOf": [{"type": "string"}, {"$ref": "#/definitions/b"}]},
            {"not": {"$ref": "#/definitions/a"}},
        ],
    )
    def test_a_definition_by_itself_is_named(
        self, operation: Callable[[Any], Any], loop: dict[str, Any]
    ) -> None:
        schema = {"definitions": {"a": loop, "b": {"$ref": "#/definitions/a"}}}
        with pytest.raises(SchemaError, match="refers back to itself"):
            operation(schema)

    @pytest.mark.rule("schema.limit.6")
    @pytest.mark.parametrize("keyword", ["allOf", "anyOf"])
    def test_references_that_double_take_no_longer(self, keyword: str) -> None:
        definitions: dict[str, Any] = {
            f"d{n}": {keyword: [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(60)
        }
        schema = {
            "definitions": {**definitions, "d60": {"type": "integer"}},
            "properties": {"x": {"$ref": "#/definitions/d0"}},
        }
        processor = SlotProcessor(schema)
        assert processor.is_valid({"x": 1})
        assert processor.check_json({"x": "s"})["required"] == ["/x"]
        assert processor.merge({}, {"x": "s"}).data == {}


class TestWhatIsNoJson:
    class Mapping(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError

        def __iter__(self) -> Iterator[str]:
            raise RuntimeError

        def __len__(self) -> int:
            raise RuntimeError

    class Endless(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            while True:
                yield 1

    class Text(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        def __str__(self) -> str:
            raise RuntimeError

        def replace(self, *args: Any) -> str:
            raise RuntimeError

    class Whole(int):
        def __int__(self) -> int:
            raise RuntimeError

        def bit_length(self) -> int:
            raise RuntimeError

    class Broken(float):
        def __float__(self) -> float:
            raise RuntimeError

    class Pretender:
        """Says that it is a text, as mocks do."""

        @property  # type: ignore[misc]
        def __class__(self) -> type:
            return str

    class Unspeakable:
        def __repr__(self) -> str:
            raise RuntimeError

    @pytest.mark.rule("schema.valid.14")
    @pytest.mark.parametrize(
        ("value", "plain"),
        [
            (Mapping(k=1), {"k": 1}),
            (Endless([1, 2]), [1, 2]),
            (Text("t"), "t"),
            (Whole(3), 3),
            (Broken(1.5), 1.5),
            (Broken(-0.0), -0.0),
            (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        ],
    )
    def test_a_subclass_is_its_base_and_its_methods_are_not_asked(
        self, value: Any, plain: Any
    ) -> None:
        processor = SlotProcessor({})
        converted = processor.convert_json({"v": value})
        assert json.dumps(converted) == json.dumps({"v": plain})
        assert type(converted["v"]) is type(plain)
        assert processor.check_json({"v": value}) == {}
        refused = SlotProcessor({"properties": {"v": {"const": value}}}).check_json({"v": None})
        assert json.dumps(refused["properties"]["/v"]) == json.dumps({"const": plain})

    @pytest.mark.rule("schema.valid.14")
    def test_the_order_of_an_ordered_dict_is_its_own(self) -> None:
        data = OrderedDict(a=1, b=2)
        data.move_to_end("a")
        assert list(SlotProcessor({}).convert_json(data)) == ["b", "a"]

    @on_data
    @pytest.mark.rule("schema.valid.14")
    @pytest.mark.parametrize(
        "value",
        [
            {1},
            b"x",
            object(),
            1j,
            range(3),
            (n for n in "x"),
            len,
            dict,
            Pretender(),
            Unspeakable(),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_a_python_object_is_named_everywhere(
        self, operation: Callable[[SlotProcessor, Any], Any], value: Any
    ) -> None:
        with pytest.raises(DataError) as caught:
            operation(SlotProcessor(SCHEMA), {"k": [value]})
        assert caught.value.pointer == "/k/0"
        with pytest.raises(SchemaError):
            SlotProcessor({"const": value})

    @on_data
    @pytest.mark.rule("schema.valid.14")
    @pytest.mark.parametrize(
        "key",
        [1, None, 1.5, True, b"x", (1,), 10**5000, Unspeakable()],
        ids=lambda key: type(key).__name__,
    )
    def test_a_key_that_is_no_text_is_named_everywhere(
        self, operation: Callable[[SlotProcessor, Any], Any], key: Any
    ) -> None:
        with pytest.raises(DataError, match="is not a string"):
            operation(SlotProcessor(SCHEMA), {"a": {key: 1}})

    @on_data
    @pytest.mark.rule("schema.limit.4", "schema.valid.14")
    @pytest.mark.parametrize(
        "value",
        [10**5000, -(10**5000), float("nan"), float("-inf")],
        ids=["large", "small", "NaN", "infinite"],
    )
    def test_numbers_that_cannot_be_written_are_named_everywhere(
        self, operation: Callable[[SlotProcessor, Any], Any], value: Any
    ) -> None:
        with pytest.raises(DataError) as caught:
            operation(SlotProcessor(SCHEMA), {"k": value})
        assert caught.value.pointer == "/k"


class TestPatterns:
    @pytest.mark.rule("schema.limit.9")
    def test_a_pattern_has_an_end(self) -> None:
        assert SlotProcessor({"pattern": "a" * 20_000}).is_valid("a" * 20_000)
        with pytest.raises(SchemaError, match="20,000") as caught:
            SlotProcessor({"pattern": "a" * 20_001})
        assert caught.value.pointer == "/pattern"
        with pytest.raises(SchemaError, match="20,000"):
            SlotProcessor({"patternProperties": {"a" * 20_001: {}}})

    @pytest.mark.rule("schema.limit.9")
    @pytest.mark.parametrize(
        "pattern",
        [
            "[" * 20_000,
            "[\\" * 10_000,
            "(?<a" * 5_000,
            "(?<a>x)" + "\\k<" * 6_000,
            "(" * 20_000,
            "\\" + "1" * 9_999,
            "a{" + "9" * 9_999 + "}",
            "\\u{" + "F" * 9_999 + "}",
            "(((((a{100}){100}){100}){100}){100}){100}",
        ],
        ids=lambda pattern: pattern[:9],
    )
    def test_what_is_hardly_a_pattern_ends_at_once(self, pattern: str) -> None:
        with suppress(SchemaError):  # and nothing else, at once: the watchdog waits
            SlotProcessor({"pattern": pattern})

    @pytest.mark.rule("schema.limit.5")
    @pytest.mark.parametrize("pattern", ["^(a+)+$", r"^(?=(a+)+$)(\w+)\2$", r"(a*)*\1b"])
    @pytest.mark.parametrize("length", [50, 5_000, 1_000_000])
    def test_a_slow_pattern_ends_wherever_it_stands(self, pattern: str, length: int) -> None:
        text = "a" * length + "!"
        assert SlotProcessor({"properties": {"x": {"pattern": pattern}}}).check_json({"x": text})
        assert SlotProcessor({"propertyNames": {"pattern": pattern}}).check_json({text: 1})
        keyed = SlotProcessor({"patternProperties": {pattern: {"type": "string"}}})
        assert keyed.check_json({text: 1}) == {}


class TestReach:
    @on_schema
    @pytest.mark.parametrize(
        "reference",
        [
            "http://127.0.0.1/x.json",
            "file:///etc/passwd",
            "/etc/passwd",
            "x.json#/a",
            "urn:x:y",
            "//h/x",
        ],
    )
    def test_nothing_is_fetched_or_opened(
        self, operation: Callable[[Any], Any], reference: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def never(*args: Any, **kwargs: Any) -> Any:
            raise AssertionError("a schema reached out")

        monkeypatch.setattr(socket, "socket", never)
        monkeypatch.setattr(socket, "getaddrinfo", never)
        monkeypatch.setattr("builtins.open", never)
        with pytest.raises(SchemaError, match="nothing is fetched"):
            operation({"properties": {"x": {"$ref": reference}}})


class TestOverride:
    class Input(DataBase):
        x: int = 1

    @pytest.mark.rule("core.data.7")
    @pytest.mark.parametrize(
        ("override", "pointer"),
        [({"a": len}, "/a"), ({"a": {"enum": [{1}]}}, "/a/enum/0"), ({"a": {1: 2}}, "/a")],
    )
    def test_what_is_no_json_is_named(self, override: dict[str, Any], pointer: str) -> None:
        with pytest.raises(SchemaError) as caught:
            self.Input.model_json_schema(override=override)
        assert caught.value.pointer == pointer

    @pytest.mark.rule("core.data.7")
    @pytest.mark.parametrize("override", [nested(251), nested(100_000), itself(), listed()])
    def test_what_nests_too_deep_is_named(self, override: dict[str, Any]) -> None:
        with pytest.raises(SchemaError, match="nested deeper than 250"):
            self.Input.model_json_schema(override=override)

    @pytest.mark.rule("core.data.7")
    def test_as_deep_as_a_schema_may_be_is_laid_over(self) -> None:
        override = nested(250)
        schema = self.Input.model_json_schema(override=override)
        assert schema["properties"]["a"] == override["a"]
        assert schema["properties"]["a"] is not override["a"]
