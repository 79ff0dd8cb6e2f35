"""Writes a report: the pages of the site, and the exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from charter.formats.canonical import Json
from charter.formats.findings.reviewed import Reviewed
from charter.formats.verdict import JUDGED
from conform.reports import exports as beside
from conform.reports import releases, wording
from conform.reports.fill_templates import STYLE, Site, safe_name
from conform.reports.findings import LISTED, PAGES, Finding, compare_end, findings
from conform.reports.junit import junit
from conform.reports.matrix import Cell, Reading, cell, matrix, reading
from conform.reports.reasons import brief
from conform.reports.release_matrix import ReleaseNotes, arrange_releases, is_of_releases
from conform.reports.release_text import write_releases
from conform.reports.runs import ReportedRun, open_runs
from conform.reports.sections import Rule
from conform.reports.shapes import Picture
from conform.reports.spacetime import spacetime
from conform.reports.statepicture import state_picture
from conform.reports.target_matrix import compare_targets
from conform.reports.traces import ReportedStep, VectorTrace, read_traces
from conform.runs.findings.findings import FindingExample

RELEASES = "releases.md"
_OURS = ("index.html", "compare.html", "summary.md", RELEASES, STYLE, "runs")
_REASONS = 60
NO_NOTES = ReleaseNotes(MappingProxyType({}))
NO_REVIEWS: Reviewed = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Written:
    """A summary of the pages that were written. `withheld`: a canary misbehaved, so no results are
    shown."""

    index: Path
    withheld: bool
    lines: tuple[str, ...]
    pages: int

    def json(self) -> dict[str, Json]:
        return {
            "index": str(self.index),
            "withheld": self.withheld,
            "summary": list(self.lines),
            "pages": self.pages,
        }


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A row of the page of branches. `example` is a vector that took the branch ("" for none)."""

    rule: Rule
    cell: Cell
    example: str
    counts: tuple[int, int]


def write(
    runs: Sequence[Path],
    out: Path,
    sections: Path | None = None,
    reviewed: Reviewed = NO_REVIEWS,
    notes: ReleaseNotes = NO_NOTES,
) -> Written:
    """Writes the report of finished runs into `out`; runs keep the given order. `reviewed` is what
    people have written about findings, `notes` what is known of releases.

    `sections` is a sections.json to use for all runs; without it each run's own is used, found next
    to the model that the suite names. An earlier report in `out` is replaced. Raises `BadRun`, and
    `CannotWrite`, also if `out` holds anything but a report.
    """
    opened = open_runs(runs, sections)
    site = Site(out)
    site.clear(_OURS)
    site.copy(Path(__file__).parent / "templates" / STYLE, STYLE)
    untrusted = [run for run in opened if not run.trusted]
    if untrusted:
        return _withhold(site, untrusted)
    read = tuple(reading(run, findings(run, reviewed.get(run.about.target, {}))) for run in opened)
    comparisons = releases.comparisons(read)
    traces, rows, targets = {}, matrix(read), compare_targets(read)
    arranged = (
        arrange_releases(targets, comparisons, notes) if is_of_releases(targets, notes) else None
    )
    for number, item in enumerate(read):
        extra = releases.examples(comparisons, item.run)
        if arranged:
            extra += [row.cells[number].vector for row in targets.rows if row.cells[number].vector]
        traces[item.run.slug] = _write_run(site, item, extra)
    site.page("index.html", "index.html.j2", readings=read, matrix=rows,
              targets=targets, comparisons=comparisons, releases=arranged)  # fmt: skip
    if len(read) > 1:
        pairs = [
            (one, releases.details(one, traces[one.left.slug], traces[one.right.slug]))
            for one in comparisons
        ]
        site.page("compare.html", "compare.html.j2", comparisons=pairs)
    site.write("summary.md", beside.markdown(read, rows, targets))
    if arranged:
        site.write(RELEASES, write_releases(arranged))
    lines = tuple(f"{item.run.name}: {wording.statement(item.run).sentence}" for item in read)
    lines += tuple(f"{name} was not judged: {why}" for name, why in notes.lost.items())
    lines += tuple(f"{run.name}: {wording.OTHER_MODELS}" for run in opened if run.other_models)
    return Written(out / "index.html", False, lines, sum(1 for _ in out.rglob("*.html")))


def _withhold(site: Site, untrusted: Sequence[ReportedRun]) -> Written:
    site.page("index.html", "withheld.html.j2", runs=untrusted)
    site.write("summary.md", beside.summarise_withheld(untrusted))
    names = ", ".join(run.name for run in untrusted)
    return Written(site.out / "index.html", True, (f"{names}: not to be trusted",), 1)


# --- one run -------------------------------------------------------------------------------------


def _write_run(site: Site, item: Reading, extra: Sequence[str]) -> dict[str, VectorTrace]:
    """Writes all pages of a run; `extra` are vectors that get a page in any case. Returns the
    vectors that have a page."""
    run, place = item.run, f"runs/{item.run.slug}"
    examples = _examples(run)
    shown = {found.id: found.ordered[:PAGES] for found in item.findings}
    wanted = {case.id for cases in shown.values() for case in cases}
    traces = read_traces(run, {*wanted, *examples.values(), *extra})
    branches = _branches(item, examples)
    site.page(
        f"{place}/index.html",
        "run.html.j2",
        item=item,
        run=run,
        matrix=matrix([item]),
        not_judged=_not_judged(run),
        branches=branches,
        data=_copy_data(site, run),
    )
    known = frozenset(traces)
    operations = [
        (name, list(held)) for name, held in groupby(branches, key=lambda b: b.rule.operation)
    ]
    site.page(
        f"{place}/branches.html", "branches.html.j2", run=run, operations=operations, known=known
    )
    for found in item.findings:
        _write_finding(site, item, found, traces)
    for trace in traces.values():
        _write_vector(site, item, trace)
    site.write(f"{place}/junit.xml", junit(run))
    site.write(f"{place}/badge.svg", beside.badge(site.templates, run))
    site.write(f"{place}/badge.json", beside.shield(run))
    return traces


