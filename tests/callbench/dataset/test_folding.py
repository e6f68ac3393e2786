"""Text folding: which spellings are one text, and above all which are not."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbench.dataset.folding import fold


@pytest.mark.trap("D14")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Beijing", "BEIJING"),
        ("straße", "STRASSE"),
        ("  a \t b\n", "a b"),
        ("东京　塔", "东京 塔"),
        ("１２３", "123"),
        ("ＡＢＣ", "abc"),
        ("你好，世界！", "你好,世界!"),
        ("好。", "好."),
        ("苹果、梨", "苹果,梨"),
        ("（一）", "(一)"),
        ("【急】", "[急]"),
        ("“quoted”", '"quoted"'),
        ("「引」", '"引"'),
        ("it’s", "it's"),
        ("it`s", "it's"),
        ("10–20", "10-20"),
        ("a—b", "a-b"),
        ("−5", "-5"),
        ("约翰・史密斯", "约翰·史密斯"),
        ("约翰•史密斯", "约翰·史密斯"),
        ("caf\u00e9", "cafe\u0301"),
        ("zero\u200bwidth", "zerowidth"),
        ("\u202aisolated\u202c \u2068name\u2069", "isolated name"),
        ("\ufefftext", "text"),
        ("ﬁne", "fine"),
        ("m²", "m2"),
        ("H₂O", "h2o"),
        ("3:00～4:00", "3:00~4:00"),
    ],
)
def test_d14_spellings_of_one_text_fold_together(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.trap("D1", "D8")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-5", "5"),
        ("+5", "5"),
        ("1.5", "15"),
        ("1,5", "15"),
        ("1.50", "1.5"),
        ("192.168.1.1", "19.216.811"),
        ("192.168.1.1", "192.168.11"),
        ("v1.2.3", "v12.3"),
        ("2026-03-12", "20260312"),
        ("2026-03-12", "2026/03/12"),
        ("3/4", "34"),
        ("a@b.com", "abcom"),
        ("/etc/hosts", "etchosts"),
        ("C++", "C"),
        ("C#", "C"),
        ("50%", "50"),
        ("$5", "5"),
        ("~63", "63"),
        (">=63", "63"),
        ("<63", "63"),
        ("1", "10"),
        ("10", "100"),
        ("ab", "a b"),
        ("no", "not"),
        ("", "-"),
        ("10²", "102"),
        ("10⁻³", "10-3"),
        ("1½", "11/2"),
        ("10①", "101"),
        ("①2", "12"),
        ("x₁2", "x12"),
        ("10⁵", "105"),
        ("杭州", "杭州市"),
        ("《三体》", "三体"),
    ],
)
def test_d1_d8_different_texts_stay_different(one: str, other: str) -> None:
    """Signs, points, separators and parts carry the value. Reports r203, r204, r205 too."""
    assert fold(one) != fold(other)


def test_a_power_may_be_written_with_a_caret() -> None:
    assert fold("10²") == "10^2"
    assert fold("1½") == "1 1/2"


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P", "S"])))
def test_ascii_only_loses_its_case(text: str) -> None:
    """Apart from the backtick, which is a quote."""
    assert fold(text) == text.lower().replace("`", "'")


@given(st.integers(), st.integers())
def test_no_two_numbers_fold_together(one: int, other: int) -> None:
    assert (fold(str(one)) == fold(str(other))) == (one == other)


def test_no_sign_that_stands_for_digits_runs_into_a_digit_beside_it() -> None:
    """NFKC makes 121 of 1㉑, 11月 of 1㋀ and m21 of ㎡1: asked of every character there is."""
    for sign in map(chr, range(sys.maxunicode + 1)):
        plain = unicodedata.normalize("NFKC", sign)
        if plain == sign or unicodedata.category(sign) == "Nd":
            continue
        if plain[0].isdecimal():
            assert fold("1" + sign) != fold("1" + plain), sign
        if plain[-1].isdecimal():
            assert fold(sign + "1") != fold(plain + "1"), sign
