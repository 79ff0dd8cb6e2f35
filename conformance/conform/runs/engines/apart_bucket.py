"""Judges a bucket of a run that has no vectors of its suite; shared by all engines."""

from __future__ import annotations

from charter.formats.canonical import Json
from conform.runs.engines.bucket import Pool
from conform.runs.engines.cross_bucket import judge_crosschecks
from conform.runs.engines.followed_bucket import judge_followed
from conform.runs.engines.remembered_bucket import judge_remembered
from conform.runs.engines.walk_bucket import judge_walks
from conform.runs.run_context import RunContext, RunPart


def judge_apart(bucket: int, context: RunContext, pool: Pool) -> dict[str, Json]:
    """Judge what is in a bucket behind those of the suite, and return its summary. Raises
    `CannotStart`, `CannotWrite`, `BadSuite`, `Incomplete` and `ModelBug`."""
    match context.find_part(bucket):
        case RunPart.REMEMBERED:
            return judge_remembered(bucket, context, pool)
        case RunPart.FOLLOWED:
            return judge_followed(bucket, context, pool)
        case RunPart.CROSSCHECKS:
            return judge_crosschecks(bucket, context, pool)
        case RunPart.WALKS:
            return judge_walks(bucket, context, pool)
        case RunPart.SUITE:
            raise AssertionError(f"bucket {bucket} has vectors of the suite")
