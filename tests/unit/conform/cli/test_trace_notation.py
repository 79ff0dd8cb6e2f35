"""Traces show arguments in the notation of charters, as they show states."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.cli.main import main

ARGUMENTS = """protocol test.arguments
sort R
record M { who: R, ok: bool }
component c {
  state n: int 0..3 = 0
  operation go(s: set R, a: map R -> bool, m: M, o: option R) -> set R cites silent {
    branch b when o == none and s == R { n' = min(n + 1, 3) reply s }
    branch other reply s
  }
}
always p of c cites silent: n < 1
witness w of c: n == 1
instance tiny of c { R = 2 }
"""


def test_arguments_of_a_trace_are_in_the_notation_of_charters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arguments.charter"
    path.write_text(ARGUMENTS, encoding="utf-8")
    assert main(["explore", str(path)]) == 1
    step = next(line for line in capsys.readouterr().out.splitlines() if " go(" in line)
    assert "go(s: {r1, r2}, a: [r1: " in step and "m: M { who: r" in step
    assert step.endswith("o: none)")
