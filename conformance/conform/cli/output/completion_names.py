"""Finds the names that a shell completes by patterns in the texts, since a shell cannot wait for a
parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from charter.formats.project import BadProject, Project
from charter.formats.target import id_in, target_files
from conform.adapters.projects import projects

DECLARED: Final = {
    "instances": re.compile(r"^instance\s+(\w+)", re.MULTILINE),
    "variants": re.compile(r"^variant\s+(\w+)", re.MULTILINE),
    "mutants": re.compile(r"^mutant\s+(\w+)", re.MULTILINE),
    "components": re.compile(r"^component\s+(\w+)", re.MULTILINE),
}
PLAIN: Final = re.compile(r"[\w.-]+")
"""The names of adapters that are completed: bash runs a command that stands in another one."""
BRANCH: Final = re.compile(r"^\s*(operation|branch)\s+(\w+)", re.MULTILINE)


def names(kind: str, words: Sequence[str]) -> list[str]:
    """The names of a kind in the charter that one of the words of a command line names, each once,
    sorted. Whatever goes wrong, there is nothing to complete."""
    try:
        if kind == "targets":
            return sorted({*_targets()})
        if kind == "adapters":
            return sorted({*_adapters(projects()[0])})
        found = {name for text in _texts(words) for name in _names(kind, text)}
    except (OSError, UnicodeDecodeError, BadProject):
        return []
    return sorted(found)


def _texts(words: Sequence[str]) -> Iterator[str]:
    """The texts of the first word that is a charter."""
    for path in (Path(word).expanduser() for word in words):
        files = _list_charters(path) if any(path.glob("*.charter")) else [path]
        if files and all(file.suffix == ".charter" and file.is_file() for file in files):
            for file in files:
                yield file.read_text(encoding="utf-8")
            return


def _list_charters(folder: Path) -> list[Path]:
    """The charters in a folder and below, without the classes of their states."""
    found = sorted(folder.rglob("*.charter"))
    return [path for path in found if not path.parent.name.endswith("coverage")]


def _names(kind: str, text: str) -> Iterator[str]:
    if kind == "branches":
        yield from _branches(text)
    elif kind in DECLARED:
        yield from DECLARED[kind].findall(text)


def _branches(text: str) -> Iterator[str]:
    """`operation/branch` of each branch."""
    operation = ""
    for what, name in BRANCH.findall(text):
        if what == "operation":
            operation = name
        elif operation:
            yield f"{operation}/{name}"


def _targets() -> Iterator[str]:
    """The adapters of the project and of what comes with conform, and the reference
    implementation."""
    yield "reference"
    for each in projects():
        yield from _adapters(each)


def _adapters(project: Project) -> Iterator[str]:
    """The ids of the adapters of a project, and the names of their folders."""
    files = target_files(project)
    found = (name for path in files for name in (id_in(path), path.parent.name))
    yield from (name for name in found if PLAIN.fullmatch(name))
