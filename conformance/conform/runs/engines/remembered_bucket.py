"""Judges the questions that failed in earlier runs, as the last bucket of a run, which comes
first; shared by all engines."""

from __future__ import annotations

import time

import orjson

from charter.formats.canonical import Json
from charter.formats.reading import own_list
from conform.adapters.session import BATCH
from conform.runs.engines.bucket import (
    Pool,
    Tally,
    breaks,
    datasets,
    shows_new,
    summarise,
)
from conform.runs.run_context import RunContext
from conform.runs.walk_counts import OF_REMEMBERED, WalkCounts
from conform.storage.bucket_store import RunFolder

NO_WALK = -1
"""The number of a remembered question in the dataset of the walks."""


def judge_remembered(bucket: int, context: RunContext, pool: Pool) -> dict[str, Json]:
    """Judge the remembered questions of a run, write and commit their datasets, and return their
    summary. They are too few for canaries: those of the suite speak for them. Raises
    `CannotStart`, `CannotWrite`, `BadSuite` and `Incomplete`."""
    began = time.time()
    session = pool.open(context)
    tally, counts = Tally(), WalkCounts(OF_REMEMBERED)
    tally.walks = counts
    for judgement in session.run(context.remembered, 1 if context.first else BATCH):
        if tally.stop:
            continue  # it was on its way when the first finding was shown
        tally.add(judgement)
        tally.watch(judgement)
        tally.stop |= context.first and (breaks(judgement) or shows_new(judgement, context.known))
        for item, assessment in zip(judgement.items, judgement.assessments, strict=True):
            calls = len(own_list(orjson.loads(item.question)["operations"]))
            counts.counts.update({"walks": 1, "steps": assessment.verdict.judged, "kept": 1})
            counts.verdicts[str(assessment.verdict.kind)] += 1
            texts = (text.decode() for text in (item.question, item.answer, item.why))
            counts.rows.add(item.id, NO_WALK, calls, False, item.needs, *texts)
    tally.broken = session.take_broken()
    summary = summarise(tally, bucket, began, [])
    RunFolder(context.place).commit(bucket, datasets(tally, context), summary)
    return summary
