"""Lists the targets of a project, and the components that they implement."""

from __future__ import annotations

from charter.formats.project import Project
from charter.formats.target import Target, ids_of, read_target, target_files


def targets_in(project: Project) -> tuple[Target, ...]:
    """The targets of a project, by folder. Raises `BadProject`."""
    return tuple(read_target(path) for path in ids_of(target_files(project)))


def list_judged(project: Project, protocol: str) -> tuple[tuple[str, str], ...]:
    """The components that targets of a protocol implement, each with every variant that they are
    judged against, the plain one ("") first."""
    found: set[tuple[str, str]] = set()
    for target in targets_in(project):
        if target.protocol == protocol:
            found |= {(target.component, name) for name in ("", *target.variants.values())}
    return tuple(sorted(found))
