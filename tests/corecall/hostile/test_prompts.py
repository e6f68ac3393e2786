"""Templates that ask for too much: refused by name before the time or the memory is spent."""

from __future__ import annotations

from typing import Any

import pytest

from corecall import CallError
from corecall.templating import render

TEXT = "a" * 1_000_000
LIST = [f"s{number}" for number in range(60_000)]

LOOP = "{{% for i in range(90000) %}}{}{{% endfor %}}"
GROWING = (
    "{{% set n = namespace(a={}) %}}{{% for i in range(60) %}}{{% set n.a = {} %}}{{% endfor %}}"
)
SHARED = "{% set a = ('x', 'x') %}" + "{% set a = (a, a) %}" * 60

STEPS, CHARACTERS, DIGITS, DEEP = "200,000 steps", "10,000,000 characters", "digits", "deeper than"


def refusal(source: str, **variables: Any) -> str:
    with pytest.raises(CallError) as caught:
        render("user prompt", source, variables)
    assert caught.value.data == {"prompt": "user prompt"}
    return str(caught.value)


def shown(source: str, **variables: Any) -> str:
    return render("user prompt", source, variables)


@pytest.mark.rule("llm.limit.1", "llm.render.9")
@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(500) %}{% for j in range(500) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) if false %}{% endfor %}" * 3,
        "{% for i in range(99999)|map('string') %}{% endfor %}" * 3,
        "{% for i in range(99999)|map('string')|list %}{% endfor %}" * 3,
        "{% for c in text %}{% endfor %}",
        "{% for i in range(300) recursive %}{% if loop.depth0 < 3 %}{{ loop(range(300)) }}{% endif %}"
        "{% endfor %}",
        "{% for i in [1, 2] recursive %}{% if loop.depth0 < 20 %}{{ loop([1, 2]) }}{% endif %}"
        "{% endfor %}",
        "{% for i in [1] recursive %}{% if loop.depth0 < 99 %}{{ loop(range(9999)) }}{% endif %}"
        "{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}",
        "{% macro w() %}{{ caller() }}{{ caller() }}{% endmacro %}"
        + "{% call w() %}" * 25
        + "x"
        + "{% endcall %}" * 25,
        "{% set c = cycler(1, 2) %}" + LOOP.format("{{ c.next() }}"),
        LOOP.format("{% if text %}{% endif %}" * 500),
        "{% macro m() %}"
        + "{% if text %}{% endif %}" * 500
        + "{% endmacro %}"
        + LOOP.format("{{ m() }}"),
        "{% block b %}" + "{% if text %}{% endif %}" * 500 + "{% endblock %}"
        "{% macro m() %}{{ self.b() }}{% endmacro %}" + LOOP.format("{{ self.b() }}"),
        "{% macro f() %}{{ varargs|length }}{% endmacro %}" + LOOP.format("{{ f(*range(99999)) }}"),
        "{% for part in [1]|slice(1000000000) %}{% endfor %}",
    ],
)
def test_steps_end(source: str) -> None:
    assert STEPS in refusal(source, text=TEXT)


@pytest.mark.rule("llm.limit.1")
@pytest.mark.parametrize(
    "source",
    [
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% block b %}{{ self.b() }}{% endblock %}",
        "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    ],
)
def test_a_recursion_without_end_is_an_error(source: str) -> None:
    assert "user prompt" in refusal(source)


@pytest.mark.rule("llm.limit.1")
def test_a_hundred_thousand_turns_are_admitted_and_loops_know_their_length() -> None:
    assert shown("{% for i in range(100000) %}x{% endfor %}") == "x" * 100_000
    assert shown("{% for i in 'abc' %}{{ loop.index }}/{{ loop.length }} {% endfor %}") == (
        "1/3 2/3 3/3 "
    )
    assert shown("{% for i in {'k': 1}.items() %}{{ i[0] }}{{ loop.last }}{% endfor %}") == "kTrue"


@pytest.mark.rule("llm.limit.1", "llm.limit.2")
def test_each_rendering_has_an_allowance_of_its_own() -> None:
    half = "{% for i in range(90000) %}x{% endfor %}"
    assert [len(shown(half)) for _ in range(4)] == [90_000] * 4
    assert STEPS in refusal(half * 3)


