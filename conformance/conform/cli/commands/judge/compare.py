"""`conform compare`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from charter.formats.canonical import Json
from conform.cli.output.run_output import near
from conform.cli.releases.show_matrix import read_notes, show_matrix
from conform.console.errors import BadRun
from conform.console.terminal import columns, number, out, out_json, plural, shorten
from conform.judging.relabel import key
from conform.judging.written_values import show
from conform.reports.findings import findings
from conform.reports.matrix import Reading, reading
from conform.reports.release_matrix import arrange_releases, is_of_releases
from conform.reports.releases import comparisons
from conform.reports.runs import open_runs
from conform.reports.target_matrix import CellKind, TargetMatrix, compare_targets
from conform.runs.compare import Comparison, RunDifference, compare, kinds_told
from conform.runs.releases.releases_folder import NamedRuns, find_runs
from conform.runs.reproduce.written import read_written
from conform.storage.bucket_store import RunFolder

EXAMPLES = """examples:
  conform compare build/runs/A build/runs/B
  conform compare build/runs/A build/runs/B build/runs/C
  conform compare build/runs/kafka-controller-releases
  conform compare build/runs/* --json

Shows the runs by their findings: present, with the smallest vector; absent, since a vector that
shows it elsewhere conforms there; not asked; not shown, since the target hides the variables; not
applicable. Then it compares each run with the one before it, question by question.

Three or more releases of one target, or the folder of `conform run --releases`, are a table of
findings by releases: ● present, ○ absent, – not applicable, ? no vector, × not judged. Each
difference between releases that follow each other is mended, broken or changed, with its cause
from docs/findings/steps/TARGET.toml (`conform help finding`), or "not known".

Exit code 0: all behaved alike on all common questions; 1: they did not; 3: a run is not to be
trusted, or a common question was not judged, or one run does not show a variable, and its
adapter.toml does not allow that, or two of more than two runs cannot be compared. Two versions of a
charter may judge the same behaviour differently: a line says so, and the exit code is 0.
"""

_STATE = "state"
"""What the path "" leads to."""
MOST_SHOWN = 4
"""The most places in a state whose values are shown of a difference."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="folder of a run; two or more")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    named = find_runs(arguments.runs)
    places = named.runs
    if len(places) < 2:
        there = places[0] if places else f"what lies in {arguments.runs[0]}"
        lost = [
            f"{name} was not judged: {why.splitlines()[0].rstrip('.:')}"
            for name, why in named.lost.items()
        ]
        raise BadRun(
            f"{'; '.join([f'{there} is compared with nothing', *lost])}; name two runs, or more"
        )
    _check_components(places)
    if (code_of_matrix := _run_matrix(named, as_json=arguments.json)) is not None:
        return code_of_matrix
    found, refused = _compare_pairs(places)
    targets = _compare_targets(places)
    code = _exit_code(found, refused)
    if arguments.json:
        content = _describe(found[0]) if len(places) == 2 else _describe_all(found, refused, code)
        out_json({**content, **(targets.json() if targets else {})})
        return code
    if targets:
        _show_targets(targets)
    for number_of, one in enumerate(found):
        if number_of:
            out("")
        _show(one)
    for why in refused:
        out(f"not compared: {why}")
    return code


def _run_matrix(named: NamedRuns, *, as_json: bool) -> int | None:
    """Show the releases of one target by findings, and how those that follow each other differ;
    returns the exit code. None for other runs, and for fewer than three."""
    read = _read_runs(named.runs) if len(named.runs) + len(named.lost) > 2 else None
    if read is None:
        return None
    notes = read_notes(read[0].run.about.target, named.lost)
    targets = compare_targets(read)
    if not is_of_releases(targets, notes):
        return None
    compared = comparisons(read)
    matrix = arrange_releases(targets, compared, notes)
    whole = not any(one.refused or one.left_out for one in compared) and not matrix.lost
    code = 1 if any(one.differing for one in compared) else 0 if whole else 3
    if as_json:
        out_json({**targets.json(), **matrix.json(), "exit": code})
        return code
    show_matrix(matrix)
    for one in compared:
        if one.refused:
            out(f"{one.left.head} and {one.right.head}: {one.refused}")
    return code


def _describe_all(
    found: Sequence[Comparison], refused: Sequence[str], code: int
) -> dict[str, Json]:
    compared = [_describe(one) for one in found]
    return {"comparisons": [*compared], "refused": [*refused], "exit": code}


def _compare_pairs(places: Sequence[str]) -> tuple[list[Comparison], list[str]]:
    """Each run compared with the one before it, and why some could not be. Raises `BadRun` for two
    runs that cannot be compared."""
    found, refused = list[Comparison](), list[str]()
    for left, right in pairwise(places):
        try:
            found.append(compare(left, right))
        except BadRun as error:
            if len(places) == 2:
                raise
            refused.append(str(error))
    return found, refused


def _check_components(places: Sequence[str]) -> None:
    """Raises `BadRun` if two of the runs are of different protocols or components."""
    judged: dict[str, str] = {}
    for place in places:
        about = RunFolder(place if "://" in place else str(Path(place).resolve())).read_run()
        judged.setdefault(f"{about.component} of {about.protocol}", place)
    if len(judged) > 1:
        (one, first), (other, second) = [*judged.items()][:2]
        raise BadRun(
            f"{first} judged {one}, and {second} judged {other}; compare runs of one component of"
            " one protocol"
        )


def _exit_code(found: Sequence[Comparison], refused: Sequence[str]) -> int:
    codes = {one.exit_code for one in found}
    return 1 if 1 in codes else 3 if 3 in codes or refused else 0


def _compare_targets(places: Sequence[str]) -> TargetMatrix | None:
    """The runs by their findings; None if one lies at a URI, or is not to be trusted. Raises
    `BadRun`."""
    read = _read_runs(places)
    return compare_targets(read) if read else None


def _read_runs(places: Sequence[str]) -> list[Reading] | None:
    """The runs with their findings; None if one lies at a URI, or is not to be trusted. Raises
    `BadRun`."""
    if any("://" in place for place in places):
        return None
    opened = open_runs([Path(place) for place in places], None)
    if not all(run.trusted for run in opened):
        return None
    written = read_written()
    return [reading(run, findings(run, written.get(run.about.target, {}))) for run in opened]


def _show_targets(targets: TargetMatrix) -> None:
    """Shows the table, then where each finding is to be seen."""
    rows = [["finding", *(run.head for run in targets.runs)]]
    rows += [[row.finding.id, *(cell.word for cell in row.cells)] for row in targets.rows]
    out(columns(rows) if targets.rows else "no run has a finding")
    for row in targets.rows:
        cell, run = row.cells[row.first], targets.runs[row.first]
        out("")
        out(f"{row.finding.id}  {shorten(row.finding.sentence, 300)}")
        out(f"   see: conform replay {cell.vector[:12]} --run {near(str(run.folder))}")
        for other, at in zip(targets.runs, row.cells, strict=True):
            if at.kind is not CellKind.PRESENT and at.why:
                out(f"   {at.kind} for {other.head}: {at.why}")
    for run, names in zip(targets.runs, targets.hidden, strict=True):
        if names and len(targets.runs) > 2:  # of two, the comparison below says it
            out(f"{run.head} does not show {', '.join(names)}")
    out("")


def _describe(found: Comparison) -> dict[str, Json]:
    return {
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
    for sentence in found.hidden_told:
        if sentence not in found.reasons:
            out(f"not compared: {sentence}")
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
    where = shorten(", ".join(path or _STATE for path in first.where) or first.nowhere, 100)
    out(f"{number(len(held))} x {first.operation or 'start'}: {where}")
    step = f" step {first.step}" if first.step >= 0 else ""
    out(f"   for example {first.id[:12]}{step}")
    if key(first.replies[0]) != key(first.replies[1]):
        out(f"   left replies  {shorten(show(first.replies[0]))}")
        out(f"   right replies {shorten(show(first.replies[1]))}")
    for path, left, right in first.states[:MOST_SHOWN]:
        out(f"   left  {path or _STATE} = {shorten(show(left))}")
        out(f"   right {path or _STATE} = {shorten(show(right))}")
