"""`conform simulate`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.formats.canonical import Json
from conform.cli.commands.charters import (
    add_bounds,
    bounded,
    loaded,
    settings_json,
    settings_line,
)
from conform.cli.commands.mutants import chosen, judged
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
    from charter.api import Story

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
    found["set"] = settings_json(found, arguments.bounds)
    findings = found["findings"]
    assert isinstance(findings, list)
    violated: dict[str, Json] = {str(_object(each)["name"]): "violated" for each in findings}
    found["mutant"] = judged(model, arguments.mutant, {"verdicts": violated, "findings": []})
    name = str(found["instance"])
    stories: list[Story] = []
    for finding in findings:
        assert isinstance(finding, dict)
        story = api.told(model, name, finding)
        put(story, finding)
        stories.append(story)
    if found["walk"] is not None:
        story = api.told(model, name, {"kind": "walk", "name": "", "trace": found["walk"]})
        found["walk"] = list(story.steps_json())
        stories.append(story)
    if arguments.json:
        out_json(found)
    else:
        _show(found, findings, arguments)
    draw(stories, arguments)
    return 1 if findings else 0


def _show(found: dict[str, Json], findings: list[Json], arguments: argparse.Namespace) -> None:
    walk, unseen = found["walk"], found["unseen"]
    assert isinstance(unseen, list)
    if isinstance(walk, list):
        for count, step in enumerate(walk, 1):
            assert isinstance(step, dict)
            show_step(count, step)
    else:
        out(
            f"{found['machine']} in the instance {found['instance']}"
            f"{settings_line(found['set'])}: {found['walks']} walks,"
            f" {found['steps']} steps, seed {found['seed']}"
        )
        for name in unseen:
            out(f"never seen: {name}")
    for finding in findings:
        assert isinstance(finding, dict)
        if is_wrong(finding):
            show_story(finding)
            out(
                f"  found again by: --seed {finding['seed']} --walks {finding['batch']}"
                f" --steps {arguments.steps}"
            )
    unlooked = found["not_looked_at"]
    assert isinstance(unlooked, list)
    if walk is None:
        if not findings:
            out("nothing is violated on these walks")
        if unlooked:
            names = ", ".join(str(name) for name in unlooked)
            out(f"not looked at: {names}; `conform explore` looks at `eventually`")
    if found["mutant"] is not None:
        out(_of_mutant(_object(found["mutant"]), unlooked))


def _of_mutant(mutant: dict[str, Json], unlooked: list[Json]) -> str:
    """What walks say of a mutant, in words."""
    name, prop = mutant["name"], mutant["caught_by"]
    if mutant["answer"] == "caught":
        return f"mutant {name} is caught by {prop}"
    if prop in unlooked:
        return (
            f"mutant {name} is meant for {prop}, which walks do not look at; `conform explore` does"
        )
    return (
        f"mutant {name} was not caught by {prop} on these walks; `conform explore` searches all"
        " states"
    )


def _object(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value
