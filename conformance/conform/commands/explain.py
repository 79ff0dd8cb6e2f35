"""`conform explain`."""

from __future__ import annotations

import argparse
from pathlib import Path

from conform.errors import ConformError
from conform.terminal import out

EXAMPLES = """examples:
  conform explain type/mismatch
  conform explain --list
"""

_PAGES = Path(__file__).resolve().parents[3] / "docs" / "diagnostics"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", default="", help="of a diagnostic: type/mismatch")
    parser.add_argument("--list", action="store_true", help="list all codes")


def run(arguments: argparse.Namespace) -> int:
    codes = sorted(
        path.relative_to(_PAGES).with_suffix("").as_posix()
        for path in _PAGES.rglob("*.md")
        if path.parent != _PAGES
    )
    if arguments.list or not arguments.code:
        out("\n".join(codes))
        return 0
    if arguments.code not in codes:
        near = [code for code in codes if arguments.code in code]
        hint = f"; did you mean {', '.join(near)}" if near else ""
        raise ConformError(f"there is no diagnostic {arguments.code!r}{hint}; --list shows all")
    out((_PAGES / f"{arguments.code}.md").read_text(encoding="utf-8").rstrip())
    return 0
