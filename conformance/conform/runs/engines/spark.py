"""Judges on Spark, local or on a cluster: Parquet in, one adapter for each Python worker.

A run is one job over the remaining buckets; a bucket is a file, a partition and a task. The task
reads it, judges it, writes its datasets and commits it, so that a stopped run can be resumed. The
same code serves `local[*]` and a cluster, whose workers share with this machine only the run's
folder, which is a URI: they are sent the rest.
"""

from __future__ import annotations

import base64
import re
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
from pyspark import RDD, SparkContext, SparkFiles

from conform.console import errors
from conform.console.errors import ConformError, Incomplete
from conform.runs.engines.apart_bucket import judge_apart
from conform.runs.engines.bucket import judge_bucket, worker_pool
from conform.runs.engines.cluster import ClusterWatch, is_local, why_lost
from conform.runs.engines.shipping import Shipment, pack
from conform.runs.run_context import RunContext
from conform.suites.cache import Suite
from conform.suites.shared import SharedBucket, copy_buckets, in_cache, remove_copies

_POLL_SECONDS = 0.3
_CANCEL_SECONDS = 10.0
_TOKEN = re.compile(r"\[conform:([A-Za-z0-9+/]+=*)\]")


def run(
    sent: SparkContext,
    suite: Suite,
    buckets: Sequence[int],
    context: RunContext,
    progress: Callable[[], None],
) -> None:
    """Judge `buckets` of the suite. Raises what a worker raised, as its own kind of error."""
    master = str(sent.master)
    local = is_local(master)
    of_suite = [bucket for bucket in buckets if bucket < suite.buckets]
    if local:
        job, shared = _BucketJob(context), in_cache(suite, of_suite)
    else:
        archive, shipment = pack(context)
        sent.addFile(str(archive))
        job, shared = _BucketJob(context, shipment), copy_buckets(suite, of_suite, context.place)
    try:
        watch = None if local else ClusterWatch(master, lambda: _workers(sent))
        apart = [bucket for bucket in buckets if bucket >= suite.buckets]
        first = [bucket for bucket in apart if bucket == context.last_bucket]
        tasks: list[SharedBucket | int] = [*first, *shared, *apart[: len(apart) - len(first)]]
        _collect(sent.parallelize(tasks, len(tasks)).map(job), progress, watch)
    finally:
        if not local:
            remove_copies(context.place)


def _collect(tasks: RDD[str], progress: Callable[[], None], watch: ClusterWatch | None) -> None:
    """Do the tasks of a run. Raises what a worker raised, as its own kind of error, and
    `Incomplete` if no worker is left."""
    failed: list[Exception] = []

    def collect() -> None:
        try:
            tasks.collect()
        except Exception as error:  # of many kinds: py4j's, pyspark's
            failed.append(_as_ours(error))

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_POLL_SECONDS)
            progress()
            if watch is not None:
                watch.look()
    except (KeyboardInterrupt, ConformError):
        tasks.context.cancelAllJobs()
        thread.join(_CANCEL_SECONDS)
        raise
    if failed:
        raise failed[0]


def _workers(context: SparkContext) -> int:
    """How many executors the cluster runs for us."""
    scala = context._jsc.sc()
    return int(scala.getExecutorMemoryStatus().size()) - 1  # one is the driver


class _BucketJob:
    """What Spark sends to its workers, and they do with each bucket; `shipment` is what they were
    sent besides, None on this machine."""

    def __init__(self, context: RunContext, shipment: Shipment | None = None) -> None:
        self.context = context
        self.shipment = shipment

    def __call__(self, shared: SharedBucket | int) -> str:
        """The summary of the bucket as JSON; one that is only a number has no vectors of the suite.
        Raises RuntimeError with the error as a token."""
        try:
            context, shipment = self.context, self.shipment
            if shipment is not None:
                context = shipment.receive(context, Path(SparkFiles.get(shipment.archive)))
            if isinstance(shared, int):
                summary = judge_apart(shared, context, worker_pool())
            else:
                summary = judge_bucket(shared.items(), shared.bucket, context, worker_pool())
            return orjson.dumps(summary).decode()
        except Exception as error:
            raise RuntimeError(as_token(error)) from None


class WorkerBug(Exception):
    """The traceback of an exception in a worker that is not a `ConformError`."""


def as_token(error: Exception) -> str:
    """An error as one word of base64, which can be found in the text that Spark adds."""
    ours = isinstance(error, ConformError)
    told = str(error) if ours else "".join(traceback.format_exception(error))
    content = orjson.dumps({"kind": type(error).__name__ if ours else "", "told": told})
    return f"[conform:{base64.b64encode(content).decode()}]"


def _as_ours(error: Exception) -> Exception:
    """The error of a worker, extracted from Spark's text."""
    found = _TOKEN.search(str(error))
    if not found:
        return Incomplete(why_lost(str(error)))
    content: dict[str, str] = orjson.loads(base64.b64decode(found[1]))
    if not content["kind"]:
        return WorkerBug(f"in a worker of Spark:\n{content['told']}")
    kind = getattr(errors, content["kind"], Incomplete)
    made: ConformError = kind(content["told"])
    return made
