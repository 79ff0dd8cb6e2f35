"""Tries the cross-checks of a target, and commits them as a bucket of the run; shared by all
engines."""

from __future__ import annotations

import time

import orjson

from charter.formats.canonical import Json
from charter.formats.reading import own_calls
from charter.formats.verdict import JUDGED, Severity
from conform.adapters.session import BATCH, Judgement
from conform.judging.model import load
from conform.runs.canaries.canaries import on_target
from conform.runs.crosschecks.cross_counts import CrossCounts, CrossNumber
from conform.runs.crosschecks.cross_judge import CrossJudge
from conform.runs.crosschecks.cross_questions import (
    CrossQuestion,
    CrossQuestionMaker,
    ExpectedOtherwise,
)
from conform.runs.engines.bucket import Pool, Tally, breaks, datasets, shows_new, summarise
from conform.runs.engines.remembered_bucket import NO_WALK
from conform.runs.run_context import RunContext
from conform.storage.bucket_store import RunFolder


def judge_crosschecks(bucket: int, context: RunContext, pool: Pool) -> dict[str, Json]:
    """Try the places of a bucket, write and commit its datasets, and return its summary. Raises
    `CannotStart`, `CannotWrite`, `BadSuite`, `Incomplete` and `ModelBug`."""
    began = time.time()
    session = pool.open(context)
    tally, counts = Tally(), CrossCounts()
    tally.crosschecks = counts
    made = _make(context, bucket - context.first_crosscheck, counts)
    by_id = {one.item.id: one for one in made}
    judge = CrossJudge(session)
    for judgement in judge.judge(made, 1 if context.first else BATCH):
        tally.add(judgement)
        tally.watch(judgement)
        _count(counts, judgement, by_id, judge.not_compared)
        tally.stop |= context.first and (breaks(judgement) or shows_new(judgement, context.known))
    for check, count in judge.left_open.items():
        counts.count(check, CrossNumber.OPEN, count)
    counts.verdicts.update({str(kind): count for kind, count in tally.kinds.items()})
    where = f"cross-checks of bucket {bucket}"
    canaries = on_target(session, tally.usable, where) if made else []
    tally.broken = session.take_broken()
    summary = summarise(tally, bucket, began, canaries)
    RunFolder(context.place).commit(bucket, datasets(tally, context), summary)
    return summary


def _make(context: RunContext, block: int, counts: CrossCounts) -> list[CrossQuestion]:
    """The questions of a block, each once."""
    plan = context.crosschecks
    maker = CrossQuestionMaker(load(context.model), context.opaque)
    made: dict[str, CrossQuestion] = {}
    for tried in plan.of_block(block):
        counts.count(tried.check, CrossNumber.TRIED)
        found = maker.make(plan.checks[tried.check], tried, plan.sources[tried.source])
        match found:
            case None:
                counts.count(tried.check, CrossNumber.WITHOUT_ANSWER)
            case ExpectedOtherwise():
                counts.count(tried.check, CrossNumber.OTHERWISE)
            case CrossQuestion() if found.item.id in made:
                counts.count(tried.check, CrossNumber.SAME_QUESTION)
            case CrossQuestion():
                made[found.item.id] = found
    return [*made.values()]


def _count(
    counts: CrossCounts, judgement: Judgement, made: dict[str, CrossQuestion], lost: set[str]
) -> None:
    for item, assessment in zip(judgement.items, judgement.assessments, strict=True):
        check = made[item.id].check
        grave = (Severity.FAULT, Severity.IMAGE) if check.deltas else (Severity.FAULT,)
        shown = [
            one
            for one in assessment.verdict.deviations
            if one.branch == check.rule or one.severity in grave
        ]
        if assessment.verdict.kind not in JUDGED or (item.id in lost and not shown):
            counts.count(check.name, CrossNumber.NOT_JUDGED)
        else:
            counts.count(check.name, CrossNumber.FAILS if shown else CrossNumber.HOLDS)
        if shown and all(one.entries for one in shown):
            counts.count(check.name, CrossNumber.EXPLAINED)
        texts = (text.decode() for text in (item.question, item.answer, item.why))
        calls = len(own_calls(orjson.loads(item.question)))
        counts.rows.add(item.id, NO_WALK, calls, False, item.needs, *texts)
