"""`conform lsp`."""

from __future__ import annotations

import argparse

from conform.console.extras import need

EXAMPLES = """examples:
  conform lsp

Editors start it, and speak the Language Server Protocol with it on stdin and stdout: docs/guide/
editors.md says how for VS Code, Neovim and Helix. It needs the extra lsp.

Exit code 0: the editor ended it; 2: the extra is missing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="speak on stdin and stdout; it always does"
    )


def run(arguments: argparse.Namespace) -> int:
    need("pygls", "`conform lsp`")
    from conform.cli.output.lsp_server import serve

    serve()
    return 0
