"""What Kafka's own tests of its controller ask of the charter: obligations and branches.

    python -m tests.benchmarks.kafka_own_tests --release 4.3.1
    python -m tests.benchmarks.kafka_own_tests --calls CALLS.jsonl

The tests of the released test jar run under the agent of `kafka_recorder/`, which writes each call
of an operation with the state before it. Each call that the charter has becomes a question of one
operation. A question meets what a vector of a suite would: the obligations of all outcomes that the
charter allows. `--keep` keeps the recorded calls. Before 4.0 the charter is the target's variant.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from tests.benchmarks.kafka_calls import translate
from tests.benchmarks.kafka_states import MIN_ISR_MAX, Data, LeftOut, SingleQuestion

from charter import api
from charter.analysis.coverage import Coverage
from charter.core import nodes as n
from charter.core.obligations import Obligation, obligations
from charter.formats.target import read_target
from charter.semantics.evaluate import NotAssumed
from charter.semantics.machine import Machine
from charter.semantics.values import from_json
from conform.suites.cache import cache_folder

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ADAPTER = ROOT / "conformance" / "adapters" / "kafka-controller"
SUITES = ROOT / "generated" / "suites" / "kafka_replication"
_PACKAGE = "org.apache.kafka.controller"
_LAUNCHER = "org.junit.platform.console.ConsoleLauncher"
_SECONDS = 1800.0


@dataclass(slots=True)
class Exercised:
    """What recorded calls ask: `met` counts the questions that meet each obligation, `questions`
    those of each operation, `left_out` calls by reason."""

    calls: int = 0
    met: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


class Questions:
    """The charter's controller in instances of any size, with all its obligations."""

    def __init__(self, variant: str = "") -> None:
        suite = SUITES / "_".join(filter(None, ("controller", variant)))
        self.left = read_left((suite / "ledger.md").read_text(encoding="utf-8"))
        self.variant = variant
        self.model = api.load(ROOT / "spec" / "kafka", api.Selection(variant=variant))
        (component,) = (c for c in self.model.components if c.name == "controller")
        self.wanted = obligations(self.model, component)
        self._machines: dict[tuple[int, int], Coverage] = {}

    def list_met(self, question: SingleQuestion) -> frozenset[str]:
        """The obligations that a question meets. Raises NotAssumed."""
        coverage = self._coverage(question.brokers, question.topics)
        machine = coverage.machine
        state = {
            v.name: from_json(v.type, question.state[v.name], machine.universe)
            for v in machine.variables
        }
        params = machine.operations[question.operation].params
        args = tuple(from_json(p.type, question.args[p.name], machine.universe) for p in params)
        outcomes = machine.outcomes(state, question.operation, args)
        each = (coverage.list_met(state, question.operation, args, one) for one in outcomes)
        return frozenset[str]().union(*each)

    def _coverage(self, brokers: int, topics: int) -> Coverage:
        key = brokers, topics
        if key not in self._machines:
            sorts = (
                ("Broker", tuple(f"b{at}" for at in range(brokers))),
                ("Topic", tuple(f"t{at}" for at in range(topics))),
            )
            consts = (("largest_min_isr", MIN_ISR_MAX),)
            instance = n.Instance("any_size", "controller", sorts, consts, (), ())
            self._machines[key] = Coverage.own(Machine.of(self.model, instance), self.wanted)
        return self._machines[key]


def count(questions: Questions, lines: Iterable[Data]) -> Exercised:
    """What recorded calls ask. Equal questions count once."""
    found, seen = Exercised(), dict[str, str]()
    for line in lines:
        found.calls += 1
        for question in translate(line):
            if isinstance(question, LeftOut):
                found.left_out[str(question)] += 1
                continue
            key = repr(question)
            if key not in seen:
                seen[key] = _count_one(questions, question, found)
            if seen[key]:
                found.left_out[seen[key]] += 1
    return found


def _count_one(questions: Questions, question: SingleQuestion, found: Exercised) -> str:
    """Count a question that was not counted yet; or why the charter has no answer."""
    if questions.variant and cast("dict[str, bool]", question.state["config"])["elr"]:
        return f"ELR is on, and `{questions.variant}` has none"
    try:
        met = questions.list_met(question)
    except NotAssumed as broken:
        name = re.search(r"`assume (\w+)", str(broken))
        return f"`{question.operation}` assumes `{name[1] if name else broken}`"
    found.met.update(met)
    found.questions[question.operation] += 1
    return ""


