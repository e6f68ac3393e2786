"""The mutants fit the code as it is. Running them all is ``make mutants``."""

from __future__ import annotations

import ast

import pytest

from .catalogue import MUTANTS
from .mutant import SOURCE, Mutant


def test_there_are_enough_and_each_has_a_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 40


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_code(mutant: Mutant) -> None:
    assert mutant.problem() == ""
    text = (SOURCE / "corecall" / mutant.file).read_text(encoding="utf-8")
    changed = ast.dump(ast.parse(text.replace(mutant.old, mutant.new)))
    assert changed != ast.dump(ast.parse(text)), "a mutant is other code, not another comment"


def test_every_mutant_breaks_a_rule_of_the_contract() -> None:
    contract = (SOURCE / "CONTRACT.md").read_text(encoding="utf-8")
    assert [m.name for m in MUTANTS if f"\n#### `{m.rule}` " not in contract] == []


def test_what_no_operation_shows_has_a_reason() -> None:
    assert [m.name for m in MUTANTS if m.observable == bool(m.reason)] == []
