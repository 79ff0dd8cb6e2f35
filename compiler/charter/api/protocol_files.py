"""Finds the protocols of a project: which of its files are one charter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from charter.diagnostics import Source
from charter.formats.project import Project
from charter.project.sources import by_name, find_whole, protocol_of, read_source, speaks_of


@dataclass(frozen=True, slots=True)
class Protocol:
    """The sources of one protocol; `place` is its folder or file, relative to the repository."""

    name: str
    place: str
    sources: tuple[Source, ...]

    @property
    def package(self) -> str:
        """The name of its Python package."""
        return self.name.replace(".", "_")


def protocols(project: Project) -> tuple[Protocol, ...]:
    """The protocols of a project: a folder whose several files, and those below, name one protocol,
    or single files."""
    found: dict[tuple[Path, str], list[Source]] = {}
    folders = {path.parent for path in project.charters.rglob("*.charter")}
    for folder in sorted(folder for folder in folders if speaks_of(folder) is None):
        for path in sorted(folder.glob("*.charter")):
            source = Source(project.relative(path), read_source(path).text)
            name = protocol_of(source) or source.name
            found.setdefault((find_whole(folder, name), name), []).append(source)
    mixed = {folder for folder, _ in found if sum(folder == other for other, _ in found) > 1}
    return tuple(
        _protocol(name, sources, None if folder in mixed else project.relative(folder))
        for (folder, name), sources in found.items()
    )


def _protocol(name: str, sources: Sequence[Source], folder: str | None) -> Protocol:
    """A protocol of a project; `folder` is None if it holds another one, too."""
    sources = sorted(sources, key=lambda source: by_name(Path(source.name)))
    place = sources[0].name if folder is None or len(sources) == 1 else folder
    return Protocol(name, place, tuple(sources))
