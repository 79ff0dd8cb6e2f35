"""Builds the table of runs by sections of the protocol: per section, the results for the branches
that cite it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from conform.reports.findings import Finding
from conform.reports.runs import ReportedRun
from conform.reports.sections import SILENT
from conform.reports.wording import natural

_NO_TEXT = "no text speaks"
_UNKNOWN = "the cited source is not available"


@dataclass(frozen=True, slots=True)
class Reading:
    """One run: its findings, and its numbers by branch."""

    run: ReportedRun
    findings: tuple[Finding, ...]
    counts: Mapping[str, tuple[int, int]]

    def at(self, branch: str) -> tuple[Finding, ...]:
        """The findings at steps where this branch was expected."""
        return tuple(found for found in self.findings if branch in found.branches)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the table: the results of one run for some branches. `tone`: good, part, known,
    bad, void or none."""

    tone: str
    word: str
    taken: int = 0
    deviating: int = 0
    covered: int = 0
    branches: int = 0
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class SectionRow:
    """One section of one source."""

    source: str
    section: str
    title: str
    operations: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        return f"{self.source} {self.section}".strip()


def reading(run: ReportedRun, findings: tuple[Finding, ...]) -> Reading:
    """A run with its numbers by branch."""
    return Reading(run, findings, run.branch_counts())


def matrix(readings: Sequence[Reading]) -> tuple[SectionRow, ...]:
    """A row for each section that a branch cites, by source; the row for branches without a
    citation is last. A branch that cites several sections counts in each."""
    cited: dict[tuple[str, str], dict[str, None]] = {}
    titles: dict[str, str] = {}
    for item in readings:
        titles.update(dict(item.run.sections.sources))
        for branch, sections in _list_cited(item).items():
            for section in sections:
                cited.setdefault(section, {})[branch] = None
    order = [*titles, SILENT, ""]
    keys = sorted(cited, key=lambda key: (order.index(key[0]) if key[0] in order else 0,
                                          natural(key[1])))  # fmt: skip
    return tuple(_row(key, titles, cited[key], readings) for key in keys)


def by_source(rows: Sequence[SectionRow]) -> list[tuple[str, list[SectionRow]]]:
    """The rows of each source."""
    return [(source, list(held)) for source, held in groupby(rows, key=lambda row: row.source)]


def _list_cited(item: Reading) -> dict[str, tuple[tuple[str, str], ...]]:
    """The sections that each branch of a run's charter cites."""
    known = {rule.name: rule.citations for rule in item.run.sections.branches}
    return known or {name: (("", name.partition("/")[0]),) for name in item.counts}


def _row(
    key: tuple[str, str],
    titles: Mapping[str, str],
    branches: Iterable[str],
    readings: Sequence[Reading],
) -> SectionRow:
    source, section = key
    title = {SILENT: _NO_TEXT, "": _UNKNOWN}.get(source, titles.get(source, ""))
    held = tuple(branches)
    return SectionRow(
        source="" if source == SILENT else source,
        section="silent" if source == SILENT else section,
        title=title,
        operations=tuple(dict.fromkeys(name.partition("/")[0] for name in held)),
        cells=tuple(cell(item, held, key) for item in readings),
    )


def cell(item: Reading, branches: Sequence[str], section: tuple[str, str] | None = None) -> Cell:
    """The results of a run for `branches`; with a `section`, only for those that cite it in the
    run's own charter."""
    cited = _list_cited(item)
    held = [name for name in branches
            if section is None or section in cited.get(name, ())]  # fmt: skip
    if not held:
        return Cell("none", "not in this variant")
    taken = sum(item.counts.get(name, (0, 0))[0] for name in held)
    deviating = sum(item.counts.get(name, (0, 0))[1] for name in held)
    covered = sum(item.counts.get(name, (0, 0))[0] > 0 for name in held)
    found = tuple(dict.fromkeys(one for name in held for one in item.at(name)))
    tone, word = _word(found, covered, len(held))
    return Cell(tone, word, taken, deviating, covered, len(held), found)


def _word(findings: tuple[Finding, ...], covered: int, branches: int) -> tuple[str, str]:
    if any(finding.new for finding in findings):
        return "bad", "diverges"
    if findings:
        return "known", "explained deviations"
    if not covered:
        return "void", "not taken"
    if covered < branches:
        return "part", "conforms where taken"
    return "good", "conforms"
