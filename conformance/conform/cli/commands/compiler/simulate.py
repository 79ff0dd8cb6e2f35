"""`conform simulate`."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from charter import api
from charter.api.as_json import walks_json
from conform.cli.output.charters import (
    add_bounds,
    exit_code,
    read_rest,
    set_bounds,
    settings_line,
    settings_of,
)
from conform.cli.output.mutants import MutantStatus, choose_instances
from conform.cli.output.numbers import count, whole
from conform.cli.output.story import (
    SHORTENED,
    add_pictures,
    draw,
    refuse_two_outputs,
    show_steps,
    show_story,
)
from conform.console.errors import ConformError
from conform.console.progress import tasks
from conform.console.terminal import number, out, out_json

if TYPE_CHECKING:
    from charter.api import Model
    from charter.explore.swarm import WalksResult
    from charter.render.story.tell import Story

EXAMPLES = """examples:
  conform simulate spec/kafka --instance tiny_elr --steps 12 --seed 7
  conform simulate spec/examples/paxos.charter --walks 100 --steps 60
  conform simulate spec/examples/paxos.charter --walks 1000 --mutant proposes_what_it_wants
  conform simulate spec/examples/paxos.charter --steps 25 --picture -
  conform simulate spec/examples/paxos.charter --walks 20 --steps 80 --set Acceptor=5

A single walk is printed. With several, every property is checked after every step; a counterexample
is shortened and printed with the seed that reproduces it. Equal seeds give equal walks, with any
number of processes. Finding nothing is no proof: only `conform explore` searches all states, and
only it checks `eventually`.

Exit code 0: nothing violated on these walks; 1: a property fails, a system has a deadlock, or the
charter asks for a value that does not exist; 2: nothing violated, but scenarios, instances or
mutants with errors are left out, which is told.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument("--instance", default="", help="default: as for `conform explore`")
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument("--mutant", default="", help="a mutant of the charter")
    add_bounds(parser)
    parser.add_argument("--steps", type=count, default=10, help="length of each walk (default: 10)")
    parser.add_argument("--walks", type=count, default=1, help="number of walks (default: 1)")
    parser.add_argument("--seed", type=whole, default=0, help="seed of the random choices")
    parser.add_argument("--unguided", action="store_true", help="start walks in the initial state")
    parser.add_argument(
        "--workers", type=count, default=0, help="processes (default: one for each core)"
    )
    add_pictures(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    refuse_two_outputs(arguments)
    selection = api.Selection(arguments.variant, arguments.mutant)
    rest = read_rest(arguments.charter, selection, arguments.instance)
    model = rest.model
    names = choose_instances(model, arguments)
    arguments.instance = arguments.instance or names[0]
    model = set_bounds(model, arguments.instance, arguments.bounds)
    wanted = api.Simulation(
        arguments.steps,
        arguments.walks,
        arguments.seed,
        not arguments.unguided,
        arguments.workers or os.cpu_count() or 1,
    )
    try:
        with tasks("walking") as report:
            found = api.simulate(
                model,
                arguments.instance,
                wanted,
                lambda done, total: report(f"{number(done)} walks", done, total),
            )
    except api.Missing as error:
        raise ConformError(str(error)) from None
    settings = settings_of(found.bounds, arguments.bounds)
    mutant = _judge(model, arguments.mutant, found)
    name = found.machine.instance.name
    stories = [api.tell(model, name, one.finding) for one in found.findings]
    walk = None if found.walk is None else api.tell_trace(model, name, ("walk", ""), found.walk)
    if arguments.json:
        shown = None if mutant is None else mutant.json()
        whole = walks_json(found, stories, walk)
        out_json(whole | {"set": {**settings}, "mutant": shown})
    else:
        _show(found, settings, walk)
        for one, story in zip(found.findings, stories, strict=True):
            show_story(story, SHORTENED)
            out(f"  reproduce with: {_again(arguments, one.seed, one.batch)}")
        if walk is None:
            _show_end(found)
        if mutant is not None:
            out(_of_mutant(mutant, found.unchecked))
    draw([*stories, *([] if walk is None else [walk])], arguments)
    return exit_code(1 if found.findings else 0, rest.broken)


def _again(arguments: argparse.Namespace, seed: int, walks: int) -> str:
    """The command that makes the walks of one seed again."""
    command = ["conform", "simulate", str(arguments.charter), "--instance", arguments.instance]
    for option in ("variant", "mutant"):
        if given := getattr(arguments, option):
            command += [f"--{option}", given]
    for bound in arguments.bounds:
        command += ["--set", bound]
    command += ["--walks", str(walks), "--steps", str(arguments.steps), "--seed", str(seed)]
    return shlex.join([*command, *["--unguided"] * arguments.unguided])


def _judge(model: Model, name: str, found: WalksResult) -> MutantStatus | None:
    """The result of random walks for a mutant: caught or unknown."""
    failed = {one.finding.name for one in found.findings}
    for one in model.mutants:
        if one.name == name:
            answer: Literal["caught", "unknown"] = (
                "caught" if one.caught_by in failed else "unknown"
            )
            detail = "" if answer == "caught" else "the search gave up"
            return MutantStatus(name, one.caught_by, one.instance, answer, detail)
    return None


def _show(found: WalksResult, settings: Mapping[str, int], walk: Story | None) -> None:
    """Shows the walk if there is only one, else a summary of all."""
    if walk is not None:
        show_steps(walk)
        return
    instance = found.machine.instance
    out(
        f"{instance.machine} in the instance {instance.name}{settings_line(settings)}: "
        f"{found.walks} walks, {found.steps} steps, seed {found.seed}"
    )
    for name in found.unseen:
        out(f"never seen: {name}")


def _show_end(found: WalksResult) -> None:
    if not found.findings:
        out("nothing is violated on these walks")
    if found.unchecked:
        names = ", ".join(found.unchecked)
        out(f"not checked: {names}; `conform explore` checks `eventually`")


def _of_mutant(mutant: MutantStatus, unchecked: Sequence[str]) -> str:
    """What the walks found out about a mutant, as a sentence."""
    name, prop = mutant.name, mutant.caught_by
    if mutant.answer == "caught":
        return f"mutant {name} is caught by {prop}"
    if prop in unchecked:
        return (
            f"mutant {name} is meant for {prop}, which walks do not check; `conform explore` does"
        )
    return (
        f"mutant {name} was not caught by {prop} on these walks; `conform explore` searches all"
        " states"
    )
