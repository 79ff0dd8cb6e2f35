"""The engine on Spark, local or on a cluster: Parquet in, one adapter for each Python worker.

A run is one job over the remaining buckets; a bucket is a file, a partition and a task. The task
judges it, writes its datasets and commits it, so that a stopped run can be resumed. The same code
serves `local[*]` and a cluster, whose workers must see the run's folder and the adapter under the
same path.
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
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pyarrow as pa
from pyspark import SparkContext, SparkFiles
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conform.adapters.targets import python_path
from conform.console import errors
from conform.console.errors import ConformError, Incomplete, MissingEngine
from conform.console.interrupts import interrupts_later
from conform.judging.assess import VectorItem
from conform.judging.model import PACKAGE
from conform.runs.engines.bucket import judge_rows, worker_pool
from conform.runs.engines.context import RunContext
from conform.suites.cache import Suite, batch_items

_RESULT = pa.schema([("summary", pa.string())])
_WHOLE_FILES = str(16 << 30)
_PATTERN = frozenset("[]{}*?\\")
_POLL_SECONDS = 0.3
_CANCEL_SECONDS = 10.0
_END_SECONDS = 20.0
_CHATTER = ("WARN", "INFO", "NOTE", "SLF4J", "Using Spark", "Setting default", "\tat ")
_TOKEN = re.compile(r"\[conform:([A-Za-z0-9+/]+=*)\]")
_GRAVE = re.compile(r"\w(Exception|Error)\b|not (set|found)")
_JAVA = ("JAVA_HOME", "UnsupportedClassVersion", "java: ", "JAVA_GATEWAY_EXITED", "java not found")


def session(master: str, instead: str = "--engine inline") -> SparkSession:
    """A Spark session. Raises `MissingEngine` if Java is missing or does not start; `instead` names
    the alternative for the message."""
    os.environ.update(python_path())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    if next(filter(None, names), "C") in ("C", "POSIX"):
        os.environ["LC_ALL"] = "C.UTF-8"  # else Java cannot open a path that is not ASCII
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    quiet = Path(__file__).with_name("log4j2.properties")
    local = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    settings = {
        "spark.speculation": "false",
        "spark.task.maxFailures": "1",
        "spark.python.worker.reuse": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
        "spark.sql.files.maxPartitionBytes": _WHOLE_FILES,
        "spark.sql.files.openCostInBytes": _WHOLE_FILES,
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.local.dir": tempfile.gettempdir(),
        "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={quiet}"'
        f' "-Djava.io.tmpdir={tempfile.gettempdir()}"',
        **(local if master.startswith("local") else {}),
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
    if not master.startswith("local"):
        _ship(made)
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
    files = _without_patterns([suite.check(bucket) for bucket in buckets], suite.folder)
    job = _Job(context, "" if _is_local(spark) else _ship_models(spark, context.folders))
    frame = spark.read.schema("id string, bucket int, question string, answer string,"
                              " why string, needs string, ways string").parquet(*files)  # fmt: skip
    failed: list[Exception] = []

    def collect() -> None:
        try:
            frame.mapInArrow(job, "summary string").collect()
        except PySparkException as error:
            failed.append(_as_ours(error))
        except Exception as error:  # py4j, when the JVM is gone
            failed.append(
                Incomplete(f"Spark gave up ({_first_line(error)}); repeat the command to go on")
            )

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_POLL_SECONDS)
            progress()
    except KeyboardInterrupt:
        spark.sparkContext.cancelAllJobs()
        thread.join(_CANCEL_SECONDS)
        raise
    if failed:
        raise failed[0]


def _without_patterns(files: Sequence[Path], folder: Path) -> list[str]:
    """The paths of files in `folder`, without characters that Spark takes for a pattern: then they
    lead through a link in the temporary folder, which only workers on this machine see."""
    if not set(str(folder)) & _PATTERN:
        return [str(path) for path in files]
    link = Path(tempfile.mkdtemp(prefix="conform-")) / "suite"
    link.symlink_to(folder.resolve(), target_is_directory=True)
    return [str(link / path.relative_to(folder)) for path in files]


class _Job:
    """What Spark sends to its workers; `models` is the archive that was sent with the models of the
    run, "" if they are read where they lie."""

    def __init__(self, context: RunContext, models: str) -> None:
        self.context = context
        self.models = models

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = self.context
        if self.models:
            context = replace(context, folders=(SparkFiles.get(self.models),))
        try:
            for summary in judge_rows(_rows(batches), context, worker_pool()):
                yield pa.record_batch([[orjson.dumps(summary).decode()]], schema=_RESULT)
        except Exception as error:
            raise RuntimeError(as_token(error)) from None


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, VectorItem]]:
    for batch in batches:
        yield from zip(batch.column("bucket").to_pylist(), batch_items(batch), strict=True)


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
        return Incomplete(f"a task failed ({_first_line(error)}); repeat the command to go on")
    content: dict[str, str] = orjson.loads(base64.b64decode(found[1]))
    if not content["kind"]:
        return WorkerBug(f"in a worker of Spark:\n{content['told']}")
    kind = getattr(errors, content["kind"], Incomplete)
    made: ConformError = kind(content["told"])
    return made


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def _ship(spark: SparkSession) -> None:
    """Send our packages to the workers of a cluster."""
    folder = Path(tempfile.mkdtemp(prefix="conform-"))
    bundle = folder / "conform-packages.zip"
    roots = python_path()["PYTHONPATH"].split(os.pathsep)
    _pack(bundle, roots, ("charter", "conform"))
    spark.sparkContext.addPyFile(str(bundle))


def _ship_models(spark: SparkSession, folders: Sequence[str]) -> str:
    """Send the models in these folders to the workers of a cluster; returns the file's name."""
    bundle = Path(tempfile.mkdtemp(prefix="conform-")) / f"conform-models-{time.time_ns():x}.zip"
    _pack(bundle, folders, (PACKAGE,))
    spark.sparkContext.addFile(str(bundle))
    return bundle.name


def _pack(bundle: Path, roots: Sequence[str], names: Sequence[str]) -> None:
    """Packages as an archive; of files with the same path, the one of the first root counts."""
    files: dict[Path, Path] = {}
    for root in roots:
        for name in names:
            for path in sorted((Path(root) / name).rglob("*.py")):
                files.setdefault(path.relative_to(root), path)
    with zipfile.ZipFile(bundle, "w") as archive:
        for inside, path in files.items():
            archive.write(path, inside)


def _is_local(spark: SparkSession) -> bool:
    return str(spark.sparkContext.master).startswith("local")
