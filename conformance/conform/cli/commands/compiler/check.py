"""`conform check`."""

from __future__ import annotations

import argparse
from pathlib import Path

from charter import api
from charter.project.compile import check_overlay_files, flatten_text
from conform.cli.output.charters import check_charter, diagnostics_json, tally
from conform.console.errors import ConformError
from conform.console.terminal import out, out_json, say

EXAMPLES = """examples:
  conform check spec/kafka
  conform check spec/kafka --show pre_kip_966
  conform check spec/examples/paxos.charter --show-core
  conform check spec/examples/paxos.charter --show-core match
  conform check spec/kafka --overlay conformance/adapters/kafka-controller/overlay.charter

Exit code 0: no errors; 1: errors (all are shown). `conform explain CODE` explains one.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument(
        "--show", metavar="VARIANT", help="print the charter with a variant applied"
    )
    parser.add_argument(
        "--show-core",
        nargs="?",
        const="",
        metavar="PASS",
        help="print the typed core; with PASS: the core after that pass",
    )
    parser.add_argument("--overlay", type=Path, help="check this overlay of the charter too")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    try:
        found = check_charter(arguments.charter)
        if arguments.overlay and not found.errors:
            found = check_overlay_files(arguments.charter, arguments.overlay)
        if arguments.show is not None and not found.errors:
            out(flatten_text(arguments.charter, arguments.show))
            return 0
        if arguments.show_core is not None and not found.errors:
            out(api.core_text(arguments.charter, after=arguments.show_core).rstrip("\n"))
            return 0
    except (api.Unreadable, api.Missing) as error:
        raise ConformError(str(error)) from None
    if arguments.json:
        out_json(diagnostics_json(found))
    else:
        for item in found:
            out(item.show())
        say(f"{arguments.charter}: {tally(found)}")
    return 1 if found.errors else 0
