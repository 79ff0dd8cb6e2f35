"""`conform fmt`."""

from __future__ import annotations

import argparse
from difflib import unified_diff
from pathlib import Path

from charter import api
from charter.project.compile import format_text
from conform.console.errors import ConformError
from conform.console.terminal import out, out_json, say

EXAMPLES = """examples:
  conform fmt spec/kafka
  conform fmt spec/kafka --check
  conform fmt one.charter --diff

Exit code 0: nothing to do, or done; 1: with --check or --diff a file is not formatted, or a file
has syntax errors (it is left as it is); 2: a file cannot be read or written.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charters", type=Path, nargs="+", help="files, or folders of charters")
    parser.add_argument("--check", action="store_true", help="change nothing, name what would be")
    parser.add_argument("--diff", action="store_true", help="change nothing, print the differences")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    try:
        sources = [s for path in arguments.charters for s in api.read_files(path)]
    except api.Unreadable as error:
        raise ConformError(str(error)) from None
    changed: list[str] = []
    broken: list[str] = []
    for source in sources:
        try:
            text = format_text(source)
        except api.Refused as refused:
            broken.append(source.name)
            for item in refused.diagnostics:
                say(item.show())
            continue
        if text != source.text:
            changed.append(source.name)
            _settle(source, text, arguments)
    if arguments.json:
        out_json({"changed": list(changed), "broken": list(broken), "files": len(sources)})
    else:
        verb = "would change" if arguments.check or arguments.diff else "formatted"
        for name in changed:
            say(f"{verb} {name}")
    return 1 if broken or (changed and (arguments.check or arguments.diff)) else 0


def _settle(source: api.Source, text: str, arguments: argparse.Namespace) -> None:
    """Shows or writes the formatted text of one file."""
    if arguments.diff:
        lines = unified_diff(
            source.text.splitlines(), text.splitlines(), source.name, "formatted", lineterm=""
        )
        out("\n".join(lines))
    elif not arguments.check:
        try:
            Path(source.name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConformError(f"{source.name} cannot be written: {error.strerror}") from None
