"""The judge on Spark against a bare loop: one process and its adapter, pinned to one core.

    python -m tests.benchmarks.judge_throughput [--vectors 1000000] [--master local[2]]
    python -m tests.benchmarks.judge_throughput --target kafka-controller --suite DIGEST

Both judge the same vectors, write the same datasets and commit the same buckets. The vectors of a
suite are repeated until there are enough. Spark is warm: one small run comes before the clock.
The ratio of the two rates is printed, and what a verdict costs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from tests.support.toy.vectors import write_toy_suite

from conform.adapters.base import AdapterStart
from conform.adapters.targets import python_path
from conform.runs.engines import inline, spark, spark_start
from conform.runs.run_context import RunContext
from conform.runs.select import RunSelection, resolve
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import Bucket, Suite, open_suite

BUCKET = 62_500


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def repeat(suite, folder, vectors):
    """A suite of `vectors` rows in buckets of equal size, made of the rows of `suite`."""
    tables = [pa.parquet.read_table(suite.path(b)) for b in range(suite.buckets)]
    rows = pa.concat_tables(tables)
    buckets = max(2, round(vectors / BUCKET))
    size = vectors // buckets
    stored = []
    for bucket in range(buckets):
        times = -(-size // rows.num_rows)
        part = pa.concat_tables([rows] * times).slice(0, size)
        column = pa.array([bucket] * part.num_rows, pa.int32())
        part = part.set_column(part.schema.get_field_index("bucket"), "bucket", column)
        path = folder / f"bucket={bucket:04d}"
        path.mkdir(parents=True)
        pa.parquet.write_table(part, path / "part-0.parquet", compression="zstd")
        content = (path / "part-0.parquet").read_bytes()
        stored.append(Bucket(part.num_rows, hashlib.sha256(content).hexdigest()))
    return Suite(folder, suite.manifest, tuple(stored))


def cpu_seconds():
    """Of this process and all its descendants, dead ones included once they were waited for."""
    parents = {}
    spent = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        spent[pid] = sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")

    def below(pid):
        while pid and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return sum(seconds for pid, seconds in spent.items() if below(pid))


def measure_judging(context, suite, engine, place):
    """Seconds that an engine takes for all buckets, and the processor time that it uses."""
    context = replace(context, place=str(place), run=f"{place}-{time.time_ns()}")
    spent, began = cpu_seconds(), time.perf_counter()
    engine(suite, range(suite.buckets), context)
    seconds = time.perf_counter() - began
    done = RunFolder(str(place)).read_committed()
    assert sum(bucket["vectors"] for bucket in done.values()) > 0
    return seconds, cpu_seconds() - spent


def bare(suite, buckets, context):
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        inline.run(suite, buckets, context, lambda: None)
    finally:
        os.sched_setaffinity(0, everywhere)


def toy(scratch):
    os.environ["CHARTER_CACHE"] = str(scratch / "cache")
    write_toy_suite(scratch / "toy", 10_000)
    suite = open_suite(str(scratch / "toy"), 2)
    environment = python_path()
    environment["PYTHONPATH"] += ":" + str(Path(__file__).resolve().parents[2])
    os.environ["PYTHONPATH"] = environment["PYTHONPATH"]
    command = (sys.executable, "-m", "tests.benchmarks.quick_adapter")
    start = AdapterStart(command, environment=environment)
    return suite, RunContext("", "", start, variables=("registration", "leader", "version"))


def real(target, release, wanted):
    resolved = resolve(RunSelection("", target, release, wanted))
    model = resolved.suite.manifest.models.charter
    start, entries = resolved.prepared.start, resolved.entries
    return resolved.suite, RunContext("", "", start, model=model, entries=entries)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--target", default="")
    parser.add_argument("--release", default="")
    parser.add_argument("--suite", default="")
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        if chosen.target:
            suite, context = real(chosen.target, chosen.release, chosen.suite)
        else:
            suite, context = toy(scratch)
        large = repeat(suite, scratch / "large", chosen.vectors)
        began = time.perf_counter()
        context_of_spark = spark_start.StartingSpark(chosen.master).context()
        started = time.perf_counter() - began

        def on_spark(suite, buckets, context):
            spark.run(context_of_spark, suite, list(buckets), context, lambda: None)

        warm = repeat(suite, scratch / "warm", 4_000)
        first = measure_judging(context, warm, on_spark, scratch / "w")
        say(f"session {started:.1f} s, first small job {first[0]:.1f} s")
        times = {"bare": [], "spark": []}
        for number in range(chosen.rounds):
            times["bare"].append(measure_judging(context, large, bare, scratch / f"b{number}"))
            times["spark"].append(measure_judging(context, large, on_spark, scratch / f"s{number}"))
        best = {engine: min(seconds) for engine, seconds in times.items()}
        for engine, (seconds, spent) in best.items():
            rate = chosen.vectors / seconds
            each = 1e6 * spent / chosen.vectors
            say(
                f"{engine:<6}{chosen.vectors:>9} vectors {seconds:8.1f} s {rate:>9,.0f} per s,"
                f" {each:.0f} µs of processor time each"
            )
        say(f"ratio {best['bare'][0] / best['spark'][0]:.2f}")


if __name__ == "__main__":
    main()
