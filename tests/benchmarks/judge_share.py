"""The processor time of the judge next to that of the adapter, for vectors and for walks.

    python -m tests.benchmarks.judge_share --target kafka-controller --release 4.3.1
    python -m tests.benchmarks.judge_share --target reference --walks 128
    python -m tests.benchmarks.judge_share --project FOLDER --target reference --walks 256

With `--before CHECKOUT` (another working tree of this repository) both judge the same in turns, so
that whatever else the machine does slows both. `--limit` leaves out vectors, `--suite` names a
suite. The start of the adapter and the canaries of a block count.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from conform.runs.engines import inline
from conform.runs.make_run_context import context_of, list_prefixes
from conform.runs.select import RunSelection, choose, prepare_run
from conform.storage.bucket_store import RunFolder

HERE = Path(__file__).resolve().parents[2]


def read_seconds(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measure(chosen):
    """Judged steps, and the processor time of the judge and of its adapter, in this process."""
    from charter.formats.run_description import WalkSettings

    gc.set_threshold(1_000_000, 10, 10)  # as a command does
    resolved = prepare_run(choose(RunSelection("", chosen.target, chosen.release, chosen.suite)))
    suite = resolved.suite
    with tempfile.TemporaryDirectory() as place:
        context = context_of(resolved, "measured", place, chosen.limit)
        buckets = range(suite.buckets)
        if chosen.walks:
            walks = WalkSettings(chosen.walks, chosen.steps)
            prefixes = list_prefixes(suite)
            context = replace(context, walks=walks, prefixes=prefixes, suite_buckets=suite.buckets)
            buckets = range(suite.buckets, suite.buckets + walks.blocks)
        before = read_seconds(resource.RUSAGE_SELF), read_seconds(resource.RUSAGE_CHILDREN)
        inline.run(suite, buckets, context, lambda: None)
        judge = read_seconds(resource.RUSAGE_SELF) - before[0]
        adapter = read_seconds(resource.RUSAGE_CHILDREN) - before[1]
        rows = RunFolder(place).read_committed().values()
        steps = sum(row["judged_steps"] for row in rows)
        deviations = sum(row["deviations"] for row in rows)
    return {"steps": steps, "deviations": deviations, "judge": judge, "adapter": adapter}


def measure_tree(tree, arguments, cache):
    """The same with the judge of a working tree, in a process of its own."""
    parts = [tree / "compiler", tree / "conformance", tree / "generated", tree, HERE]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, parts)), **cache}
    command = [sys.executable, str(Path(__file__).resolve()), *arguments, "--measure"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def show(name, found):
    steps, judge, adapter = found["steps"], found["judge"], found["adapter"]
    sys.stdout.write(
        f"{name:<7}{steps:>9} steps {found['deviations']:>7} deviations   judge {judge:7.1f} s"
        f" {steps / judge:>7,.0f} steps/s   adapter {adapter:7.1f} s   together"
        f" {steps / (judge + adapter):>7,.0f} steps/s   judge : adapter {judge / adapter:.2f}\n"
    )
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="reference")
    parser.add_argument("--release", default="")
    parser.add_argument("--suite", default="")
    parser.add_argument("--project", default="")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--walks", type=int, default=0)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--measure", action="store_true")
    chosen = parser.parse_args()
    if chosen.project:
        os.chdir(chosen.project)
    if chosen.measure:
        sys.stdout.write(json.dumps(measure(chosen)) + "\n")
        return
    trees = {"before": chosen.before, "now": HERE} if chosen.before else {"now": HERE}
    with tempfile.TemporaryDirectory() as other:
        for _ in range(chosen.rounds):
            for name, tree in trees.items():
                cache = {"XDG_CACHE_HOME": other} if name == "before" else {}
                show(name, measure_tree(tree.resolve(), sys.argv[1:], cache))


if __name__ == "__main__":
    main()
