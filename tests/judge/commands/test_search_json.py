"""The JSON of searches and walks, field by field, against the page that explains it."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "formats" / "search.md").read_text(encoding="utf-8")
EXAMPLES = "spec/examples/"
ODD = """protocol odd
component c {
  state x: option int 0..3 = none
  operation put() -> int 0..3 cites silent { branch done reply value(x) }
}
witness none_yet of c: x == none
instance tiny of c { }
"""
RING = EXAMPLES + "ring_election.charter"
SEARCHES = [
    (RING, "--mutant", "wins_at_once"),
    (RING, "--most", "9", "--engine", "reference"),
    (RING, "--most", "9", "--where", "true"),
]


def tables() -> list[set[str]]:
    """The fields that each table of the page names, in the order of the tables."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        cells = [line.split("|")[1] for line in table.splitlines()[2:]]
        found.append({name for cell in cells for name in re.findall("`([a-z_]+)`", cell)})
    return found


SEARCH, FINDING, WALK = tables()


def test_the_fields_of_searches_are_those_of_the_tables(conform, tmp_path):
    odd = tmp_path / "odd.charter"
    odd.write_text(ODD)
    searched, findings = set(), set()
    for charter, *more in [*SEARCHES, (odd,)]:
        _, out, _ = conform("explore", ROOT / charter, *more, "--json")
        found = json.loads(out)
        searched |= set(found)
        findings |= set().union(*found["findings"])
    assert (searched, findings) == (SEARCH, FINDING)


def test_each_field_of_walks_stands_in_a_table(conform):
    _, out, _ = conform(
        "simulate", ROOT / RING, "--mutant", "wins_at_once", "--walks", "20", "--json"
    )
    found = json.loads(out)
    both = {"machine", "instance", "bounds", "set", "mutant"}
    assert WALK - set(found) <= both and set(found) - WALK <= both
    assert found["findings"]
    for finding in found["findings"]:
        assert set(finding) <= FINDING | {"seed", "batch"}
