"""`conform completion`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from conform.console.terminal import out

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES = """examples:
  source <(conform completion bash)                                   (in ~/.bashrc)
  conform completion bash > ~/.local/share/bash-completion/completions/conform
  conform completion zsh > "${fpath[1]}/_conform"
  conform completion fish > ~/.config/fish/completions/conform.fish

The script knows all commands and options. For the names of instances, variants, mutants,
components, branches, targets and adapters it calls `conform completion --list`, which only
looks through the texts.

Exit code 0: printed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell", choices=("bash", "zsh", "fish"), nargs="?", default="bash",
        help="the shell (default: bash)",
    )  # fmt: skip
    parser.add_argument(
        "--list", nargs=argparse.REMAINDER, metavar="KIND WORD",
        help="print the names of a kind in the charter that is one of the words",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        kind, *words = arguments.list
        _list(kind, words)
        return 0
    from conform.cli.commands.compiler.completion_scripts import script

    out(script(arguments.shell))
    return 0


def _list(kind: str, words: Sequence[str]) -> None:
    from conform.cli.output.completion_names import names

    for name in names(kind, words):
        out(name)
