"""Finds the projects that a command works with: the one around the working folder, if there is one,
and the one that comes with conform (Kafka's charter, its adapter, the manual)."""

from __future__ import annotations

from pathlib import Path

from charter.formats.project import FILE, Project, find_project, project_at
from conform.console.errors import ConformError

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_A_WHEEL = _PACKAGE / "builtin"
"""Where pyproject.toml puts these files in a wheel, as they lie in a checkout."""


def builtin() -> Project:
    """What comes with conform: in a wheel a folder of the package, in a checkout the checkout."""
    return project_at(_IN_A_WHEEL if _IN_A_WHEEL.is_dir() else _PACKAGE.parents[1])


def docs() -> Path:
    """The manual, the pages of diagnostics, and the formats."""
    return builtin().root / "docs"


def project_here(wanted: Path | None = None) -> Project:
    """The project `wanted`, or the one around the working folder. Raises `ConformError` if there is
    none, and `BadProject`."""
    if wanted is not None and (wanted / FILE).is_file():
        return project_at(wanted)
    found = None if wanted is not None else find_project(Path())
    if found is None:
        raise ConformError(
            f"there is no {FILE} in {(wanted or Path()).resolve()}"
            f"{'' if wanted else ' or above it'}; `conform init` makes a project"
        )
    return found


def model_folders(module: str = "", suite: str = "", target: Path | None = None) -> tuple[str, ...]:
    """The folders with generated models, in the order of search: that of the project in which the
    folder `suite` lies, then those of `projects_of` the folder of the target; but first one that
    has `module`, since models share code of their own folder. Raises `BadProject`."""
    package = module.rpartition(".")[0].replace(".", "/")
    of_suite = find_project(Path(suite)) if suite and Path(suite).exists() else None
    searched = (*((of_suite,) if of_suite else ()), *projects_of(target))
    folders = dict.fromkeys(project.generated for project in searched)
    return tuple(map(str, sorted(folders, key=lambda folder: not (folder / package).is_dir())))


def projects_of(target: Path | None) -> tuple[Project, ...]:
    """The project in which the folder of a target lies, unless it comes with conform, then those of
    `projects`. Raises `BadProject`."""
    own = find_project(target) if target else None
    return tuple(dict.fromkeys((*((own,) if own and own != builtin() else ()), *projects())))


def projects() -> tuple[Project, ...]:
    """The project around the working folder, then the one that comes with conform. Raises
    `BadProject`."""
    here = find_project(Path())
    return (builtin(),) if here in (None, builtin()) else (here, builtin())
