"""Executes one run: judges the remaining buckets, adds canaries, and writes the summary."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.run import RunFinding
from charter.formats.suite import Manifest
from conform.adapters.base import Connection
from conform.adapters.hello import check_hello, disagreement
from conform.adapters.prepared import adapter_files, prepared_digests
from conform.adapters.sources import check_apart, files_digest, sources_digests
from conform.adapters.stdio import StdioConnection
from conform.adapters.targets import found_by
from conform.console.errors import ConformError, Untrustworthy
from conform.console.extras import installed, remedy
from conform.console.progress import bar
from conform.judging import model
from conform.judging.assess import VectorItem
from conform.judging.follow import Siblings
from conform.runs import canaries, overclaims, summary
from conform.runs.adapter_failures import adapter_trouble
from conform.runs.baseline import NO_BASELINE, Baseline, write_baseline
from conform.runs.compared import LIMIT, ComparedScope, Left, left_out, saw_all
from conform.runs.context import RunContext
from conform.runs.earlier_target import folder_noted
from conform.runs.engines import inline
from conform.runs.engines.bucket import empty_bucket
from conform.runs.engines.cluster import is_local
from conform.runs.engines.progress_notes import JudgedSoFar
from conform.runs.failing_operation import with_steps
from conform.runs.findings import run_findings
from conform.runs.forgetful_canaries import forgetful, left_open, outlook, unobserved
from conform.runs.kept_vectors import keep
from conform.runs.resume import alone_in, continued, folder_at, start_or_resume, telling
from conform.runs.select import (
    Ranges,
    ResolvedRun,
    RunSelection,
    check_fits,
    choose,
    no_ranges,
    prepared_run,
    variables,
)
from conform.runs.selection import (
    ALL,
    SuitePart,
    Wanted,
    all_asked_told,
    failed_before,
    part_of,
    record_failed,
)
from conform.runs.shrink import given_states, with_shrunk
from conform.storage.store import RunFolder
from conform.suites.cache import Suite
from conform.suites.importing import item_of

if TYPE_CHECKING:
    from conform.runs.engines.spark_start import StartingSpark

Engine = Literal["auto", "spark", "inline"]

INLINE = 20_000
"""The most vectors that the engine `auto` judges in one process (docs/decisions/0042)."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run. `out` "" is `build/runs/<id>`; `limit` 0 is all vectors; `go_on`:
    continue a run although nobody knows whether the implementation is the same; `older`: by what
    the target is judged if it is not the charter of the project as it is now."""

    target: str
    _: KW_ONLY
    release: str = ""
    suite: str = ""
    engine: Engine = "auto"
    master: str = "local[*]"
    limit: int = 0
    out: str = ""
    strict: bool = False
    baseline: Baseline = NO_BASELINE
    update_baseline: bool = False
    shrink: bool = True
    wanted: Wanted = ALL
    go_on: bool = False
    older: str = ""
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run. `inside` is the folder in which commands about it are to be typed; "" is the
    one in which the user is."""

    folder: RunFolder
    run: Mapping[str, Json]
    summary: Mapping[str, Json]
    canaries: tuple[Json, ...] = field(default_factory=tuple)
    inside: str = ""

    @property
    def exit_code(self) -> int:
        code = self.summary["exit"]
        assert isinstance(code, int)
        return code

    def json(self) -> dict[str, Json]:
        """The result as `--json` prints it."""
        return {"run": {**self.run}, "folder": self.folder.place, "summary": {**self.summary}}


