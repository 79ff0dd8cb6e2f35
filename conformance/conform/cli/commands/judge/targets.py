"""`conform targets`."""

from __future__ import annotations

import argparse

from conform.adapters import targets
from conform.console.terminal import columns, out, out_json

EXAMPLES = """examples:
  conform targets
  conform targets --json

Exit code 0: all are listed; 2: an adapter.toml is wrong.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    found = targets.targets()
    if arguments.json:
        out_json(
            [
                {
                    "id": item.id,
                    "title": item.title,
                    "folder": str(item.folder),
                    "protocol": item.protocol,
                    "component": item.component,
                    "capabilities": list(item.capabilities or ()),
                    "releases": list(item.releases),
                    "default_release": item.default_release,
                    "overlay": item.overlay,
                    "parameters": [
                        {"name": one.name, "default": one.default, "help": one.help}
                        for one in item.parameters
                    ],
                }
                for item in found
            ]
        )
        return 0
    for item in found:
        rows = [["target", item.id], ["title", item.title]]
        rows.append(["protocol", f"{item.protocol} {item.component}".strip() or "any"])
        if item.releases:
            rows.append(["releases", ", ".join(item.releases)])
            rows.append(["default", item.default_release])
        if item.overlay:
            rows.append(["overlay", item.overlay])
        for one in item.parameters:
            must = "must be given" if one.default is None else f"default: {one.default or 'none'}"
            rows.append([f"--set {one.name}", f"{one.help} ({must})"])
        out(columns(rows))
        out("")
    return 0
