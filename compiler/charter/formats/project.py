"""Reads the project file `charter.toml`: where charters, generated files, adapters, baselines, runs
and findings of a project lie (docs/formats/project.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from charter.formats.files import read_toml
from charter.formats.spelling import suggest

FILE = "charter.toml"
DEFAULTS: Mapping[str, str] = {
    "charters": "spec",
    "generated": "generated",
    "adapters": "adapters",
    "baselines": "baselines",
    "runs": "build/runs",
    "findings": "docs/findings",
}
"""The keys, and the folder of each if the file does not name it."""


class BadProject(Exception):
    """A project file is wrong; the text is one sentence with the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Project:
    """The folders of a project, absolute. They may be missing, but are no files."""

    root: Path
    charters: Path
    generated: Path
    adapters: Path
    baselines: Path
    runs: Path
    findings: Path

    def relative(self, path: Path) -> str:
        """A path of the project relative to its root, with forward slashes."""
        return path.relative_to(self.root).as_posix()


def find_project(start: Path) -> Project | None:
    """The innermost project that contains `start`, or None. Raises `BadProject`."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return project_at(folder)
    return None


def project_at(root: Path) -> Project:
    """The project in the folder `root`, with the default folders if it has no project file. Raises
    `BadProject`."""
    root = root.resolve()
    path = root / FILE
    named = _read(path) if path.exists() else {}
    places = {key: root / _place(path, key, named.get(key, DEFAULTS[key])) for key in DEFAULTS}
    for key, place in places.items():
        if place.exists() and not place.is_dir():
            raise BadProject(f"{path}: {key} names {place}, which is no folder")
        if key != "generated" and place.is_relative_to(places["generated"]):
            raise BadProject(
                f"{path}: {key} lies in the folder of generated files, where `conform generate`"
                " removes what it did not write; choose a folder elsewhere"
            )
    return Project(root, **places)


def check_named(project: Project) -> None:
    """Raises `BadProject` if the project file names a folder with charters or adapters, other than
    the default one, that does not exist. Known findings may be missing, unless a folder with a
    similar name is there."""
    path = project.root / FILE
    named = _read(path) if path.exists() else {}
    for key in ("charters", "adapters", "baselines"):
        place = getattr(project, key)
        if place.exists() or named.get(key, DEFAULTS[key]) == DEFAULTS[key]:
            continue
        above = place.parent
        beside = [p.name for p in above.iterdir() if p.is_dir()] if above.is_dir() else []
        near = suggest(place.name, sorted(beside))
        if near or key != "baselines":
            raise BadProject(
                f"{path}: {key} = {named[key]!r} is a folder that does not exist;"
                f" {near and f'{near} '}mend the name, or make the folder"
            )


def _read(path: Path) -> Mapping[str, object]:
    content = read_toml(path, BadProject)
    for key in content:
        if key not in DEFAULTS:
            near = suggest(key, DEFAULTS)
            raise BadProject(
                f"{path}: the key {key!r} is not known; {near and f'{near} '}known are"
                f" {', '.join(DEFAULTS)}"
            )
    return content


def _place(path: Path, key: str, value: object) -> str:
    """The folder that a key names, relative to the root."""
    if not isinstance(value, str):
        raise BadProject(
            f'{path}: {key} is not a text; write a folder, such as {key} = "{DEFAULTS[key]}"'
        )
    place = PurePosixPath(value)
    if place.is_absolute() or ".." in place.parts or not place.parts or "\0" in value:
        raise BadProject(
            f"{path}: {key} = {value!r} is not a folder below the project; write it relative to"
            f' the project file, such as {key} = "{DEFAULTS[key]}"'
        )
    return value
