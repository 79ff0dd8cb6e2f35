"""The tutorial, done in an empty folder: every output is the one on the page. `--accept` rewrites
them. tests/judge/commands/test_wheel.py does the same with the installed wheel."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.golden import Golden
from tests.support.tutorial import BLOCK, PAGE, Newcomer

from charter import api
from conform.cli.main import main


def conform(arguments: Sequence[str]) -> tuple[int, str]:
    """The command in this process."""
    seen = io.StringIO()
    with contextlib.redirect_stdout(seen), contextlib.redirect_stderr(seen):
        code = main(arguments)
    return code, seen.getvalue()


def test_the_tutorial_is_true_when_it_is_done(
    tmp_path: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    newcomer = Newcomer(tmp_path, conform)
    golden.matches(PAGE, newcomer.page())
    assert not api.check_charter(newcomer.file).errors


def test_every_block_of_the_tutorial_is_done() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("```") == 2 * len(BLOCK.findall(page))
