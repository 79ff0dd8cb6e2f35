"""Builds the table of targets by findings: which target shows a finding, which does not, and which
could not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from charter.formats.canonical import Json
from charter.formats.releases import within
from charter.formats.verdict import JUDGED, Kind
from conform.reports.findings import Finding, rank
from conform.reports.matrix import Reading
from conform.reports.runs import ReportedRun
from conform.reports.wording import releases
from conform.runs.findings.findings import finding_id
from conform.runs.judged_rows import VERDICT_COLUMNS, VerdictRow, index_verdicts

_NEVER_PERFORMED = frozenset(map(str, (Kind.UNSUPPORTED, Kind.NOT_LOADABLE)))
_BESIDE_STATE = frozenset({"reply", "image"})
"""The first names of paths that are in no state variable."""


class CellKind(StrEnum):
    """What a target is to a finding."""

    PRESENT = "present"
    ABSENT = "absent"
    NOT_SHOWN = "not shown"
    NOT_APPLICABLE = "not applicable"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class FindingCell:
    """A finding in one run. If it is present, `finding` is its id in that run, `vector` the
    smallest that shows it there, and `vectors` the number of those that do. If it is absent,
    `vector` is the smallest that shows it elsewhere and conforms here; else `why` says more, or
    is ""."""

    kind: CellKind
    finding: str = ""
    vector: str = ""
    vectors: int = 0
    why: str = ""

    @property
    def word(self) -> str:
        """The kind; of a finding that is present with the smallest vector."""
        return f"{self.kind} ({self.vector[:12]})" if self.finding else str(self.kind)

    def json(self) -> dict[str, Json]:
        held: dict[str, Json] = {"is": str(self.kind)}
        if self.kind is CellKind.PRESENT:
            held |= {"finding": self.finding, "vector": self.vector, "vectors": self.vectors}
        held |= {"vector": self.vector} if self.vector else {}
        return {**held, "why": self.why} if self.why else held


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A finding, as the run `first` has it (its position), and its cell in each run."""

    finding: Finding
    first: int
    cells: tuple[FindingCell, ...]

    @property
    def differs(self) -> bool:
        """Whether one run shows it, and another one shows that it is not there."""
        kinds = {cell.kind for cell in self.cells}
        return {CellKind.PRESENT, CellKind.ABSENT} <= kinds

    def json(self) -> dict[str, Json]:
        one = self.finding
        return {"id": one.id, "new": one.new, "severity": one.severity, "rule": one.rule,
                "sentence": one.sentence,
                "cells": [cell.json() for cell in self.cells]}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TargetMatrix:
    """Runs by findings. `hidden` are the variables that another run shows, by the run that does not
    show them; a run is not compared on them."""

    runs: tuple[ReportedRun, ...]
    rows: tuple[MatrixRow, ...]
    hidden: tuple[tuple[str, ...], ...]

    def json(self) -> dict[str, Json]:
        return {
            "targets": [
                {
                    "run": str(run.folder), "name": run.name, "target": run.about.target,
                    "version": run.version, "parameters": dict(run.about.parameters),
                    "hidden": list(hidden),
                }
                for run, hidden in zip(self.runs, self.hidden, strict=True)
            ],
            "findings": [row.json() for row in self.rows],
        }  # fmt: skip


Places = dict[tuple[str, int], frozenset[str]]
"""The differing paths of deviations, by vector and step."""


@dataclass(slots=True)
class _Seen:
    """What a run shows of one finding. `variables` has for each deviation the variables that
    differ, `places` its paths; both are empty where all runs show the same variables."""

    finding: Finding
    variables: set[frozenset[str]] = field(default_factory=set)
    places: Places = field(default_factory=dict)

    @property
    def is_cause(self) -> bool:
        """Whether it has one cause, as no entry of an overlay explains it."""
        return self.finding.id.startswith("f-")


def _explain_unknown(found: VerdictRow, step: int) -> str:
    """Why a verdict does not show that nothing deviates at a step; "" if it does."""
    if 0 <= found.step < step:
        return "it deviates earlier"
    if found.step == step:
        return "it deviates otherwise in that place"
    judged = found.kind == Kind.CONFORMS or (found.kind in JUDGED and found.judged >= step)
    return "" if judged else f"not judged: {found.kind}".replace("_", " ")


@dataclass(frozen=True, slots=True)
class _Column:
    """A run with its findings by id, and its verdicts by vector."""

    run: ReportedRun
    seen: Mapping[str, _Seen]
    verdicts: Mapping[str, VerdictRow]

    def shows(self, variables: frozenset[str]) -> bool:
        """Whether a deviation in these variables could be seen, at least in part."""
        observes = self.run.about.observes
        return bool(variables & _BESIDE_STATE) or any(name in observes for name in variables)

    def restrict(self, paths: frozenset[str]) -> frozenset[str]:
        """The paths that the run shows."""
        return frozenset(path for path in paths if self.shows(frozenset({_variable(path)})))


