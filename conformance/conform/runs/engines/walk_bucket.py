"""Makes the walks of one block on a target, and commits them as a bucket of the run; shared by all
engines."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from charter.formats.canonical import Json
from charter.formats.verdict import Kind
from conform.adapters.session import Judgement, Session
from conform.console.errors import BadSuite
from conform.judging import model
from conform.judging.verdict import VectorItem
from conform.runs.canaries.canaries import of_worker, on_target
from conform.runs.canaries.walk_canaries import list_cut
from conform.runs.engines.bucket import (
    Pool,
    Tally,
    breaks,
    datasets,
    shows_new,
    siblings,
    summarise,
)
from conform.runs.engines.progress_notes import BucketNotes
from conform.runs.run_context import RunContext
from conform.runs.walk_counts import WalkCounts
from conform.storage.bucket_store import RunFolder
from conform.walks.block import (
    BlockLimits,
    JudgedWalk,
    WalkTarget,
    find_answer,
    is_kept_anyway,
    walk_block,
)
from conform.walks.joined_results import join_results

_GOOD_KINDS = frozenset({Kind.CONFORMS, Kind.INCONCLUSIVE})


def judge_walks(bucket: int, context: RunContext, pool: Pool) -> dict[str, Json]:
    """Make the walks of the block that is a bucket, write and commit its datasets, and return its
    summary. Raises `CannotStart`, `CannotWrite`, `BadSuite`, `Incomplete` and `ModelBug`."""
    began = time.time()
    session, fresh = pool.session(context)
    plan, folder = context.walks, RunFolder(context.place)
    numbers = plan.numbers(bucket - context.suite_buckets)
    until = context.started + plan.seconds if plan.seconds else 0.0
    found = walk_block(
        walk_target(session, context), plan, numbers, BlockLimits(until),
        BucketNotes(folder, bucket),
    )  # fmt: skip
    tally, counts = Tally(), WalkCounts()
    tally.walks = counts
    vectors = [walk for walk in found.walks if not walk.repeats]
    kept = [walk for walk in vectors if is_kept(walk)]
    judgements = [_join(kept), _join([walk for walk in vectors if not is_kept(walk)], "")]
    for judgement in judgements:
        tally.add(judgement)
        tally.watch(judgement)
        tally.stop |= context.first and (breaks(judgement) or shows_new(judgement, context.known))
    for walk in found.walks:
        _count(counts, walk)
    counts.counts.update({"performed": found.performed, "cut": found.cut})
    where = f"walks {numbers.start} to {numbers.stop - 1}"
    usable = _with_answers(tally.usable or list_cut(found.walks), context, session)
    canaries = on_target(session, usable, where) if found.walks else []
    if fresh:
        sample = [*_with_answers(tally.sample, context, session)]
        canaries += of_worker(context, sample, f"worker of {where}")
    tally.broken = [*found.broken, *session.take_broken()]
    summary = summarise(tally, bucket, began, canaries)
    folder.commit(bucket, datasets(tally, context), summary)
    return summary


def walk_target(session: Session, context: RunContext) -> WalkTarget:
    """What walks of a run need. Raises `BadSuite` for a suite without a model or without types."""
    models = siblings(context)
    if models is None or context.types is None:
        raise BadSuite(
            "walks need the model of the charter and the types of its suite; run `conform generate`"
        )
    consts = frozenset(context.start.consts)
    return WalkTarget(
        session, models, context.types, consts, context.component, context.prefixes,
        context.followed.hidden,
    )  # fmt: skip


def is_kept(walk: JudgedWalk) -> bool:
    """Whether a walk is kept whole: one that does not conform, and some of the others. Of those
    that repeat each other the first is."""
    good = walk.assessment.verdict.kind in _GOOD_KINDS
    return not walk.repeats and (not good or is_kept_anyway(walk.number))


def _with_answers(
    items: Sequence[VectorItem], context: RunContext, session: Session
) -> Iterator[VectorItem]:
    """Vectors of walks with the model's whole answers, as far as it has any."""
    charter = model.load(context.model)
    found = (find_answer(item, charter, session.judge) for item in items)
    return (item for item in found if item is not None)


def _join(walks: Sequence[JudgedWalk], line: str | None = None) -> Judgement:
    """Walks as one batch; with a `line` of "" it has no observations."""
    results = [(walk.item.id, walk.result) for walk in walks if walk.result is not None]
    text = join_results(results)[1] if line is None and results else b""
    return Judgement(
        tuple(walk.item for walk in walks), tuple(walk.assessment for walk in walks), text
    )


def _count(counts: WalkCounts, walk: JudgedWalk) -> None:
    kept, item = is_kept(walk), walk.item
    counts.counts.update({
        "walks": 1, "steps": walk.assessment.verdict.judged, "varying": walk.varies, "kept": kept,
        "shortened": walk.shortened, "astray": walk.astray,
    })  # fmt: skip
    counts.verdicts[str(walk.assessment.verdict.kind)] += 1
    texts = (item.question, item.answer, item.why) if kept else (b"", b"", b"")
    shown = (text.decode() for text in texts)
    counts.rows.add(item.id, walk.number, walk.steps, walk.varies, item.needs, *shown)
