"""Refuses entries of overlays that call a difference no defect without a reason."""

from __future__ import annotations

import pytest

from charter import api
from charter.project.pipeline import check_texts

BASE = """protocol test.excuses
source S1 "manual"
component c {
  state on: bool = false
  operation go() -> bool {
    branch off when on { on' = false  reply false }
    branch done { on' = true  reply true }
  }
}
witness some of c: took go/done
"""


@pytest.mark.parametrize(("title", "missing"), [
    ("by_design", "no place is cited"),
    ("by_design cites silent", "no place is cited"),
    ('by_design because "they say so"', "no place is cited"),
    ("by_design cites S1", ""),
    ("by_design cites silent, S1", ""),
    ("harmless cites S1", "nothing says why"),
    ('harmless because "the next heartbeat mends it"', ""),
    ("known_defect", ""),
])  # fmt: skip
def test_class_that_excuses_a_difference_says_by_what(title: str, missing: str) -> None:
    text = BASE + f"overlay target of c {{ entry one {title} {{ drop branch c.go/off }} }}"
    every = check_texts((api.Source("a", text),))
    found = [item.message for item in every if item.code == "edit/no-reason"]
    assert [missing in message for message in found] == ([True] if missing else [])
