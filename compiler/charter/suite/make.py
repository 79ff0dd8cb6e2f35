"""The two profiles of a suite. `smoke` is small, is made again in seconds, and lies in generated/;
`full` adds all transitions of the explored instances, paths and walks."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from charter.formats.suite import Manifest
from charter.source import Source
from charter.suite.build import Progress, build_full, scenarios
from charter.suite.record import Record, merged
from charter.suite.store import write_records
from charter.suite.subject import Subject, find_root, overlays_in, renamed, subject

Profile = Literal["smoke", "full"]


@dataclass(frozen=True, slots=True)
class Made:
    """A suite that was written, and what could not be asked or answered."""

    manifest: Manifest
    refused: dict[str, int]


def open_subject(charter: Path, sources: Sequence[Source], variant: str, component: str) -> Subject:
    """The component that a suite is to be about. Raises `Refused`, or KeyError for a component
    that does not exist."""
    root = find_root(charter)
    found = subject(renamed(sources, root), variant, component)
    if root is None:
        return found
    overlays = overlays_in(root, found.model.protocol, found.component.name)
    return replace(found, overlays=overlays)


def smoke_records(about: Subject) -> list[Record]:
    """The vectors of the small suite, in the order of their ids."""
    vectors = scenarios(about.model, about.component.name)
    return in_order(Record.of(vector) for vector in vectors)


def in_order(records: Iterable[Record]) -> list[Record]:
    """Records sorted, one for each question."""
    return list(merged(sorted(records, key=lambda record: record.id)))


def make(of: Subject, profile: Profile, folder: Path, progress: Progress) -> Made:
    """Write a suite into `folder`."""
    small = smoke_records(of)
    if profile == "smoke":
        return Made(write_records(folder, small, of.manifest({})), {})
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        built = build_full(of.model, of.component.name, of.sources, Path(scratch), progress)
        everything = heapq.merge(small, built.records(), key=lambda record: record.id)
        about = of.manifest(built.counts)
        return Made(write_records(folder, merged(everything), about), dict(built.refused))
