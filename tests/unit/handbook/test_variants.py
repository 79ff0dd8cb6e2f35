"""What only a variant has is in the handbook, too: each of its scenarios has its place, with a
picture of how it runs in the variant."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.links import dead_links, read
from tests.unit.handbook.test_handbook import dead_in_markdown

from charter import api
from charter.api.handbook import handbook

DOOR = """protocol door

source MANUAL "The manual" at "https://example.org/manual" { "1": "open", "2": "shut" }

enum Way { SHUT, OPEN }

component door {
  state way: Way = SHUT

  operation pull() -> bool cites MANUAL "1" {
    branch pulled { way' = OPEN  reply true }
  }
  observe all { way }
}

witness opened of door: way == OPEN

instance tiny of door {}

scenario "It opens" of door cites MANUAL "1" {
  do pull() -> pulled
  expect way == OPEN
}

-- It never opens.
variant stuck cites MANUAL "2" {
  replace update way of door.pull/pulled with SHUT
  drop witness opened
  drop scenario "It opens"

  -- Nothing `pull` does moves it.
  add scenario "It stays { shut" of door cites MANUAL "2" {
    step "1 somebody pulls"
    do pull() -> pulled
    expect way == SHUT
  }

  add scenario "It opens" of door cites silent {
    do pull() -> pulled
    do pull() -> pulled
  }
}

-- The same, and more.
variant locked after stuck cites silent {
  add scenario "It is locked" of door cites silent { do pull() -> pulled  expect way == SHUT }
}
"""


@pytest.fixture
def door(tmp_path: Path) -> Path:
    path = tmp_path / "door.charter"
    path.write_text(DOOR)
    return path


def test_a_scenario_of_a_variant_has_its_place_and_its_picture(door: Path) -> None:
    site = handbook(door, "html")
    page = site["door.html"]
    anchors = read(page).anchors
    assert {"stuck", "it-stays--shut", "it-opens", "it-opens-1", "it-is-locked"} <= anchors
    drawn = sorted(name for name in site if name.startswith("pictures/") and "state." not in name)
    assert drawn == [
        "pictures/it-opens.svg",
        "pictures/variant.locked.it-is-locked.svg",
        "pictures/variant.stuck.it-opens.svg",
        "pictures/variant.stuck.it-stays--shut.svg",
    ]
    for name in drawn:
        ElementTree.fromstring(site[name])
        assert f'<img src="{name}"' in page
    assert "way: SHUT → OPEN" in site["pictures/it-opens.svg"]
    assert "OPEN" not in site["pictures/variant.stuck.it-opens.svg"]
    assert "It stays { shut, in the variant stuck" in page
    assert not dead_links(site) and not dead_in_markdown(handbook(door, "markdown"))


def test_the_text_of_a_variant_leads_to_its_scenarios(door: Path) -> None:
    """Their bodies stand once, at their places."""
    page = handbook(door, "html")["door.html"]
    assert 'add scenario <a href="door.html#it-stays--shut">&quot;It stays { shut&quot;</a>' in page
    assert page.count("1 somebody pulls") == 1
    assert page.count("<i>{…}</i>") == 3
    assert '<p>Nothing <a href="door.html#pull"><code>pull</code></a> does moves it.</p>' in page
    assert '<a href="door.html#it-stays--shut">It stays { shut</a>' in page  # a use of `pull`


def test_a_section_of_a_text_leads_to_the_scenarios_of_variants_that_cite_it(door: Path) -> None:
    sources = handbook(door, "html")["table-of-sources.html"]
    assert 'href="door.html#it-stays--shut"' in sources and 'href="door.html#stuck"' in sources


def test_a_scenario_that_fails_in_its_variant_is_told(door: Path) -> None:
    door.write_text(
        DOOR.replace("do pull() -> pulled\n    expect way == SHUT", "expect way == OPEN")
    )
    site = handbook(door, "html")
    assert "It is no run of the charter: " in site["door.html"]
    assert "pictures/variant.stuck.it-stays--shut.svg" not in site


def test_a_variant_with_errors_is_told(door: Path) -> None:
    door.write_text(DOOR.replace("door.pull/pulled with SHUT", "door.pull/pulled with LOCKED"))
    site = handbook(door, "html")
    assert "The variant has errors" in site["door.html"]
    assert "pictures/it-opens.svg" in site


@pytest.mark.parametrize("variant", ["stuck", "locked"])
def test_links_of_the_charter_with_a_variant_lead_somewhere(door: Path, variant: str) -> None:
    site = handbook(door, "html", api.Selection(variant))
    assert not dead_links(site)
    assert "It belongs to another variant" not in site["door.html"]
