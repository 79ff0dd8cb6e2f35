"""`conform mutate`."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.formats.canonical import Json
from charter.formats.charter_files.survivors import (
    BadSurvivors,
    Survivor,
    read_survivors,
    survivors_file,
    write_survivors,
)
from charter.mutate import run as mutation
from charter.mutate.moments import FAMILIES, OTHER_FAMILY, name_family
from charter.mutate.trial import Limits
from conform.cli.output.charters import exit_code, read_rest
from conform.cli.output.numbers import count, whole
from conform.console.errors import ConformError, Interrupted
from conform.console.progress import span, tasks
from conform.console.terminal import columns, number, out, out_json, plural, say

if TYPE_CHECKING:
    from charter.mutate.baseline import InstanceBaseline
    from charter.mutate.mutants import MadeMutant
    from charter.mutate.results import MutantVerdict

EXAMPLES = """examples:
  conform mutate spec/examples/paxos.charter
  conform mutate spec/examples/two_phase_commit.charter --component participant --limit 5
  conform mutate spec/kafka --rule 'controller.alter_partition/*' --instance 'tiny_*' --limit 20
  conform mutate spec/examples/paxos.charter --rule majority --json
  conform mutate spec/examples/paxos.charter --update

Makes a small mistake in each rule, one at a time, and searches the instances in which the rule is
taken, the smallest first, until something sees it. Of components and systems that take long to
compile the scenarios come before all searches.

caught: by a property, a deadlock, a value that does not exist, or a scenario. availability: only a
witness, an `eventually`, or a branch or condition that is no longer met sees it. unchanged: all
states, transitions and replies are the same in all instances. survives: nothing refuses what the
mutant does. undecided: the search was too long. refused: `conform check` would report a number
that may leave its range.

At the end a table counts the mistakes by family and part: made, caught (a property, a scenario, or
what is no longer met sees it), survives, neither.

Survivors that were reviewed stand in survivors.toml, in the folder of the charter (of one file:
NAME.survivors.toml beside it), each with a reason and the text that leaves it open.

Exit code 0: all survivors are reviewed; 1: there is a new one, or an entry without a reason or
without a citation; 3: some mutants are undecided. What is known is kept: the same command goes on
after Ctrl-C.

