"""`conform prove`."""

from __future__ import annotations

import argparse
from pathlib import Path

from charter import api
from conform.cli.output.charters import exit_code, read_rest
from conform.cli.output.story import show_state
from conform.console.errors import ConformError
from conform.console.extras import need
from conform.console.terminal import out, out_json

EXAMPLES = """examples:
  conform prove spec/kafka
  conform prove spec/kafka --instance tiny_elr --variant pre_kip_966

Proves `always` properties of a component by induction, for all values of counters, in the sorts of
an instance of it. An instance of a system is refused: `conform explore` searches it.
What is open is not refuted: it may need a stronger lemma, one that is false in the state that is
shown with the step that breaks the property. Exit code 0: all are proved; 3: some are
open; 1: one is false at the start, or there is no first state; 2: the instance is of a system, or
all are proved, but scenarios, instances or mutants with errors are left out, which is told.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument("--instance", default="", help="default: as for `conform explore`")
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    need("z3", "`conform prove`")
    rest = read_rest(arguments.charter, api.Selection(arguments.variant), arguments.instance)
    try:
        found = api.prove(rest.model, arguments.instance)
    except api.Missing as error:
        raise ConformError(str(error)) from None
    if arguments.json:
        out_json(found.json())
    else:
        for name in found.proved:
            out(f"proved  {name}")
        for name, reason in found.open.items():
            out(f"open    {name}: {reason}")
            if name in found.steps:
                _show_step(found.steps[name])
    if api.FALSE_INITIALLY in found.open.values():
        return 1
    return exit_code(3 if found.open else 0, rest.broken)


def _show_step(step: api.StepThatBreaks) -> None:
    """Shows the step that breaks a property, with the state before it."""
    show_state(step.before)
    out(f"  {step.call}")
    out(f"        by {step.branch}")
    for change in step.changes:
        out(f"        {change}")
