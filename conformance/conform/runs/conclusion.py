"""Writes the summary of a run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_list, own_number, own_object
from charter.formats.run import RunFinding
from charter.formats.run_description import RunDescription
from conform.judging import model
from conform.judging.siblings import SEVERAL_ENTRIES, Siblings
from conform.runs import overclaims, summary
from conform.runs.asked_vectors import AskedVectors
from conform.runs.canaries import canaries
from conform.runs.canaries.walk_canaries import canaries_of_walks
from conform.runs.engines.bucket import siblings
from conform.runs.entry_widths import allowing_both
from conform.runs.extent import extent_of_run
from conform.runs.failures.record import AskedVerdicts
from conform.runs.failures.remembered import RunVerdicts, remember
from conform.runs.findings.adapter_failures import adapter_trouble
from conform.runs.findings.baseline import Baseline, write_baseline
from conform.runs.findings.entry_sets import SetModels, SetNamer, name_sets
from conform.runs.findings.failing_operation import with_steps
from conform.runs.findings.found_by_run import FoundByRun
from conform.runs.findings.limits import RunLimits
from conform.runs.findings.one_fault import one_fault
from conform.runs.judged_rows import JudgedRows
from conform.runs.kept_vectors import keep
from conform.runs.not_compared import LIMIT, ComparedScope, Left, saw_all
from conform.runs.options import RunOptions
from conform.runs.run_context import RunContext
from conform.runs.run_json import list_changed
from conform.runs.select import ResolvedRun, variables
from conform.runs.shrink import find_given_states, with_shrunk
from conform.runs.touring.asked_transitions import certify
from conform.runs.walk_counts import OF_REMEMBERED
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import Suite


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run. `inside` is the folder in which commands about it are to be typed; "" is the
    one in which the user is."""

    folder: RunFolder
    run: RunDescription
    summary: Mapping[str, Json]
    canaries: tuple[Json, ...] = field(default_factory=tuple)
    inside: str = ""

    @property
    def exit_code(self) -> int:
        return own_number(self.summary["exit"])

    def holds_for(self, options: RunOptions) -> bool:
        """Whether a run with these options would conclude the same, and it can be trusted. With a
        baseline it is made again, since that may have changed."""
        settled = self.summary.get("trusted") is True and not self.summary["broken_batches"]
        plain = not (self.summary["baseline"] or options.baseline.place)
        return settled and plain and self.summary.get("strict") is options.strict

    def json(self) -> dict[str, Json]:
        """The result as `--json` prints it."""
        return {"run": self.run.json(), "folder": self.folder.place, "summary": {**self.summary}}


