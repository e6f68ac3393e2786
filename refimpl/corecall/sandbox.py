"""Jinja's sandbox with a budget: what a template does is charged before it is done.

Jinja's own sandbox keeps templates from Python's internals, not from asking for too much. Here the
tree of a template is rewritten while it is compiled, so that loops, slices, comparisons and joined
texts pass through the charging filters below; operators, calls and filters are charged where the
sandbox already looks at them. A template of nothing but loops, conditions and names, which is what the bundled
prompts are, pays for the loops alone.

Contract: llm.limit.1, llm.limit.2, llm.limit.3, llm.limit.4, llm.limit.6, llm.limit.7.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from jinja2 import StrictUndefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from . import measures
from .budget import BUDGET, LimitError

MAX_TOKENS = 20_000
"""Longest template, in tokens of its tags; plain text around them is not counted."""

_ITEM_FILTERED = 16  # what sorting does with one takes as long as making so many characters
_CALL = 4  # a call takes as long as so many turns of a loop
_WEIGHT = 25
"""So many nodes of a body make a turn count as one step more."""

# Names of the charging filters; no template can write a name with a blank.
_TURNS, _STEP, _READ, _MADE, _OPERAND, _OUTPUT = (
    f"charge {what}" for what in ("turns", "step", "read", "made", "operand", "output")
)

_PLAIN = (
    nodes.And,
    nodes.Const,
    nodes.For,
    nodes.Getattr,
    nodes.If,
    nodes.Name,
    nodes.Not,
    nodes.Or,
    nodes.Output,
    nodes.Template,
    nodes.TemplateData,
)
"""Nodes that make nothing of the data: what they write is what they were given."""

_NOT_METHODS = frozenset(
    {"encode", "from_bytes", "fromhex", "fromkeys", "maketrans", "to_bytes", "translate"}
)
"""Methods of Python's basic types that no prompt needs and nobody can measure beforehand."""