@pytest.mark.rule("llm.limit.2")
@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x' * 10**9 }}",
        "{{ 10**9 * 'x' }}",
        "{{ ([0] * 10**9)|length }}",
        "{{ ((0,) * 10**9)|length }}",
        "{{ ('x'|safe) * 10**9 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%1000000000d'|format(1) }}",
        "{{ '%.1000000000f'|format(1.5) }}",
        "{{ '%(a)1000000000s' % {'a': 1} }}",
        "{{ ('%1000000000d'|safe) % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{a:>1000000000}'.format_map({'a': 1}) }}",
        "{{ 'x'|center(1000000000) }}",
        "{{ 'x'.center(1000000000) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ 'x'.rjust(1000000000) }}",
        "{{ 'x'.zfill(1000000000) }}",
        "{{ ('x'|safe).center(1000000000) }}",
        "{{ ('x'|attr('center'))(1000000000) }}",
        "{{ '\t'.expandtabs(1000000000) }}",
        "{{ '\t'.expandtabs(tabsize=1000000000) }}",
        "{{ 'a\nb'|indent(1000000000) }}",
        "{{ 'a'|indent(width=1000000000, first=true) }}",
        "{{ 'a\nb'|indent(text * 9) }}",
        "{{ [1]|batch(1000000000, 0)|list|length }}",
        "{{ range(100000)|join(text) }}",
        "{{ ([text] * 90000)|join|length }}",
        "{{ text.join(range(100)|map('string')) }}",
        "{{ text|replace('a', text) }}",
        "{{ text.replace('', text) }}",
        "{{ text|wordwrap(1) }}",
        "{{ ('a ' * 9000)|wordwrap(1, wrapstring=text) }}",
        "{{ ('<!---->' * 200000)|striptags }}",
        "{{ ([[1, 2]] * 90000)|sum(start=[])|length }}",
        "{{ ('%s' * 100)|format(*[text] * 100) }}",
        "{{ ('{0}' * 100).format(text) }}",
    ],
)
def test_nothing_large_is_made_at_once(source: str) -> None:
    assert CHARACTERS in refusal(source, text=TEXT)


@pytest.mark.rule("llm.limit.2")
@pytest.mark.parametrize(
    "source",
    [
        GROWING.format("'x'", "n.a ~ n.a"),
        GROWING.format("'x'", "n.a + n.a"),
        GROWING.format("['x']", "n.a + n.a"),
        GROWING.format("'x'", "[n.a, n.a]|join"),
        GROWING.format("'x'", "'%s%s'|format(n.a, n.a)"),
        GROWING.format("'x'", "'{0}{0}'.format(n.a)"),
        GROWING.format("'x'", "n.a.replace('x', 'xx')"),
        "{% macro d(s) %}{{ s }}{{ s }}{% endmacro %}" + GROWING.format("'x'", "d(n.a)"),
        "{% set n = namespace(a='x') %}{% for i in range(60) %}"
        "{% set n.a %}{{ n.a }}{{ n.a }}{% endset %}{% endfor %}",
        LOOP.format("{{ text }}"),
        LOOP.format("{{ items }}"),
        "{% set kept %}" + LOOP.format("{{ text }}") + "{% endset %}",
        "{% filter upper %}" + LOOP.format("{{ items }}") + "{% endfilter %}",
        "{% set n = namespace(l=[]) %}" + LOOP.format("{% set n.l = n.l + [text[1:]] %}"),
        "{% set n = namespace(l=[]) %}" + LOOP.format("{% set n.l = n.l + [text.upper()] %}"),
        "{% set n = namespace(l=[]) %}" + LOOP.format("{% set n.l = n.l + [text ~ i] %}"),
        "{% set n = namespace(l=[]) %}" + LOOP.format("{% set n.l = [n.l, range(90000)|list] %}"),
        LOOP.format("{% if 'zz' in text %}{% endif %}"),
        LOOP.format("{% if items == more %}{% endif %}"),
        LOOP.format("{% if text.find('zz') %}{% endif %}"),
        LOOP.format("{% if text|wordcount %}{% endif %}"),
        LOOP.format("{% if items|sort %}{% endif %}"),
        LOOP.format("{% if items is eq(more) %}{% endif %}"),
    ],
)
def test_nothing_grows_without_end(source: str) -> None:
    assert CHARACTERS in refusal(source, text=TEXT, items=LIST, more=[*LIST])


