"""Judges the observations of an earlier run against another suite, without running the target.
Questions keep their ids when rules change, so each observation has a new answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from charter.formats.findings.crosschecks import is_crosscheck
from charter.formats.reading import own_list, own_number, own_object, texts
from charter.formats.run_description import RunDescription
from charter.formats.verdict import JUDGED, Kind, Verdict
from conform.adapters.base import AdapterStart
from conform.adapters.projects import model_folders
from conform.adapters.session import Judgement
from conform.console.errors import BadRun
from conform.judging import model
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts
from conform.judging.siblings import Siblings
from conform.judging.verdict import Assessment, VectorItem, assess
from conform.judging.visible_references import visible
from conform.runs import summary
from conform.runs.asked_vectors import AskedVectors, answer_again
from conform.runs.canaries.canaries import ANOTHER, derive_again, skip
from conform.runs.conclusion import Finished, name_several, scope, select_shown
from conform.runs.crosschecks.cross_counts import CrossCounts, read_possible
from conform.runs.earlier_target import folder_noted, target_or_noted
from conform.runs.engines.bucket import Tally, datasets, siblings, summarise
from conform.runs.entry_widths import allowing_both
from conform.runs.extent import extent_of_run
from conform.runs.findings.adapter_failures import adapter_trouble
from conform.runs.findings.baseline import NO_BASELINE, Baseline
from conform.runs.findings.entry_sets import SetModels
from conform.runs.findings.found_by_run import FoundByRun
from conform.runs.findings.limits import RunLimits
from conform.runs.findings.one_fault import one_fault
from conform.runs.followed.followed_counts import FollowedCounts
from conform.runs.followed.list_followed import list_hidden
from conform.runs.judged_rows import JudgedRows
from conform.runs.kept_vectors import keep
from conform.runs.not_compared import LIMIT, saw_all
from conform.runs.obligations import check_sections
from conform.runs.run_context import RunContext
from conform.runs.run_json import digest_models
from conform.runs.select import Ranges, models_of, no_ranges
from conform.runs.selection import SuiteFilter
from conform.runs.shrink import find_given_states
from conform.runs.touring.asked_transitions import certify
from conform.runs.walk_counts import OF_CROSSCHECKS, OF_FOLLOWED, OF_REMEMBERED, WalkCounts
from conform.storage.bucket_store import RunFolder
from conform.storage.observations import observations
from conform.storage.tables import DEVIATIONS, OF_WALKS
from conform.suites.cache import Suite


@dataclass(frozen=True, slots=True)
class _Rejudging:
    """A rejudging from the run `old` to the run `new`."""

    old: RunFolder
    new: RunFolder
    about: RunDescription
    suite: Suite
    context: RunContext
    observes: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class RejudgeOptions:
    """The options of judging again, into the folder `out`; `older`: by what, if the suite is not of
    the charter of the project as it is now; `suite` is what the caller calls the suite;
    `set_models`: as in `RunOptions`."""

    out: str
    baseline: Baseline = NO_BASELINE
    older: str = ""
    suite: str = ""
    set_models: SetModels | None = None


def rejudge(
    earlier: str, suite: Suite, options: RejudgeOptions, ranges: Ranges = no_ranges
) -> Finished:
    """Judge the observations of the run `earlier` against `suite`. Canaries and broken batches are
    taken from the earlier run. Raises `BadRun`."""
    began = time.time()
    old = RunFolder(str(Path(earlier).resolve()))
    old.check()
    before, canaries = old.read_run(), old.read_json("canaries.json")
    manifest = suite.manifest
    if (before.protocol, before.component) != (manifest.protocol, manifest.component):
        raise BadRun(f"{earlier} is a run about another component than the suite")
    new = _fresh(options.out)
    judged_target, is_there = target_or_noted(Path(old.place), before)
    beside = judged_target.folder if is_there else Path(old.place)
    model.use_folders(model_folders(manifest.models.charter, options.suite, beside))
    check_sections(manifest)
    entries = models_of(manifest, judged_target, before.release, ranges)
    if not is_there:  # nobody knows the releases of its entries
        entries = {name: one for name, one in entries.items() if name in before.entries}
    about = replace(
        before,
        id=f"{before.id}-as-{manifest.digest[:8]}",
        suite=manifest.digest,
        suite_vectors=manifest.vectors,
        suite_counts=manifest.counts,
        spec_digest=manifest.spec_digest,
        rejudged=before.id,
        folder=folder_noted(judged_target, new.place) if is_there else before.folder,
        limits=judged_target.limits_of(before.release) if is_there else before.limits,
        types=manifest.types,
        entries=dict(sorted(entries.items())),
        models=digest_models(suite, entries),
        not_compared=judged_target.not_compared,
        hidden=() if before.limit or before.selection else list_hidden(suite, before.observes),
    )
    new.write_run(about)
    module = manifest.models.charter
    same = model.is_of(module, manifest.spec_digest)
    context = RunContext(
        about.id, new.place, AdapterStart(()), model=module, entries=entries,
        reference=same, types=manifest.read_types(),
    )  # fmt: skip
    job = _Rejudging(old, new, about, suite, context, select_shown(before, suite))
    judged, vectors = _all_buckets(job), AskedVectors(suite, new)
    counts = name_several(summary.collect(new), vectors, options.set_models, job)
    counts.canaries = [*own_list(canaries["canaries"]), *counts.canaries]
    counts.canaries += [] if same else [skip("judging again", ANOTHER).json()]
    _take_breaks(old, counts)
    intended = scope(suite, about, judged if about.limit or about.selection else manifest.vectors)
    rows, intended = JudgedRows.of(new), replace(intended, wish=_wish(about))
    of_suite = rows.of_suite(about.suite_buckets)
    extent = extent_of_run(new, suite, intended, of_suite.verdicts, options.older)
    starts, whole = find_given_states(of_suite.deviations, suite), saw_all(extent.left)
    found = FoundByRun.of(rows, of_suite, starts, RunLimits.of(about))
    changed = options.baseline.find_changed(found.of_suite, manifest.digest, whole=whole)
    inputs = summary.ConclusionInputs(
        tuple(entries), (), False, extent, options.baseline.apply(found.all), options.baseline,
        changed, manifest.digest,
        allowing_both=allowing_both(counts.entry_steps, module, judged_target.overlay),
        hidden=about.hidden, possible=read_possible(old.read_json("summary.json")),
    )  # fmt: skip
    concluded = summary.conclude(counts, inputs, time.time() - began, summary.distinct_pairs(new))
    concluded["one_fault"] = one_fault(rows.deviations, extent.judged)
    concluded["adapter_trouble"] = adapter_trouble(rows.verdicts, intended.allowed)
    keep(vectors, concluded, rows.verdicts)
    concluded |= certify(manifest, concluded) | {"not_observed": manifest.vectors - judged}
    new.write_json("canaries.json", {"trusted": concluded["trusted"], "canaries": counts.canaries})
    new.finish(concluded)
    return Finished(new, about, concluded, tuple(counts.canaries))


def _wish(about: RunDescription) -> str:
    """The option with which the caller of the run left vectors out."""
    chosen = about.selection
    if not chosen:
        return LIMIT
    wanted = SuiteFilter(str(chosen["branch"]), bool(chosen["last_failed"]))
    return wanted.option or "-x"


def _take_breaks(old: RunFolder, counts: summary.RunCounts) -> None:
    """Take the broken batches from the earlier run; an old run may not have recorded them."""
    earlier = old.read_json("summary.json")
    counts.broken_batches = own_number(earlier.get("broken_batches", 0))
    counts.unexplained_breaks = [*texts(earlier.get("unexplained_breaks", []))]


def _fresh(out: str) -> RunFolder:
    place = Path(out).resolve()
    if place.exists() and any(place.iterdir()):
        raise BadRun(f"{out} is not empty; choose another folder with --out")
    return RunFolder(str(place))


def _all_buckets(job: _Rejudging) -> int:
    """Judge all buckets of the old run; returns the number of vectors."""
    same = job.about.suite_buckets == job.suite.buckets
    every = {} if same else _items(job.suite, range(job.suite.buckets))
    judged = 0
    for bucket in job.old.buckets_done():
        if bucket >= job.about.suite_buckets:
            _walks(job, bucket)
            continue
        items = _items(job.suite, (bucket,)) if same else every
        judged += _bucket(job, bucket, items)
    return judged


def _items(suite: Suite, buckets: range | tuple[int, ...]) -> dict[str, VectorItem]:
    return {item.id: item for bucket in buckets for item in suite.items(bucket)}


def _bucket(job: _Rejudging, bucket: int, items: Mapping[str, VectorItem]) -> int:
    began = time.time()
    judge, models, tally = _judge(job), siblings(job.context), Tally()
    seen = _add_observed(job, bucket, items, (tally, judge, models))
    for item, verdict in _without_observation(job, bucket, items):
        if item.id not in seen:
            seen.add(item.id)
            tally.add(Judgement((item,), (Assessment(verdict),)))
    content = summarise(
        tally, bucket, began, derive_again(job.context, tally.drawn, f"bucket {bucket}")
    )
    job.new.commit(bucket, datasets(tally, job.context), content)
    return len(seen)


def _add_observed(
    job: _Rejudging, bucket: int, items: Mapping[str, VectorItem],
    by: tuple[Tally, Judge, Siblings | None],
) -> set[str]:  # fmt: skip
    """Judge the vectors of which the old run has observations; returns their ids."""
    tally, judge, models = by
    seen: set[str] = set()
    for observed in observations(job.old, bucket):
        batch = BatchTexts.of(observed.results, job.observes)
        pairs = [
            (visible(items[result.id], judge, models), result)
            for result in observed.results.results
            if result.id in items
        ]
        found = [assess(item, result, batch, judge, models) for item, result in pairs]
        kept = tuple(item for item, _ in pairs)
        seen.update(item.id for item in kept)
        if kept:
            tally.add(Judgement(kept, tuple(found), observed.line))
    return seen


def _walks(job: _Rejudging, bucket: int) -> None:
    """Judge what is kept whole of a bucket of walks, of questions that go on or of remembered ones,
    each with the answer of today's model."""
    began, tally, judge, models = time.time(), Tally(), _judge(job), siblings(job.context)
    counts: WalkCounts | FollowedCounts | CrossCounts
    before = job.old.commit_of(bucket)
    if OF_CROSSCHECKS in before:
        counts = tally.crosschecks = CrossCounts()
        counts.join({"checks": own_object(before[OF_CROSSCHECKS])["checks"]})
        _take_over(job, bucket, tally)
    elif OF_FOLLOWED in before:
        counts = tally.followed = FollowedCounts()
        if job.old.read_run().spec_digest == job.about.spec_digest:  # it was searched by this one
            counts.join({**own_object(before[OF_FOLLOWED]), "verdicts": {}})
    else:
        is_walk = OF_REMEMBERED not in before
        counts = tally.walks = WalkCounts() if is_walk else WalkCounts(OF_REMEMBERED)
    every = job.old.bucket(OF_WALKS, bucket).to_pylist()
    charter, opaque = model.load(job.context.model), job.context.opaque
    items = {row["id"]: answer_again(row, charter, opaque) for row in every if row["question"]}
    known = {name: item for name, item in items.items() if item is not None}
    _add_observed(job, bucket, known, (tally, judge, models))
    for item, verdict in _without_observation(job, bucket, known):
        if verdict.kind not in JUDGED:
            tally.add(Judgement((item,), (Assessment(verdict),)))
    kept = [(row, known[row["id"]]) for row in every if row["id"] in known]
    for row, again in kept:
        texts = (text.decode() for text in (again.question, again.answer, again.why))
        counts.rows.add(again.id, row["walk"], row["steps"], row["varies"], again.needs, *texts)
    if isinstance(counts, WalkCounts):
        held = {"walks": len(kept), "not_kept": len(every) - len(kept), "kept": len(known)}
        counts.counts.update({"steps": tally.judged, **held})
    counts.verdicts.update({str(kind): count for kind, count in tally.kinds.items()})
    job.new.commit(bucket, datasets(tally, job.context), summarise(tally, bucket, began, []))


def _take_over(job: _Rejudging, bucket: int, tally: Tally) -> None:
    """Take over what cross-checks showed: a run does not keep the shorter questions."""
    for row in job.old.bucket("deviations", bucket).to_pylist():
        if is_crosscheck(row["branch"]):
            tally.deviations.add(*(row[name] for name in DEVIATIONS.names))
            tally.deviating[row["branch"]] += 1
            tally.entries[row["entry"]] += 1
            tally.new += not row["entry"]


def _judge(job: _Rejudging) -> Judge:
    """A judge with the claims of the earlier run's adapter."""
    offers = [*job.about.operations, *job.about.capabilities]
    return Judge(job.observes, offers, job.context.types)


def _without_observation(
    job: _Rejudging, bucket: int, items: Mapping[str, VectorItem]
) -> list[tuple[VectorItem, Verdict]]:
    """The verdicts without observations, which are kept."""
    rows = job.old.bucket("verdicts", bucket, ["id", "kind", "detail"]).to_pylist()
    return [
        (items[row["id"]], Verdict(row["id"], Kind(row["kind"]), row["detail"]))
        for row in rows
        if row["id"] in items
    ]
