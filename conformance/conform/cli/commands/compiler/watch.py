"""`conform watch`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Final

from charter import api
from charter.semantics.scenario import failing
from conform.cli.output.numbers import count_or_all
from conform.cli.output.search_note import costing
from conform.cli.output.story import show_story
from conform.cli.output.vacuity import show_unmet
from conform.console.errors import ConformError
from conform.console.progress import searching
from conform.console.terminal import number, out, plural, say

if TYPE_CHECKING:
    from charter.api import Model
    from charter.explore.result import SearchResult
    from charter.semantics.scenario import ScenarioFails

EXAMPLES = """examples:
  conform watch spec/examples/paxos.charter
  conform watch spec/kafka --instance tiny_elr
  conform watch spec/examples/paxos.charter --once

Checks the charter, explores its tiny instances, and does so again whenever a file of it is saved,
until Ctrl-C. An instance whose rules mean what they meant is not explored again. What changed since
the last time is marked: files, errors, violated properties, numbers of states.

Exit code 130 after Ctrl-C. With --once: 0 fine; 1 errors, or something is violated; 3 a search
stopped at --most; 4 vacuous, or a name under `misses` was met, or one under `fails` holds.
"""
PAUSE: Final = 0.2
"""Seconds between two looks at the files."""
CLEAR: Final = "\x1b[2J\x1b[3J\x1b[H"
Stamp = dict[str, tuple[int, int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument(
        "--instance", default="", metavar="NAME",
        help="which to explore, 'tiny_*' for all that match (default: all whose name begins with "
        "tiny, else the only one)",
    )  # fmt: skip
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument(
        "--most", type=count_or_all, default=200_000, metavar="N",
        help="stop a search after N states or more (default: 200,000; 0: never)",
    )  # fmt: skip
    parser.add_argument("--once", action="store_true", help="look once, and end")


def run(arguments: argparse.Namespace) -> int:
    watch = Watch(arguments)
    for stamp in versions(arguments.charter):
        code = watch.look(stamp)
        if arguments.once:
            return code
        sys.stdout.flush()  # a pipe keeps what is written
        say("watching; Ctrl-C ends")
    raise AssertionError("the files never end")


def versions(charter: Path) -> Iterator[Stamp]:
    """The files of a charter with their times and sizes: now, and after each change."""
    last: Stamp | None = None
    while True:
        now = _stamp(charter)
        if now != last:
            yield now
            last = now
        sleep(PAUSE)


def _stamp(charter: Path) -> Stamp:
    found: Stamp = {}
    for path in api.list_files(charter):
        try:
            about = path.stat()
        except OSError:
            continue
        name = path.relative_to(charter).as_posix() if path != charter else path.name
        found[name] = (about.st_mtime_ns, about.st_size)
    return found


@dataclass(slots=True)
class Watch:
    """What was seen last: the files, the errors, and for each instance the model in which it was
    explored with the result."""

    arguments: argparse.Namespace
    files: Stamp = field(default_factory=dict)
    errors: frozenset[str] = frozenset()
    looked: bool = False
    explored: dict[str, tuple[Model, SearchResult]] = field(default_factory=dict)

    def look(self, stamp: Stamp) -> int:
        """Check and explore, show the result, and return the exit code."""
        if sys.stdout.isatty():
            sys.stdout.write(CLEAR)
        changed = [name for name in sorted(stamp | self.files)
                   if self.files and stamp.get(name) != self.files.get(name)]  # fmt: skip
        self.files = stamp
        if changed:
            out(f"changed: {', '.join(changed)}")
        try:
            return self._check()
        except api.NoInitialState as error:
            out(str(error))
            return 1
        except (api.Unreadable, api.Missing, api.CannotExplore, api.TooManyValues) as error:
            if self.arguments.once:
                raise ConformError(str(error)) from None
            out(str(error))
            return 2

    def _check(self) -> int:
        path, before = self.arguments.charter, self.errors
        found = api.check_charter(path)
        self.errors = frozenset(item.message for item in found.errors)
        for item in found:
            out(item.show())
        news = [(len(self.errors - before), "new"), (len(before - self.errors), "mended")]
        told = ", ".join(f"{amount} {what}" for amount, what in news if amount and self.looked)
        self.looked = True
        out(f"{path}: {_count(len(found.errors), 'error')}{f' ({told})' if told else ''}")
        if found.errors:
            return 1
        model = api.load(path, api.Selection(self.arguments.variant))
        codes = [self._explore(model, name) for name in _instances(model, self.arguments.instance)]
        return next((code for code in (1, 3, 4) if code in codes), 0)

    def _explore(self, model: Model, name: str) -> int:
        known = self.explored.get(name)
        if known is not None and api.same_search(known[0], model, name):
            found, was = known[1], " (means what it meant)"
        else:
            options = api.ExploreOptions(most_states=self.arguments.most)
            with searching(costing(model, name), self.arguments.most) as progress:
                found = api.explore(model, name, options, progress)
            was = "" if known is None else _difference(known[1], found)
        self.explored[name] = model, found
        failing = self._failing(model, found.instance.machine)
        fine = found.fine and not failing
        ending = "" if found.complete else f", stopped at --most {number(self.arguments.most)}"
        verdict = "nothing is violated" if fine else _describe_violations(found, len(failing))
        if fine and found.expected:
            verdict = f"{', '.join(found.expected)} violated, as the instance says"
        out(f"{name}: {plural(found.counts.distinct, 'state')}{ending}{was}; {verdict}")
        for one in found.wrong:
            show_story(api.tell(model, name, one))
        for failure in failing:
            out(f"{failure.span.where()}: {failure.sentence()}")
        show_unmet(found)
        if not fine:
            return 1
        if not found.complete:
            return 3
        denied = found.not_missed or found.not_failed
        return 4 if found.vacuous or (denied and not self.arguments.variant) else 0

    def _failing(self, model: Model, machine: str) -> tuple[ScenarioFails, ...]:
        """The failing scenarios that the check did not run: those of several variants at once."""
        several = "+" in self.arguments.variant
        return failing(model, machine) if several else ()


def _instances(model: Model, pattern: str) -> tuple[str, ...]:
    """The instances to explore. Raises `Missing`."""
    tiny = tuple(each.name for each in model.instances if each.name.startswith("tiny"))
    return api.instances(model, pattern) if pattern or not tiny else tiny


def _difference(before: SearchResult, after: SearchResult) -> str:
    was = before.counts.distinct
    return f" (were {number(was)})" if was != after.counts.distinct else " (as many as before)"


def _describe_violations(found: SearchResult, scenarios: int) -> str:
    names = [one.name for one in found.wrong]
    if scenarios:
        names.append(_count(scenarios, "scenario"))
    return f"violated: {', '.join(names)}"


def _count(amount: int, noun: str) -> str:
    return f"{amount or 'no'} {noun}{'' if amount == 1 else 's'}"