If all errors of the charter lie in scenarios, instances and mutants that were not asked for by
name, these are told and left out (not with --update). The exit code is then 2 in place of 0; others
stay. A survivor may then be one that a scenario or an instance with errors would see.
"""
_MANY, _WORTH_TELLING, _BASIS = 200, 10, 10
"""How many mutants are many, how many seconds that are left are told, and which part of the mutants
must be done before."""
_COLUMNS = ("caught", "survives", "neither")
_WORD_OF_ANSWER = {"caught": "caught", "availability": "caught", "survives": "survives"}
_HEAD = ("mistakes", "part", "made", *_COLUMNS)
ANSWERS = ("caught", "availability", "unchanged", "refused", "survives", "undecided")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument("--variant", default="", help="a variant of the charter")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--component", metavar="GLOB", dest="machine",
        help="only rules of these components, and the functions that they call",
    )  # fmt: skip
    which.add_argument(
        "--system", metavar="GLOB", dest="machine", help="the same for the steps of systems"
    )
    parser.add_argument(
        "--rule", default="*", metavar="GLOB",
        help="only rules with these names: component.operation/branch, system.step, a function",
    )  # fmt: skip
    parser.add_argument(
        "--instance", default="*", metavar="GLOB", help="search only these instances"
    )
    parser.add_argument(
        "--limit", type=count, default=0, metavar="N", help="only N mutants, drawn at random"
    )
    parser.add_argument("--seed", type=whole, default=0, help="for --limit (default: 0)")
    parser.add_argument(
        "--most", type=count, default=50_000, metavar="N",
        help="search up to N states of an instance (default: 50,000)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=count, default=60, metavar="N",
        help="search one instance for N seconds at most (default: 60)",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=count, default=0, metavar="N",
        help="processes (default: one for each core)",
    )  # fmt: skip
    parser.add_argument(
        "--update", action="store_true",
        help="bring the list of survivors up to date; write the reasons of new ones yourself",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


@dataclass(frozen=True, slots=True)
class _Result:
    """The mutants that were tried, with their verdicts, the reviewed survivors, and the names of
    the charter's sources."""

    made: Sequence[MadeMutant]
    verdicts: Sequence[MutantVerdict]
    reviewed: Sequence[Survivor]
    stale: Sequence[Survivor]
    sources: Collection[str]

    @property
    def survivors(self) -> list[tuple[MadeMutant, MutantVerdict]]:
        """The mutants that survive."""
        pairs = zip(self.made, self.verdicts, strict=True)
        return [pair for pair in pairs if pair[1].answer == "survives"]

    @property
    def new(self) -> list[tuple[MadeMutant, MutantVerdict]]:
        """The survivors that are not on the list."""
        known = {one.id for one in self.reviewed}
        return [pair for pair in self.survivors if pair[0].id not in known]

    @property
    def undecided(self) -> list[MutantVerdict]:
        """The mutants of which too little is known, and that are not on the list."""
        known = {one.id for one in self.reviewed}
        return [one for one in self.verdicts if one.answer == "undecided" and one.id not in known]

    @property
    def unreasoned(self) -> list[Survivor]:
        """The entries of the list that have no reason, or cite no source of the charter."""
        return [one for one in self.reviewed if not one.is_reviewed(self.sources)]

    @property
    def counts(self) -> dict[str, int]:
        """How many mutants have each answer."""
        found = Counter[str](verdict.answer for verdict in self.verdicts)
        return {answer: found[answer] for answer in ANSWERS if found[answer]}

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        if self.new or self.unreasoned:
            return 1
        return 3 if self.undecided else 0

    @property
    def families(self) -> list[list[str]]:
        """How many mutants there are of each family of mistakes and each part, how many something
        sees, how many survive, and how many are neither."""
        found: dict[tuple[str, str], Counter[str]] = {}
        for made, verdict in zip(self.made, self.verdicts, strict=True):
            place = (name_family(made.kind), made.rule.machine or "functions")
            found.setdefault(place, Counter())[_WORD_OF_ANSWER.get(verdict.answer, "neither")] += 1
        order = [*FAMILIES, OTHER_FAMILY]
        rows = sorted(found.items(), key=lambda each: (order.index(each[0][0]), each[0][1]))
        return [
            [*place, number(sum(counts.values())), *(number(counts[word]) for word in _COLUMNS)]
            for place, counts in rows
        ]

    def json(self) -> dict[str, Json]:
        """The result as `--json` prints it."""
        pairs = zip(self.made, self.verdicts, strict=True)
        return {
            "counts": {**self.counts},
            "families": [dict(zip(_HEAD, row, strict=True)) for row in self.families],
            "mutants": [mutation.mutant_json(*pair) for pair in pairs],
            "new": [made.id for made, _ in self.new],
            "without_reason": [one.id for one in self.unreasoned],
            "stale": [one.id for one in self.stale],
        }


def run(arguments: argparse.Namespace) -> int:
    rest = _read(arguments)
    model = rest.model
    path = survivors_file(arguments.charter)
    try:
        reviewed = read_survivors(path)
    except BadSurvivors as error:
        raise ConformError(str(error)) from None
    if arguments.update and arguments.instance != "*":
        raise ConformError(
            "--update needs all instances: what one of them does not see, another may; leave"
            " --instance out"
        )
    machine = arguments.machine or "*"
    wanted = mutation.WantedMutants(machine, arguments.rule, arguments.limit, arguments.seed)
    made = mutation.select_mutants(model, wanted)
    if not made:
        raise ConformError(_no_rule(model, arguments))
    if not any(fnmatchcase(one.name, arguments.instance) for one in model.instances):
        raise ConformError(f"no instance is called {arguments.instance!r}")
    every = {one.id for one in mutation.select_mutants(model)} if reviewed else set[str]()
    verdicts = _try_mutants(model, made, arguments)
    whole = arguments.instance == "*" and not rest.broken
    stale = _stale(reviewed, verdicts, every, whole=whole)
    sources = [name for name, _ in model.sources]
    found = _Result(made, verdicts, reviewed, stale, sources)
    if arguments.update:
        _update(path, found)
        found = _Result(made, verdicts, read_survivors(path), (), sources)
    if arguments.json:
        out_json(found.json())
    else:
        _show(found, path)
    return exit_code(found.exit_code, rest.broken)


