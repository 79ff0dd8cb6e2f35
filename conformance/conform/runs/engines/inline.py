"""The inline engine: one process, bucket after bucket, for debugging and small suites."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.runs.engines.bucket import Pool, judge_bucket
from conform.runs.engines.context import RunContext
from conform.suites.cache import Suite


def run(
    suite: Suite, buckets: Sequence[int], context: RunContext, progress: Callable[[], None]
) -> None:
    """Judge `buckets`; each is committed by itself, and `progress` is called after it."""
    pool = Pool()
    try:
        for bucket in buckets:
            judge_bucket(suite.items(bucket), bucket, context, pool)
            progress()
    finally:
        pool.close()
