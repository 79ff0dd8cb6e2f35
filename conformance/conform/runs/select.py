"""Selects what a run judges: target, release, suite, and the overlay entries that apply."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from charter.formats.adapter import constant
from charter.formats.project import Project, find_project
from charter.formats.reading import BadVector
from charter.formats.releases import numbers, within
from charter.formats.spelling import suggest
from charter.formats.suite import MANIFEST, Manifest, read_manifest
from charter.formats.target import FILE, Target
from conform.adapters.projects import model_folders, projects, projects_of
from conform.adapters.targets import (
    NO_PROJECT,
    Prepared,
    model_values,
    prepare,
    release_of,
    target,
    values_of,
)
from conform.console.errors import BadSuite, UnknownTarget
from conform.judging.model import PACKAGE, load, use_folders
from conform.judging.refutations import LOAD
from conform.runs.earlier_target import target_of_run
from conform.runs.kept_vectors import read_kept, remedy
from conform.runs.obligations import check_sections
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import Suite, open_suite

Ranges = Callable[[Target], Mapping[str, tuple[str, str]]]
"""Returns the first and the last release ("": open) of each entry of a target's overlay."""


def no_ranges(_: Target) -> Mapping[str, tuple[str, str]]:
    """Every entry applies to every release."""
    return {}


@dataclass(frozen=True, slots=True)
class ResolvedRun:
    """A prepared target with a suite, the overlay entries that apply, and the folders with
    models."""

    prepared: Prepared
    suite: Suite
    entries: Mapping[str, str]
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSelection:
    """Target, release and suite by name; empty ones are taken from the run `earlier`."""

    earlier: str = ""
    target: str = ""
    release: str = ""
    suite: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChosenRun:
    """A target that is not prepared yet, the requested release, the suite, which is named as
    `place`, and the values that are given of parameters."""

    target: Target
    release: str
    suite: Suite
    place: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def resolve(selection: RunSelection, ranges: Ranges = no_ranges) -> ResolvedRun:
    """Resolve target, release, suite and overlay entries of a run, whose models are the ones that
    this process then imports. Raises `ConformError`s, and `BadProject`."""
    return prepare_run(choose(selection), ranges)


def choose(selection: RunSelection) -> ChosenRun:
    """Find the target of a run, and open its suite. Raises `ConformError`s, and `BadProject`."""
    name, release, suite = selection.target, selection.release, selection.suite
    given = selection.parameters
    if not (name or selection.earlier):
        raise UnknownTarget("say which target: --target ID, or --run with an earlier run")
    if selection.earlier:
        earlier = Path(selection.earlier).resolve()
        about = RunFolder(str(earlier)).read_run()
        chosen = target(name) if name else target_of_run(earlier, about)
        if name in ("", about.target):
            release = release or about.release
            given = {**_keep_declared(chosen, about.parameters), **given}
        suite = suite or find_generated_suite(about.suite, chosen.folder)
    else:
        chosen = target(name)
    place = suite_for(chosen, release, suite)
    values_of(chosen, given)  # what is wrong with them is said before anything is prepared
    return ChosenRun(chosen, release, _open(place, selection), place, given)


def _keep_declared(chosen: Target, noted: Mapping[str, str]) -> dict[str, str]:
    """The noted values of parameters that a target still declares."""
    return {one.name: noted[one.name] for one in chosen.parameters if one.name in noted}


def prepare_run(run: ChosenRun, ranges: Ranges = no_ranges) -> ResolvedRun:
    """Prepare the target of a run, and find the models. Raises `ConformError`s."""
    chosen, found = run.target, run.suite
    module = found.manifest.models.charter
    folders = model_folders(module, run.place, chosen.folder)
    use_folders(folders)
    load(module)  # here, as the lines in which an adapter says that it is missing are cut
    prepared = prepare(chosen, run.release, model_values(module, folders), run.parameters)
    start = replace(prepared.start, consts=found.manifest.consts)
    prepared = replace(prepared, start=start)
    entries = models_of(found.manifest, chosen, prepared.release, ranges)
    return ResolvedRun(prepared, found, entries, folders)


def _open(place: str, selection: RunSelection) -> Suite:
    """A suite; if it is gone, the vectors of it that the earlier run kept. Raises `BadSuite`."""
    try:
        return open_suite(place, os.cpu_count() or 1)
    except BadSuite:
        if not selection.earlier or selection.suite:
            raise
        if held := read_kept(Path(selection.earlier)):
            return held
        if Path(place).exists():
            raise
        about = RunFolder(str(Path(selection.earlier).resolve())).read_run()
        raise BadSuite(remedy(about)) from None


