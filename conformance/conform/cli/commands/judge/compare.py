"""`conform compare`."""

from __future__ import annotations

import argparse
from collections import Counter

from charter.formats.canonical import Json
from conform.cli.output.run_output import near
from conform.console.terminal import number, out, out_json, plural, shorten
from conform.judging.relabel import key
from conform.runs.compare import Comparison, RunDifference, compare, kinds_told
from conform.storage.bucket_store import RunFolder

EXAMPLES = """examples:
  conform compare build/runs/A build/runs/B

Exit code 0: both behaved alike on all common questions; 1: they did not; 3: a run is not to be
trusted, or a common question was not judged, or one run does not show a variable, and its
adapter.toml does not allow that. Two versions of a charter may judge the same behaviour
differently: a line says so, and the exit code is 0.
"""

MOST_SHOWN = 4
"""The most places in a state whose values are shown of a difference."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("left", help="folder of a run")
    parser.add_argument("right", help="folder of another run")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    found = compare(arguments.left, arguments.right)
    if arguments.json:
        out_json(
            {
                "left": found.runs[0].place,
                "right": found.runs[1].place,
                "older_charter": [_older(run) for run in found.runs],
                "trusted": list(found.trusted),
                "both": found.both,
                "only": list(found.only),
                "differing": found.differing,
                "judged_differently": sum(found.judged.values()),
                "kinds": _by_kinds(found.kinds),
                "unknown": _by_kinds(found.unknown),
                "hidden": [list(names) for names in found.hidden],
                "exit": found.exit_code,
                "reasons": list(found.reasons),
                "differences": [difference.json() for difference in found.differences],
            }
        )
    else:
        _show(found)
    return found.exit_code


def _by_kinds(kinds: Counter[tuple[str, str]]) -> dict[str, Json]:
    """How many questions have each pair of verdicts."""
    return {f"{a} / {b}": count for (a, b), count in kinds.most_common()}


def _older(run: RunFolder) -> str:
    """By what a run was judged, if that was not the charter of the project as it then was."""
    return str(run.read_json("summary.json").get("older_charter", ""))


def _show(found: Comparison) -> None:
    names = [run.read_run().id for run in found.runs]
    if names[0] == names[1]:  # two runs of one target with one suite
        names = [
            f"{name} in {near(run.place)}" for name, run in zip(names, found.runs, strict=True)
        ]
    for side, name, run in zip(("left ", "right"), names, found.runs, strict=True):
        by = _older(run)
        out(f"{side}  {name}{f', judged by {by}' if by else ''}")
    out(f"{number(found.both)} questions in both, {number(found.differing)} answered differently")
    if any(found.only):
        out(f"{number(found.only[0])} only left, {number(found.only[1])} only right")
    if found.unknown:
        count = sum(found.unknown.values())
        out(f"{number(count)} unknown, as not judged: {kinds_told(found.unknown)}")
    for told in found.hidden_told:
        if told not in found.reasons:
            out(f"not compared: {told}")
    if found.judged:
        out(found.judged_told)
    for (left, right), count in found.kinds.most_common():
        out(f"  {number(count):>8}  left {left}, right {right}")
    groups: dict[tuple[str, ...], list[RunDifference]] = {}
    for difference in found.differences:
        groups.setdefault(difference.group, []).append(difference)
    ordered = sorted(groups.values(), key=lambda held: -len(held))
    for held in ordered[:15]:
        _show_group(held)
    if len(ordered) > 15:
        out(f"and {len(ordered) - 15} more kinds of difference (--json has all)")
    if found.reasons:
        differ = found.exit_code == 1
        first = [f"{plural(found.differing, 'question')} answered differently"] if differ else []
        out(f"exit {found.exit_code}: {'; '.join([*first, *found.reasons])}")


def _show_group(held: list[RunDifference]) -> None:
    first = min(held, key=lambda item: (item.step, item.id))
    out("")
    where = shorten(", ".join(first.where) or first.nowhere, 100)
    out(f"{number(len(held))} x {first.operation or 'start'}: {where}")
    step = f" step {first.step}" if first.step >= 0 else ""
    out(f"   for example {first.id[:12]}{step}")
    if key(first.replies[0]) != key(first.replies[1]):
        out(f"   left replies  {shorten(key(first.replies[0]).decode())}")
        out(f"   right replies {shorten(key(first.replies[1]).decode())}")
    for path, left, right in first.states[:MOST_SHOWN]:
        out(f"   left  {path} = {shorten(key(left).decode())}")
        out(f"   right {path} = {shorten(key(right).decode())}")
