"""Which operations an edit can change."""

from __future__ import annotations

import pytest

from charter import api
from charter.core.reach import changed_operations

LAMP = """protocol lamp
component lamp {{
  state lit: bool = {initial}
  state presses: int 0..3 = 0
  operation press() -> bool {{
    branch on when dark: {dark} {{ lit' = true reply true }}
    branch off {{ lit' = false reply false }}
  }}
  operation count() -> int 0..3 {{
    branch full when last: presses >= {limit} {{ reply presses }}
    branch counted {{ presses' = more(presses) reply presses }}
  }}
  observe all {{ lit }}
}}
witness shines of lamp: lit
fun more(n: int 0..3) -> int 0..3 = one_more(n)
fun one_more(n: int 0..3) -> int 0..3 = if n < {most} then n + 1 else n
"""
BEFORE = {"initial": "false", "dark": "not lit", "limit": "3", "most": "3"}


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        ({}, set()),
        ({"dark": "lit"}, {"press"}),
        ({"limit": "2"}, {"count"}),
        ({"most": "2"}, {"count"}),
        ({"initial": "true "}, {"press", "count"}),
    ],
)
def test_operations_that_an_edit_can_change(edit: dict[str, str], changed: set[str]) -> None:
    before, after = (api.load_text(LAMP.format(**BEFORE | more)) for more in ({}, edit))
    assert changed_operations(before, after, "lamp") == changed
