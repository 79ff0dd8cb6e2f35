"""What every test shares: seeds that never change, and the switch that rewrites goldens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.golden import Golden

settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("wide", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("fixed")

REWRITTEN = pytest.StashKey[list[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite goldens that differ")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--accept") and os.environ.get("CI"):
        raise pytest.UsageError("--accept rewrites files, which CI must not do")
    config.stash[REWRITTEN] = []


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Iterator[Golden]:
    """Compares text with a committed file; see tests/support/golden.py."""
    kept = Golden(accept=request.config.getoption("--accept"))
    yield kept
    request.config.stash[REWRITTEN].extend(kept.rewritten)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[REWRITTEN]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rewritten = config.stash[REWRITTEN]
    if rewritten:
        terminalreporter.write_line(f"{len(rewritten)} goldens rewritten, read the diff", red=True)
