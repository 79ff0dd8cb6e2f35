"""The inline engine: judges bucket after bucket in this process; for debugging and small suites."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.console.interrupts import interrupts_remembered
from conform.runs.engines.bucket import Pool, judge_bucket
from conform.runs.engines.context import RunContext
from conform.suites.cache import Suite


def run(
    suite: Suite, buckets: Sequence[int], context: RunContext, progress: Callable[[], None]
) -> None:
    """Judge and commit each of `buckets`, calling `progress` after each."""
    pool = Pool()
    try:
        with interrupts_remembered() as check:
            for bucket in buckets:
                judge_bucket(suite.items(bucket), bucket, context, pool)
                progress()
                check()
    finally:
        pool.close()
