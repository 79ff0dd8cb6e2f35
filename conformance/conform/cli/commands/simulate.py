"""`conform simulate`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from charter import api
from charter.formats.canonical import Json
from conform.cli.commands.charters import (
    add_bounds,
    bounded,
    loaded,
    settings_json,
    settings_line,
)
from conform.cli.commands.mutants import Judged, chosen
from conform.cli.commands.numbers import count, whole
from conform.cli.commands.story import (
    add_pictures,
    draw,
    is_wrong,
    put,
    refuse_two_outputs,
    show_step,
    show_story,
)
from conform.console.errors import ConformError
from conform.console.progress import tasks
from conform.console.terminal import number, out, out_json

if TYPE_CHECKING:
    from charter.api import Model, Story, WalksResult

EXAMPLES = """examples:
  conform simulate spec/kafka --instance tiny_elr --steps 12 --seed 7
  conform simulate spec/examples/paxos.charter --walks 400 --steps 60
  conform simulate spec/examples/paxos.charter --walks 2000 --mutant proposes_what_it_wants
  conform simulate spec/examples/paxos.charter --steps 25 --picture -
  conform simulate spec/examples/paxos.charter --walks 20 --steps 80 --set Acceptor=5

One walk is told. Several are searched: every property is checked after every step, what fails is
shortened and told, with the seed that finds it again. Equal seeds give equal walks, in any number
of processes. Nothing found is no proof: `conform explore` searches all states, and it alone looks
at `eventually`.

Exit code 0: nothing violated on these walks; 1: a property fails, a system is stuck, or the charter
asks for a value that does not exist.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument("--instance", default="", help="default: as of `conform explore`")
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument("--mutant", default="", help="a mutant of the charter")
    add_bounds(parser)
    parser.add_argument("--steps", type=count, default=10, help="of each walk (default: 10)")
    parser.add_argument("--walks", type=count, default=1, help="how many (default: 1)")
    parser.add_argument("--seed", type=whole, default=0, help="another seed, other walks")
    parser.add_argument("--unguided", action="store_true", help="begin every walk at the beginning")
    parser.add_argument(
        "--workers", type=count, default=0, help="processes (default: one for each core)"
    )
    add_pictures(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    refuse_two_outputs(arguments)
    model = loaded(arguments.charter, arguments.variant, arguments.mutant)
    names = chosen(model, arguments)
    arguments.instance = arguments.instance or names[0]
    model = bounded(model, arguments.instance, arguments.bounds)
    wanted = api.Simulation(
        arguments.steps,
        arguments.walks,
        arguments.seed,
        not arguments.unguided,
        arguments.workers or os.cpu_count() or 1,
    )
    try:
        with tasks("walking") as report:
            found = api.simulated(
                model,
                arguments.instance,
                wanted,
                lambda done, total: report(f"{number(done)} walks", done, total),
            )
    except api.Missing as error:
        raise ConformError(str(error)) from None
    whole = api.walks_json(found)
    whole["set"] = settings_json(whole, arguments.bounds)
    mutant = _judged(model, arguments.mutant, found)
    whole["mutant"] = None if mutant is None else mutant.json()
    stories = list(_told(model, found, whole))
    if arguments.json:
        out_json(whole)
    else:
        _show(found, whole, arguments)
        if mutant is not None:
            out(_of_mutant(mutant, found.unlooked))
    draw(stories, arguments)
    return 1 if found.findings else 0


def _judged(model: Model, name: str, found: WalksResult) -> Judged | None:
    """What walks say of a mutant: it is caught, or nobody knows."""
    failed = {one.finding.name for one in found.findings}
    for one in model.mutants:
        if one.name == name:
            answer: Literal["caught", "unknown"] = (
                "caught" if one.caught_by in failed else "unknown"
            )
            detail = "" if answer == "caught" else "the search gave up"
            return Judged(name, one.caught_by, one.instance, answer, detail)
    return None


def _told(model: Model, found: WalksResult, whole: dict[str, Json]) -> Iterator[Story]:
    """The stories of what is wrong, and of the only walk. Their steps are put into `whole`, the
    walks as JSON."""
    name, rows = found.machine.instance.name, whole["findings"]
    assert isinstance(rows, list)
    for one, row in zip(found.findings, rows, strict=True):
        assert isinstance(row, dict)
        story = api.told(model, name, one.finding)
        put(story, row)
        yield story
    if found.walk is not None:
        story = api.trace_told(model, name, ("walk", ""), found.walk)
        whole["walk"] = list(story.steps_json())
        yield story


def _show(found: WalksResult, whole: dict[str, Json], arguments: argparse.Namespace) -> None:
    walk, rows = whole["walk"], whole["findings"]
    assert isinstance(rows, list)
    if isinstance(walk, list):
        for count, step in enumerate(walk, 1):
            assert isinstance(step, dict)
            show_step(count, step)
    else:
        instance = found.machine.instance
        out(
            f"{instance.machine} in the instance {instance.name}{settings_line(whole['set'])}: "
            f"{found.walks} walks, {found.steps} steps, seed {found.seed}"
        )
        for name in found.unseen:
            out(f"never seen: {name}")
    for row in rows:
        assert isinstance(row, dict)
        if is_wrong(row):
            show_story(row)
            out(
                f"  found again by: --seed {row['seed']} --walks {row['batch']}"
                f" --steps {arguments.steps}"
            )
    if walk is None:
        if not found.findings:
            out("nothing is violated on these walks")
        if found.unlooked:
            names = ", ".join(found.unlooked)
            out(f"not looked at: {names}; `conform explore` looks at `eventually`")


def _of_mutant(mutant: Judged, unlooked: Sequence[str]) -> str:
    """What walks say of a mutant, in words."""
    name, prop = mutant.name, mutant.caught_by
    if mutant.answer == "caught":
        return f"mutant {name} is caught by {prop}"
    if prop in unlooked:
        return (
            f"mutant {name} is meant for {prop}, which walks do not look at; `conform explore` does"
        )
    return (
        f"mutant {name} was not caught by {prop} on these walks; `conform explore` searches all"
        " states"
    )