def suite_for(chosen: Target, release: str, suite: str = "") -> str:
    """The requested suite, or the generated one that fits the target, in the target's own project
    before others. For a target of any protocol that is one of the project around the working
    folder, if there is one. Raises `BadSuite`."""
    if suite:
        return suite
    variant = chosen.variant(release_of(chosen, release))
    here = find_project(Path())
    searched = projects_of(None if here and not chosen.protocol else chosen.folder)
    for project in searched if chosen.protocol else searched[:1]:
        found = _fitting(project.generated, chosen, variant)
        if found:
            return found
    _refuse_unknown_names(chosen)
    if any(_waits_for_generate(project, chosen.protocol) for project in searched):
        raise BadSuite(f"there is no suite for {chosen.id} yet: run `conform generate`")
    of = (
        f"fits {chosen.id}, an adapter of the {_describe(chosen)}" if chosen.protocol else "is here"
    )
    raise BadSuite(
        f"no generated suite {of}; {_at_hand()}; `conform vectors` makes the suite of any charter,"
        " and --suite names it"
    )


def _waits_for_generate(project: Project, protocol: str) -> bool:
    """Whether a project has a charter of a protocol, and no suite of it yet."""
    if not protocol or any(each.protocol == protocol for _, each in _manifests(project.generated)):
        return False
    begins = re.compile(rf"^protocol\s+{re.escape(protocol)}\s*$", re.MULTILINE)
    texts = sorted(project.charters.rglob("*.charter"))
    return any(begins.search(text.read_text("utf-8", "replace")) for text in texts)


def _describe(chosen: Target) -> str:
    """What a target says that it implements."""
    part = f"component {chosen.component!r} of the " if chosen.component else ""
    return f"{part}protocol {chosen.protocol!r}"


def _at_hand() -> str:
    """Which suites the project has here, and how it gets others."""
    here = find_project(Path())
    if here is None:
        return NO_PROJECT
    held = sorted({f"{each.protocol} {each.component}" for _, each in _manifests(here.generated)})
    there = f"there are suites of {', '.join(held)}; " if held else ""
    charters, adapters = here.relative(here.charters), here.relative(here.adapters)
    return (
        f"{there}`conform generate` makes those of the charters in {charters}/ that an adapter in"
        f" {adapters}/ names (`conform generate --adapter LANGUAGE CHARTER` writes one)"
    )


def find_generated_suite(digest: str, target_folder: Path | None = None) -> str:
    """The folder of the generated suite with a digest, else the digest, for the cache."""
    for project in projects_of(target_folder):
        for path in sorted((project.generated / "suites").rglob(MANIFEST)):
            with contextlib.suppress(BadVector, OSError):
                if read_manifest(path.parent).digest == digest:
                    return str(path.parent)
    return digest


def _fitting(generated: Path, chosen: Target, variant: str) -> str:
    """The largest generated suite of a target's protocol and component (of any, if it names none)
    in a variant; "" if there is none."""
    found = []
    for folder, manifest in _manifests(generated):
        same = chosen.protocol in ("", manifest.protocol) and manifest.variant == variant
        if same and chosen.component in ("", manifest.component):
            found.append((manifest.vectors, str(folder)))
    return max(found)[1] if found else ""


def _manifests(generated: Path) -> Iterator[tuple[Path, Manifest]]:
    """The generated suites with their folders. Raises `BadSuite`."""
    for path in sorted((generated / "suites").rglob(MANIFEST)):
        try:
            yield path.parent, read_manifest(path.parent)
        except (BadVector, OSError) as error:
            raise BadSuite(
                f"the manifest of a generated suite cannot be read: {error}; `conform generate`"
                " writes it again"
            ) from None


def _refuse_unknown_names(chosen: Target) -> None:
    """Raises `BadSuite` if a target names a protocol or component that no generated suite has, and
    probably means one that some suite has."""
    known = [each for project in projects() for _, each in _manifests(project.generated)]
    names = (
        ("protocol", chosen.protocol, {each.protocol for each in known}),
        ("component", chosen.component, {each.component for each in known}),
    )
    for key, name, there in names:
        if name and name not in there and (like := suggest(name, there)):
            raise BadSuite(
                f"{chosen.folder / FILE} has {key} = {name!r}, and no generated suite is of that"
                f" {key}; {like}"
            )