def run_target(
    options: RunOptions, say: Callable[[str], None], ranges: Ranges = no_ranges
) -> Finished:
    """Judge a target. An unfinished run with the same options is resumed: its finished buckets are
    not judged again. `say` is called with sentences for the user. Raises `ConformError`s."""
    began = time.time()
    inline = options.engine == "inline" or options.wanted.first
    if not (inline or is_local(options.master) or "://" in options.out):
        raise ConformError(
            f"--master {options.master} needs --out URI: a folder that this machine and all workers"
            " reach, such as file:///FOLDER or s3://BUCKET/FOLDER"
        )
    if "://" in options.out:
        RunFolder(options.out).check_reachable()
    chosen = choose(RunSelection("", options.target, options.release, options.suite))
    options = replace(options, engine=engine_for(options, chosen.suite.manifest.vectors, say))
    spark = starting_spark(options)
    resolved = prepared_run(chosen, ranges)
    suite, prepared = resolved.suite, resolved.prepared
    check_fits(suite, prepared)
    part = part_of(suite, options.wanted, failed_before(prepared.target, prepared.release))
    if told := all_asked_told(options.wanted, part):
        say(told)
    selection = part.json(options.wanted)
    with contextlib.closing(StdioConnection(prepared.start)) as greeted:
        about = {**_greet(greeted, resolved, options, say), **judged_with(suite, resolved.entries)}
        if spark is not None:
            greeted.close()  # its workers start their own
        if selection:
            about["id"] = f"{about['id']}-part-{canonical.digest(selection)[:6]}"
        about["selection"] = selection
        folder = folder_at(options.out, about)
        about["folder"] = folder_noted(prepared.target, folder.place)
        check_apart(prepared.target, folder.place)
        with alone_in(folder):
            about = start_or_resume(folder, about, say, options.go_on)
            with telling(folder, about, say):
                begun = _Begun(folder, about, part, began, say, spark, greeted)
                return _run_into(begun, resolved, options)


def engine_for(options: RunOptions, vectors: int, say: Callable[[str], None]) -> Engine:
    """The engine of a run: inline for what one process judges in seconds, else Spark if it is
    installed. A run that stops at its first finding is judged inline."""
    if options.wanted.first:
        return "inline"
    asked = min(options.limit or vectors, vectors)
    if options.engine == "auto" and not is_local(options.master):
        return "spark"
    if options.engine != "auto" or asked <= INLINE:
        return "inline" if options.engine == "auto" else options.engine
    if installed("pyspark"):
        return "spark"
    say(f"{asked:,} vectors are judged in one process; Spark uses all cores: {remedy('pyspark')}")
    return "inline"


