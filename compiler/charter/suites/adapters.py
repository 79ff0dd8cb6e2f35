"""Reads from adapter.toml what generated files depend on: protocol, component, releases, and the
variant of each release (docs/formats/adapter.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from charter.formats.project import BadProject, Project

FILE = "adapter.toml"
_KINDS = {"protocol": str, "component": str, "releases": list, "variants": dict}
_WORDS = {str: "text", list: "list", dict: "table"}


@dataclass(frozen=True, slots=True)
class AdapterFolder:
    """An adapter by its folder. `variants` maps the start of a release to a variant."""

    folder: Path
    protocol: str = ""
    component: str = ""
    releases: tuple[str, ...] = ()
    variants: Mapping[str, str] = field(default_factory=dict)

    def variant(self, release: str) -> str:
        """The variant that a release is judged against; the longest start counts."""
        parts = release.split(".")
        starts = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((self.variants[s] for s in starts if s in self.variants), "")

    def releases_of(self, variant: str) -> tuple[str, ...]:
        """The releases that are judged against a variant ("": the protocol as it stands)."""
        return tuple(release for release in self.releases if self.variant(release) == variant)


def adapters_in(project: Project) -> tuple[AdapterFolder, ...]:
    """The adapters of a project, by folder."""
    folders = sorted(path for path in project.adapters.glob("*") if path.is_dir())
    return tuple(read_adapter(folder) for folder in folders)


def read_adapter(folder: Path) -> AdapterFolder:
    """The adapter in a folder; one without an adapter.toml is of no protocol. Raises
    `BadProject` if it cannot be read."""
    path = folder / FILE
    if not path.is_file():
        return AdapterFolder(folder)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for key, kind in _KINDS.items():
            if not isinstance(content.setdefault(key, kind()), kind):
                raise ValueError(f"{key!r} is not a {_WORDS[kind]}")
    except (OSError, ValueError) as error:
        raise BadProject(f"{path}: {error}; `conform help adapter` has the format") from None
    return AdapterFolder(
        folder,
        content["protocol"],
        content["component"],
        tuple(content["releases"]),
        content["variants"],
    )


def judged(project: Project, protocol: str) -> tuple[tuple[str, str], ...]:
    """The components that targets of a protocol implement, each with every variant that they are
    judged against, the plain one ("") first."""
    found: set[tuple[str, str]] = set()
    for adapter in adapters_in(project):
        if adapter.protocol == protocol:
            found |= {(adapter.component, name) for name in ("", *adapter.variants.values())}
    return tuple(sorted(found))
