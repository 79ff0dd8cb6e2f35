"""Refuses an entry of a shipped overlay without evidence: a place in the sources, a ticket, a pull
request, an improvement proposal, or a finding that says in which words the tracker was searched."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from charter import api
from charter.core import nodes as n
from charter.formats.target import OVERLAY
from charter.project.pipeline import overlay_entries

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {"CODE", "JIRA", "KIP", "PULL"}
DOCUMENTATION = "DOC"
"""What a difference on purpose may rest on, too."""


def list_shipped() -> Iterator[n.OverlayEntry]:
    for path in sorted((ROOT / "conformance" / "adapters").glob(f"*/{OVERLAY}")):
        yield from overlay_entries(api.read_sources(path))


def has_search(entry: str) -> bool:
    """Whether a finding says when and by which words its public threads were searched."""
    path = ROOT / "docs" / "findings" / f"{entry}.toml"
    if not path.is_file():
        return False
    searched = tomllib.loads(path.read_text(encoding="utf-8")).get("searched", {})
    return bool(searched.get("words") and searched.get("date"))


def find_lack(entry: n.OverlayEntry) -> str:
    """What an entry lacks; "" if nothing."""
    if not entry.evidence:
        return f"{entry.name} does not say what shows it"
    cited = {one.source for one in entry.citations}
    known = SOURCES | ({DOCUMENTATION} if entry.verdict == "by_design" else set())
    if cited & known or has_search(entry.name):
        return ""
    return f"{entry.name} cites no {', '.join(sorted(SOURCES))}, and no finding says what was found"


def test_each_shipped_entry_has_evidence() -> None:
    entries = [*list_shipped()]
    assert len(entries) > 20
    assert [lack for lack in map(find_lack, entries) if lack] == []


def test_an_entry_without_evidence_is_refused() -> None:
    title = "protocol p\noverlay o of c { entry e known_defect %s { drop branch c.go/off } }"
    for cited, lack in (("", "what shows it"), ('cites DOC "1" because "so"', "cites no CODE"),
                       ('cites JIRA "1" because "so"', "")):  # fmt: skip
        (entry,) = overlay_entries((api.Source("o", title % cited),))
        assert lack in find_lack(entry) and bool(find_lack(entry)) == bool(lack)
