"""Makes tests of pytest from the vectors of a suite: `pytest --charter SUITE`
(docs/guide/pytest.md).

pytest imports this module at each start, so it has the options only; the rest is imported when
--charter is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options, and the settings that stand in for them."""
    group = parser.getgroup("charter", "vectors of a charter's suite (charter-conform)")
    group.addoption(
        "--charter", metavar="SUITE", default="",
        help="run the vectors of a suite as tests: its folder, or its digest in the cache",
    )  # fmt: skip
    adapter = "the implementation: MODULE:NAME of an adapter in Python, or id or folder of a target"
    baseline = "known findings, each with a reason: their vectors are expected to fail"
    group.addoption("--charter-adapter", metavar="ADAPTER", default="", help=adapter)
    group.addoption("--charter-baseline", metavar="FILE", default="", help=baseline)
    value = "value of a parameter of the target, as NAME=VALUE"
    group.addoption("--charter-set", metavar="NAME=VALUE", action="append", default=[], help=value)
    parser.addini("charter_adapter", f"{adapter} (default of --charter-adapter)", default="")
    strict = "fail if not all was compared that `conform run` must compare (default: true)"
    parser.addini("charter_strict", strict, type="bool", default=True)
    parser.addini("charter_baseline", f"{baseline} (default of --charter-baseline)", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Opens the suite if --charter names one."""
    config.addinivalue_line("markers", "charter: a vector of a charter's suite")
    if config.getoption("--charter"):
        from conform.testing.tests import charter_tests  # slow to import, and only needed here

        config.pluginmanager.register(charter_tests(config), "charter-tests")
