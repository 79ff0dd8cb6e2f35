"""Goldens differ loudly, and are rewritten only on demand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.golden import Golden


def test_a_golden_fails_with_a_diff_when_the_text_differs(tmp_path: Path) -> None:
    path = tmp_path / "a.golden"
    path.write_text("one\ntwo\n", encoding="utf-8")
    Golden(accept=False).matches(path, "one\ntwo\n")
    with pytest.raises(AssertionError, match=r"a\.golden differs[\s\S]*-two\n\+three"):
        Golden(accept=False).matches(path, "one\nthree\n")
    assert path.read_text(encoding="utf-8") == "one\ntwo\n"


def test_a_golden_is_rewritten_when_it_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.golden"
    golden = Golden(accept=True)
    golden.matches(path, "one\n")
    assert path.read_text(encoding="utf-8") == "one\n"
    assert golden.rewritten == [path]
