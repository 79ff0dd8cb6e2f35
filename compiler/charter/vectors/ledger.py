"""Writes the obligation ledger: the status of every obligation of a component and of every
mutant."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from charter.core import nodes as n
from charter.core.obligations import Obligation
from charter.vectors.kills import Kill

Status = Literal["covered", "infeasible", "open"]

UNREACHED_NOTE = "from unreached states only"
"""How the note of an obligation begins that no vector from the first state covers."""
SHOWN = 10
"""Digits of an id that are shown: commands accept any unique prefix."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One obligation: `covered` by `count` vectors, of which `first` is one of the shortest, and
    `note` says if all of them begin in states to which no path was found;
    `infeasible` for the reason in `note`; or `open`, and `note` says what was searched."""

    name: str
    kind: str
    branch: str
    status: Status
    count: int
    first: str
    note: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows, in the order of the charter, and the mutants."""

    rows: tuple[LedgerRow, ...]
    kills: tuple[Kill, ...] = ()

    def count_rows(self, status: Status) -> int:
        """How many rows have this status."""
        return sum(row.status == status for row in self.rows)

    def _of_kind(self, kind: str) -> list[str]:
        """A line, or a table, about the covered obligations of a kind."""
        rows = [row for row in self.rows if row.kind == kind and row.status == "covered"]
        if kind not in _LISTED:
            return [f"{len(rows)} are covered."]
        lines = ["| obligation | vectors | first |", "|---|---|---|"]
        for row in rows:
            cells = (row.name.removeprefix(f"{kind} "), str(row.count), row.first[:SHOWN])
            lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
        return lines

    def _by_note(self, title: str, status: Status, tell: Callable[[str], str]) -> list[str]:
        """The obligations of a status, of covered ones those with a note, in a list for each note;
        with a title if there are any."""
        rows = [row for row in self.rows if row.status == status]
        rows = [row for row in rows if row.note or status != "covered"]
        lines = ["", f"## {title}"] if rows else []
        for note in dict.fromkeys(row.note for row in rows):
            lines += ["", tell(_cell(note)), ""]
            lines += [f"- {_cell(row.name)}" for row in rows if row.note == note]
        return lines

    def markdown(self, title: str) -> str:
        """Markdown: open obligations, those that are proved to be infeasible by their proof, then a
        table of branches and replies. Of the other kinds it says how many are covered: their rows
        stand in the sections of the model."""
        lines = [
            f"# {title}",
            "",
            f"{self.count_rows('covered')} obligations are covered by vectors of the small suite,"
            f" {self.count_rows('infeasible')} are proved to be infeasible,"
            f" {self.count_rows('open')} are open.",
        ]
        lines += self._by_note("Open", "open", lambda note: f"Searched in vain: {note}.")
        lines += self._by_note(UNREACHED_NOTE.capitalize(), "covered", lambda note: f"{note}.")
        lines += self._by_note("Infeasible", "infeasible", lambda note: f"{note.capitalize()}:")
        for kind in dict.fromkeys(row.kind for row in self.rows):
            lines += ["", f"## {_TITLES.get(kind, kind)}", "", *self._of_kind(kind)]
        if self.kills:
            lines += ["", "## Mutants", "", *_MUTANTS]
            for kill in self.kills:
                mutant = (kill.mutant, kill.outcome.replace("_", " "), kill.first)
                lines.append(f"| {' | '.join(_cell(cell) for cell in mutant)} |")
        return "\n".join(lines) + "\n"


_MUTANTS = (
    "A mutant is killed by a vector that tells it from the charter in all of its runs. One that"
    " only some runs tell may pass unseen: it is not counted as killed.",
    "",
    "| mutant | outcome | first vector that tells it |",
    "|---|---|---|",
)
_LISTED = ("branch", "reply")
"""The kinds whose obligations are listed, each with its first vector."""
_TITLES = {
    "branch": "Branches",
    "reply": "Replies",
    "mcdc": "Conditions of guards, each deciding alone",
    "amount": "None, one or several members changed",
    "boundary": "Both sides of comparisons",
    "order": "Sequences with unequal items",
}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


@dataclass(frozen=True, slots=True)
class Searched:
    """Search results for obligations that no vector covers: `proofs`, why none can; `notes`, how
    far the search went; `bound` is the note for all others."""

    proofs: Mapping[str, str]
    notes: Mapping[str, str]
    bound: str


@dataclass(frozen=True, slots=True)
class Unreached:
    """The vectors that begin in states to which no path was found, and where a search looked."""

    vectors: Container[str] = ()
    searched: str = ""


def ledger(
    wanted: Sequence[Obligation],
    covered: Mapping[str, Sequence[str]],
    searched: Searched,
    kills: Sequence[Kill] = (),
    unreached: Unreached = Unreached(),
) -> Ledger:
    """Rows for all obligations: `covered` maps names to ids of vectors."""
    rows: list[LedgerRow] = []
    for obligation in wanted:
        ids = tuple(covered.get(obligation.name, ()))
        status: Status = "open"
        note = searched.notes.get(obligation.name, searched.bound)
        if ids:
            alone = all(one in unreached.vectors for one in ids)
            status, note = "covered", f"{UNREACHED_NOTE}: {unreached.searched}" if alone else ""
        elif obligation.name in searched.proofs:
            status, note = "infeasible", searched.proofs[obligation.name]
        branch = obligation.branch or _branch(obligation.where)
        first = ids[0] if ids else ""
        rows.append(
            LedgerRow(obligation.name, obligation.kind, branch, status, len(ids), first, note)
        )
    return Ledger(tuple(rows), tuple(kills))


def tell_hidden(component: n.Component) -> str:
    """The end of the ledger of a component with state that no level shows; "" for others."""
    shown = {one.path[0] for one in component.observables if one.mode != "ignored"}
    hidden = [v.name for v in component.state if v.kind != "ghost" and v.name not in shown]
    if not hidden:
        return ""
    return "\n".join(
        (
            "",
            "## Hidden state",
            "",
            "No level of `observe` has these variables, so no target shows them. A target may hide"
            " more. A run makes the questions that go on until a wrong value shows. Its summary"
            " names the branches after which none was found, and the bounds (`hidden`).",
            "",
            *(f"- {name}" for name in hidden),
            "",
        )
    )


def _branch(where: str) -> str:
    return where if "/" in where else ""
