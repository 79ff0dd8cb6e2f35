"""Writes the page that lists the findings with a file, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from charter.formats.findings.reviewed import ReviewedFinding
from charter.formats.releases import within
from charter.formats.target import Target
from conform.console.terminal import plural
from conform.reports.sections import EntrySection
from conform.reports.wording import releases

_HEAD = "| what an operator sees | releases | where | a test that fails |"


@dataclass(frozen=True, slots=True)
class PageFindings:
    """A target with its findings that have a file, the gravest first, and their entries."""

    target: Target
    rows: Sequence[tuple[ReviewedFinding, EntrySection]]


def write_page(found: Sequence[PageFindings]) -> str:
    """The page as Markdown."""
    lines = [
        "# Findings that can be filed",
        "",
        "The gravest are first. The file of each has how often it happens, why it is not right and",
        "who knows it. A test is written and run by `conform reproduce NAME --check`, this page by",
        "`conform findings --page`.",
    ]
    for one in found:
        lines += ["", *_target(one)]
    return "\n".join(lines) + "\n"


def _target(found: PageFindings) -> Iterator[str]:
    newest = found.target.releases[-1] if found.target.releases else ""
    open_ones = [row for row in found.rows if not newest or within(newest, *_range(*row))]
    yield f"## {found.target.title}"
    yield ""
    yield f"{plural(len(found.rows), 'finding')}, {len(open_ones)} of them in {newest or 'it'}."
    for costs, rows in groupby(found.rows, key=lambda row: row[0].costs):
        yield ""
        yield f"### It {costs}"
        yield ""
        yield _HEAD
        yield "|---|---|---|---|"
        for finding, entry in rows:
            yield _row(found.target, finding, entry)


def _row(target: Target, finding: ReviewedFinding, entry: EntrySection) -> str:
    place = finding.where[0]
    cells = [
        f"[{finding.title}]({finding.name}.toml)",
        _releases(target, *_range(finding, entry)),
        f"`{place.type}.{place.method}`",
        f"`conform reproduce {finding.name}`",
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _range(finding: ReviewedFinding, entry: EntrySection) -> tuple[str, str]:
    return finding.bound_releases(entry.first_release, entry.last_release)


def _releases(target: Target, first: str, last: str) -> str:
    """The releases that show a finding, and the first one after them."""
    shown = f"{first} alone" if first and first == last else releases(first, last)
    following = [one for one in target.releases if not within(one, "", last)]
    return f"{shown}; mended in {following[0]}" if following else shown
