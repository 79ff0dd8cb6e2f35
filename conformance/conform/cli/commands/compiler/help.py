"""`conform help`."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from conform.adapters.projects import docs
from conform.cli.commands.compiler.explain import explanation
from conform.cli.main import overview, suggest
from conform.console.errors import ConformError
from conform.console.terminal import columns, out

EXAMPLES = """examples:
  conform help
  conform help properties
  conform help adapter
  conform help --man | man -l -

Shows a page of the manual. Without a topic: all commands and topics. `conform COMMAND --help` is
about a command, `conform explain CODE` about an error.
--man prints all commands as one page for man; `pip` installs it as conform(1) below its prefix.
"""
_FOLDERS = ("guide", "language", "formats")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", default="", help="a page, such as properties")
    parser.add_argument("--man", action="store_true", help="print all commands as a page for man")


def run(arguments: argparse.Namespace) -> int:
    if arguments.man:
        from conform.cli.output.man_page import man_page

        out(man_page())
        return 0
    pages = topics()
    if not arguments.topic:
        rows = [["  " + topic, _title(path)] for topic, path in pages.items()]
        out(f"{overview()}\ntopics:\n{columns(rows)}")
        return 0
    page = pages.get(arguments.topic)
    if page is None and explanation(arguments.topic):
        command = f"conform explain {shlex.quote(arguments.topic)}"
        raise ConformError(f"there is no page {arguments.topic!r}; `{command}` explains it")
    if page is None:
        meant = suggest(arguments.topic, pages)
        raise ConformError(
            f"there is no page {arguments.topic!r}; {meant}`conform help` lists them"
        )
    _show(page.read_text(encoding="utf-8"))
    return 0


def topics() -> dict[str, Path]:
    """The pages of the manual, by what they are asked for."""
    return {
        _topic(path): path for name in _FOLDERS for path in sorted((docs() / name).glob("*.md"))
    }


def _topic(path: Path) -> str:
    """The name of a page: of a README that of its folder."""
    return path.parent.name if path.stem == "README" else path.stem


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip("# \n")


def _show(text: str) -> None:
    """Shows Markdown: laid out on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        out(text.rstrip())
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