def compare_targets(read: Sequence[Reading]) -> TargetMatrix:
    """The findings of all runs, those that nothing explains first, then the gravest."""
    runs = tuple(item.run for item in read)
    every = dict.fromkeys(name for run in runs for name in run.about.observes)
    hidden = tuple(tuple(name for name in every if name not in run.about.observes) for run in runs)
    sides = [_read(item, with_places=any(hidden)) for item in read]
    # An entry of an overlay has several causes; who shows most says what a finding is.
    order = sorted(
        ((number, seen) for number, side in enumerate(sides) for seen in side.seen.values()),
        key=lambda one: (one[1].is_cause, len(hidden[one[0]]), one[0]),
    )
    rows: list[MatrixRow] = []
    matched: list[set[str]] = [set() for _ in sides]
    for first, seen in order:
        if seen.finding.id not in matched[first]:
            cells = tuple(_cell(side, seen, sides[first]) for side in sides)
            for found, cell in zip(matched, cells, strict=True):
                found.add(cell.finding)
            rows.append(MatrixRow(seen.finding, first, cells))
    return TargetMatrix(runs, tuple(sorted(rows, key=lambda row: rank(row.finding))), hidden)


def _variable(path: str) -> str:
    return path.partition(".")[0]


def _read(item: Reading, *, with_places: bool) -> _Column:
    """What a run shows of each finding."""
    seen = {one.id: _Seen(one) for one in item.findings}
    run, columns = item.run, ["id", "step", "entry", "cause", "paths"]
    batches = run.dataset("deviations").to_batches(columns=columns) if with_places else ()
    for batch in batches:
        for row in batch.to_pylist():
            found, paths = seen[finding_id(row["entry"], row["cause"])], frozenset(row["paths"])
            found.variables.add(frozenset(map(_variable, paths)))
            found.places[row["id"], row["step"]] = paths
    table = run.dataset("verdicts").to_table(columns=[*VERDICT_COLUMNS])
    return _Column(run, seen, index_verdicts(table))


def _cell(side: _Column, wanted: _Seen, of: _Column) -> FindingCell:
    """What a run is to a finding of the run `of`."""
    found = _find(side, wanted, of)
    if found is not None:
        one = found.finding
        smallest = one.shrunk.id if one.shrunk else one.first.id
        return FindingCell(CellKind.PRESENT, one.id, smallest, len(one.cases))
    if wanted.variables and not any(map(side.shows, wanted.variables)):
        names = sorted(set[str]().union(*wanted.variables))
        return FindingCell(CellKind.NOT_SHOWN, why=f"the target does not show {', '.join(names)}")
    rule = wanted.finding.rule
    operation = rule.partition("/")[0]
    performs = side.run.about.operations
    if performs and operation in of.run.about.operations and operation not in performs:
        why = f"the target does not perform {operation}"
        return FindingCell(CellKind.NOT_APPLICABLE, why=why)
    branches = {rule.name for rule in side.run.sections.branches}
    if branches and "/" in rule and rule not in branches:
        return FindingCell(CellKind.NOT_APPLICABLE, why="it is not in the variant of the target")
    cell = _judge_absence(side, wanted.finding)
    if cell.kind is CellKind.NOT_ASKED and (why := _exclude(side.run, wanted.finding)):
        return FindingCell(CellKind.NOT_APPLICABLE, why=why)
    return cell


def _exclude(run: ReportedRun, finding: Finding) -> str:
    """Why the entry of a finding is not about the release of a run; "" if it is, or has none."""
    entry, release = finding.entry, run.about.release
    if entry is None or not release or within(release, entry.first_release, entry.last_release):
        return ""
    return f"its entry is about {releases(entry.first_release, entry.last_release)}"


def _judge_absence(side: _Column, finding: Finding) -> FindingCell:
    """The cell of a run that does not show a finding, though it might; its vectors show it in
    another one. It is absent if one of them was judged up to its step, and did not deviate
    before."""
    vectors = finding.cases
    common = [one.id for one in finding.ordered if one.id in side.verdicts]
    verdicts = [side.verdicts[name] for name in common]
    reasons = [_explain_unknown(side.verdicts[name], vectors[name].step) for name in common]
    if not verdicts:
        return FindingCell(CellKind.NOT_ASKED)
    if "" in reasons:
        return FindingCell(CellKind.ABSENT, vector=common[reasons.index("")])
    if all(one.kind in _NEVER_PERFORMED for one in verdicts):
        why = f"{verdicts[0].kind} {verdicts[0].detail}".replace("_", " ")
        return FindingCell(CellKind.NOT_APPLICABLE, why=why)
    judged = (why for one, why in zip(verdicts, reasons, strict=True) if one.kind in JUDGED)
    return FindingCell(CellKind.NOT_ASKED, why=next(judged, reasons[0]))


def _find(side: _Column, wanted: _Seen, of: _Column) -> _Seen | None:
    """The finding of a run that is the wanted one of the run `of`: it has the same id or cause, or
    differs at a step of the same vector in the same places, of those that both show."""
    if side is of:
        return wanted
    same = side.seen.get(wanted.finding.id)
    if same is not None and (same.is_cause or side.run.about.overlay == of.run.about.overlay):
        return same
    causes = wanted.finding.causes.keys()
    by_cause = (
        one
        for one in side.seen.values()
        if (wanted.is_cause or one.is_cause) and one.finding.causes.keys() & causes
    )
    return next(by_cause, None) or next(_find_by_places(side, wanted, of), None)


def _find_by_places(side: _Column, wanted: _Seen, of: _Column) -> Iterator[_Seen]:
    if set(side.run.about.observes) == set(of.run.about.observes):
        return
    for one in side.seen.values():
        for place in one.places.keys() & wanted.places.keys():
            shown = side.restrict(wanted.places[place])
            if shown and shown == of.restrict(one.places[place]):
                yield one
                break
