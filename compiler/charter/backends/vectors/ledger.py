"""The ledger: what becomes of every obligation of a component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from charter.formats.canonical import Json
from charter.ir.obligations import Obligation

Status = Literal["covered", "infeasible", "open"]

FIRST = 3
"""How many vectors a row names."""


@dataclass(frozen=True, slots=True)
class Row:
    """One obligation: `covered` by `count` vectors, the first of which are named; `infeasible` for
    the reason in `note`; or `open`, and `note` says what was searched."""

    name: str
    kind: str
    branch: str
    status: Status
    count: int
    vectors: tuple[str, ...]
    note: str

    def json(self) -> Json:
        """The row of ledger.json."""
        return {
            "name": self.name,
            "kind": self.kind,
            "branch": self.branch,
            "status": self.status,
            "count": self.count,
            "vectors": list(self.vectors),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows, in the order of the charter."""

    rows: tuple[Row, ...]

    def counted(self, status: Status) -> int:
        """How many rows have this status."""
        return sum(row.status == status for row in self.rows)

    def json(self) -> dict[str, Json]:
        """The content of ledger.json."""
        return {
            "format": 1,
            "covered": self.counted("covered"),
            "infeasible": self.counted("infeasible"),
            "open": self.counted("open"),
            "rows": [row.json() for row in self.rows],
        }

    def markdown(self, title: str) -> str:
        """The same as tables, one for each kind of obligation; what is open comes first."""
        lines = [
            f"# {title}",
            "",
            f"{self.counted('covered')} obligations are covered by vectors of the small suite,"
            f" {self.counted('infeasible')} are proved to be infeasible,"
            f" {self.counted('open')} are open.",
        ]
        left = [row for row in self.rows if row.status == "open"]
        if left:
            lines += ["", "## Open", "", "| obligation | what was searched |", "|---|---|"]
            lines += [f"| {_cell(row.name)} | {_cell(row.note)} |" for row in left]
        for kind in dict.fromkeys(row.kind for row in self.rows):
            lines += ["", f"## {_TITLES.get(kind, kind)}", ""]
            lines += ["| obligation | status | vectors | first, or why not |", "|---|---|---|---|"]
            for row in self.rows:
                if row.kind == kind:
                    first = row.vectors[0] if row.vectors else row.note
                    cells = (row.name, row.status, str(row.count), first)
                    lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
        return "\n".join(lines) + "\n"


_TITLES = {
    "branch": "Branches",
    "reply": "Replies",
    "mcdc": "Conditions of guards, each deciding alone",
    "boundary": "Both sides of comparisons",
}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def ledger(
    wanted: Sequence[Obligation],
    covered: Mapping[str, Sequence[str]],
    proofs: Mapping[str, str],
    bound: str,
) -> Ledger:
    """Rows for all obligations: `covered` maps names to ids of vectors, `proofs` names to reasons
    why nothing can cover them; the rest is open, and `bound` says how far was searched."""
    rows: list[Row] = []
    for obligation in wanted:
        ids = tuple(covered.get(obligation.name, ()))
        status: Status = "open"
        note = bound
        if ids:
            status, note = "covered", ""
        elif obligation.name in proofs:
            status, note = "infeasible", proofs[obligation.name]
        branch = obligation.branch or _branch(obligation.where)
        rows.append(
            Row(obligation.name, obligation.kind, branch, status, len(ids), ids[:FIRST], note)
        )
    return Ledger(tuple(rows))


def _branch(where: str) -> str:
    return where if "/" in where else ""
