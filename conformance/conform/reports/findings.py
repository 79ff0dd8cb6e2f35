"""Groups the deviations of a run by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from charter.formats.findings.reviewed import COSTS, ReviewedFinding
from charter.formats.run import SystemAnswer
from conform.judging.siblings import SEVERAL_ENTRIES, show_entries, split_entries
from conform.reports.runs import ReportedRun
from conform.reports.sections import EntrySection
from conform.runs.findings.findings import (
    COUNTED,
    DIVERGING,
    GROUPED,
    FindingExample,
    FindingGroup,
    gravity,
    group_deviations,
    lengths,
    print_shrunk,
    read_findings,
    sentence,
)
from conform.runs.findings.in_system import SystemAnswers
from conform.storage.bucket_store import RunFolder

LISTED = 200
PAGES = 6
NEW = "new"
BASELINE = "in_the_baseline"
TOGETHER = SEVERAL_ENTRIES
"""The class of deviations that only all entries together explain, as far as anybody has looked."""


@dataclass(frozen=True, slots=True)
class ShrunkVector:
    """A vector that the run made smaller: its id, and its steps with what differs in the last."""

    id: str
    lines: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Finding(FindingGroup):
    """All deviations that one overlay entry explains, or that share a cause without an explanation.

    `entry` is None for a new finding, and for an entry that sections.json does not list. `together`
    are the entries of a set that explains it, whose gravest class is that of the finding. `loaded`
    are the vectors that start from a given state; `reason` is that of the run's
    baseline; `shrunk` is its smallest vector; `limits` says what the target hides or cannot do that
    the finding may depend on; `system` whether it can happen in a system (None: not searched).
    `reviewed` is what a person has written about it, and `path` the vector that this names.
    """

    name: str = ""
    entry: EntrySection | None = None
    together: tuple[EntrySection, ...] = ()
    new: bool = False
    labels: Counter[str] = field(default_factory=Counter)
    loaded: set[str] = field(default_factory=set)
    sentence: str = ""
    reason: str = ""
    shrunk: ShrunkVector | None = None
    limits: tuple[str, ...] = ()
    system: SystemAnswer | None = None
    reviewed: ReviewedFinding | None = None
    path: str = ""

    @property
    def rule(self) -> str:
        """The branch at which most of the deviations were seen."""
        return self.branches.most_common(1)[0][0]

    @property
    def title(self) -> str:
        """The title of the finding: the entry, or the branch and what differs, each place by its
        first and its last name: a field or an element may be in several variables."""
        if self.reviewed:
            return self.reviewed.title
        if not self.id.startswith("f-"):
            return show_entries(self.name)
        fields = dict.fromkeys(_short(path) for path, _ in self.paths.most_common())
        several = [*fields][:3]
        more = " …" if len(fields) > len(several) else ""
        return f"{self.rule}: {', '.join(several)}{more}"

    @property
    def kind(self) -> str:
        """The class of the overlay entry, or `new`."""
        if self.new:
            return NEW
        if self.reason:
            return BASELINE
        if self.name == TOGETHER:
            return TOGETHER
        if self.together:
            return min((one.kind for one in self.together), key=_rank_class)
        return self.entry.kind if self.entry else "explained"

    @property
    def ordered(self) -> list[FindingExample]:
        """The vectors: the one that a person has named, those that begin in the first state, then
        those with the gravest deviation, then those that show it earliest."""
        return sorted(self.cases.values(), key=lambda case: (case.id != self.path, case))


def _short(path: str) -> str:
    """A path such as `topics.t1.parts.0.isr` as `topics…isr`."""
    first, *others = path.split(".")
    if not others:
        return first
    return f"{first}.{others[0]}" if len(others) == 1 else f"{first}…{others[-1]}"


NO_REVIEWS: Mapping[str, ReviewedFinding] = MappingProxyType({})


def findings(
    run: ReportedRun, reviewed: Mapping[str, ReviewedFinding] = NO_REVIEWS
) -> tuple[Finding, ...]:
    """The findings of a run: new ones first, then those with `reviewed` words by their cost, then
    by severity, then by number of vectors."""
    operations = lengths(run.dataset("verdicts").to_table(columns=COUNTED, filter=DIVERGING))
    batches = run.dataset("deviations").to_batches(columns=GROUPED)
    found = group_deviations(batches, lambda name, entry: _finding(run, name, entry), operations)
    labels = run.labels({name for finding in found.values() for name in finding.cases})
    answers = SystemAnswers.read(RunFolder(str(run.folder)))
    listed = {one.id: answers.of(one) for one in read_findings(run.summary)}
    for finding in found.values():
        finding.system = listed.get(finding.id)
        known = {name: labels[name] for name in finding.cases if name in labels}
        finding.labels.update(label for label, _ in known.values())
        finding.loaded.update(name for name, (_, loaded) in known.items() if loaded)
        for name in finding.loaded:
            finding.cases[name] = replace(finding.cases[name], given=True)
    for finding in found.values():
        finding.reviewed = reviewed.get(finding.id)
        finding.path = _find_path(run, finding)
    _add_sentences(run, found.values())
    return tuple(sorted(found.values(), key=rank))


def _add_sentences(run: ReportedRun, found: Iterable[Finding]) -> None:
    firsts = [(one, one.first) for one in found if not one.sentence]
    examples = {(case.id, case.step, case.cause): one for one, case in firsts}
    for row in run.rows("deviations", {case.id for _, case in firsts}):
        finding = examples.get((str(row["id"]), int(str(row["step"])), str(row["cause"])))
        if finding is not None:
            finding.sentence = sentence(row, run.places)


def _find_path(run: ReportedRun, finding: Finding) -> str:
    """The vector that a person has named as the path to a finding; "" if the run has none."""
    if finding.reviewed is None:
        return ""
    titles = run.titles(finding.cases)
    return next((name for name, one in titles.items() if one == finding.reviewed.path), "")


def rank(finding: Finding) -> tuple[bool, int, int, int, str]:
    """Sorts new findings first, then those with a cost, then the gravest, then those with most
    vectors."""
    cost = finding.reviewed.gravity if finding.reviewed else len(COSTS)
    return not finding.new, cost, gravity(finding.severity), -len(finding.cases), finding.id


_CLASSES = ("suspected_defect", "known_defect", "charter_gap", "by_design", "harmless")
"""The classes of entries, the gravest first."""


def _rank_class(kind: str) -> int:
    return _CLASSES.index(kind) if kind in _CLASSES else len(_CLASSES)


def _list_together(run: ReportedRun, name: str) -> Iterator[EntrySection]:
    """The entries of a set; none of a single entry."""
    names = split_entries(name)
    for one in names if len(names) > 1 else ():
        section = run.sections.entry(run.about.overlay, one)
        if section is not None:
            yield section


def _finding(run: ReportedRun, name: str, entry: str) -> Finding:
    every = next((one for one in read_findings(run.summary) if one.id == name), None)
    listed = None if entry else every
    shrunk, reason = (listed.shrunk, listed.known) if listed else (None, "")
    return Finding(
        id=name,
        name=name,
        entry=run.sections.entry(run.about.overlay, entry),
        together=tuple(_list_together(run, entry)),
        new=not entry and not reason,
        reason=reason,
        sentence=listed.sentence if listed and shrunk else "",
        shrunk=ShrunkVector(shrunk.vector, print_shrunk(shrunk, run.places)) if shrunk else None,
        limits=every.limits if every else (),
    )