def record(release: str, made: Path) -> Path:
    """Run Kafka's own tests of a release under the recorder; the file of their calls."""
    cache = cache_folder() / "adapters" / "kafka-controller"
    command = [sys.executable, str(ADAPTER / "prepare.py"), "--tests", "--release", release]
    done = subprocess.run([*command, "--cache", str(cache)], stdout=subprocess.PIPE, check=False)
    said = json.loads(done.stdout)
    if "error" in said:
        raise SystemExit(str(said["error"]))
    classpath, classes, agent = said["classpath"], made / "classes", made / "recorder.jar"
    sources = sorted(str(path) for path in (HERE / "kafka_recorder").glob("*.java"))
    compiler = ["javac", "--release", "17", "-proc:none", "-nowarn", "-cp", classpath]
    subprocess.run([*compiler, "-d", str(classes), *sources], check=True)
    manifest = made / "manifest"
    manifest.write_text(f"Premain-Class: {_PACKAGE}.Recorder\n", encoding="utf-8")
    packed = ["jar", "cfm", str(agent), str(manifest), "-C", str(classes), "."]
    subprocess.run(packed, check=True)
    calls = made / "calls.jsonl"
    java = ["java", "-XX:+UseSerialGC", "-Xmx1500m", f"-javaagent:{agent}={calls}"]
    launched = [*java, "-cp", classpath, _LAUNCHER, "execute", "--details=summary"]
    ran = subprocess.run(
        [*launched, "--disable-banner", f"--select-package={_PACKAGE}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        encoding="utf-8",
        check=False,
    )
    counts = re.findall(r"\d+ tests (?:found|started|successful|failed)", ran.stdout)
    failed = re.findall(r"JUnit Jupiter:(\S+)", ran.stdout)
    sys.stderr.write(f"{release}: {', '.join(counts)} {' '.join(dict.fromkeys(failed))}\n")
    return calls


def read_left(ledger: str) -> frozenset[str]:
    """The obligations that a ledger lists as infeasible or open."""
    sections = re.split(r"^## ", ledger, flags=re.MULTILINE)
    chosen = [one for one in sections if one.startswith(("Open\n", "Infeasible\n"))]
    left = re.findall(r"^- (.+)$", "\n".join(chosen), re.MULTILINE)
    return frozenset(one.replace("\\|", "|").replace("&lt;", "<") for one in left)


def show(questions: Questions, found: Exercised) -> Iterator[str]:
    """The report, in Markdown."""
    wanted = [o for o in questions.wanted if o.name not in questions.left or o.name in found.met]
    yield f"{found.calls} calls, {sum(found.questions.values())} different questions."
    met = [o for o in wanted if o.name in found.met]
    yield f"{len(met)} of {len(wanted)} obligations are exercised."
    yield from ("", "| operation | questions | branches | obligations |", "|---|---|---|---|")
    operations = dict.fromkeys(_operation(o) for o in wanted)
    for operation in operations:
        mine = [o for o in wanted if _operation(o) == operation]
        branches = [o for o in mine if o.kind == "branch"]
        cells = [_share(branches, found), _share(mine, found)]
        yield f"| `{operation}` | {found.questions[operation]} | {' | '.join(cells)} |"
    yield from ("", "| kind | obligations |", "|---|---|")
    for kind in dict.fromkeys(o.kind for o in wanted):
        yield f"| {kind} | {_share([o for o in wanted if o.kind == kind], found)} |"
    yield from ("", "Never met:", "")
    yield from (f"- `{o.branch}`" for o in wanted if o.kind == "branch" and not found.met[o.name])
    yield from ("", "| left out | times |", "|---|---|")
    yield from (f"| {reason} | {times} |" for reason, times in found.left_out.most_common())


def _operation(obligation: Obligation) -> str:
    return obligation.operation or obligation.branch.partition("/")[0]


def _share(wanted: list[Obligation], found: Exercised) -> str:
    return f"{sum(o.name in found.met for o in wanted)} of {len(wanted)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Count what Kafka's own tests ask.")
    parser.add_argument("--release", default="4.3.1", help="a release with test jars")
    parser.add_argument("--calls", type=Path, nargs="*", help="recorded calls of that release")
    parser.add_argument("--keep", type=Path, help="where the recorded calls are kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = chosen.calls or [record(chosen.release, Path(folder))]
        lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
        if chosen.keep:
            chosen.keep.write_text("\n".join(lines), encoding="utf-8")
    questions = Questions(read_target(ADAPTER / "adapter.toml").variant(chosen.release))
    found = count(questions, map(json.loads, lines))
    sys.stdout.write("\n".join(show(questions, found)) + "\n")


if __name__ == "__main__":
    main()
