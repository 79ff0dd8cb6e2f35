"""`conform coverage --pairs`: which steps follow each other in some instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from charter import api
from charter.api import coverage
from charter.formats.canonical import Json
from conform.cli.commands.each_instance import each_searched
from conform.console.terminal import columns, number, out, plural

WALKED = "Walked at random, since they have more states than are searched:"
ALONE = "In no pair, since they change nothing, or no instance takes them:"


@dataclass(frozen=True, slots=True)
class PairTable:
    """The steps of one machine, or operations, and for each pair of them the instances in which the
    second follows the first. `alone`: the steps that are in no pair; `asked`: all instances;
    `partial`: those of which not all states were searched, which count for the pairs that random
    walks saw."""

    machine: str
    steps: Sequence[str]
    alone: Sequence[str]
    instances: Mapping[tuple[str, str], Sequence[str]]
    asked: Sequence[str]
    partial: Sequence[str]

    def line(self, first: str) -> list[str]:
        """For each step the number of instances in which it follows `first`, `·` for none."""
        return [str(len(self.instances.get((first, next_), ())) or "·") for next_ in self.steps]

    @property
    def summary(self) -> str:
        """How many pairs follow each other, as a sentence."""
        of = number(len(self.steps) ** 2)
        return f"{number(len(self.instances))} of {of} pairs follow each other in some instance"


def pair_tables(model: api.Model, most: Mapping[str, int]) -> list[PairTable]:
    """The table of each machine that an instance is of; `most`: by the name of an instance, how
    many of its states are searched at most. Raises `ConformError`."""
    pairs = each_searched(
        [*most], lambda name, progress: coverage.step_pairs(model, name, most[name], progress)
    )
    found = dict(zip(most, pairs, strict=True))
    machines: dict[str, list[str]] = {}
    for instance in model.instances:
        if instance.name in found:
            machines.setdefault(instance.machine, []).append(instance.name)
    return [
        _table(model, machine, {name: found[name] for name in mine})
        for machine, mine in machines.items()
    ]


def _table(model: api.Model, machine: str, found: Mapping[str, coverage.StepPairs]) -> PairTable:
    instances: dict[tuple[str, str], list[str]] = {}
    for name, pairs in found.items():
        for pair in pairs.followed:
            instances.setdefault(pair, []).append(name)
    offered = {step for pairs in found.values() for step in pairs.steps}
    steps = [step for step in coverage.steps_of(model, machine) if step in offered]
    paired = {step for pair in instances for step in pair}
    alone = [step for step in steps if step not in paired]
    partial = [name for name, pairs in found.items() if not pairs.complete]
    return PairTable(
        machine, [s for s in steps if s in paired], alone, instances, [*found], partial
    )


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
        }
        for table in tables
    }


def pairs_markdown(charter: Path, tables: Sequence[PairTable]) -> str:
    """The tables as a Markdown page."""
    command = f"conform coverage {charter.as_posix()} --pairs --write FILE"
    lines = [
        f"# Which steps follow each other in the instances of {charter.as_posix()}",
        "",
        f"Written by `{command}`. Row and column are steps; a cell",
        "has the number of instances in which the step of the column can be taken right after the",
        "one of the row, `·`: it is in none. Steps that change nothing do not count.",
    ]
    for table in tables:
        lines += ["", f"## {table.machine}", "", f"{table.summary}.", ""]
        lines += [f"| | | {' | '.join(str(i + 1) for i in range(len(table.steps)))} |"]
        lines += ["|---" * (len(table.steps) + 2) + "|"]
        lines += [
            f"| {place} | `{step}` | {' | '.join(table.line(step))} |"
            for place, step in enumerate(table.steps, 1)
        ]
        if table.alone:
            lines += ["", ALONE, "", *(f"- `{step}`" for step in table.alone)]
        lines += ["", f"Of {plural(len(table.asked), 'instance')}."]
        if table.partial:
            lines += ["", WALKED, ""]
            lines += [f"- `{name}`" for name in table.partial]
    return "\n".join(lines) + "\n"
