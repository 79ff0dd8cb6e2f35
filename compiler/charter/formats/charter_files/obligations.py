"""Reads a sections.json, with its ledger: which obligations the rules of a component have, and
what the searches for questions said of each (docs/formats/report.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from charter.formats.canonical import Json, digest
from charter.formats.charter_files.shared_rows import with_shared_rows
from charter.formats.charter_files.taken_rows import with_taken_entries
from charter.formats.files import regular
from charter.formats.reading import BadVector

COVERED, INFEASIBLE, OPEN, UNSEARCHED = "covered", "infeasible", "open", "unsearched"
"""The statuses of an obligation. `open`: a search looked for it in vain; `unsearched`: none looked
for it, or for other rules."""

UNREADABLE = (OSError, ValueError, BadVector)
"""What a sections.json raises that cannot be read, or is not as it was written."""


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """A ledger: the rules that it is about, the digest of the small suite that it is of ("" in one
    of an earlier version), and the status of each obligation by name."""

    spec_digest: str
    suite: str
    statuses: Mapping[str, str]


def whole_sections(path: Path) -> Json:
    """The content of a sections.json without its digest, and with the rows that it takes from that
    of its charter. Raises `OSError`, `ValueError`, or `BadVector`: also if it is not as it was
    written."""
    value = _content(path)
    if not isinstance(value, dict):
        return value
    if isinstance(base := value.get("base"), str) and base:
        known = _content(path.parent / base)
        value = with_shared_rows(value, known if isinstance(known, dict) else {})
    if "digest" not in value:
        raise BadVector("it has no digest: an earlier version wrote it, or it was edited")
    if value.pop("digest") != sections_digest(value):
        raise BadVector("its digest is not that of its content: it was edited")
    return with_taken_entries(value)


def sections_digest(content: Mapping[str, Json]) -> str:
    """The digest of what a sections.json says, whichever rows it takes from another file."""
    return digest({name: one for name, one in content.items() if name not in ("base", "digest")})


def read_ledger(path: Path) -> LedgerFile | None:
    """The ledger in a sections.json; None if there is none that can be read."""
    try:
        value = whole_sections(path)
    except UNREADABLE:
        return None
    rows = value.get("ledger") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(rows, list):
        return None
    listed = [row for row in rows if isinstance(row, list) and len(row) > 1]
    statuses = {str(row[0]): str(row[1]) for row in listed}
    return LedgerFile(str(value.get("spec_digest")), str(value.get("suite", "")), statuses)


def _content(path: Path) -> Json:
    value: Json = json.loads(regular(path).read_text(encoding="utf-8"))
    return value
