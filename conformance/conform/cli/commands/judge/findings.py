"""`conform findings`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.files import write_whole
from charter.formats.findings.reviewed import Reviewed, ReviewedFinding
from charter.formats.project import Project
from charter.formats.target import Target
from conform.adapters.projects import model_folders, project_here
from conform.adapters.targets import target, targets_of
from conform.cli.output.run_output import near
from conform.console.errors import CannotWrite, ConformError
from conform.console.terminal import columns, out, out_json, plural
from conform.judging.model import sections_of, use_folders
from conform.reports.findings_page import PageFindings, write_page
from conform.reports.sections import EntrySection, read_sections
from conform.reports.wording import releases
from conform.runs.reproduce.paths import has_path, open_suites
from conform.runs.reproduce.written import doubt_releases, read_written
from conform.suites.cache import Suite

EXAMPLES = """examples:
  conform findings
  conform findings --target kafka-controller --lacking
  conform findings --json
  conform findings --page docs/findings/README.md

Lists the entries of a target's overlay, the gravest first by what a person has written about them
in docs/findings/NAME.toml (`conform help finding`). An entry of a class that its authors should
mend, and without such a file, lacks one.

Exit code 0: each file fits an entry and its releases, and its path is in the suite; 1: a file is
stale; 2: an error that you can fix.
"""
DEFECT_CLASSES = ("suspected_defect", "known_defect")
"""The classes of entries that somebody should mend."""


@dataclass(frozen=True, slots=True)
class ListedFinding:
    """An entry with what is written about it. `stale` says why that does not fit any more ("": it
    does)."""

    name: str
    entry: EntrySection | None
    reviewed: ReviewedFinding | None
    stale: str = ""

    @property
    def lacks(self) -> bool:
        """Whether nobody has written about an entry that somebody should mend."""
        return (
            self.reviewed is None and self.entry is not None and self.entry.kind in DEFECT_CLASSES
        )

    @property
    def rank(self) -> tuple[int, bool, str]:
        """Sorts what is written first, by its cost, then what lacks it."""
        gravity = self.reviewed.gravity if self.reviewed else 99
        return gravity, not self.lacks, self.name

    @property
    def releases(self) -> tuple[str, str]:
        """The first and the last release that show it ("": no bound)."""
        entry = (self.entry.first_release, self.entry.last_release) if self.entry else ("", "")
        return self.reviewed.bound_releases(*entry) if self.reviewed else entry

    def json(self) -> dict[str, Json]:
        entry, reviewed = self.entry, self.reviewed
        first, last = self.releases
        return {
            "name": self.name,
            "class": entry.kind if entry else "",
            "first_release": first,
            "last_release": last,
            "title": reviewed.title if reviewed else "",
            "cost": reviewed.cost if reviewed else "",
            "lacks": self.lacks,
            "stale": self.stale,
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", default="", help="id or folder (default: all with an overlay)")
    parser.add_argument("--lacking", action="store_true", help="only those that lack a file")
    parser.add_argument("--page", type=Path, metavar="FILE",
                        help="write the page that lists those with a file")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    project = project_here()
    chosen = [target(arguments.target)] if arguments.target else list(_with_overlay(project))
    if not any(one.overlay for one in chosen):
        raise ConformError("no target here has an overlay, whose entries findings are named by")
    written = read_written()
    if not arguments.target:
        refuse_unknown(project, written, chosen)
    listed = {one.id: list_findings(one, written.get(one.id, {})) for one in chosen}
    if arguments.page:
        write_whole(arguments.page, write_page(_page_of(chosen, listed)), CannotWrite)
    shown = {
        name: [one for one in found if one.lacks or not arguments.lacking]
        for name, found in listed.items()
    }
    if arguments.json:
        out_json({name: [one.json() for one in found] for name, found in shown.items()})
    else:
        for name, found in shown.items():
            _tell(project, name, found)
    return 1 if any(one.stale for found in listed.values() for one in found) else 0


def _page_of(
    chosen: Sequence[Target], listed: Mapping[str, Sequence[ListedFinding]]
) -> list[PageFindings]:
    """The targets with a finding that has a file, and these findings."""
    rows = {
        one.id: [(it.reviewed, it.entry) for it in listed[one.id] if it.reviewed and it.entry]
        for one in chosen
    }
    return [PageFindings(one, rows[one.id]) for one in chosen if rows[one.id]]


def _with_overlay(project: Project) -> Iterator[Target]:
    yield from (one for one in targets_of(project) if one.overlay)


def refuse_unknown(project: Project, written: Reviewed, known: Sequence[Target]) -> None:
    """Raises `ConformError` for a file about a target that the project does not have."""
    ids = [one.id for one in known]
    for name, files in written.items():
        if name not in ids:
            place = near(str(project.findings / f"{next(iter(files))}.toml"))
            raise ConformError(
                f"{place} is about the target {name!r}; those with an overlay are {', '.join(ids)}"
            )


def read_entries(chosen: Target, suite: Suite) -> dict[str, EntrySection]:
    """The entries of a target's overlay in the variant of a suite. Raises `ConformError`."""
    module = suite.manifest.models.charter
    use_folders(model_folders(module, str(suite.folder), chosen.folder))
    place = sections_of(module)
    if place is None:
        raise ConformError(f"{chosen.id} has no generated models; `conform generate` writes them")
    listed = read_sections(place).entries
    return {one.rule.name: one for one in listed if one.overlay == chosen.overlay}


def list_findings(chosen: Target, written: Mapping[str, ReviewedFinding]) -> list[ListedFinding]:
    """The entries of a target's overlay with what is written about them, the gravest first."""
    entries: dict[str, EntrySection] = {}
    suites = open_suites(chosen)
    for suite in suites:
        entries |= read_entries(chosen, suite)
    found = [ListedFinding(name, one, written.get(name)) for name, one in entries.items()
             if name not in written]  # fmt: skip
    for name, one in written.items():
        stale = ""
        if name not in entries:
            stale = f"the overlay {chosen.overlay} has no entry of this name any more"
        elif not any(has_path(suite, one.path) for suite in suites):
            stale = f"no vector of the suite has the title of its path, {one.path!r}"
        else:
            entry = entries[name]
            stale = doubt_releases(one, chosen, entry.first_release, entry.last_release)
        found.append(ListedFinding(name, entries.get(name), one, stale))
    return sorted(found, key=lambda one: one.rank)


def _tell(project: Project, name: str, found: Sequence[ListedFinding]) -> None:
    written = sum(one.reviewed is not None for one in found)
    lacking = sum(one.lacks for one in found)
    out(f"{name}: {plural(len(found), 'entry', 'entries')}, {written} written, {lacking} lacking")
    rows = []
    for one in found:
        if one.reviewed:
            line = f"{one.reviewed.title} ({one.reviewed.costs})"
        elif one.lacks:
            line = f"lacks {near(str(project.findings / f'{one.name}.toml'))}"
        else:
            line = ""
        kind = one.entry.kind if one.entry else "stale"
        range_of = releases(*one.releases) if one.entry else ""
        rows.append([one.name, kind, range_of, line])
    out(columns(rows))
    for one in found:
        if one.stale:
            out(f"stale: {one.name}: {one.stale}")