def starting_spark(options: RunOptions) -> StartingSpark | None:
    """Spark, which starts while the target is prepared, if the run needs it. Raises
    `MissingEngine` if the master does not answer."""
    if options.engine != "spark":
        return None
    from conform.runs.engines.spark_start import StartingSpark  # slow to import

    return StartingSpark(options.master)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A run that has begun: its folder, run.json, the vectors to ask, the time, what is called
    with sentences for the user, Spark if it is the engine, and the adapter that was greeted."""

    folder: RunFolder
    about: Mapping[str, Json]
    part: SuitePart
    time: float
    say: Callable[[str], None]
    spark: StartingSpark | None
    greeted: Connection


def _run_into(begun: _Begun, resolved: ResolvedRun, options: RunOptions) -> Finished:
    """Judge the remaining buckets of a run, and write its summary."""
    suite, prepared, entries = resolved.suite, resolved.prepared, resolved.entries
    folder, about, part, began = begun.folder, begun.about, begun.part, begun.time
    folder.write_json("prepared.json", {**prepared.said})
    chosen = context_of(resolved, str(about["id"]), folder.place, options.limit)
    manifest = suite.manifest
    for warning in (
        unobserved(chosen.variables, manifest.component),
        outlook(manifest, chosen.forgetful),
        left_open(manifest),
    ):
        if warning:
            begun.say(warning)
    context = replace(
        chosen, only=part.only, failed=part.failed, controls=part.controls,
        first=options.wanted.first, known=options.baseline.known,
    )  # fmt: skip
    spent = _judge_all(suite, context, options, begun)
    extra: list[Json] = [canary.json() for canary in canaries.of_run(context)]
    counts = summary.collect(folder)
    counts.canaries += extra
    stale = stale_entries(folder, suite, entries, counts) if context.reference else ()
    intended = scope(suite, about, _asked(context, part))
    stopped = _stopped(folder)
    wish = options.wanted.option or LIMIT
    left = left_out(folder, replace(intended, wish=wish, stopped=stopped))
    record_failed(prepared.target, folder, options.baseline.known)
    found = run_findings(folder, given_states(folder, suite))
    findings, baseline = _with_baseline(found, options, left)
    changed = baseline.changed(found) if saw_all(left) else {}
    if options.shrink:
        findings = with_shrunk(findings, context, suite)
    inputs = summary.ConclusionInputs(
        tuple(entries), stale, options.strict, suite.manifest.vectors, left, findings, baseline,
        changed,
    )  # fmt: skip
    pairs = summary.distinct_pairs(folder)
    concluded = summary.conclude(counts, inputs, time.time() - began, pairs)
    concluded["older_charter"] = options.older
    concluded["small_suite"] = manifest.small
    concluded["continued"] = continued(about)
    concluded["judging_seconds"] = round(spent, 3)
    concluded["first_verdict_seconds"] = round(max(0.0, counts.first_verdict - began), 3)
    concluded["adapter_trouble"] = with_steps(adapter_trouble(folder), context.start, suite)
    keep(folder, suite, concluded)
    trusted = concluded["trusted"]
    folder.write_json("canaries.json", {"trusted": trusted, "canaries": counts.canaries})
    folder.finish(concluded)
    return Finished(folder, about, concluded, tuple(counts.canaries))


def _with_baseline(
    found: tuple[RunFinding, ...], options: RunOptions, left: Sequence[Left]
) -> tuple[tuple[RunFinding, ...], Baseline]:
    """The findings with the reasons that the baseline has for them, and the baseline, which is
    written first if the options ask for it. A run that did not ask all, or lost some, keeps what
    it did not see."""
    baseline = options.baseline
    if options.update_baseline:
        kept = () if saw_all(left) else baseline.stale(found)
        baseline = write_baseline(baseline, found, kept)
    return baseline.applied(found), baseline


def scope(suite: Suite, about: Mapping[str, Json], asked: int) -> ComparedScope:
    """The scope of a run that judges `asked` vectors of a suite."""
    shows, allowed = about["observes"], about["not_compared"]
    assert isinstance(shows, list) and isinstance(allowed, dict)
    hidden = [name for name in variables(suite) if name not in shows]
    reasons = {name: str(reason) for name, reason in allowed.items()}
    return ComparedScope(asked, suite.manifest.vectors - asked, hidden, reasons)


def stale_entries(
    folder: RunFolder, suite: Suite, entries: Mapping[str, str], counts: summary.RunCounts
) -> tuple[str, ...]:
    """The entries that explain no deviation although the target took the branches that they
    change."""
    unused = [entry for entry in entries if entry and not counts.by_entry[entry]]
    if not unused:
        return ()
    opaque = OpaqueTypes.of(suite.manifest.judged_types())
    models = {
        entry: Siblings(model.load(entries[entry]), same_state=False, opaque=opaque)
        for entry in unused
    }
    shows = folder.read_json("run.json")["observes"]
    assert isinstance(shows, list)
    wanted = variables(suite)
    all_shown = set(wanted) <= set(shows)
    observes = None if all_shown else tuple(name for name in wanted if name in shows)
    return tuple(overclaims.denied(overclaims.RunOutput(folder, suite, observes), models))


def _stopped(folder: RunFolder) -> bool:
    """Whether a bucket of a run with -x had a new finding."""
    return any(bucket.get("stopped") is True for bucket in folder.committed().values())


def _asked(context: RunContext, part: SuitePart) -> int:
    """How many vectors a run asks."""
    return sum(min(count, context.limit or count) for count in part.counts)


def _judge_all(suite: Suite, context: RunContext, options: RunOptions, begun: _Begun) -> float:
    """Judge the remaining buckets; returns the seconds this took."""
    folder = begun.folder
    done = set(folder.committed())
    left = [bucket for bucket in range(suite.buckets) if bucket not in done]
    stopped = _stopped(folder)
    for bucket in list(left):
        if stopped or not begun.part.counts[bucket]:
            empty_bucket(bucket, context)
            left.remove(bucket)
    if not left:
        begun.greeted.close()  # what follows may start others
        return 0.0
    folder.drop_notes()  # of a run that was killed
    try:
        return _judge(suite, left, context, options, begun)
    finally:
        folder.drop_notes()


def _judge(
    suite: Suite, buckets: list[int], context: RunContext, options: RunOptions, begun: _Begun
) -> float:
    """Judge some buckets with the engine of the run; returns the seconds this took."""
    title = f"{options.target} {context.start.release}".strip()
    with bar(title, _asked(context, begun.part), JudgedSoFar(begun.folder)) as progress:
        began = time.time()
        if begun.spark is None:
            inline.run(suite, buckets, context, progress, begun.greeted)
            return time.time() - began
        from conform.runs.engines import spark  # slow to import, and only needed here

        started = begun.spark.context()
        began = time.time()
        spark.run(started, suite, buckets, context, progress)
        return time.time() - began


def _greet(
    greeted: Connection, resolved: ResolvedRun, options: RunOptions, say: Callable[[str], None]
) -> dict[str, Json]:
    """The content of run.json, with what the adapter says in its hello."""
    suite, prepared, welcome = resolved.suite, resolved.prepared, greeted.welcome
    manifest, chosen = suite.manifest, prepared.target
    sources = sources_digests(chosen)
    check_hello(welcome, manifest)
    disagreed = disagreement(welcome, chosen)
    if disagreed:
        say(disagreed)
    name = "-".join(part for part in (chosen.id, prepared.release, manifest.digest[:8]) if part)
    return {
        "id": f"{name}-{options.limit}" if options.limit else name,
        "format": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": chosen.id,
        "found_by": found_by(chosen),
        "title": chosen.title,
        "release": prepared.release,
        "implementation": {"name": welcome.name, "version": welcome.version},
        "component": manifest.component,
        "protocol": manifest.protocol,
        "variant": manifest.variant,
        "observes": list(welcome.observes),
        "capabilities": [*sorted(welcome.capabilities)],
        "operations": [*sorted(welcome.operations)],
        "suite": manifest.digest,
        "suite_vectors": manifest.vectors,
        "suite_counts": dict(manifest.counts),
        "spec_digest": manifest.spec_digest,
        "overlay": chosen.overlay,
        "errors": dict(chosen.errors),
        "not_compared": dict(chosen.not_compared),
        "adapter": files_digest(chosen),
        "sources": None if sources is None else {**sources},
        "prepared": {**prepared_digests(prepared.files)},
        "engine": options.engine,
        "buckets": suite.buckets,
        "limit": options.limit,
        "command": list(options.command),
        **label_types(manifest),
    }


def label_types(manifest: Manifest) -> dict[str, Json]:
    """The types of a suite, by which labels may count and a report tells sequences from sets."""
    return {"types": dict(manifest.types)} if manifest.types else {}


def judged_with(suite: Suite, entries: Mapping[str, str]) -> dict[str, Json]:
    """What verdicts depend on besides suite and target: the models, and which entries apply."""
    module = suite.manifest.models.charter
    modules = sorted({module, *entries.values()} - {""})
    return {"models": model.digest(modules), "entries": dict(sorted(entries.items()))}


def context_of(resolved: ResolvedRun, name: str, place: str, limit: int = 0) -> RunContext:
    """The context of the run `name` in the folder `place`. Raises `Untrustworthy`."""
    suite = resolved.suite
    manifest = suite.manifest
    module = manifest.models.charter
    return RunContext(
        run=f"{name}-{time.time_ns():x}",
        place=place,
        start=resolved.prepared.start,
        model=module,
        entries=resolved.entries,
        variables=variables(suite),
        limit=-(-limit // suite.buckets),
        canaries=_canary_items(suite),
        forgetful=forgetful(suite) if module else {},
        started=time.time(),
        reference=model.is_of(module, manifest.spec_digest),
        folders=resolved.folders,
        files=adapter_files(resolved.prepared.target.folder, resolved.prepared.files),
        types=manifest.judged_types(),
    )


def _canary_items(suite: Suite) -> dict[str, tuple[VectorItem, ...]]:
    manifest = suite.manifest
    found = {}
    for mutant, module in manifest.models.mutants.items():
        ids = manifest.canaries.get(mutant, ())
        found[module] = tuple(item_of(suite.find(vector)) for vector in ids[: canaries.SAMPLE])
        if not found[module]:
            raise Untrustworthy(
                f"the suite names the mutant {mutant} and no vector that catches it; generate it"
                " again"
            )
    return found