_SCOPES = frozenset({"_block_vars", "_loop_vars"})  # what compiled templates pass to every call
_DICT_ATTRIBUTES = frozenset(dir(dict))
_FREE_FILTERS = frozenset(
    {"abs", "attr", "count", "d", "default", "first", "last", "length", "safe"}
)
_GONE_FILTERS = ("urlize", "xmlattr")
_COMPARING_TESTS = (
    *("in", "==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan"),
    *("ge", ">=", "<", "lt", "lessthan", "<=", "le"),
)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """The environment all prompts are rendered in; :data:`BUDGET` must be set while one is."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        """Make the environment: blocks trimmed, nothing escaped, unknown variables refused."""
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            undefined=StrictUndefined,
            extensions=[_TokenLimit],
        )
        self.code_generator_class = _Generator
        self.globals["namespace"] = _Namespace
        del self.globals["lipsum"]
        for name in _GONE_FILTERS:
            del self.filters[name]
        for name, function in self.filters.items():
            if name not in _FREE_FILTERS:
                self.filters[name] = _charged(name, function)
        for name in _COMPARING_TESTS:
            self.tests[name] = _charged_test(cast(Callable[..., Any], self.tests[name]))
        self.filters |= {
            _TURNS: lambda value, weight: BUDGET.get().turns(value, weight),
            _STEP: lambda value, weight: BUDGET.get().step(weight),
            _READ: lambda value: BUDGET.get().read(value),
            _MADE: lambda value: BUDGET.get().made(value),
            _OPERAND: lambda value: _operand(value),
            _OUTPUT: lambda value: BUDGET.get().text(value),
        }

    @staticmethod
    def concat(pieces: Iterable[str]) -> str:
        """Join what a template, or a block of it, put out."""
        return BUDGET.get().joined(pieces)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Charge the operation, then do it."""
        budget = BUDGET.get()
        budget.operation(operator, left, right)
        result = self.binop_table[operator](left, right)
        return budget.made(result) if operator == "%" or isinstance(result, int) else result

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return what the sandbox does; a plain member, the usual case, without its detours."""
        if type(obj) is dict and attribute in obj and attribute not in _DICT_ATTRIBUTES:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse what the sandbox does, and methods that nobody can measure."""
        if attr in _NOT_METHODS and isinstance(obj, (str, int, float, dict, bytes, type)):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return the sandbox's ``str.format``, charged."""
        format_it = super().wrap_str_format(value)
        if format_it is None:
            return None

        def charged(*args: Any, **kwargs: Any) -> str:
            values = (*args, *kwargs.values())
            if value.__name__ == "format_map":
                values = tuple(dict(args[0]).values())
            BUDGET.get().braces(value.__self__, values)
            return format_it(*args, **kwargs)

        return charged

    def call(self, context: Context, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Charge the call and a look at the arguments, then do it."""
        budget = BUDGET.get()
        budget.step(_CALL + len(args) + len(kwargs))
        if isinstance(called, LoopContext) and args:
            args = (budget.turns(args[0], 1), *args[1:])
        args = tuple(map(budget.read, args))
        for name in kwargs.keys() - _SCOPES:
            kwargs[name] = budget.read(kwargs[name])
        owner = getattr(called, "__self__", None)
        if isinstance(owner, str):
            name = called.__name__
            budget.make(0 if name in measures.CHEAP_METHODS else len(owner))
            measure = measures.METHODS.get(name)
            if measure is not None:
                given = {key: kwargs[key] for key in kwargs.keys() - _SCOPES}
                args, kwargs = measure(owner, *args, **given), {}
        budget.read(owner)
        return budget.made(super().call(context, called, *args, **kwargs))


class _TokenLimit(Extension):
    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        count = 0
        for token in stream:
            count += token.type != "data"
            if count > MAX_TOKENS:
                raise LimitError(f"its tags have more than {MAX_TOKENS:,} tokens")
            yield token


class _Namespace(Namespace):
    """A namespace that keeps no value nested too deep for Python to hash or compare."""

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, BUDGET.get().read(value))

    def __repr__(self) -> str:
        """Show nothing: namespaces may hold each other."""
        return "<Namespace>"


class _Generator(CodeGenerator):
    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        """Write the code of a template whose tree charges for what it does."""
        plain = all(isinstance(child, _PLAIN) for child in node.find_all(nodes.Node))
        _Charging(plain=plain).visit(node)
        node.set_environment(self.environment)
        super().visit_Template(node, frame)


class _Charging(NodeTransformer):
    """Puts the charging filters into the tree of a template."""

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain

    def visit_For(self, node: nodes.For) -> nodes.Node:
        weight = _weight(node)
        self.generic_visit(node)
        if node.recursive:  # called again with other items, so it is charged inside
            node.body.insert(0, _step(weight, node))
        else:
            node.iter = _filtered(node.iter, _TURNS, weight)
        return node

    def _visit_body(self, node: nodes.Macro | nodes.CallBlock | nodes.Block) -> nodes.Node:
        weight = _weight(node)
        self.generic_visit(node)
        node.body.insert(0, _step(weight, node))
        return node

    visit_Macro = visit_CallBlock = visit_Block = _visit_body

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        self.generic_visit(node)
        if not self._plain:
            node.nodes = [
                child if isinstance(child, nodes.Literal) else _filtered(child, _OUTPUT)
                for child in node.nodes
            ]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        node.nodes = [_filtered(child, _OPERAND) for child in node.nodes]
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            return _filtered(node, _MADE)
        node.arg = _looked_at(node.arg)
        return node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:
        self.generic_visit(node)
        node.key = _looked_at(node.key)
        return node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _looked_at(node.expr)
        for operand in node.ops:
            operand.expr = _looked_at(operand.expr)
        return node


def _weight(node: nodes.Node) -> int:
    return 1 + sum(1 for _ in node.find_all(nodes.Node)) // _WEIGHT


def _filtered(node: Any, name: str, *args: Any) -> nodes.Filter:
    constants: list[nodes.Expr] = [nodes.Const(arg) for arg in args]
    return nodes.Filter(node, name, constants, [], None, None, lineno=node.lineno)


def _looked_at(node: nodes.Expr) -> nodes.Expr:
    return node if isinstance(node, nodes.Const) else _filtered(node, _READ)


def _step(weight: int, node: nodes.Node) -> nodes.ExprStmt:
    nothing = nodes.Const(None, lineno=node.lineno)
    return nodes.ExprStmt(_filtered(nothing, _STEP, weight), lineno=node.lineno)


def _operand(value: Any) -> str:
    budget = BUDGET.get()
    text = value if isinstance(value, str) else str(budget.read(value))
    budget.make(len(text))
    return text


def _charged(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that charges a look at its value, what it is to make, and what it made."""
    at = 1 if hasattr(function, "jinja_pass_arg") else 0
    measure = measures.FILTERS.get(name)
    cheap = name in measures.CHEAP_FILTERS

    @functools.wraps(function)
    def charged(*args: Any, **kwargs: Any) -> Any:
        budget = BUDGET.get()
        given, value, rest = args[:at], budget.read(args[at]), args[at + 1 :]
        if isinstance(value, str) and not cheap:
            budget.make(len(value))
        elif isinstance(value, (list, tuple, dict)):
            budget.make(_ITEM_FILTERED * len(value))
        if measure is not None:
            value = measure(value, *rest, **kwargs)
        return budget.made(function(*given, value, *rest, **kwargs))

    return charged


def _charged_test(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def charged(value: Any, other: Any) -> Any:
        budget = BUDGET.get()
        return function(budget.read(value), budget.read(other))

    return charged
