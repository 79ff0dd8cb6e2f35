"""`conform targets`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from charter.formats.target import FILE, Target
from conform.adapters import targets
from conform.console.terminal import columns, out, out_json

EXAMPLES = """examples:
  conform targets
  conform targets --json
  conform targets --newer

--newer asks for the releases that the targets do not list yet: each target whose adapter.toml has
`list_releases` runs that command, and needs the network for it.

Exit code 0: all are listed; 1: --newer found a release; 2: an adapter.toml is wrong, or a registry
cannot be reached.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--newer", action="store_true", help="ask for releases that adapter.toml"
                        " does not list")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run_newer(found: Sequence[Target], *, as_json: bool) -> int:
    """Show the releases that targets do not list yet; returns the exit code."""
    able = [one for one in found if one.list_releases]
    newer = {one.id: targets.find_newer(one) for one in able}
    if as_json:
        out_json({name: [*releases] for name, releases in newer.items()})
        return 1 if any(newer.values()) else 0
    if not able:
        out("no target here says by `list_releases` in its adapter.toml where its releases are")
    for one in able:
        names = ", ".join(newer[one.id]) or "none"
        out(f"{one.id}: releases that {one.folder / FILE} does not list: {names}")
    return 1 if any(newer.values()) else 0


def run(arguments: argparse.Namespace) -> int:
    found = targets.targets()
    if arguments.newer:
        return _run_newer(found, as_json=arguments.json)
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
