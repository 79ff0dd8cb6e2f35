"""Whether the models and the suite of a run are those of the charter as it is now."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from charter.formats import canonical
from charter.formats.project import Project, find_project
from charter.formats.reading import BadVector
from charter.formats.suite import Manifest, read_manifest
from conform.adapters.targets import target
from conform.console.errors import BadSuite
from conform.runs.select import suite_for
from conform.suites.cache import cache_folder


def older_than_charter(wanted: str, release: str) -> str:
    """A sentence if the generated models and suite by which a target is judged are older than the
    charter in the project, with the remedy; "" if they are not. The charter is compiled only if a
    text of the project changed since they were last found to be fresh. Raises `ConformError`s."""
    project = find_project(Path())
    chosen = target(wanted)
    if project is None or not chosen.protocol:
        return ""
    try:
        place = Path(suite_for(chosen, release))
        manifest = read_manifest(place)
    except (BadSuite, BadVector, OSError):
        return ""  # the run says so
    if not place.is_relative_to(project.generated):
        return ""
    known = cache_folder() / "fresh" / canonical.text_digest(str(place))
    state = _state(project, manifest)
    with contextlib.suppress(OSError):
        if known.read_text(encoding="utf-8") == state:
            return ""
    told = _compared(project, manifest)
    if not told:
        with contextlib.suppress(OSError):  # it only saves time
            known.parent.mkdir(parents=True, exist_ok=True)
            known.write_text(state, encoding="utf-8")
    return told


def _state(project: Project, manifest: Manifest) -> str:
    """A digest of the charters of a project, of those that a suite was made from, and of the
    version that compares them."""
    found = hashlib.sha256(f"{version('charter-conform')} {manifest.spec_digest}".encode())
    for path in sorted(_charters(project)):
        found.update(f"\n{project.relative(path)}\n".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _charters(project: Project) -> Iterable[Path]:
    return (path for path in project.charters.rglob("*.charter") if path.is_file())


def _compared(project: Project, manifest: Manifest) -> str:
    from charter import api

    about = f"{manifest.protocol} {manifest.component}"
    try:
        now = api.spec_digest(project, manifest.protocol, manifest.component, manifest.variant)
    except api.Refused as error:
        return (
            f"the charter of {about} has errors now, so the judge works by an older version;"
            f" `conform check` shows them ({error})"
        )
    except api.Unreadable as error:
        return f"cannot tell whether {about} changed since generated/ was made: {error}"
    if now == manifest.spec_digest:
        return ""
    what = "have changed" if now else "are in no charter of the project any more"
    return (
        f"the judge works by an older version of the charter: the rules of {about} {what} since"
        " generated/ was made; run `conform generate`, or `conform test`, which does all"
    )