def read_finished(folder: RunFolder) -> Finished:
    """A finished run, from its folder. Raises `BadRun`."""
    canaries = own_list(folder.read_json("canaries.json")["canaries"])
    summary = folder.read_json("summary.json")
    return Finished(folder, folder.read_run(), summary, tuple(canaries))


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run whose buckets are all judged. `about` is its run.json, `asked` how many vectors it was
    to ask; `began` (seconds since the epoch) and `judging_seconds` say how long it took."""

    folder: RunFolder
    about: RunDescription
    resolved: ResolvedRun
    context: RunContext
    asked: int
    began: float
    judging_seconds: float


def finish(run: JudgedRun, options: RunOptions) -> Finished:
    """Write what a run found: what is not explained, what was not compared, whether it can be
    trusted. The target is asked again if findings are to be shrunk."""
    folder, context = run.folder, run.context
    suite, entries = run.resolved.suite, run.resolved.entries
    vectors = AskedVectors(suite, folder)
    made = [*canaries.of_run(context), *canaries_of_walks(context)]
    extra: list[Json] = [canary.json() for canary in made]
    counts = summary.collect(folder)
    judged = JudgedBy(context, select_shown(run.about, suite))
    counts = name_several(counts, vectors, options.set_models, judged)
    counts.canaries += extra
    stale = stale_entries(folder, suite, entries, counts) if context.reference else ()
    rows = JudgedRows.of(folder)
    of_suite = rows.of_suite(suite.buckets)
    intended = scope(suite, run.about, run.asked)
    wish = options.wanted.option or LIMIT
    intended = replace(intended, wish=wish, stopped=has_stopped(folder))
    extent = extent_of_run(folder, suite, intended, of_suite.verdicts, options.older)
    target = run.resolved.prepared.target
    apart = (of_suite, rows.of_bucket(context.last_bucket))
    verdicts = RunVerdicts(
        target, run.about, *(AskedVerdicts.of(one, options.baseline.known) for one in apart)
    )
    starts = find_given_states(of_suite.deviations, suite)
    found = FoundByRun.of(rows, of_suite, starts, RunLimits.of(run.about))
    changed = options.baseline.find_changed(
        found.of_suite, suite.manifest.digest, whole=saw_all(extent.left)
    )
    findings, baseline = _with_baseline(found, options, extent.left, suite.manifest.digest)
    if options.shrink:
        findings = with_shrunk(findings, context, vectors)
    inputs = summary.ConclusionInputs(
        tuple(entries), stale, options.strict, extent, findings, baseline,
        {} if options.update_baseline else changed, suite.manifest.digest,
        list_changed(run.about, run.resolved), verdicts.unsteady,
        allowing_both(counts.entry_steps, suite.manifest.models.charter, target.overlay),
        run.about.hidden, context.crosschecks.possible,
    )  # fmt: skip
    pairs = summary.distinct_pairs(folder)
    concluded = summary.conclude(counts, inputs, time.time() - run.began, pairs)
    concluded["changed_baseline"] = {name: [*both] for name, both in changed.items()}
    concluded["continued"] = run.about.continued
    concluded["judging_seconds"] = round(run.judging_seconds, 3)
    concluded["first_verdict_seconds"] = round(max(0.0, counts.first_verdict - run.began), 3)
    concluded["one_fault"] = one_fault(rows.deviations, extent.judged)
    concluded["adapter_trouble"] = with_steps(
        adapter_trouble(rows.verdicts, intended.allowed), context.start, vectors
    )
    concluded |= certify(suite.manifest, concluded)
    keep(vectors, concluded, rows.verdicts)
    dropped = verdicts.record(trusted=concluded["trusted"] is True)
    if told := concluded.get(OF_REMEMBERED):
        concluded[OF_REMEMBERED] = {**own_object(told), "dropped": dropped}
    remember(target, run.about, findings, concluded["adapter_trouble"], vectors)
    trusted = concluded["trusted"]
    folder.write_json("canaries.json", {"trusted": trusted, "canaries": counts.canaries})
    folder.finish(concluded)
    return Finished(folder, run.about, concluded, tuple(counts.canaries))


class HasModels(Protocol):
    """By what a run is judged: its models, and the variables that it shows (None: all)."""

    @property
    def context(self) -> RunContext: ...
    @property
    def observes(self) -> tuple[str, ...] | None: ...


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """By what a run is judged."""

    context: RunContext
    observes: tuple[str, ...] | None


def name_several(
    counts: summary.RunCounts, vectors: AskedVectors, models: SetModels | None, by: HasModels
) -> summary.RunCounts:
    """The counts of a run after the set of entries is named for each step that several explain."""
    known = siblings(by.context) if counts.by_entry[SEVERAL_ENTRIES] and models else None
    if known is None or models is None:
        return counts
    about = vectors.folder.read_run()
    name_sets(vectors, SetNamer.of(about, known, models, by.observes))
    found = summary.collect(vectors.folder)
    found.searched_sets = True
    return found


def _with_baseline(
    found: FoundByRun, options: RunOptions, left: Sequence[Left], suite: str
) -> tuple[tuple[RunFinding, ...], Baseline]:
    """The findings with the reasons that the baseline has for them, and the baseline, which is
    written first if the options ask for it. A run that did not ask all, or lost some, keeps what
    it did not see."""
    baseline = options.baseline
    if options.update_baseline:
        kept = () if saw_all(left) else baseline.stale(found.all)
        of_walks = found.of_walks
        listed = (*found.of_suite, *of_walks)
        names = {one.id for one in of_walks}
        baseline = write_baseline(baseline, listed, kept, suite, names)
    return baseline.apply(found.all), baseline


def scope(suite: Suite, about: RunDescription, asked: int) -> ComparedScope:
    """The scope of a run that judges `asked` vectors of a suite."""
    hidden = [name for name in variables(suite) if name not in about.observes]
    return ComparedScope(asked, suite.manifest.vectors - asked, hidden, about.not_compared)


def select_shown(about: RunDescription, suite: Suite) -> tuple[str, ...] | None:
    """The variables of a suite that a run shows; None if it shows all."""
    wanted = variables(suite)
    shown = tuple(name for name in wanted if name in about.observes)
    return None if len(shown) == len(wanted) else shown


def stale_entries(
    folder: RunFolder, suite: Suite, entries: Mapping[str, str], counts: summary.RunCounts
) -> tuple[str, ...]:
    """The entries that explain no deviation although the target took the branches that they
    change."""
    unused = [entry for entry in entries if entry and entry not in counts.met]
    if not unused:
        return ()
    opaque = OpaqueTypes.of(suite.manifest.read_types())
    models = {
        entry: Siblings(model.load(entries[entry]), same_state=False, opaque=opaque)
        for entry in unused
    }
    observes = select_shown(folder.read_run(), suite)
    return tuple(overclaims.find_denied(overclaims.RunOutput(folder, suite, observes), models))


def has_stopped(folder: RunFolder) -> bool:
    """Whether a bucket of a run with -x had a new finding."""
    return any(bucket.get("stopped") is True for bucket in folder.read_committed().values())
