"""Reads which obligations the rules of a component have, and what the searches for questions said
of each: the ledger of a sections.json (docs/formats/report.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.reading import BadVector
from charter.formats.shared_rows import with_shared_rows

COVERED, INFEASIBLE, OPEN, UNSEARCHED = "covered", "infeasible", "open", "unsearched"
"""The statuses of an obligation. `open`: a search looked for it in vain; `unsearched`: none looked
for it, or for other rules."""


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """A ledger: the rules that it is about, the digest of the small suite that it is of ("" in one
    of an earlier version), and the status of each obligation by name."""

    spec_digest: str
    suite: str
    statuses: Mapping[str, str]


def whole_sections(path: Path) -> Json:
    """The content of a sections.json, with the rows that it takes from that of its charter. Raises
    `OSError`, `ValueError`, or `BadVector`."""
    value = _content(path)
    if not isinstance(value, dict) or not isinstance(base := value.get("base"), str) or not base:
        return value
    known = _content(path.parent / base)
    return with_shared_rows(value, known if isinstance(known, dict) else {})


def read_ledger(path: Path) -> LedgerFile | None:
    """The ledger in a sections.json; None if there is none that can be read."""
    try:
        value = whole_sections(path)
    except (OSError, ValueError, BadVector):
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
