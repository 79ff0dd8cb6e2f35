"""Writes the heat map of a target's releases as Markdown, for a folder in version control."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from textwrap import fill

from conform.console.terminal import plural
from conform.reports.exports import escape, write_table
from conform.reports.release_matrix import LOST_SIGN, MEANINGS, SIGNS, ReleaseMatrix
from conform.reports.release_steps import ReleaseStep
from conform.reports.wording import say_met

_COLUMNS = 118


def write_releases(matrix: ReleaseMatrix) -> str:
    """The table, what each row means, and what changed from release to release."""
    return "\n".join(_lines(matrix)).rstrip() + "\n"


def _lines(matrix: ReleaseMatrix) -> Iterator[str]:
    groups = matrix.groups
    yield f"# {escape(matrix.title)}: findings by releases"
    yield ""
    counted = plural(len(matrix.rows), "finding"), plural(len(matrix.columns), "release")
    yield f"{counted[0]} in {counted[1]}. Releases with the same signs share a column."
    yield ""
    yield _explain_origin(matrix)
    yield ""
    yield from (f"- {sign} {MEANINGS[kind]}" for kind, sign in SIGNS.items())
    if matrix.lost:
        yield f"- {LOST_SIGN} not judged"
    yield ""
    yield from write_table(
        ["finding", *(one.name for one in groups)],
        [[f"`{row.finding.id}`", *(one.columns[0].sign(row) for one in groups)]
         for row in matrix.rows],
    )  # fmt: skip
    yield from _words(matrix)
    yield "## What changed from release to release"
    yield ""
    for name, steps in matrix.by_step:
        yield f"### {name}"
        yield ""
        yield from map(_step, steps)
        yield ""
    if matrix.lost:
        yield "## Releases that were not judged"
        yield ""
        yield from (_wrap(f"- {one.release}: {escape(one.why)}") for one in matrix.lost)


def _explain_origin(matrix: ReleaseMatrix) -> str:
    """How many questions each release had, and the commands that make the page again."""
    runs = [one.run for one in matrix.columns if one.run]
    about, names = runs[0].about, [one.release for one in matrix.columns]
    counts = sorted({run.count("suite_vectors") for run in runs})
    count = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    limit = f" --limit {about.limit}" if about.limit else ""
    suites = "".join(f" --suite {shlex.quote(one)}" for one in _list_named(about.command))
    return _wrap(
        f"Each release had {count} questions. To repeat it: `conform run --target {about.target}"
        f" --releases {names[0]}..{names[-1]}{suites}{limit}`, then `conform report"
        f" build/runs/{about.target}-releases`, which writes this page as releases.md."
    )


def _list_named(command: Sequence[str]) -> Iterator[str]:
    """The suites that a command names."""
    for option, following in pairwise((*command, "")):
        if option == "--suite":
            yield following
        elif option.startswith("--suite="):
            yield option.partition("=")[2]


def _words(matrix: ReleaseMatrix) -> Iterator[str]:
    """What each finding means, and its smallest vector."""
    yield "## What the findings are"
    yield ""
    for row in matrix.rows:
        found, cell = row.finding, row.cells[row.first]
        run = next(one for one in matrix.columns if one.at == row.first)
        if found.reviewed:
            met = say_met(found.reviewed)
            says = f"{found.reviewed.title}. It {found.reviewed.costs}{met and '. '}{met}"
        else:
            says = found.sentence
        kind = found.kind.replace("_", " ")
        says = escape(says.rstrip("."))
        yield _wrap(f"- `{found.id}` ({kind}): {says}. Vector {cell.vector[:12]} on {run.release}.")
    yield ""


def _step(step: ReleaseStep) -> str:
    key = f" ({escape(step.key)})" if step.key else ""
    return _wrap(
        f"- {step.direction}: `{step.finding}`, {plural(step.vectors, 'vector')}, such as"
        f" {step.vector[:12]}. Cause: {escape(step.cause)}{key}"
    )


def _wrap(text: str) -> str:
    """A paragraph, or an item of a list, in lines of a page."""
    indent = "  " if text.startswith("- ") else ""
    return fill(
        text, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
