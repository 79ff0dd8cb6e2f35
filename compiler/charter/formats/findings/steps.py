"""Reads what people have written about the differences between releases that follow each other
(docs/formats/finding.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from charter.formats.files import read_toml
from charter.formats.findings.reviewed import BadFinding
from charter.formats.project import Project
from charter.formats.spelling import suggest

FOLDER = "steps"
DIRECTIONS = ("mended", "broken", "changed")
_REQUIRED_KEYS = ("from", "to", "finding", "direction", "cause")
_KEYS = (*_REQUIRED_KEYS, "key")


@dataclass(frozen=True, slots=True)
class ReviewedStep:
    """Why a finding differs between two releases: by the words of a person, and by the `key` of a
    public ticket, commit or proposal ("": the words say how it was searched)."""

    before: str
    after: str
    finding: str
    direction: str
    cause: str
    key: str = ""


def read_steps(project: Project | None, target: str) -> tuple[ReviewedStep, ...]:
    """What is written about the steps of a target's releases. Raises `BadFinding`."""
    path = project.findings / FOLDER / f"{target}.toml" if project else None
    return _read(path) if path and path.is_file() else ()


def _read(path: Path) -> tuple[ReviewedStep, ...]:
    content = read_toml(path, BadFinding)
    rows = content.get("step", [])
    if set(content) - {"step"} or not isinstance(rows, list):
        raise BadFinding(
            f"{path}: it has something else than [[step]]; `conform help finding` has the format"
        )
    return tuple(_step(path, row) for row in rows)


def _step(path: Path, row: object) -> ReviewedStep:
    held = row if isinstance(row, Mapping) else {}
    for name in held:
        if name not in _KEYS:
            like = suggest(str(name), _KEYS)
            raise BadFinding(
                f"{path}: a [[step]] has the unknown key {name!r}{like and f'; {like}'}"
            )
    for name in _REQUIRED_KEYS:
        if not isinstance(held.get(name), str) or not held[name].strip():
            raise BadFinding(f"{path}: {name!r} of a [[step]] is missing, or no text")
    if held["direction"] not in DIRECTIONS:
        raise BadFinding(
            f"{path}: 'direction' is {held['direction']!r}, and not one of {', '.join(DIRECTIONS)}"
        )
    before, after, finding, direction, cause = (str(held[name]) for name in _REQUIRED_KEYS)
    return ReviewedStep(before, after, finding, direction, cause, str(held.get("key", "")))