def _read(arguments: argparse.Namespace) -> api.LoadedRest:
    """The charter, with --update only if nothing has errors: the list of survivors is what remains
    when all scenarios and instances were asked. Raises as `read_rest` does."""
    selection = api.Selection(arguments.variant)
    return read_rest(arguments.charter, selection, arguments.instance, whole=arguments.update)


def _no_rule(model: api.Model, arguments: argparse.Namespace) -> str:
    """That no rule matches, with a pattern that some do match."""
    wider = f"*{arguments.rule.strip('*')}*"
    wanted = mutation.WantedMutants(arguments.machine or "*", wider)
    named = [one.place for one in mutation.select_mutants(model, wanted)]
    places = list(dict.fromkeys(named))
    hint = "a rule is named component.operation/branch or so"
    if places and wider != arguments.rule:
        few = ", ".join(places[:4]) + (", ..." if len(places) > 4 else "")
        hint = f"--rule {shlex.quote(wider)} matches {len(places)}: {few}"
    return f"no rule matches {arguments.rule!r}; {hint}"


def _try_mutants(
    model: api.Model, made: Sequence[MadeMutant], arguments: argparse.Namespace
) -> list[MutantVerdict]:
    limits = Limits(arguments.most, arguments.seconds)
    known: dict[str, MutantVerdict] = {}
    jobs = min(arguments.jobs or os.cpu_count() or 1, len(made))
    say(_cost(model, made, arguments))
    try:
        with tasks("mutants") as tell:
            tell("the scenarios", 0, len(made))
            model, failed = mutation.without_failing_scenarios(model)
            for one in failed:
                say(f"a scenario is left out, which fails without a mutant: {one}")
            left = _Rest(len(made))
            for done, early in enumerate(mutation.by_scenarios(model, made, jobs), 1):
                known |= {early.id: early} if early is not None else {}
                tell(f"the scenarios{left.tell(done)}", done, len(made))
            rest = [one for one in made if one.id not in known]
            if known and rest:
                say(
                    f"{len(known)} are known without a search; the instances are searched for the"
                    f" other {len(rest)}"
                )
            model = mutation.select_searched(model, rest)
            places = mutation.baselines(
                model, arguments.instance, limits,
                lambda name, done, total: tell(f"without a mutant, {name}", done, total),
            )  # fmt: skip
            _refuse_wrong(places)
            left = _Rest(len(rest))
            tried = mutation.try_mutants(model, places, rest, limits, jobs)
            for done, verdict in enumerate(tried, 1):
                known[verdict.id] = verdict
                tell(f"{verdict.id}{left.tell(done)}", len(known), len(made))
    except KeyboardInterrupt as ended:
        raise Interrupted(
            f"interrupted; {len(known)} of {len(made)} mutants were tried, and what the searches"
            " showed of them is kept",
            ended,
        ) from None
    return [known[one.id] for one in made]


@dataclass(slots=True)
class _Rest:
    """How long the rest of so many mutants takes, by those since the first: what comes before it is
    done once."""

    total: int
    first: tuple[float, int] | None = None

    def tell(self, done: int) -> str:
        """What to say after so many; nothing of a short time, and no estimate of few."""
        now = time.monotonic()
        if self.first is None:
            self.first = now, done
        then, before = self.first
        if done < max(before + 1, self.total / _BASIS):
            return ", no estimate yet"
        rest = (now - then) / (done - before) * (self.total - done)
        return f", some {span(rest)} left" if rest >= _WORTH_TELLING else ""


