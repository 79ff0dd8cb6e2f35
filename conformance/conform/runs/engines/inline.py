"""Judges bucket after bucket in this process: the inline engine, for debugging and small suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from conform.adapters.base import Connection
from conform.adapters.session import BATCH
from conform.console.interrupts import interrupts_remembered
from conform.judging.verdict import VectorItem
from conform.runs.engines.apart_bucket import judge_apart
from conform.runs.engines.bucket import Pool, empty_bucket, judge_bucket
from conform.runs.run_context import RunContext
from conform.suites.cache import Suite, bucket_of


def run(
    suite: Suite,
    buckets: Sequence[int],
    context: RunContext,
    progress: Callable[[], None],
    greeted: Connection | None = None,
) -> None:
    """Judge and commit each of `buckets`, calling `progress` from time to time. An adapter that was
    `greeted` is the first that is asked."""
    pool = Pool(greeted=greeted)
    try:
        with interrupts_remembered() as check:
            stopped = False
            ordered = _put_failed_first(buckets, context.failed, suite.buckets)
            for bucket in sorted(ordered, key=lambda one: one != context.last_bucket):
                if stopped:
                    empty_bucket(bucket, context)
                    continue
                if bucket >= suite.buckets:
                    summary = judge_apart(bucket, context, pool)
                else:
                    items = _watch(_items(suite, bucket, context.failed), progress)
                    summary = judge_bucket(items, bucket, context, pool)
                stopped = summary["stopped"] is True
                progress()
                check()
    finally:
        pool.close()


def _put_failed_first(buckets: Sequence[int], failed: frozenset[str], count: int) -> list[int]:
    """The buckets, those with vectors that failed before at the beginning."""
    before = {bucket_of(vector, count) for vector in failed}
    return sorted(buckets, key=lambda bucket: bucket not in before)


def _watch(items: Iterable[VectorItem], progress: Callable[[], None]) -> Iterator[VectorItem]:
    for number, item in enumerate(items, 1):
        yield item
        if not number % BATCH:
            progress()


def _items(suite: Suite, bucket: int, failed: frozenset[str]) -> Iterator[VectorItem]:
    """The vectors of a bucket, those that failed before at the beginning."""
    if failed:
        yield from (item for item in suite.items(bucket) if item.id in failed)
    yield from (item for item in suite.items(bucket) if item.id not in failed)
