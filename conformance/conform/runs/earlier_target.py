"""Finds the target of an earlier run and its project, wherever the command is typed."""

from __future__ import annotations

import contextlib
from pathlib import Path

from charter.formats.project import find_project
from charter.formats.run_description import RunDescription
from charter.formats.target import FILE, Target
from conform.adapters.targets import read, target, target_of
from conform.console.errors import UnknownTarget


def folder_noted(chosen: Target, run: str) -> str:
    """The folder of a target as run.json notes it: "" if the run lies in the same project."""
    if "://" not in run and find_project(Path(run)) == find_project(chosen.folder):
        return ""
    return str(chosen.folder)


def target_of_run(run: Path, about: RunDescription) -> Target:
    """The target that a run judged: that of the project in which the run lies, else the one that is
    found from here, else what lies where it was. Raises `UnknownTarget`, and `BadProject`."""
    own, wanted = about.target, about.found_by or about.target
    project = find_project(run)
    if project and wanted == own:
        with contextlib.suppress(UnknownTarget):
            return target_of(project, own)
    noted = Path(about.folder or wanted) / FILE
    try:
        return target(wanted)
    except UnknownTarget:
        if not (noted.is_absolute() and noted.is_file()):
            raise
    found = read(noted)
    if found.id != own:
        raise UnknownTarget(
            f"{noted.parent}, where the target {own!r} of the run was, has the target {found.id!r}"
            " now; name the target with --target"
        )
    return found


def target_or_noted(run: Path, about: RunDescription) -> tuple[Target, bool]:
    """The target that a run judged, and whether it was found; else what run.json has of it, which
    judging again needs. Raises `BadProject`."""
    try:
        return target_of_run(run, about), True
    except UnknownTarget:
        return Target(
            about.target,
            about.title,
            Path(about.folder or about.target),
            (),
            overlay=about.overlay,
            errors=about.errors,
            not_compared=about.not_compared,
        ), False