def check_fits(suite: Suite, prepared: Prepared) -> None:
    """Raises `BadSuite` for a suite of another protocol, component or variant than the target's,
    and if what is said of its charter beside the models was edited."""
    chosen, manifest = prepared.target, suite.manifest
    check_sections(manifest)
    if chosen.protocol and chosen.protocol != manifest.protocol:
        raise BadSuite(
            f"{chosen.id} implements {chosen.protocol}, but the suite is about"
            f" {manifest.protocol}; choose another with --suite"
        )
    _check_allowed(suite, chosen)
    _check_limits(suite, prepared)
    if chosen.component and chosen.component != manifest.component:
        raise BadSuite(
            f"{chosen.id} is an adapter of the component {chosen.component}, but the suite is about"
            f" {manifest.component}; choose another with --suite"
        )
    if chosen.protocol and prepared.start.variant != manifest.variant:
        raise BadSuite(
            f"{chosen.id} {prepared.release} is judged against the variant"
            f" {prepared.start.variant or 'without a name'!r}, but the suite is of"
            f" {manifest.variant or 'the one without a name'!r}; choose another with --suite"
        )


def _check_allowed(suite: Suite, chosen: Target) -> None:
    """Raises `BadSuite` for a variable, an operation or a capability that a target allows to leave
    out, that the suite does not have, and that is probably misspelt."""
    types, manifest = suite.manifest.read_types(), suite.manifest
    needs = {LOAD, *(types.replies if types else ()), *map(constant, manifest.consts)}
    for name in chosen.not_compared:
        word, _, rest = name.partition(" ")
        known = {"variable": variables(suite), "unsupported": needs}.get(word, ())
        like = suggest(rest, known)
        if like and rest not in (*known, *(chosen.capabilities or ())):
            lacks = "has no such variable" if word == "variable" else "needs no such thing"
            raise BadSuite(
                f"{chosen.folder / FILE} allows to leave {name!r} out, and the suite {lacks};"
                f" {like}"
            )


def _check_limits(suite: Suite, prepared: Prepared) -> None:
    """Raises `BadSuite` for a limit of the target that names a variable, a field or an operation
    that the suite does not have: it would be printed beside nothing."""
    chosen, types = prepared.target, suite.manifest.read_types()
    for limit in chosen.limits if types else ():
        if not limit.applies(prepared.release):
            continue
        assert types is not None
        unknown = [name for name in limit.operations if name not in types.replies]
        unknown += [
            name
            for name in limit.variables
            if types.fields(name, keyless=True) != (*name.split("."),)
        ]
        if unknown:
            like = suggest(unknown[0], (*types.replies, *types.observes))
            raise BadSuite(
                f"{chosen.folder / FILE} has a limit of {unknown[0]!r}, which the suite does not"
                f" have{like and f'; {like}'}"
            )


def models_of(manifest: Manifest, chosen: Target, release: str, ranges: Ranges) -> dict[str, str]:
    """The overlay entries that apply to a release, with the modules of their models; "" is the one
    with all of them.

    They are listed in the suite, or else found among the generated models; `ranges` has the
    releases of each entry.
    """
    found = dict(manifest.models.overlays.get(chosen.overlay, {}))
    if not found and chosen.overlay and not manifest.variant:
        found = _find_generated_overlay(manifest.protocol, chosen.folder.name)
    known = ranges(chosen)
    applying = {
        entry: module
        for entry, module in found.items()
        if not entry.startswith("@") and (entry not in known or within(release, *known[entry]))
    }
    groups = [name for name in found if name.startswith("@") and within(release, name[1:], "")]
    if groups and len(applying) > 1:
        applying[""] = found[max(groups, key=lambda name: numbers(name[1:]))]
    return applying


def _find_generated_overlay(protocol: str, folder: str) -> dict[str, str]:
    """The sibling models that `conform generate` made from a target's overlay.charter."""
    package = f"{PACKAGE}.{protocol.replace('.', '_')}_overlays"
    package = f"{package}.{folder.replace('-', '_')}"
    try:
        paths = importlib.import_module(package).__path__
    except ImportError:
        return {}
    names = sorted(module.name for module in pkgutil.iter_modules(paths))
    return {_entry(name): f"{package}.{name}" for name in names}


def _entry(module: str) -> str:
    """The entry of a model's module; `@4.3.0` for all that apply from that release on."""
    start, _, release = module.partition("_")
    parts = release.split("_")
    if start == "from" and all(part.isdigit() for part in parts):
        return f"@{'.'.join(parts)}"
    return module


def variables(suite: Suite) -> tuple[str, ...]:
    """The variables that the answers of the suite show."""
    for bucket in range(suite.buckets):
        for item in suite.items(bucket):
            observation = orjson.loads(item.answer)["observations"][0]
            return tuple(observation) if isinstance(observation, dict) else ()
    return ()
