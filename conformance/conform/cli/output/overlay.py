"""Finds out which releases each entry of a target's overlay applies to, and what the compiler warns
of in it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import orjson

from charter.formats.files import files_below
from charter.formats.project import Project, find_project
from charter.formats.target import OVERLAY, Target
from conform.adapters.sources import digest_files
from conform.console.errors import ConformError
from conform.suites.cache import cache_folder


def releases_of(chosen: Target) -> Mapping[str, tuple[str, str]]:
    """First and last release of each entry of the target's overlay.charter, if it has one, and of
    those that it takes from another.

    Raises `ConformError` if the overlay cannot be read.
    """
    path = chosen.folder / OVERLAY
    if not path.is_file():
        return {}
    from charter import api
    from charter.project.pipeline import overlay_entries

    try:
        entries = overlay_entries(api.read_sources(path))
    except (api.Refused, api.Unreadable) as error:
        raise ConformError(f"{path} cannot be read ({error}); `conform check` shows why") from None
    own = {entry.name: (entry.first_release, entry.last_release) for entry in entries}
    return own | {name: ends for taken in chosen.taken for name, ends in taken.ranges.items()}


def overlay_warnings(chosen: Target) -> tuple[str, ...]:
    """What `conform check --overlay` warns of in the overlay of a target: what the overlay explains
    is not called new, so everybody who uses it is told. The charter is compiled only if it or the
    overlay changed since they were last checked. None if the project lacks the charter."""
    path, project = chosen.folder / OVERLAY, find_project(chosen.folder)
    if not path.is_file() or project is None:
        return ()
    kept = cache_folder() / "overlays" / f"{_digest(chosen, project)}.json"
    with contextlib.suppress(OSError, orjson.JSONDecodeError):
        return tuple(map(str, orjson.loads(kept.read_bytes())))
    found = _warnings(chosen, project)
    with contextlib.suppress(OSError):  # it only saves time
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(orjson.dumps(found))
    return found


def _digest(chosen: Target, project: Project) -> str:
    """A digest of all that the warnings depend on."""
    lines = (version("charter-conform"), chosen.protocol, chosen.folder, project.root)
    about = "".join(f"{line}\n" for line in lines)
    charters = [path for path in files_below(project.charters) if path.suffix == ".charter"]
    paths = (chosen.folder.resolve() / OVERLAY, *charters)
    return digest_files(paths, project.root, about)


def _warnings(chosen: Target, project: Project) -> tuple[str, ...]:
    from charter import api
    from charter.api.generated import protocols
    from charter.project.compile import check_overlay_files

    path = Path(chosen.folder / OVERLAY)
    with contextlib.suppress(api.Refused, api.Unreadable):  # then releases_of says so
        for one in protocols(project):
            if one.name != chosen.protocol:
                continue
            found = check_overlay_files(project.root / one.place, path)
            return tuple(item.show() for item in found if item not in found.errors)
    return ()