@pytest.mark.rule("llm.limit.2")
def test_ten_million_characters_are_admitted_and_one_more_is_not() -> None:
    whole = "a" * 10_000_000
    assert shown("{{ text }}", text=whole) == whole
    assert CHARACTERS in refusal("{{ text }}b", text=whole)


@pytest.mark.rule("llm.limit.3")
@pytest.mark.parametrize(
    "use",
    [
        "{{ a }}",
        "{{ {a: 1}|length }}",
        "{{ {}[a] }}",
        "{{ {}.get(a) }}",
        "{{ a == ((1, 2), 3) }}",
        "{{ a in [1] }}",
        "{{ a is in [1] }}",
        "{{ a is eq(1) }}",
        "{{ a|tojson }}",
        "{{ a|string }}",
        "{{ a ~ '' }}",
        "{{ [a]|unique|list }}",
        "{{ [a, a]|sort }}",
        "{{ '%s'|format(a) }}",
        "{{ '%s' % (a,) }}",
        "{{ '{}'.format(a) }}",
        "{{ [a]|map('string')|list }}",
        "{{ [a]|select('eq', 1)|list }}",
        "{{ [a].count(1) }}",
        "{% set c = cycler(a) %}{{ c.next() }}",
        "{% for i in [1] %}{{ loop.changed(a) }}{% endfor %}",
        "{% set n = namespace() %}{% set n.x = a %}",
        "{% set x %}{{ a }}{% endset %}",
    ],
)
def test_shared_lists_cost_what_they_are_written_out(use: str) -> None:
    assert CHARACTERS in refusal(SHARED + use)


@pytest.mark.rule("llm.limit.3")
def test_views_of_dicts_are_no_way_around() -> None:
    assert CHARACTERS in refusal(GROWING.format("0", "dict(a=n.a, b=n.a).items()") + "{{ n.a }}")
    assert CHARACTERS in refusal(GROWING.format("0", "dict(a=n.a, b=n.a).values()") + "{{ n.a }}")


@pytest.mark.rule("llm.limit.3")
def test_namespaces_that_hold_each_other_show_nothing_of_it() -> None:
    assert shown(GROWING.format("0", "namespace(a=n.a, b=n.a)") + "{{ n.a }}") == "<Namespace>"
    assert shown("{% set n = namespace() %}{% set n.a = n %}{{ n }}") == "<Namespace>"


@pytest.mark.rule("llm.limit.3")
def test_values_nest_at_most_250_deep() -> None:
    nested = "{{% set n = namespace(a=[]) %}}{{% for i in range({}) %}}{{% set n.a = [n.a] %}}{{% endfor %}}"
    assert shown(nested.format(249) + "{{ n.a|length }}") == "1"
    assert DEEP in refusal(nested.format(250))
    tuples = "{% set n = namespace(a=()) %}" + LOOP.format("{% set n.a = (((n.a,),),) %}")
    assert DEEP in refusal(tuples + "{{ {n.a: 1} }}")


@pytest.mark.rule("llm.limit.4")
@pytest.mark.parametrize(
    "source",
    [
        "{{ 10 ** (10 ** 8) }}",
        "{{ (10 ** 4000) * (10 ** 4000) }}",
        "{{ (-10) ** 9999 }}",
        GROWING.format("10", "n.a * n.a"),
        GROWING.format("10", "n.a ** 2"),
    ],
)
def test_integers_end(source: str) -> None:
    assert DIGITS in refusal(source)


@pytest.mark.rule("llm.limit.4")
def test_integers_of_14_000_bits_are_admitted() -> None:
    assert shown("{{ 2 ** 13999 }}") == str(2**13999)
    assert DIGITS in refusal("{{ 2 ** 14000 }}")
    assert DIGITS in refusal("{{ (2 ** 7000) * (2 ** 7000) }}")
    assert shown("{{ (2 ** 7000) * (2 ** 6999) }}") == str(2**13999)
    assert shown("{{ 1 ** 10**9 }}{{ (-1) ** 3 }} {{ 2 ** -1 }} {{ 3 * 4 }}") == "1-1 0.5 12"
    assert shown("{{ (10 ** 4000) // (10 ** 3999) }}") == "10"


