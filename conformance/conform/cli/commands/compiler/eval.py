"""`conform eval`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.api import evaluate
from charter.formats.canonical import Json
from charter.formats.files import regular
from conform.cli.output.charters import Errors, exit_code, read_rest, show_refused
from conform.cli.output.numbers import count, whole
from conform.console.errors import ConformError
from conform.console.terminal import out, out_json

if TYPE_CHECKING:
    from charter.api.evaluate import Place, Valued

EXAMPLES = """examples:
  conform eval spec/examples/paxos.charter --instance tiny 'acceptor.highest'
  conform eval spec/examples/paxos.charter '{ a in Acceptor if acceptor[a].highest == 0 }' --json
  conform eval spec/kafka 'suspects' --scenario 'Case D' --line 195
  conform eval spec/examples/paxos.charter 'acceptor.highest' --trace trace.json --step 3

The expression reads the initial state of the instance; with --scenario the state behind the lines
of a scenario, which has an instance of its own; with --trace a state of a trace, which `conform
explore --itf FILE` and `conform explore --json` write. If a scenario allows several states, each
value is shown once. Values are those of the definition.

Exit code 0: evaluated; 1: the expression has errors, or no value there; 2: no such state, or the
value is printed, but scenarios, instances or mutants with errors are left out, which is told.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_state(parser)
    parser.add_argument("expression", metavar="EXPRESSION", help="any expression of the language")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_state(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `choose_place` reads."""
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument(
        "--instance", default="", metavar="NAME",
        help="default: `tiny`, else the first whose name begins with tiny, else the only one",
    )  # fmt: skip
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument(
        "--scenario", metavar="TITLE", help="the state in a scenario: its title, or how it begins"
    )
    parser.add_argument(
        "--line", type=count, metavar="N",
        help="with --scenario: behind line N of the file (default: behind the last line)",
    )  # fmt: skip
    parser.add_argument(
        "--trace", type=Path, metavar="FILE", help="a trace in ITF, or a search written by --json"
    )
    parser.add_argument(
        "--step", type=whole, metavar="N",
        help="with --trace: after N steps (default: the last state)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    place, broken = choose_place(arguments)
    found = values(place, arguments.expression)
    if arguments.json:
        rows: list[Json] = [{"type": each.type, "value": each.json} for each in found]
        out_json(rows)
    else:
        for each in found:
            out(each.text)
    return exit_code(0, broken)


def values(place: Place, expression: str) -> tuple[Valued, ...]:
    """The values of an expression. Raises `ConformError` with exit code 1 after showing its
    errors."""
    try:
        return place.evaluate(expression)
    except api.Refused as error:
        name, instance = place.elsewhere(expression)
        told = f"the expression has {show_refused(error)}"
        if any(name and f"`{name}`" in item.message for item in error.diagnostics):
            told += f"; {name} is an element in the instance {instance}, not in"
            told += f" {place.machine.instance.name}: --instance {instance}"
        raise NoValue(told) from None
    except evaluate.WrongState as error:
        raise NoValue(str(error)) from None


class NoValue(ConformError):
    """The expression has errors, or no value in the state."""

    exit_code = 1


def choose_place(arguments: argparse.Namespace) -> tuple[Place, Collection[object]]:
    """The state that was chosen, and what is left out of the charter since it has errors. Raises
    `ConformError`."""
    if arguments.line is not None and arguments.scenario is None:
        raise ConformError("--line is for --scenario; add that, or leave --line out")
    if arguments.step is not None and arguments.trace is None:
        raise ConformError("--step is for --trace; add that, or leave --step out")
    if arguments.scenario is not None and arguments.trace is not None:
        raise ConformError("--scenario and --trace each choose a state; leave one out")
    selection = api.Selection(arguments.variant)
    title = arguments.scenario
    rest = read_rest(arguments.charter, selection, "*" if title else arguments.instance)
    for one in rest.broken if title else ():
        if one.kind == "scenario" and one.name.startswith(title):
            raise Errors(f"the {one.told} has errors")
    charter, model = rest.charter, rest.model
    try:
        if title is not None:
            place = evaluate.in_scenario(charter, selection, model, (title, arguments.line))
        else:
            place = evaluate.in_instance(charter, selection, model, arguments.instance)
        if arguments.trace is not None:
            place = evaluate.in_trace(place, _json_of(arguments.trace), arguments.step)
    except (api.Missing, evaluate.WrongState) as error:
        raise ConformError(str(error)) from None
    return place, rest.broken


def _json_of(path: Path) -> Json:
    try:
        found: Json = json.loads(regular(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise ConformError(f"{path} is not JSON; give a trace in ITF or a search") from None
    return found
