"""Where sources can be read, as core has it."""

from __future__ import annotations

import pytest

from charter import api
from charter.diagnostics import Source
from charter.formats.links import is_url
from charter.project.pipeline import check_texts

CHARTER = """protocol test.links
source S1 "The text" at "https://example.org/text" { "§1": "one", "2": "https://example.org/2" }
source S2 "Another"
component room {
  state open: bool = false
  operation enter() -> bool cites S1 "§1" { branch entered cites S2 "1" reply true }
}
witness shut of room: not open
"""


def test_sections_lead_to_their_anchors() -> None:
    assert api.load_text(CHARTER).links == (
        ("S1", "", "https://example.org/text"),
        ("S1", "§1", "https://example.org/text#one"),
        ("S1", "2", "https://example.org/2"),
    )


@pytest.mark.parametrize("wrong", ["javascript:alert(1)", "text.html", "https://x y", "ftp://x"])
def test_what_a_report_cannot_link_to_is_refused(wrong: str) -> None:
    text = CHARTER.replace("https://example.org/text", wrong)
    assert {item.code for item in check_texts((Source("x", text),)).errors} == {"cite/bad-url"}
    assert not is_url(wrong)


def test_an_anchor_cannot_leave_an_attribute() -> None:
    text = CHARTER.replace('"one"', '"one <b>"')
    assert {item.code for item in check_texts((Source("x", text),)).errors} == {"cite/bad-url"}
