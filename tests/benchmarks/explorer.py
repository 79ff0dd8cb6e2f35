"""The native engine against the reference engine, also where something must happen in the end; two
workers against one, generated C, and TLC.

    python -m tests.benchmarks.explorer [--charter FILE --instance NAME] [--only PART ...]
        [--most N] [--tlc-jar PATH]

Everything is measured side by side in one run, in seconds of CPU apart from two workers and TLC,
which are measured by the clock: on a machine that does something else they say little. Symmetry is
on where memory is measured, and off elsewhere.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.primary_backup_c import SOURCE
from tests.support.tla.tlc import Tlc

from charter import api
from charter.analysis.narrowed_machine import open_machine
from charter.explore.native.liveness.check_liveness import check_liveness as check_natively
from charter.explore.native.program.compile_instance import print_program
from charter.explore.native.program.llvm import compile_ir, link
from charter.explore.native.search.explore import Choices, NativeOptions, explore
from charter.explore.reference.liveness import check_liveness as check_by_definition
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as explore_by_definition

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "spec" / "examples" / "primary_backup.charter"
COMMIT = ROOT / "spec" / "examples" / "two_phase_commit.charter"
TIMES = 3
APART = Choices(symmetry=False)

PARALLEL = ("-XX:+UseParallelGC",)
"""What TLC itself recommends for Java."""


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def cpu(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def rate(name, states, seconds, against=None):
    """A row; returns states per second."""
    speed = states / seconds
    ratio = "" if against is None else f"  {speed / against:8.2f}x"
    say(f"  {name:44} {seconds:9.3f} s {speed:13,.0f} states/s{ratio}")
    return speed


def choose(model, name):
    return next(i for i in model.instances if i.name == name)


def best(measure):
    return min(measure() for _ in range(TIMES))


def natively(model, instance, cache, workers=1, clock=cpu):
    """What was found, and seconds; the code comes from the cache."""
    found = []

    def once():
        options = NativeOptions(APART, workers=workers, cache=cache)
        start = clock()
        found.append(explore(model, instance, options))
        return clock() - start

    once()
    seconds = best(once)
    return found[-1], seconds


def against_reference(cache):
    model = api.load(EXAMPLE)
    tiny = choose(model, "tiny")
    say("the reference engine, primary_backup tiny, with symmetry")
    start = cpu()
    slow = explore_by_definition(model, tiny, ReferenceOptions())
    base = rate("reference", slow.counts.distinct, cpu() - start)
    options = NativeOptions(cache=cache)

    def once():
        start = cpu()
        assert explore(model, tiny, options).counts == slow.counts
        return cpu() - start

    once()
    rate("native, loaded from the cache", slow.counts.distinct, best(once), base)


def eventually(cache):
    """Verdicts of `eventually` alone: the search for its states, the graph, the runs."""
    for participants in (3, 4, 5):
        model = api.set_bounds(api.load(COMMIT), "small", [f"Participant={participants}"])
        instance = choose(model, "small")
        say(f"eventually, two_phase_commit of {participants}, with symmetry")
        options = NativeOptions(cache=cache)
        distinct = explore(model, instance, options).counts.distinct
        base = None
        if participants == 3:
            bare, start = replace(model, properties=()), cpu()
            graph = explore_by_definition(bare, instance, ReferenceOptions())
            expected = check_by_definition(model, instance, graph, ReferenceOptions())
            base = rate("reference", distinct, cpu() - start)
            assert [one.answer for one in expected] == ["holds"]

        def once(model=model, instance=instance, options=options):
            start = cpu()
            (found,) = check_natively(model, instance, options)
            assert found.answer == "holds"
            return cpu() - start

        rate("native, compiled anew", distinct, once(), base)
        rate("native, code from the cache", distinct, best(once), base)


def against_workers(model, instance, cache):
    say(f"two workers, {instance.name}, by the clock")
    one, seconds = natively(model, instance, cache, 1, time.perf_counter)
    base = rate("native, 1 worker", one.counts.distinct, seconds)
    two, seconds = natively(model, instance, cache, 2, time.perf_counter)
    assert (one.counts.distinct, one.counts.generated, one.counts.levels) == (
        two.counts.distinct,
        two.counts.generated,
        two.counts.levels,
    )
    rate("native, 2 workers", two.counts.distinct, seconds, base)


def against_c(cache):
    compiler = shutil.which("cc")
    if compiler is None:
        say("generated C: skipped, there is no C compiler")
        return
    model = api.load(EXAMPLE)
    say("generated C, primary_backup standard")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "toy.c", Path(folder) / "toy"
        source.write_text(SOURCE, encoding="utf-8")
        subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
        counts = []

        def once():
            start = cpu(resource.RUSAGE_CHILDREN)
            done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
            counts.append(tuple(map(int, done.stdout.split())))
            return cpu(resource.RUSAGE_CHILDREN) - start

        seconds = best(once)
    base = rate("generated C", counts[0][0], seconds)
    found, seconds = natively(model, choose(model, "standard"), cache)
    assert (found.counts.distinct, found.counts.generated) == counts[0]
    rate("native", found.counts.distinct, seconds, base)


def against_tlc(model, instance, tlc, cache):
    say(f"TLC, {tlc.workers} worker(s), {instance.name}, by the clock, start and compiling "
        "included; TLC checks no property, the engine checks all")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        start, clock = cpu(resource.RUSAGE_CHILDREN), time.perf_counter()
        said = tlc.check(model, instance, Path(folder))
        used, seconds = cpu(resource.RUSAGE_CHILDREN) - start, time.perf_counter() - clock
    base = rate(f"TLC ({used:.1f} s of CPU)", said.distinct, seconds)
    start = time.perf_counter()
    found = explore(model, instance, NativeOptions(APART, workers=tlc.workers))
    assert found.counts.distinct == said.distinct
    rate("native, compiled anew", found.counts.distinct, time.perf_counter() - start, base)
    found, seconds = natively(model, instance, cache, tlc.workers, time.perf_counter)
    rate("native, code from the cache", found.counts.distinct, seconds, base)


def compile_time():
    charter = ROOT / "spec" / "kafka"
    model = api.load(charter)
    say("controller, in seconds of CPU")
    for name in ("tiny_elr", "standard"):
        start = cpu()
        _, text, _ = print_program(open_machine(model, choose(model, name)), Choices())
        printed = cpu()
        code = compile_ir(text)
        made = cpu()
        link(code)
        say(f"  from core to machine code, {name:10} print {printed - start:.2f}  "
            f"compile {made - printed:.2f}  link {cpu() - made:.3f}")  # fmt: skip
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (whole_command(charter, name, cache) for _ in range(2))
        say(f"  the command, from text to a running search, {name:10} cold {cold:.2f}  "
            f"warm {warm:.2f}")  # fmt: skip


def whole_command(charter, instance, cache):
    """Seconds of CPU of a search that gives up as soon as it runs."""
    code = "import sys; from conform.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "explore", str(charter), "--instance", instance]
    start = cpu(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "--most", "1"],
        check=False,
        capture_output=True,
        env={**os.environ, "CHARTER_CACHE": cache},
    )
    assert done.returncode == 3, done.stderr
    return cpu(resource.RUSAGE_CHILDREN) - start


def resident():
    """Bytes of memory that this process uses, files left out."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    parts = dict(line.split(":", 1) for line in status)
    return sum(int(parts[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem"))


def memory(model, instance, most, cache):
    """Growth of the process from a tenth of the states to all of them."""
    seen = []

    def look(now):
        seen.append((now.distinct, resident()))

    found = explore(model, instance, NativeOptions(workers=2, most_states=most, cache=cache), look)
    first = next(pair for pair in seen if pair[0] >= seen[-1][0] / 10)
    grown = (seen[-1][1] - first[1]) / (seen[-1][0] - first[0])
    bits = found.storage.bits
    say(f"memory, {instance.name}, from {first[0]:,} to {seen[-1][0]:,} states of {bits} "
        f"bits: {grown:.1f} bytes a state, {grown * 8 / bits:.2f} times the packed "
        "width")  # fmt: skip


PARTS = ("compile", "reference", "eventually", "c", "workers", "memory", "tlc")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charter", type=Path, default=EXAMPLE)
    parser.add_argument("--instance", default="standard")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--most", type=int, default=0, help="states, where memory is measured")
    parser.add_argument("--tlc-jar", type=Path)
    parser.add_argument("--tlc-heap", default="8g")
    arguments = parser.parse_args()
    model = api.load(arguments.charter)
    instance = choose(model, arguments.instance)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        measures = {
            "compile": compile_time,
            "reference": lambda: against_reference(cache),
            "eventually": lambda: eventually(cache),
            "c": lambda: against_c(cache),
            "workers": lambda: against_workers(model, instance, cache),
            "memory": lambda: memory(model, instance, arguments.most, cache),
        }
        for part in arguments.only:
            if part in measures:
                measures[part]()
            elif arguments.tlc_jar is None:
                say("TLC: skipped, no --tlc-jar was given")
            else:
                for workers in (1, 2):
                    tlc = Tlc(arguments.tlc_jar.resolve(), workers, arguments.tlc_heap, PARALLEL)
                    against_tlc(model, instance, tlc, cache)


if __name__ == "__main__":
    main()
