"""Measures published TLA+ specifications: the native engine, cold and with code from the cache,
and TLC on one worker.

    python -m tests.benchmarks.published_specs [--examples CHECKOUT] [--tlc-jar PATH]
        [--only NAME ...]

The charters in tests/benchmarks/published say in other words what modules of the published TLA+
examples say (https://github.com/tlaplus/Examples). TLC reads the modules from CHECKOUT, or from
TLA_EXAMPLES; without it only the engine is measured. Everything is seconds of processor time, of
a process and all that it starts, so that other work on the machine matters little. Both sides must
find the same number of states.

"Cold": the cache is empty. "Warm": it has the charter and its code. "Start" is a search that gives
up at once, "search" the rest of the warm run, and "compile" is what the cold run took longer.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.tla.tlc import COUNTS, DONE, jar_of

CHARTERS = Path(__file__).parent / "published"

LIBRARIES: Mapping[str, str] = {
    "TLAPS": "---- MODULE TLAPS ----\nZ3 == TRUE\nPTL == TRUE\n====\n",
}
"""What modules name for provers, which the jar does not have."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published specification: its folder and module, TLC's configuration, the charter and its
    instance, and whether both sides keep one of all states that differ only in names."""

    folder: str
    module: str
    configuration: str
    charter: str
    instance: str
    symmetry: bool = False


SPECS: Mapping[str, Published] = {
    "MultiPaxos-SMR, with symmetry": Published(
        "MultiPaxos-SMR",
        "MultiPaxos_MC",
        "SPECIFICATION Spec\nINVARIANTS TypeOK Linearizability\nSYMMETRY SymmetricPerms\n"
        "CONSTANTS Replicas = {s1, s2, s3} Writes = {w1} Reads = {r1} MaxBallot <- ConstMaxBallot",
        "multi_paxos",
        "small",
        symmetry=True,
    ),
    "MultiPaxos-SMR, all states": Published(
        "MultiPaxos-SMR",
        "MultiPaxos_MC",
        "SPECIFICATION Spec\nINVARIANTS TypeOK Linearizability\n"
        "CONSTANTS Replicas = {s1, s2, s3} Writes = {w1} Reads = {r1} MaxBallot <- ConstMaxBallot",
        "multi_paxos",
        "small",
    ),
    "PaxosCommit": Published(
        "transaction_commit",
        "PaxosCommit",
        "SPECIFICATION PCSpec\nINVARIANT PCTypeOK\n"
        "CONSTANTS RM = {r1, r2} Acceptor = {a1, a2, a3}\n"
        "Majority = {{a1, a2}, {a1, a3}, {a2, a3}} Ballot = {0, 1}",
        "paxos_commit",
        "published",
    ),
    "LamportMutex, 6 clocks": Published(
        "lamport_mutex",
        "MCLamportMutex",
        "SPECIFICATION Spec\nCONSTRAINT ClockConstraint\nINVARIANTS TypeOK BoundedNetwork Mutex\n"
        "CONSTANTS N = 3 MaxNat = 7 maxClock = 6 Nat <- NatOverride",
        "lamport_mutex",
        "published",
    ),
    "LamportMutex, 7 clocks": Published(
        "lamport_mutex",
        "MCLamportMutex",
        "SPECIFICATION Spec\nCONSTRAINT ClockConstraint\nINVARIANTS TypeOK BoundedNetwork Mutex\n"
        "CONSTANTS N = 3 MaxNat = 8 maxClock = 7 Nat <- NatOverride",
        "lamport_mutex",
        "larger",
    ),
    "TwoPhase, 8 managers": Published(
        "transaction_commit",
        "TwoPhase",
        "SPECIFICATION TPSpec\nINVARIANT TPTypeOK\nCONSTANT RM = {r1, r2, r3, r4, r5, r6, r7, r8}",
        "two_phase",
        "larger",
    ),
    "KeyValueStore": Published(
        "KeyValueStore",
        "MCKVS",
        "SPECIFICATION Spec\nINVARIANTS TypeInvariant TxLifecycle\n"
        "CONSTANTS Key = {k1, k2} Val = {v1, v2} TxId = {t1, t2, t3} NoVal = NoVal",
        "key_value_store",
        "published",
    ),
    "SimpleRegular, 8 processes": Published(
        "TeachingConcurrency",
        "SimpleRegular",
        "SPECIFICATION Spec\nINVARIANTS PCorrect TypeOK Inv\nCONSTANT N = 8",
        "simple_regular",
        "published",
    ),
    "SimpleRegular, 9 processes": Published(
        "TeachingConcurrency",
        "SimpleRegular",
        "SPECIFICATION Spec\nINVARIANTS PCorrect TypeOK Inv\nCONSTANT N = 9",
        "simple_regular",
        "larger",
    ),
    "Slush, 1 round": Published(
        "SlushProtocol",
        "Slush",
        "SPECIFICATION Spec\nINVARIANT TypeInvariant\n"
        "CONSTANTS Node = {n1, n2, n3} SlushLoopProcess = {l1, l2, l3}\n"
        "SlushQueryProcess = {q1, q2, q3} SlushIterationCount = 1 SampleSetSize = 2\n"
        "HostMapping = {{n1, l1, q1}, {n2, l2, q2}, {n3, l3, q3}}\n"
        "PickFlipThreshold = 2 NoColor = NoColor NoMessage = NoMessage",
        "slush",
        "published",
    ),
    "Slush, 2 rounds": Published(
        "SlushProtocol",
        "Slush",
        "SPECIFICATION Spec\nINVARIANT TypeInvariant\n"
        "CONSTANTS Node = {n1, n2, n3} SlushLoopProcess = {l1, l2, l3}\n"
        "SlushQueryProcess = {q1, q2, q3} SlushIterationCount = 2 SampleSetSize = 1\n"
        "HostMapping = {{n1, l1, q1}, {n2, l2, q2}, {n3, l3, q3}}\n"
        "PickFlipThreshold = 1 NoColor = NoColor NoMessage = NoMessage",
        "slush",
        "larger",
    ),
}


@dataclass(frozen=True, slots=True)
class Engine:
    """Seconds that `conform explore` took: from nothing, with code from the cache, and of that what
    comes before the search."""

    distinct: int
    cold: float
    warm: float
    start: float


@dataclass(slots=True)
class Table:
    """Rows, and what did not agree."""

    differing: list[str] = field(default_factory=list)

    def say(self, *cells: str) -> None:
        """A row; the first cell is a name."""
        sys.stdout.write(cells[0].ljust(30) + "".join(cell.rjust(12) for cell in cells[1:]) + "\n")
        sys.stdout.flush()


def measure_spent() -> float:
    """Seconds of processor time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command: list[str], folder: Path, **variables: str) -> tuple[float, int, str]:
    """Seconds of processor time, the exit code, and what a command printed."""
    before = measure_spent()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return measure_spent() - before, done.returncode, done.stdout


