"""The engine on Spark, local or on a cluster: Parquet in, one adapter for each Python worker.

A run is one job over the remaining buckets; a bucket is a file, a partition and a task. The task
reads it, judges it, writes its datasets and commits it, so that a stopped run can be resumed. The
same code serves `local[*]` and a cluster, whose workers share with this machine only the run's
folder, which is a URI: they are sent the rest.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import orjson
from pyspark import RDD, SparkContext, SparkFiles
from pyspark.sql import SparkSession

from conform.adapters.targets import python_path
from conform.console import errors
from conform.console.errors import ConformError, Incomplete, MissingEngine
from conform.console.interrupts import interrupts_later
from conform.runs.engines.bucket import judge_bucket, worker_pool
from conform.runs.engines.cluster import ClusterWatch, address_of, is_local, why_lost
from conform.runs.engines.context import RunContext
from conform.runs.engines.shipping import Shipment, packed, packed_packages
from conform.suites.cache import Suite
from conform.suites.shared import SharedBucket, copied, in_cache, remove_copies

_POLL_SECONDS = 0.3
_ATTEMPTS = "4"
"""How often a task is tried on a cluster: a worker that dies must not end the run."""
_CANCEL_SECONDS = 10.0
_END_SECONDS = 20.0
_CHATTER = ("WARN", "INFO", "NOTE", "SLF4J", "Using Spark", "Setting default", "\tat ")
_TOKEN = re.compile(r"\[conform:([A-Za-z0-9+/]+=*)\]")
_GRAVE = re.compile(r"\w(Exception|Error)\b|not (set|found)")
_JAVA = ("JAVA_HOME", "UnsupportedClassVersion", "java: ", "JAVA_GATEWAY_EXITED", "java not found")


def session(master: str, instead: str = "--engine inline") -> SparkSession:
    """A Spark session. Raises `MissingEngine` if Java is missing or does not start, or the master
    does not answer; `instead` names the alternative for the message."""
    here = "127.0.0.1" if is_local(master) else address_of(master, instead)
    os.environ.update(python_path())
    if is_local(master):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    if next(filter(None, names), "C") in ("C", "POSIX"):
        os.environ["LC_ALL"] = "C.UTF-8"  # else Java cannot open a path that is not ASCII
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    quiet = Path(__file__).with_name("log4j2.properties")
    settings = {
        "spark.speculation": "false",
        "spark.task.maxFailures": "1" if is_local(master) else _ATTEMPTS,
        "spark.python.worker.reuse": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": tempfile.gettempdir(),
        "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={quiet}"'
        f' "-Djava.io.tmpdir={tempfile.gettempdir()}"',
        **({"spark.driver.bindAddress": here, "spark.driver.host": here} if here else {}),
    }
    builder = SparkSession.builder.appName("conform").master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    said: list[str] = []
    try:
        # If pyspark gives up on a JVM that is still starting, the JVM loses the file for its port
        # and never ends; one that has started ends with this process.
        with interrupts_later(), _aside(said):
            made: SparkSession = builder.getOrCreate()
    except Exception as error:  # pyspark raises many kinds, up to plain RuntimeError
        raise MissingEngine(why_not(said, error, instead)) from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # pyspark's own prints tracebacks
    atexit.register(_end_jvm, made)
    made.sparkContext.setLogLevel("OFF")
    if not is_local(master):
        made.sparkContext.addPyFile(str(packed_packages()))
    return made


def _end_jvm(made: SparkSession) -> None:
    """At the end of this process: end the JVM and wait for it, so that it removes its files. A JVM
    that is still busy is killed."""
    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    with contextlib.suppress(Exception):  # of py4j, if the JVM is gone or does not answer
        made.stop()
    if process is None or process.stdin is None:
        return
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def why_not(said: Sequence[str], error: Exception, instead: str = "--engine inline") -> str:
    """Why Spark did not start, from the lines that the JVM wrote: one sentence with a remedy."""
    lines = [line.strip() for line in said if not line.startswith(_CHATTER)]
    old = [line for line in lines if any(word in line for word in _JAVA)]
    grave = [line for line in lines if _GRAVE.search(line)]
    reason = next(iter((*old, *grave, *lines)), "") or _first_line(error)
    reason = reason.removeprefix('Exception in thread "main" ')[:200].rstrip(".")
    java = any(word in reason for word in _JAVA)
    remedy = "it needs Java 17 or newer (set JAVA_HOME)" if java else "see --master"
    return f"Spark did not start ({reason}); {remedy}, or use {instead}"


@contextlib.contextmanager
def _aside(said: list[str]) -> Iterator[None]:
    """A context in which a starting JVM writes its stderr to a file; its lines are added to
    `said`."""
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            said += file.read().decode("utf-8", "replace").strip().splitlines()


def run(
    spark: SparkSession,
    suite: Suite,
    buckets: Sequence[int],
    context: RunContext,
    progress: Callable[[], None],
) -> None:
    """Judge `buckets` of the suite. Raises what a worker raised, as its own kind of error."""
    sent = spark.sparkContext
    master = str(sent.master)
    local = is_local(master)
    if local:
        job, shared = _Job(context), in_cache(suite, buckets)
    else:
        archive, shipment = packed(context)
        sent.addFile(str(archive))
        job, shared = _Job(context, shipment), copied(suite, buckets, context.place)
    try:
        watch = None if local else ClusterWatch(master, lambda: _workers(sent))
        _collected(sent.parallelize(shared, len(shared)).map(job), progress, watch)
    finally:
        if not local:
            remove_copies(context.place)


def _collected(tasks: RDD[str], progress: Callable[[], None], watch: ClusterWatch | None) -> None:
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


class _Job:
    """What Spark sends to its workers, and they do with each bucket; `shipment` is what they were
    sent besides, None on this machine."""

    def __init__(self, context: RunContext, shipment: Shipment | None = None) -> None:
        self.context = context
        self.shipment = shipment

    def __call__(self, shared: SharedBucket) -> str:
        """The summary of the bucket as JSON. Raises RuntimeError with the error as a token."""
        try:
            context, shipment = self.context, self.shipment
            if shipment is not None:
                context = shipment.received(context, Path(SparkFiles.get(shipment.archive)))
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


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
