"""`conform generate`."""

from __future__ import annotations

import argparse
from pathlib import Path

from charter import api
from conform.commands.charters import Errors
from conform.errors import ConformError
from conform.terminal import out, out_json, say

EXAMPLES = """examples:
  conform generate
  conform generate --check

Writes generated/ from spec/ and the overlays beside the adapters. Exit code 0: it is up to date;
1: with --check something is stale, or a charter has errors.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="change nothing, show what is stale")
    parser.add_argument("--root", type=Path, default=Path(), help="the project (default: here)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    root: Path = arguments.root.resolve()
    if not (root / "spec").is_dir():
        raise ConformError(f"{root} has no folder spec/; go to the project, or use --root")
    try:
        if arguments.check:
            return _check(root, arguments.json)
        changed = api.generate(root)
    except api.Unreadable as error:
        raise ConformError(str(error)) from None
    except api.Refused as refused:
        for item in refused.diagnostics:
            out(item.show())
        raise Errors(f"nothing was generated: {refused}") from None
    if arguments.json:
        out_json({"changed": [*changed]})
    else:
        for path in changed:
            out(f"generated/{path}")
        say(f"{len(changed)} files changed" if changed else "generated/ is up to date")
    return 0


def _check(root: Path, as_json: bool) -> int:
    stale = api.stale(root)
    if as_json:
        out_json({"stale": stale})
    elif stale:
        out(stale.rstrip())
    return 1 if stale else 0
