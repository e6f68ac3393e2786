"""Patterns are ECMA-262 and take bounded time."""

from __future__ import annotations

import pytest

from corecall.slot.patterns import Matcher, PatternError, map_surrogates

# Expected verdicts are those of ECMAScript's RegExp (u flag where it compiles, else without).
FOUND = [
    (r"\bab\b", "x ab y"),
    (r"\bab\b", "é ab"),
    (r"\Bab", "xab"),
    (r"a\B", "ab"),
    (r"^\s$", "\ufeff"),
    (r"^\s$", "\u00a0"),
    (r"^\S$", "\x85"),
    (r"^\D$", "１"),
    (r"^\W$", "é"),
    (r"^[\W]$", "é"),
    (r"x(?=[\W])", "xé"),
    (r"x(?!\w)", "xé"),
    (r"^[^\d]$", "１"),
    (r"^.$", "😀"),
    (r"^.{1,3}$", "😀😀😀"),
    (r"^[\d-x]+$", "1-x"),
    (r"^[a-\d]$", "-"),
    (r"^[a-]$", "-"),
    (r"^[-a]$", "-"),
    (r"^[\w.-]+$", "a.b-c"),
    (r"^[^]$", "\n"),
    ("^[[a]$", "["),
    ("^[a&&b]$", "&"),
    ("^[a~~b]$", "~"),
    (r"^[\]]$", "]"),
    (r"^[\b]$", "\b"),
    ("^a{,3}$", "a{,3}"),
    ("^{a}$", "{a}"),
    ("^a{2}$", "aa"),
    (r"^x\}]$", "x}]"),
    (r"^\_\-\/\h$", "_-/h"),
    (r"^\x41\u0041\u{41}\cA\0$", "AAA\x01\0"),
    (r"^\x4\u12$", "x4u12"),
    (r"^\101\8$", "A8"),
    (r"^\ud83d\ude00$", "😀"),
    (r"^[\u4e00-\u9fa5]+$", "你好"),
    (r"^\p{Lu}\P{Lu}$", "Éé"),
    (r"^\f\n\r\t\v$", "\f\n\r\t\v"),
    (r"^\p\c$", "pc"),
    (r"^[\c1]\c1$", "1c1"),
    (r"^[\B]\18\400$", "B\x018 0"),
    (r"^\u{3}\u{10FFFF}$", "\x03\U0010ffff"),
    (r"^a{1,$", "a{1,"),
    (r"^\k$", "k"),
    (r"^(a)\1$", "aa"),
    (r"^(a)\2$", "a\x02"),
    (r"^\1(a)$", "a"),
    (r"^(?<n>a)\k<n>$", "aa"),
    (r"^(?:(?<n>a)|b)\k<n>$", "aa"),
    (r"(?<=a)b", "ab"),
    (r"^(?=.*[a-z])(?=.*[0-9]).{8,}$", "passw0rd"),
    (r"^(a+)+$", "aaaa"),
]
NOT_FOUND = [
    ("^a$", "a\n"),
    (r"^\d$", "１"),
    (r"^\w$", "é"),
    (r"^\w$", "ſ"),
    (r"^\bé", "é"),
    (r"x(?=\w)", "xé"),
    (r"x(?=[\d])", "x１"),
    (r"^\s$", "\x85"),
    (r"^\S$", "\ufeff"),
    ("^.$", "\r"),
    ("^.$", "\u2028"),
    ("^.$", "\n"),
    ("[]", "x"),
    (r"[\d-x]", "y"),
    ("^[a-z]$", "-"),
    (r"^(?<n>a)\k<n>$", "ab"),
    (r"(?<!a)b", "ab"),
    (r"^(?!.*\d).+$", "a1"),
    ("^A$", "a"),
]


@pytest.mark.rule("schema.valid.10", "schema.valid.11", "schema.valid.12")
@pytest.mark.parametrize(("pattern", "text"), FOUND)
def test_found(pattern: str, text: str) -> None:
    assert Matcher(pattern).matches(text)


@pytest.mark.rule("schema.valid.10", "schema.valid.11", "schema.valid.12")
@pytest.mark.parametrize(("pattern", "text"), NOT_FOUND)
def test_not_found(pattern: str, text: str) -> None:
    assert not Matcher(pattern).matches(text)


@pytest.mark.rule("schema.valid.13")
@pytest.mark.parametrize(
    "pattern",
    [
        *("(", "[a", "\\", "*a", "a**", "a++", "[z-a]"),
        *("{1}", "^{1}", "({1})", "a|{1}", "a{1}{2}", "a{2,1}", r"\u{110000}", r"\p{Nope}"),
        *("(?i)a", "(?s).", "(?P<n>a)", "(?#x)a", "(?x) a", "a{1000}{1000}{1000}"),
    ],
)
def test_what_ecma_262_does_not_have_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="ECMA-262"):
        Matcher(pattern)


@pytest.mark.rule("schema.limit.5")
@pytest.mark.parametrize("pattern", ["(a+)+$", "^(([a-z])+.)+[A-Z]$", r"^\w+\s?$", r"(\d+)+x"])
def test_ordinary_patterns_run_in_linear_time(pattern: str) -> None:
    assert Matcher(pattern).linear
    assert not Matcher(pattern).matches("a" * 50_000 + "!")


@pytest.mark.trap("D20")
@pytest.mark.rule("schema.limit.5")
@pytest.mark.parametrize("pattern", [r"(a+)+\1$", "(a|a)*(?=b)c", r"(?=.*a)(?=.*b)(a*)*c"])
def test_backtracking_is_given_up(pattern: str) -> None:
    """Bounded, and then not found."""
    assert not Matcher(pattern).linear
    assert not Matcher(pattern).matches("a" * 50_000 + "!")


@pytest.mark.rule("schema.limit.5", "schema.valid.11")
def test_word_edges_cost_ascii_text_no_backtracking() -> None:
    """Searching 200,000 characters needs more steps back than a lookaround pattern gets."""
    text = "xyz " * 50_000 + "ab"
    assert Matcher(r"\bab\b").matches(text)


@pytest.mark.rule("schema.valid.23")
def test_lone_surrogates_match_themselves() -> None:
    assert Matcher("^[\\ud800-\\udbff]$").matches("\ud811")
    assert Matcher("^\udc00$").matches("\udc00")
    assert not Matcher("^\udc00$").matches("\udc01")
    assert len(map_surrogates("a\ud800\udfff")) == 3
    assert map_surrogates("😀") == "😀"
