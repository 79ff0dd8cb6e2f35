"""`conform coverage --pairs`: which steps follow each other in some instance or scenario, and why
others do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from charter import api
from charter.api import coverage
from charter.formats.canonical import Json
from charter.formats.charter_files.white_pairs import FILE, WhitePairs
from conform.cli.output.each_instance import NotSearched, each_searched
from conform.console.terminal import columns, number, out, plural

if TYPE_CHECKING:
    from charter.semantics.scenario import ScenarioFails

WIDTH = 118
"""Columns of a line of Markdown."""
WALKED = "Walked at random, since they have more states than are searched:"
IN_SCENARIOS = "In no instance, but in a scenario (`s`):"
WHITE = f"In no instance and no scenario (`·`), with the reasons of {FILE}:"
ALONE = "In no pair, since they change nothing, or no instance takes them:"


@dataclass(frozen=True, slots=True)
class PairTable:
    """The steps of one machine, or operations, and for each pair of them the instances in which the
    second follows the first. `alone`: the steps that are in no pair; `asked`: all instances;
    `partial`: those of which not all states were searched, which count for the pairs that random
    walks saw. `scenarios`: for each pair that is in no instance the titles of the scenarios with
    it; `failed`: scenarios that fail, which count for no pair. `reasons`: why pairs are in
    neither."""

    machine: str
    steps: Sequence[str]
    alone: Sequence[str]
    instances: Mapping[tuple[str, str], Sequence[str]]
    asked: Sequence[str]
    partial: Sequence[str]
    scenarios: Mapping[tuple[str, str], Sequence[str]]
    failed: Sequence[ScenarioFails]
    reasons: Sequence[WhitePairs]

    def line(self, first: str) -> list[str]:
        """For each step the number of instances in which it follows `first`, `s` if it follows in a
        scenario alone, `·` if in neither."""
        return [self._cell((first, second)) for second in self.steps]

    def _cell(self, pair: tuple[str, str]) -> str:
        if pair in self.instances:
            return str(len(self.instances[pair]))
        return "s" if pair in self.scenarios else "·"

    @property
    def white(self) -> list[tuple[str, str]]:
        """The pairs that are in no instance and no scenario, in the order of the table."""
        every = product(self.steps, self.steps)
        return [p for p in every if p not in self.instances and p not in self.scenarios]

    @property
    def summary(self) -> str:
        """How many pairs follow each other, as a sentence."""
        of, also = number(len(self.steps) ** 2), number(len(self.scenarios))
        said = f"{number(len(self.instances))} of {of} pairs follow each other in some instance"
        return f"{said}, and {also} in a scenario alone" if self.scenarios else said


def pair_tables(
    model: api.Model, most: Mapping[str, int], reasons: Sequence[WhitePairs] = ()
) -> tuple[list[PairTable], NotSearched]:
    """The table of each machine that an instance is of, and the instances that could not be
    searched; `most`: by the name of an instance, how many of its states are searched at most.
    Raises `Interrupted`."""
    searches = each_searched(
        [*most], lambda name, progress: coverage.step_pairs(model, name, most[name], progress)
    )
    found = searches.found
    machines: dict[str, list[str]] = {}
    for instance in model.instances:
        if instance.name in found:
            machines.setdefault(instance.machine, []).append(instance.name)
    tables = [
        _table(
            model,
            machine,
            {name: found[name] for name in mine},
            [one for one in reasons if one.machine == machine],
        )
        for machine, mine in machines.items()
    ]
    return tables, searches.failed


def _table(
    model: api.Model,
    machine: str,
    found: Mapping[str, coverage.StepPairs],
    reasons: Sequence[WhitePairs],
) -> PairTable:
    instances: dict[tuple[str, str], list[str]] = {}
    for name, pairs in found.items():
        for pair in pairs.followed:
            instances.setdefault(pair, []).append(name)
    told = coverage.scenario_pairs(model, machine)
    scenarios = {pair: names for pair, names in told.titles.items() if pair not in instances}
    offered = {step for pairs in found.values() for step in pairs.steps}
    paired = {step for pair in (*instances, *scenarios) for step in pair}
    steps = [step for step in coverage.steps_of(model, machine) if step in offered | paired]
    partial = [name for name, pairs in found.items() if not pairs.complete]
    return PairTable(
        machine,
        [s for s in steps if s in paired],
        [s for s in steps if s not in paired],
        instances,
        [*found],
        partial,
        scenarios,
        told.failed,
        reasons,
    )


def wrong_reasons(tables: Sequence[PairTable], reasons: Sequence[WhitePairs]) -> list[str]:
    """What is wrong with the reasons for white pairs, a sentence each: a pair has none, or one that
    is reached has one."""
    known = {table.machine for table in tables}
    unknown = dict.fromkeys(one.machine for one in reasons if one.machine not in known)
    wrong = [f"{FILE} names {machine}: no instance is of it" for machine in unknown]
    for table in tables:
        wrong += _wrong_reasons(table)
    return wrong


def _wrong_reasons(table: PairTable) -> Iterator[str]:
    white = set(table.white)
    given = {pair for one in table.reasons for pair in one.pairs}
    for name in dict.fromkeys(step for pair in sorted(given) for step in pair):
        if name not in table.steps:
            yield f"{FILE} names {name}: {table.machine} has no such step in a pair"
    for first, second in product(table.steps, table.steps):
        pair = f"{first} -> {second}"
        if (first, second) in given - white:
            yield f"{table.machine}: {pair} has a reason in {FILE}, but it is reached: remove it"
        if (first, second) in white - given:
            yield f"{table.machine}: {pair} is white and has no reason in {FILE}: write one"


def show_pairs(tables: Sequence[PairTable]) -> None:
    """Print the tables."""
    for table in tables:
        out(f"{table.machine}: {table.summary}")
        head = ["", "", *(str(place + 1) for place in range(len(table.steps)))]
        rows = [[str(place), step, *table.line(step)] for place, step in enumerate(table.steps, 1)]
        out(columns([head, *rows]))
        out("")
        for step in table.alone:
            out(f"{step} is in no pair: it changes nothing, or no instance takes it")
        for name in table.partial:
            out(f"{name} was walked at random: it has more states than were searched (--most)")


def pairs_json(tables: Sequence[PairTable]) -> Json:
    """The tables as JSON: for each step the steps that follow it, with the instances."""
    return {
        table.machine: {
            "steps": list(table.steps),
            "alone": list(table.alone),
            "partial": list(table.partial),
            "followed_by": {
                first: {
                    second: list(table.instances[first, second])
                    for second in table.steps
                    if (first, second) in table.instances
                }
                for first in table.steps
            },
            "in_scenarios": _by_first({p: list(names) for p, names in table.scenarios.items()}),
            "white": _by_first(_reasons(table)),
        }
        for table in tables
    }


def _reasons(table: PairTable) -> Mapping[tuple[str, str], str]:
    """The reason of each white pair, "" if none is known."""
    known = {pair: one.reason for one in table.reasons for pair in one.pairs}
    return {pair: known.get(pair, "") for pair in table.white}


def _by_first(found: Mapping[tuple[str, str], Json]) -> Json:
    nested: dict[str, dict[str, Json]] = {}
    for (first, second), value in found.items():
        nested.setdefault(first, {})[second] = value
    return dict(nested)


def pairs_markdown(charter: Path, tables: Sequence[PairTable]) -> str:
    """The tables as a Markdown page."""
    command = f"conform coverage {charter.as_posix()} --pairs --write FILE"
    lines = [
        f"# Which steps follow each other in the instances of {charter.as_posix()}",
        "",
        f"Written by `{command}`. Row and column are steps; a cell",
        "has the number of instances in which the step of the column can be taken right after the",
        "one of the row. `s`: it is in none, but in a scenario; `·`: it is in neither. Steps that",
        "change nothing do not count.",
    ]
    for table in tables:
        lines += ["", f"## {table.machine}", "", f"{table.summary}.", ""]
        lines += [f"| | | {' | '.join(str(i + 1) for i in range(len(table.steps)))} |"]
        lines += ["|---" * (len(table.steps) + 2) + "|"]
        lines += [
            f"| {place} | `{step}` | {' | '.join(table.line(step))} |"
            for place, step in enumerate(table.steps, 1)
        ]
        lines += _below(table)
        if table.alone:
            lines += ["", ALONE, "", *(f"- `{step}`" for step in table.alone)]
        lines += ["", f"Of {plural(len(table.asked), 'instance')}."]
        if table.partial:
            lines += ["", WALKED, ""]
            lines += [f"- `{name}`" for name in table.partial]
    return "\n".join(lines) + "\n"


def _below(table: PairTable) -> list[str]:
    """What is said below a table of its cells `s` and `·`."""
    lines: list[str] = []
    by_title: dict[str, list[tuple[str, str]]] = {}
    order = [pair for pair in product(table.steps, table.steps) if pair in table.scenarios]
    for pair in order:
        by_title.setdefault(table.scenarios[pair][0], []).append(pair)
    if by_title:
        lines += ["", IN_SCENARIOS, ""]
        for title, pairs in by_title.items():
            lines.append(_item(f"{title}: {', '.join(_arrow([a], [b]) for a, b in pairs)}"))
    white = set(table.white)
    those = [one for one in table.reasons if white.intersection(one.pairs)]
    if those:
        lines += ["", WHITE, ""]
        lines += [_item(f"{_arrow(one.first, one.second)}: {one.reason}") for one in those]
    return lines


def _arrow(first: Sequence[str], second: Sequence[str]) -> str:
    """Steps that are followed, and steps that follow them."""
    return " → ".join(", ".join(f"`{step}`" for step in side) for side in (first, second))


def _item(text: str) -> str:
    """An item of a list, in several lines if need be."""
    return fill(
        f"- {text}", WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
