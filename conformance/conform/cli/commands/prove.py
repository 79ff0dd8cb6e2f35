"""`conform prove`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from charter import api
from charter.formats.canonical import Json
from conform.cli.commands.charters import loaded
from conform.cli.commands.story import call_line, show_state
from conform.console.errors import ConformError
from conform.console.extras import need
from conform.console.terminal import out, out_json

EXAMPLES = """examples:
  conform prove spec/kafka
  conform prove spec/kafka --instance tiny_elr --variant pre_kip_966

Proves `always` properties by induction, for all values of counters, in the sorts of an instance.
What is open is not refuted: it may need a stronger lemma, one that is false in the state that is
shown with the step that breaks the property. Exit code 0: all are proved; 3: some are
open; 1: one is false at the start. `eventually` is not checked: use `conform explore`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument("--instance", default="", help="default: as for `conform explore`")
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    need("z3", "`conform prove`")
    model = loaded(arguments.charter, arguments.variant)
    try:
        found = api.prove(model, arguments.instance)
    except api.Missing as error:
        raise ConformError(str(error)) from None
    proved, reasons, others = found["proved"], found["open"], found["not_looked_at"]
    assert isinstance(proved, list)
    assert isinstance(others, list)
    assert isinstance(reasons, dict)
    if arguments.json:
        out_json(found)
    else:
        for name in proved:
            out(f"proved  {name}")
        for name, reason in reasons.items():
            out(f"open    {name}: {reason}")
            _show_step(found, name)
        if others:
            names = ", ".join(str(name) for name in others)
            out(f"not checked: {names}; `conform explore` checks `eventually`")
    if any(reason == "false in the initial state" for reason in reasons.values()):
        return 1
    return 3 if reasons else 0


def _show_step(found: Mapping[str, Json], name: str) -> None:
    """Shows the step that breaks a property, with the state before it."""
    steps = found["steps"]
    step = steps.get(name) if isinstance(steps, dict) else None
    if not isinstance(step, dict):
        return
    before, args, changes = step["before"], step["args"], step["changes"]
    assert isinstance(before, dict) and isinstance(args, dict) and isinstance(changes, list)
    show_state(before)
    out(f"  {call_line(str(step['operation']), args)}")
    out(f"        by {step['branch']}")
    for change in changes:
        out(f"        {change}")
