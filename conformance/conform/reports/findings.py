"""Groups the deviations of a run by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from conform.reports.runs import ReportedRun, mapping
from conform.reports.sections import EntrySection
from conform.runs.findings import finding_id, gravity, sentence, shrunk_lines

LISTED = 200
PAGES = 6
NEW = "new"
BASELINE = "in_the_baseline"
TOGETHER = "several_entries"
"""The judge's name for deviations that only several entries together explain."""


@dataclass(frozen=True, slots=True, order=True)
class FindingExample:
    """A vector that shows a finding; sorts by the step that shows it, then by number of
    operations."""

    step: int
    operations: int
    id: str
    branch: str = field(compare=False, default="")
    severity: str = field(compare=False, default="")
    cause: str = field(compare=False, default="")


@dataclass(frozen=True, slots=True)
class ShrunkVector:
    """A vector that the run made smaller: its id, and its steps with what differs in the last."""

    id: str
    lines: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Finding:
    """All deviations that one overlay entry explains, or that share a cause without an explanation.

    `entry` is None for a new finding, and for an entry that sections.json does not list. `loaded`
    are the vectors that start from a given state; `reason` is that of the run's
    baseline; `shrunk` is its smallest vector.
    """

    id: str
    name: str
    entry: EntrySection | None
    new: bool
    deviations: int = 0
    cases: dict[str, FindingExample] = field(default_factory=dict)
    severities: Counter[str] = field(default_factory=Counter)
    branches: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    also: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    loaded: set[str] = field(default_factory=set)
    sentence: str = ""
    reason: str = ""
    shrunk: ShrunkVector | None = None

    @property
    def from_initial(self) -> FindingExample | None:
        """If the shortest vector loads a state, the shortest one that does not; else None."""
        ordered = self.ordered
        if ordered[0].id not in self.loaded:
            return None
        return next((case for case in ordered if case.id not in self.loaded), None)

    @property
    def title(self) -> str:
        """The title of the finding: the entry, or the branch and what differs."""
        if not self.id.startswith("f-"):
            return self.name
        fields = dict.fromkeys(path.rpartition(".")[2] for path, _ in self.paths.most_common())
        several = [*fields][:3]
        more = " …" if len(fields) > len(several) else ""
        return f"{self.branches.most_common(1)[0][0]}: {', '.join(several)}{more}"

    @property
    def kind(self) -> str:
        """The class of the overlay entry, or `new`."""
        if self.new:
            return NEW
        if self.reason:
            return BASELINE
        if self.name == TOGETHER:
            return TOGETHER
        return self.entry.kind if self.entry else "explained"

    @property
    def ordered(self) -> list[FindingExample]:
        """The vectors, those that show it earliest first."""
        return sorted(self.cases.values())

    @property
    def severity(self) -> str:
        """The highest severity."""
        return min(self.severities, key=gravity, default="")

    def add(self, row: Mapping[str, object], operations: int) -> None:
        branch = str(row["branch"]) or str(row["operation"]) or "initial state"
        self.deviations += 1
        self.severities[str(row["severity"])] += 1
        self.branches[branch] += 1
        self.causes[str(row["cause"])] += 1
        step = row["step"]
        assert isinstance(step, int)
        case = FindingExample(step, operations, str(row["id"]), branch, str(row["severity"]),
                    str(row["cause"]))  # fmt: skip
        held = self.cases.get(case.id)
        if held is None or case < held:
            self.cases[case.id] = case


def findings(run: ReportedRun) -> tuple[Finding, ...]:
    """The findings of a run: new ones first, then by severity, then by number of vectors."""
    lengths = _lengths(run)
    found: dict[str, Finding] = {}
    for row in _deviations(run):
        first, *others = str(row["entry"]).split() or [""]
        finding = _finding(run, found, first, str(row["cause"]))
        finding.add(row, lengths.get(str(row["id"]), 0))
        finding.also.update(others)
        paths = row["paths"]
        assert isinstance(paths, list)
        finding.paths.update(paths)
    labels = run.labels({name for finding in found.values() for name in finding.cases})
    for finding in found.values():
        known = {name: labels[name] for name in finding.cases if name in labels}
        finding.labels.update(label for label, _ in known.values())
        finding.loaded.update(name for name, (_, loaded) in known.items() if loaded)
    _add_sentences(run, found.values())
    return tuple(sorted(found.values(), key=rank))


def _add_sentences(run: ReportedRun, found: Iterable[Finding]) -> None:
    firsts = [(one, one.ordered[0]) for one in found if not one.sentence]
    examples = {(case.id, case.step, case.cause): one for one, case in firsts}
    for row in run.rows("deviations", {case.id for _, case in firsts}):
        finding = examples.get((str(row["id"]), int(str(row["step"])), str(row["cause"])))
        if finding is not None:
            finding.sentence = sentence(row)


def rank(finding: Finding) -> tuple[bool, int, int, str]:
    """Sorts new findings first, then the gravest, then those with most vectors."""
    return not finding.new, gravity(finding.severity), -len(finding.cases), finding.id


def _finding(run: ReportedRun, found: dict[str, Finding], entry: str, cause: str) -> Finding:
    held = found.get(entry or cause)
    if held is None:
        known = run.sections.entry(run.text("overlay"), entry)
        name = finding_id(entry, cause)
        listed = {} if entry else _listed(run).get(name, {})
        reason = str(listed.get("known", ""))
        new = not entry and not reason
        held = Finding(id=name, name=name, entry=known, new=new, reason=reason)
        shrunk = mapping(listed.get("shrunk"))
        if shrunk:
            held.shrunk = ShrunkVector(str(shrunk["vector"]), shrunk_lines(shrunk))
            held.sentence = str(listed["sentence"])
        found[entry or cause] = held
    return held


def _listed(run: ReportedRun) -> dict[str, Mapping[str, Json]]:
    """What summary.json says of each finding."""
    listed = run.summary.get("findings")
    held = [mapping(item) for item in listed] if isinstance(listed, list) else []
    return {str(item["id"]): item for item in held}


def _deviations(run: ReportedRun) -> Iterator[dict[str, object]]:
    names = ["id", "step", "operation", "branch", "severity", "entry", "cause", "paths"]
    for batch in run.dataset("deviations").to_batches(columns=names):
        yield from batch.to_pylist()


def _lengths(run: ReportedRun) -> dict[str, int]:
    """The number of operations of each diverging vector."""
    table = run.columns("verdicts", ["id", "kind", "judged", "not_judged"])
    columns = [table.column(name).to_pylist() for name in table.column_names]
    return {
        name: judged + left
        for name, kind, judged, left in zip(*columns, strict=True)
        if kind == "diverges"
    }
