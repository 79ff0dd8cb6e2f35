"""Reads what people have written about the findings of a project."""

from __future__ import annotations

from pathlib import Path

from charter.formats.findings.reviewed import (
    BadFinding,
    Reviewed,
    ReviewedFinding,
    read_all_reviewed,
    read_reviewed,
)
from charter.formats.project import Project, find_project
from charter.formats.releases import is_bound, within
from charter.formats.target import Target
from conform.console.errors import ConformError


def read_written() -> Reviewed:
    """What is written in the project around the working folder, by target and name. Raises
    `ConformError`."""
    try:
        return read_all_reviewed(find_project(Path()))
    except BadFinding as error:
        raise ConformError(str(error)) from None


def read_one(project: Project, name: str) -> ReviewedFinding | None:
    """What a person has written about a finding; None if nobody has. Raises `ConformError`."""
    path = project.findings / f"{name}.toml"
    try:
        return read_reviewed(path) if path.is_file() else None
    except BadFinding as error:
        raise ConformError(str(error)) from None


def doubt_releases(finding: ReviewedFinding, chosen: Target, first: str, last: str) -> str:
    """Why the `releases` of a file do not fit its target, or its entry, which is about the releases
    from `first` to `last`; "" if they do."""
    if finding.releases is None:
        return ""
    for bound in finding.releases:
        if not is_bound(bound, chosen.releases):
            return f"'releases' has {bound!r}, which is no release of {chosen.id}"
    ranges = ((first, last), finding.releases)
    if chosen.releases and not any(
        all(within(one, *ends) for ends in ranges) for one in chosen.releases
    ):
        return "no release that its entry is about is in its 'releases'"
    return ""
