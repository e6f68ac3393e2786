"""Marks that tie tests to the contract: ``rule`` (an id of CONTRACT.md) and ``trap`` (a row of its
table of faults), and the options that select by them: ``--rule history.path``, ``--trap A13``."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

# Whether a machine is busy says nothing about the code: no test has a deadline, drawn inputs
# may take their time.
settings.register_profile("callbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("callbench")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known; let children be interrupted, also where a shell had it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "rule(*ids): holds these rules of refimpl/CONTRACT.md")
    config.addinivalue_line("markers", "trap(*rows): holds these rows of the table of faults there")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two selections."""
    group = parser.getgroup("contract")
    group.addoption("--rule", action="append", default=[], help="only tests of this rule or prefix")
    group.addoption("--trap", action="append", default=[], help="only tests of this fault")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that the options ask for."""
    rules, traps = config.getoption("--rule"), config.getoption("--trap")
    if not rules and not traps:
        return

    def wanted(item: pytest.Item) -> bool:
        named = [str(rule) for mark in item.iter_markers("rule") for rule in mark.args]
        rows = [str(row) for mark in item.iter_markers("trap") for row in mark.args]
        return any(
            rule == prefix or rule.startswith(f"{prefix.rstrip('.')}.")
            for rule in named
            for prefix in rules
        ) or any(row in traps for row in rows)

    kept = [item for item in items if wanted(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
