"""A branch with more outcomes than a step of a vector can have is named, with their number."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter.project.sources import read_sources
from charter.suites.make import open_subject
from charter.suites.search import search
from conform.cli.main import main

CHARTER = """protocol many.outcomes

type Number = int 1..SIZE

component machine {
  state first: int 0..SIZE = 0
  state second: int 0..SIZE = 0
  operation go() -> bool {
    branch gone when first == 0 {
      pick a in Number
      pick b in Number
      first' = a
      second' = b
      reply true
    }
    branch stayed { reply false }
  }
  operation back() -> bool {
    branch back {
      first' = 0
      second' = 0
      reply true
    }
  }
  observe states { first, second }
}

witness moved of machine: first == 1
instance tiny of machine { }
"""
TOLD = "go/gone has 81 outcomes by `pick a` and `pick b`, a step of a vector has at most 64"


def charter(folder: Path, size: int) -> Path:
    path = folder / "many.charter"
    path.write_text(CHARTER.replace("SIZE", str(size)))
    return path


@pytest.mark.parametrize("size", [8, 9])
def test_a_search_names_what_has_too_many_outcomes(tmp_path: Path, size: int) -> None:
    path = charter(tmp_path, size)
    about = open_subject(path, read_sources(path), "", "")
    found = search(about, lambda *_: None, solver=False)
    assert any(TOLD in note for note in found.notes.values()) == (size == 9)
    assert ("branch go/gone" in found.notes) == (size == 9)


def test_a_full_suite_says_what_it_has_no_vectors_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["vectors", str(charter(tmp_path, 9)), "--profile", "full", "--out", "suite"])
    printed = capsys.readouterr().out
    assert f"vectors not made: {TOLD}\n" in printed