def conform(folder: Path, *arguments: str) -> tuple[float, int, str]:
    """Run `conform` with a cache of its own in a folder."""
    code = "import sys; from conform.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return run(command, folder, CHARTER_CACHE=str(folder / "cache"), PYTHONDONTWRITEBYTECODE="")


def measure_explore(spec: Published, folder: Path, *options: str) -> tuple[float, int]:
    """Seconds of processor time of `conform explore`, and how many states it found."""
    charter = str(CHARTERS / f"{spec.charter}.charter")
    chosen = ("--instance", spec.instance, *(() if spec.symmetry else ("--no-symmetry",)))
    seconds, code, text = conform(
        folder, "explore", charter, *chosen, "--workers", "1", "--json", *options
    )
    assert code == (3 if options else 0), text
    return seconds, json.loads(text)["distinct"]


def engine(spec: Published) -> Engine:
    """Measure the native engine: each command by itself, as a user would type it."""
    with tempfile.TemporaryDirectory() as name:
        cold, distinct = measure_explore(spec, Path(name))
        warm, again = measure_explore(spec, Path(name))
        start, _ = measure_explore(spec, Path(name), "--most", "1")
    assert again == distinct
    return Engine(distinct, cold, warm, start)


def tlc(spec: Published, examples: Path, jar: Path, heap: str) -> tuple[float, int]:
    """Seconds of processor time of TLC on one worker, and how many states it found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for module in (examples / "specifications" / spec.folder).glob("*.tla"):
            shutil.copy(module, folder)
        for module, text in LIBRARIES.items():
            (folder / f"{module}.tla").write_text(text, encoding="utf-8")
        (folder / "measured.cfg").write_text(spec.configuration + "\n", encoding="utf-8")
        command = [
            *("java", "-XX:+UseParallelGC", f"-Xmx{heap}", f"-Djava.io.tmpdir={folder}"),
            *("-cp", str(jar), "tlc2.TLC", "-workers", "1", "-metadir", str(folder / "states")),
            *("-config", "measured.cfg", f"{spec.module}.tla"),
        ]
        seconds, _, text = run(command, folder)
    assert DONE in text, text[-2000:]
    return seconds, int(COUNTS.findall(text)[-1][1].replace(",", ""))


def measure(name: str, spec: Published, arguments: argparse.Namespace, table: Table) -> None:
    """Measure both sides of one specification, one right after the other, and print a row."""
    ours = engine(spec)
    cells = [f"{seconds:.2f}" for seconds in (ours.cold, ours.warm)]
    parts = [ours.start, ours.cold - ours.warm, ours.warm - ours.start]
    theirs = ["-", "-", "-"]
    if arguments.examples is not None:
        jar = jar_of(arguments.tlc_jar)
        assert jar is not None, "no tla2tools.jar: name one with --tlc-jar"
        seconds, distinct = tlc(spec, arguments.examples, jar, arguments.tlc_heap)
        theirs = [f"{seconds:.1f}", f"{seconds / ours.cold:.1f}x", f"{seconds / ours.warm:.1f}x"]
        if distinct != ours.distinct:
            table.differing.append(f"{name}: TLC found {distinct:,} states")
    cells += theirs + [f"{max(0.0, part):.2f}" for part in parts]
    table.say(name, f"{ours.distinct:,}", *cells)


def main() -> int:
    """Print the table; the exit code is 1 if the two sides disagree."""
    named = os.environ.get("TLA_EXAMPLES")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--examples", type=Path, default=named and Path(named))
    parser.add_argument("--tlc-jar")
    parser.add_argument("--tlc-heap", default="4g")
    parser.add_argument("--only", nargs="+", choices=SPECS, default=list(SPECS))
    arguments = parser.parse_args()
    table = Table()
    table.say("", "states", "cold", "warm", "TLC", "/cold", "/warm", "start", "compile", "search")
    for name in arguments.only:
        measure(name, SPECS[name], arguments, table)
    for sentence in table.differing:
        table.say(sentence)
    if arguments.examples is None:
        table.say("TLC was left out: name a checkout of the published examples with --examples")
    return 1 if table.differing else 0


if __name__ == "__main__":
    sys.exit(main())