@pytest.mark.rule("llm.limit.5")
@pytest.mark.parametrize(
    "source",
    [
        "{{ '%*d' % (5, 1) }}",
        "{{ '%.*f' % (5, 1.5) }}",
        "{{ '%(a(b))1000000000s' % {'a(b)': 1} }}",
        "{{ '{:{w}}'.format(1, w=1000000000) }}",
        "{{ [1, [2]]|tojson(1000000000) }}",
        "{{ [1, [2]]|tojson(indent=9) }}",
        "{{ 5|round(-1000000000) }}",
        "{{ 5|round(1000000000, 'floor') }}",
        "{{ [{'a': [1]}]|sum('a', []) }}",
    ],
)
def test_what_cannot_be_measured_is_refused(source: str) -> None:
    assert "user prompt" in refusal(source)


@pytest.mark.rule("llm.limit.5")
def test_formats_with_written_widths_work() -> None:
    assert shown("{{ '%5d|%-4s|%.2f|%%' % (1, 'x', 2.5) }}") == "    1|x   |2.50|%"
    assert shown("{{ '%(a)s-%(a)s' % {'a': 'x'} }}{{ '{0:>3}{k!r}'.format(1, k='v') }}") == (
        "x-x  1'v'"
    )
    assert shown("{{ 2.25|round(1) }} {{ 1234|round(-2) }}") == "2.2 1200"
    assert shown("{{ {'a': [1]}|tojson(2) }}") == '{\n  "a": [\n    1\n  ]\n}'


@pytest.mark.rule("llm.limit.6", "llm.render.8")
@pytest.mark.parametrize(
    "source",
    [
        "{{ lipsum(n=1000000000) }}",
        "{{ (')' * 100000 ~ 'x')|urlize }}",
        "{{ {text: 1}|xmlattr }}",
        "{{ 'x'.encode().center(1000000000)|length }}",
        "{{ 'a'.translate({97: text}) }}",
        "{{ (5).to_bytes(1000000000, 'big')|length }}",
        "{{ {}.fromkeys(range(9)) }}",
        "{% include 'x' %}",
        "{% import '/etc/passwd' as x %}",
        "{% extends 'x' %}",
        "{{ ''['__class__'] }}",
        "{{ ''|attr('__class__') }}",
        "{{ '{a.__class__}'.format_map({'a': 1}) }}",
        "{{ ['{0.__class__}']|map('format', 1)|list }}",
        "{{ joiner.__init__.__globals__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ self._TemplateReference__context }}",
        "{{ range.mro() }}",
        "{{ [].append(1) }}",
        "{{ {}.update({1: 2}) }}",
    ],
)
def test_what_is_not_there_is_an_error(source: str) -> None:
    assert "user prompt" in refusal(source, text=TEXT)


@pytest.mark.rule("llm.limit.7")
def test_a_template_has_an_end() -> None:
    assert shown("x" * 1_000_000) == "x" * 1_000_000
    assert "1,000,000 characters" in refusal("x" * 1_000_001)
    assert shown("{{ v }}" * 6_666, v="y") == "y" * 6_666
    assert "20,000 tokens" in refusal("{{ v }}" * 6_667, v="y")


@pytest.mark.rule("llm.limit.7", "llm.render.9")
@pytest.mark.parametrize(
    "source",
    [
        "{{ " + "(" * 3_000 + "1" + ")" * 3_000 + " }}",
        "{{ 1" + "+1" * 9_000 + " }}",
        "{% if 1 %}" * 3_000 + "{% endif %}" * 3_000,
        "{% for i in range(2) %}" * 40 + "{% endfor %}" * 40,
        "{{ " + "9" * 5_000 + " }}",
    ],
)
def test_a_template_nested_too_deep_is_named(source: str) -> None:
    assert "user prompt" in refusal(source)