def _write_vector(site: Site, item: Reading, trace: VectorTrace) -> None:
    site.page(
        f"runs/{item.run.slug}/vectors/{trace.id}.html",
        "vector.html.j2",
        run=item.run,
        trace=trace,
        picture=spacetime(trace, item.run.places.observation),
        findings=item.findings,
    )


def _write_finding(
    site: Site, item: Reading, found: Finding, traces: dict[str, VectorTrace]
) -> None:
    run = item.run
    cases = found.ordered
    trace = traces.get(cases[0].id)
    step = _find_shown_step(trace, cases[0])
    rules = [rule for rule in run.sections.branches if rule.name in found.branches]
    site.page(
        f"runs/{run.slug}/findings/{safe_name(found.id)}.html",
        "finding.html.j2",
        run=run,
        finding=found,
        cases=cases[:LISTED],
        more=max(0, len(cases) - LISTED),
        trace=trace,
        step=step,
        ends=compare_end(run, found, trace),
        rules=rules,
        pictures=_pictures(run, trace, step),
        traces=frozenset(traces),
    )


def _find_shown_step(trace: VectorTrace | None, case: FindingExample) -> ReportedStep | None:
    """The deviating step to show on a finding's page."""
    if trace is None:
        return None
    return next((step for step in trace.deviations if step.number == case.step), None)


def _pictures(
    run: ReportedRun, trace: VectorTrace | None, step: ReportedStep | None
) -> tuple[Picture, ...]:
    if trace is None:
        return ()
    place = run.places.observation
    deviation = step.deviation if step else None
    state = state_picture(trace, deviation, place) if deviation else None
    drawn = (state, spacetime(trace, place))
    return tuple(picture for picture in drawn if picture is not None)


def _examples(run: ReportedRun) -> dict[str, str]:
    """A vector for each branch that was taken."""
    table = run.columns("transitions", ["branch", "vector"])
    held = table.group_by("branch").aggregate([("vector", "min")])
    pairs = zip(held["branch"].to_pylist(), held["vector_min"].to_pylist(), strict=True)
    return {str(branch): str(vector) for branch, vector in pairs}


def _branches(item: Reading, examples: dict[str, str]) -> tuple[BranchRow, ...]:
    """All branches in the order of the charter, then those that the charter does not have."""
    rules = {rule.name: rule for rule in item.run.sections.branches}
    for name in item.counts:
        rules.setdefault(name, Rule(name, "", (), "", 0))
    return tuple(
        BranchRow(rule, cell(item, [name]), examples.get(name, ""), item.counts.get(name, (0, 0)))
        for name, rule in rules.items()
    )


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Why some vectors were not judged, or not to the end."""

    kind: str
    detail: str
    vectors: int
    steps: int


def _not_judged(run: ReportedRun) -> tuple[NotJudged, ...]:
    names = ["kind", "detail", "id", "not_judged"]
    table = run.columns("verdicts", names)
    kinds = [str(kind) for kind in JUDGED - {"inconclusive"}]
    whole = pc.is_in(table["kind"], pa.array(kinds))
    lost = pc.or_(pc.invert(whole), pc.greater(table["not_judged"], 0))
    held = (
        table.filter(lost)
        .group_by(["kind", "detail"])
        .aggregate([("id", "count"), ("not_judged", "sum")])
        .sort_by([("id_count", "descending"), ("kind", "ascending"), ("detail", "ascending")])
    )
    return tuple(_rows(held.slice(0, _REASONS).to_pylist()))


def _rows(rows: Sequence[dict[str, Json]]) -> Iterator[NotJudged]:
    for row in rows:
        vectors, steps = row["id_count"], row["not_judged_sum"]
        assert isinstance(vectors, int) and isinstance(steps, int)
        yield NotJudged(str(row["kind"]), brief(str(row["detail"])), vectors, steps)


# --- data ----------------------------------------------------------------------------------------

_JSON = ("run.json", "summary.json", "canaries.json", "prepared.json")
_LARGE = 64 << 20


@dataclass(frozen=True, slots=True)
class Data:
    """A dataset next to the report; `place` is "" if it is too large to copy."""

    name: str
    place: str
    size: int


def _copy_data(site: Site, run: ReportedRun) -> tuple[Data, ...]:
    found = []
    for name in _JSON:
        path = run.folder / name
        if path.exists():
            site.copy(path, f"runs/{run.slug}/data/{name}")
            found.append(Data(name, f"data/{name}", path.stat().st_size))
    for name in ("verdicts", "deviations", "transitions", "observations"):
        paths = [run.folder / name / f"bucket={bucket:04d}" / "part-0.parquet"
                 for bucket in run.buckets]  # fmt: skip
        size = sum(path.stat().st_size for path in paths)
        small = size <= _LARGE
        for path in paths if small else []:
            site.copy(path, f"runs/{run.slug}/data/{name}/{path.parent.name}/{path.name}")
        found.append(Data(name, f"data/{name}/" if small else "", size))
    return tuple(found)