def _cost(model: api.Model, made: Sequence[MadeMutant], arguments: argparse.Namespace) -> str:
    """What will be done, and how to do less if it is much."""
    much = len(made) >= _MANY
    places = [one for one in model.instances if fnmatchcase(one.name, arguments.instance)]
    fewer = "; --rule, --instance and --limit choose fewer" if much else ""
    return (
        f"{plural(len(made), 'mutant')} to try, by {plural(len(model.scenarios), 'scenario')} and"
        f" in {plural(len(places), 'instance')}, each with up to {number(arguments.most)} states"
        f" and for at most {arguments.seconds} seconds; first without a mutant{fewer}"
    )


def _refuse_wrong(places: Sequence[InstanceBaseline]) -> None:
    """Tells of instances in which the charter itself is wrong: they show nothing of a mutant.
    Raises `ConformError` if no other instance is left."""
    wrong = [place for place in places if place.wrong]
    for place in wrong:
        say(f"{place.instance} is left out: {', '.join(place.wrong)} fails there without a mutant")
    if wrong and len(wrong) == len(places):
        raise ConformError("no instance is left; mend the charter first (conform explore)")


def _stale(
    reviewed: Sequence[Survivor], verdicts: Sequence[MutantVerdict], every: set[str], *, whole: bool
) -> list[Survivor]:
    """The entries whose mutants do not survive, or do not exist. If not the `whole` of the
    instances was searched, a mutant that changes nothing there may survive in another one."""
    gone = {"caught", "availability", "refused", *(("unchanged",) if whole else ())}
    answers = {one.id: one.answer for one in verdicts}
    return [one for one in reviewed if one.id not in every or answers.get(one.id) in gone]


def _update(path: Path, found: _Result) -> None:
    """Writes the list without stale entries, and with the new survivors."""
    gone = {one.id for one in found.stale}
    kept = [one for one in found.reviewed if one.id not in gone]
    kept += [Survivor(made.id) for made, _ in found.new]
    if kept or path.exists():
        try:
            write_survivors(path, kept)
        except BadSurvivors as error:
            raise ConformError(str(error)) from None


def _show(found: _Result, path: Path) -> None:
    for made, verdict in found.new:
        if verdict.replies:
            continue
        out(f"{made.span.where()}: {made.id}")
        out(f"  {made.says}")
        out(f"  - {made.before}")
        out(f"  + {made.after}")
        where = f" in {verdict.instance}" if verdict.instance else ""
        steps = f" after {verdict.steps} {'step' if verdict.steps == 1 else 'steps'}"
        out(f"  survives{where}: {verdict.detail}{steps if verdict.steps else ''}")
    in_replies = [(made, verdict) for made, verdict in found.new if verdict.replies]
    if in_replies:
        out("differ in replies alone, which no property speaks of:")
    for made, verdict in in_replies:
        out(f"  {made.span.where()}: {made.id}: {made.says}; in {verdict.instance}")
    for one in found.undecided:
        out(f"undecided {one.id} in {one.instance}: {one.detail}")
    for entry in found.unreasoned:
        say(
            f"{path}: {entry.id} has no reason, or cites no source of the"
            " charter (nor `silent`); write both"
        )
    for entry in found.stale:
        say(f"{path}: {entry.id} no longer survives; --update removes it")
    rows = [[answer, number(amount)] for answer, amount in found.counts.items()]
    out(columns([["mutants", number(len(found.made))], *rows]))
    out(columns([[*_HEAD], *found.families]))
    reasoned = {one.id for one in found.reviewed if one.is_reviewed(found.sources)}
    if found.survivors:
        count = sum(made.id in reasoned for made, _ in found.survivors)
        out(f"{count} of {len(found.survivors)} survivors have a reason and a citation ({path})")
