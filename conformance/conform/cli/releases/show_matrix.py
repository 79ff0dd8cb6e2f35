"""Shows the releases of a target by findings, as the terminal has room for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from charter.formats.findings.reviewed import BadFinding
from charter.formats.findings.steps import read_steps
from charter.formats.project import find_project
from conform.cli.output.run_output import near
from conform.console.errors import ConformError
from conform.console.terminal import columns, out, plural, shorten
from conform.reports.release_matrix import LOST_SIGN, SIGNS, ReleaseMatrix, ReleaseNotes
from conform.reports.release_steps import ReleaseStep


def read_notes(target: str, lost: Mapping[str, str]) -> ReleaseNotes:
    """What is known of the releases of a target besides their runs. Raises `ConformError`."""
    try:
        return ReleaseNotes(lost, read_steps(find_project(Path()), target))
    except BadFinding as error:
        raise ConformError(str(error)) from None


def show_matrix(matrix: ReleaseMatrix) -> None:
    """Shows the table, the differences between releases, and what was lost."""
    groups = matrix.groups
    rows = [["finding", *(one.name for one in groups)]]
    rows += [[row.finding.id, *(one.columns[0].sign(row) for one in groups)] for row in matrix.rows]
    out(columns(rows) if matrix.rows else "no release has a finding")
    out("")
    out("; ".join([*(f"{sign} {kind}" for kind, sign in SIGNS.items()), f"{LOST_SIGN} not judged"]))
    if matrix.rows:
        _show_gravest(matrix)
    for name, steps in matrix.by_step:
        out("")
        out(f"{name}:")
        for step in steps:
            _show_step(step)
    for lost in matrix.lost:
        out(f"{lost.release} was not judged: {lost.why}")
    for note in matrix.stale:
        between = f"{note.before} to {note.after}"
        out(f"stale: {between} does not show {note.finding} as {note.direction}")


def _show_gravest(matrix: ReleaseMatrix) -> None:
    """Says the first finding in words, and where it is seen."""
    row = matrix.rows[0]
    found, cell = row.finding, row.cells[row.first]
    releases = [one.release for one in matrix.columns if one.run and one.cell(row) is not None
                and row.cells[one.at].finding]  # fmt: skip
    out("")
    if found.reviewed:
        out(f"the gravest: {found.reviewed.title}.")
        out(f"   It {found.reviewed.costs}: {found.reviewed.often}.")
    else:
        out(f"the gravest: {found.title}: {shorten(found.sentence, 300)}")
    out(f"   present in {', '.join(releases)}")
    run = next(one.run for one in matrix.columns if one.at == row.first and one.run)
    out(f"   see: conform replay {cell.vector[:12]} --run {near(str(run.folder))}")


def _show_step(step: ReleaseStep) -> None:
    count = plural(step.vectors, "vector")
    key = f" ({step.key})" if step.key else ""
    out(f"  {step.direction:<8} {shorten(step.finding, 100)}: {count}, such as {step.vector[:12]};"
        f" cause {step.cause}{key}")  # fmt: skip
