"""Groups the deviations of a run by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.findings.reviewed import COSTS, ReviewedFinding
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls, own_object
from charter.formats.run import SystemAnswer
from conform.judging import model
from conform.judging.differ import RelabelledStep
from conform.judging.siblings import (
    SEVERAL_ENTRIES,
    ObservedStep,
    Siblings,
    show_entries,
    split_entries,
)
from conform.judging.written_values import place_at, show
from conform.reports.runs import ReportedRun
from conform.reports.sections import EntrySection
from conform.reports.traces import VectorTrace
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
from conform.runs.reproduce.case import SHOWS, CannotReproduce
from conform.runs.reproduce.last_step import PerformedPath, WantedCase
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


@dataclass(frozen=True, slots=True)
class EndDifference:
    """A place that differs after the last operation of a path, with both values as texts."""

    place: str
    expected: str
    observed: str


def compare_end(
    run: ReportedRun, finding: Finding, trace: VectorTrace | None
) -> tuple[EndDifference, ...]:
    """What differs after the last operation of the path that a person has named, as a reproduction
    compares it; nothing if that is not known."""
    reviewed, path = finding.reviewed, _read_performed(run, finding, trace)
    if reviewed is None or path is None:
        return ()
    try:
        checks = path.compare(WantedCase(SHOWS, finding.id))
    except CannotReproduce:
        return ()
    places, calls = run.places, own_calls(path.question)
    reply = places.reply(str(calls[-1]["operation"]))
    found = []
    for one in checks:
        if reviewed.differs and one.place not in reviewed.differs:
            continue
        value, whole = path.last.observation, places.observation
        if one.is_reply:
            value, whole = path.last.reply, reply
        place = place_at(value, whole, ".".join(one.path))
        observed = show(one.observed, place)
        if is_fault(one.observed):
            observed = _show_fault(own_object(one.observed))
        found.append(EndDifference(one.place, show(one.expected, place), observed))
    return tuple(found)


def _show_fault(fault: Mapping[str, Json]) -> str:
    """A fault as a log has it."""
    texts = (str(fault[name]) for name in ("fault", "message") if fault.get(name))
    return ": ".join(texts).replace("\n", " ")


def _read_performed(
    run: ReportedRun, finding: Finding, trace: VectorTrace | None
) -> PerformedPath | None:
    """The path of a finding as the run has performed it; None if it did not, or not to its end, or
    if its suite or its models are gone."""
    suite = run.in_use
    if suite is None or run.other_models or trace is None or trace.id != finding.path:
        return None
    answer, question = run.answer(trace.id), trace.question
    if answer is None or question is None or len(trace.raw) != len(question.operations) + 1:
        return None
    asked = own_object(question.json())
    start: dict[str, Json] = {"operation": "", "args": {}}
    raw = [
        ObservedStep(str(call["operation"]), call["args"], reply, state)
        for call, (reply, state) in zip([start, *own_calls(asked)], trace.raw, strict=True)
    ]
    last = trace.steps[-1]

    def read_siblings() -> Siblings:
        entries = {name: model.load(module) for name, module in run.about.entries.items()}
        opaque = OpaqueTypes.of(suite.manifest.read_types())
        return Siblings(model.load(suite.manifest.models.charter), entries, opaque=opaque)

    return PerformedPath(
        asked,
        answer,
        [one.deviation.as_judged() for one in trace.deviations if one.deviation],
        RelabelledStep(last.reply, last.state, is_fault(last.reply)),
        raw,
        read_siblings,
    )


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
