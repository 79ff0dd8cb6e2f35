"""Compares the models and the suite of a run with the charter as it is now."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from charter.formats import canonical
from charter.formats.files import files_below
from charter.formats.project import Project, find_project
from charter.formats.reading import BadVector
from charter.formats.suite import LINES, Manifest, read_manifest
from conform.adapters.projects import builtin
from conform.adapters.sources import digest_files
from conform.adapters.targets import target
from conform.console.errors import BadSuite
from conform.judging.model import PACKAGE
from conform.runs.select import find_generated_suite, suite_for
from conform.suites.cache import cache_folder, open_suite

_OLDER = "an older version of the charter"
_OLDER_QUESTIONS = "the questions of an older version of the charter"
_PERHAPS = "a charter that may be older"
_OTHER_MODELS = "models that are not those of the charter"


@dataclass(frozen=True, slots=True)
class Older:
    """By what a target is judged in place of the charter as it is now: in few words, for the
    verdict, and in a sentence with the remedy. Both are "" if it is the charter as it is now."""

    by: str = ""
    told: str = ""


def older_than_charter(wanted: str, release: str, suite: str = "") -> Older:
    """Whether the suite by which a target is judged, the generated one or the one that is named as
    `suite`, is older than the charter in the project. Raises `ConformError`s."""
    chosen = target(wanted)
    if not (chosen.protocol or suite):
        return Older()
    try:
        place = _place(suite_for(chosen, release, suite))
        manifest = read_manifest(place)
    except (BadSuite, BadVector, OSError):
        return Older()  # the run says so
    return older_suite(manifest, suite or str(place))


def older_suite(manifest: Manifest, name: str = "") -> Older:
    """Whether a suite, which the caller calls `name`, is older than the charter in the project in
    which it lies, or else the one here. The charter is compiled only if a text of the project
    changed since they were last found to be the same. Raises `BadProject`."""
    name = name or find_generated_suite(manifest.digest)
    here = find_project(Path())
    project = (find_project(Path(name)) if Path(name).exists() else None) or here
    if project is None or (project == builtin() != here):
        return Older()
    generated = _is_in(Path(name), project)
    key = canonical.text_digest(f"{manifest.digest} {generated} {project.root}")
    known, state = cache_folder() / "fresh" / key, _state(project, manifest)
    with contextlib.suppress(OSError):
        if known.read_text(encoding="utf-8") == state:
            return Older()
    found = _compare(project, manifest, "" if generated else name)
    if not found.told:
        with contextlib.suppress(OSError):  # it only saves time
            known.parent.mkdir(parents=True, exist_ok=True)
            known.write_text(state, encoding="utf-8")
    return found


def _is_in(place: Path, project: Project) -> bool:
    """Whether a suite is one of those that the project generates."""
    return place.resolve().is_relative_to(project.generated.resolve())


def _place(suite: str) -> Path:
    """The folder of a suite that is named as for `conform run`. Raises `BadSuite`."""
    place = Path(suite)
    if place.name == LINES:
        return place.parent
    return place if place.is_dir() else open_suite(suite, 1).folder


def _state(project: Project, manifest: Manifest) -> str:
    """A digest of the charters and models of a project, of the charter that a suite was made from,
    and of the version that compares them."""
    about = f"{version('charter-conform')} {manifest.spec_digest}\n"
    models = (path for path in files_below(project.generated / PACKAGE) if path.suffix == ".py")
    return digest_files((*sorted(_sources(project)), *models), project.root, about)


def _sources(project: Project) -> Iterable[Path]:
    """The charters, and what searches for questions noted."""
    below = files_below(project.charters)
    return (path for path in below if path.suffix == ".charter" or path.name == "proofs.json")


def _compare(project: Project, manifest: Manifest, suite: str) -> Older:
    """What the charters of a project are to a suite; `suite` is its name, "" for a generated one.
    A protocol that the project lacks may be judged by any suite that is named."""
    from charter import api
    from charter.api.models_on_disk import suite_digests

    about = f"{manifest.protocol} {manifest.component}"
    made = f"{suite} was made" if suite else "generated/ was made"
    where = "" if project == find_project(Path()) else f" in {project.root}"
    try:
        now, asked = suite_digests(project, manifest)
    except api.Refused as error:
        return Older(
            _OLDER,
            f"the charter of {about} has errors now, so the judge works by an older version;"
            f" `conform check` shows them ({error})",
        )
    except api.Unreadable as error:
        return Older(_PERHAPS, f"cannot tell whether {about} changed since {made}: {error}")
    again = (
        f"`conform vectors`{where} makes it again" if suite else "run `conform generate`" + where
    )
    if now == manifest.spec_digest and manifest.asked_digest not in ("", asked):
        return Older(
            _OLDER_QUESTIONS,
            f"the scenarios or the instances of {about} have changed since {made}, so the judge"
            f" asks the questions of an older version of the charter; {again}",
        )
    if now == manifest.spec_digest:
        return _by_other_models(project, manifest, where)
    if suite and not now:
        return Older()
    if suite:
        return Older(
            _OLDER,
            f"the suite {suite} is of an older version of the charter: the rules of"
            f" {about} have changed since it was made, and the verdict is about the old ones;"
            f" {again}",
        )
    what = "have changed" if now else "are in no charter of the project any more"
    return Older(
        _OLDER,
        f"the judge works by an older version of the charter: the rules of {about} {what} since"
        f" generated/ was made; {again}, or `conform test`, which does all",
    )


def _by_other_models(project: Project, manifest: Manifest, where: str) -> Older:
    """Whether the models of a suite of the charter as it is are not what the compiler makes of that
    charter. A suite of another project has its models there."""
    from charter.api.models_on_disk import find_changed_models

    if not manifest.models.charter.startswith(f"{PACKAGE}."):
        return Older()
    changed = find_changed_models(project, manifest)
    if not changed:
        return Older()
    name = project.relative(project.generated)
    return Older(
        _OTHER_MODELS,
        f"{name}/{changed[0]} is not what this version of `conform generate` makes of the charter,"
        f" so the judge works by other rules; run `conform generate`{where}",
    )
