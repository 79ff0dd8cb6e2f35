"""Finds targets: implementations that can be judged, each a folder with an adapter.toml.

docs/formats/adapter.md ("adapter.toml") has the format. Deleting the folder removes the target and
changes nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from charter.formats.findings.reproductions import Reproduction
from charter.formats.project import BadProject, Project, check_named, find_project
from charter.formats.releases import numbers
from charter.formats.spelling import suggest
from charter.formats.target import FILE, Target, ids_of, parameter_values, read_target, target_files
from conform.adapters.base import AdapterStart
from conform.adapters.projects import builtin, projects
from conform.adapters.sources import all_files_digest
from conform.adapters.stderr_tail import listen
from conform.console.errors import BadParameter, CannotPrepare, UnknownRelease, UnknownTarget
from conform.console.terminal import say
from conform.storage.lease import Lease
from conform.suites.cache import cache_folder

NO_PROJECT = "this folder is in no project: no charter.toml here or above it"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_PREPARE_SECONDS = 900.0
SAFE_PATH = "PYTHONSAFEPATH"
"""With this in its environment Python imports nothing from its working folder only since it works
there, as with the option -P."""
_PRINTED, _WIDTH = 20, 80
"""How many lines, and how much of one, are shown of what `prepare` wrote to stdout."""


def targets() -> list[Target]:
    """All targets: those of the project around the working folder, then those that come with
    conform. Raises `UnknownTarget` for one that cannot be read, and `BadProject`."""
    here = find_project(Path())
    if here:
        check_named(here)
    return [read(path) for path in _files(projects())]


def targets_of(project: Project) -> list[Target]:
    """The targets of one project. Raises `UnknownTarget`, and `BadProject`."""
    _files((project, builtin()))
    return [read(path) for path in target_files(project)]


def target_of(project: Project, wanted: str) -> Target:
    """The target of a project with the id `wanted`, or in the folder of that name or path. Raises
    `UnknownTarget`, and `BadProject`."""
    _files((project, builtin()))
    ids = ids_of(target_files(project))
    found = _find_target(wanted, ids)
    if found is None:
        known = _names(ids)
        raise UnknownTarget(
            f"{wanted!r} is no adapter of the project; there are: {', '.join(known) or 'none'}"
            f" (in {project.adapters}){_suggest(wanted, known)}"
        )
    return read(found)


def target(wanted: str) -> Target:
    """The target with the id `wanted`, or in the folder of that name or path. Raises
    `UnknownTarget`, and `BadProject`."""
    known = _files(projects())
    listed = _find_target(wanted, known)
    for path in [listed] if listed else [Path(wanted) / FILE, Path(wanted)]:
        if path.is_file() and path.name == FILE:
            return read(path)
    here = find_project(Path())
    if here:
        check_named(here)
    place = f"the project here is {here.root}" if here else NO_PROJECT
    names = _names(known)
    raise UnknownTarget(
        f"there is no target {wanted!r}; there are: {', '.join(names) or 'none'}"
        f" ({place}){_suggest(wanted, names)}"
    )


def name_lookup(chosen: Target) -> str:
    """What `target` finds a target by: its id, or its folder if the id finds another or none."""
    try:
        found = _find_target(chosen.id, _files(projects()))
    except UnknownTarget:
        found = None
    same = found is not None and found.parent.resolve() == chosen.folder.resolve()
    return chosen.id if same else str(chosen.folder)


def _names(ids: Mapping[Path, str]) -> list[str]:
    """The ids of these adapter.toml; of one that cannot be read the name of its folder."""
    return [own or path.parent.name for path, own in ids.items()]


def _suggest(wanted: str, known: Sequence[str]) -> str:
    like = suggest(wanted, known)
    return f"; {like}" if like else ""


def _find_target(wanted: str, ids: Mapping[Path, str]) -> Path | None:
    """Which of these adapter.toml has the id `wanted`, or lies in the folder of that name or path.
    Raises `UnknownTarget` if the id of one is the name of the folder of another."""
    named = [path for path, own in ids.items() if wanted in (own, path.parent.name)]
    if len(named) > 1:
        first, other = (path.parent for path in named[:2])
        raise UnknownTarget(
            f"{wanted!r} is the id of one adapter and the folder of another ({first}, {other});"
            " name the folder by its path"
        )
    whole = Path(wanted).resolve()
    below = [path for path in ids if whole in (path.parent.resolve(), path.resolve())]
    return next(iter((*named, *below)), None)


def _files(searched: Sequence[Project]) -> dict[Path, str]:
    """The adapter.toml of each target, with its id; one of the project hides one in a folder of the
    same name that comes with conform. Raises `BadProject` if two have the same id."""
    found: dict[str, Path] = {}
    for project in searched:
        for path in target_files(project):
            found.setdefault(path.parent.name, path)
    return ids_of(found.values())


def read(path: Path) -> Target:
    """The target of one adapter.toml. Raises `UnknownTarget`."""
    try:
        return replace(read_target(path), folder=path.parent.resolve())
    except BadProject as error:
        raise UnknownTarget(str(error)) from None


def release_of(chosen: Target, wanted: str) -> str:
    """The release to judge: `wanted`, or the default. Raises `UnknownRelease`."""
    release = wanted or chosen.default_release
    if release and release not in chosen.releases:
        known = ", ".join(chosen.releases) or "none"
        raise UnknownRelease(f"{chosen.id} has no release {release!r}; it has {known}")
    return release


NO_PARAMETERS: Mapping[str, str] = MappingProxyType({})


def values_of(chosen: Target, given: Mapping[str, str]) -> dict[str, str]:
    """The value of each parameter of a target. Raises `BadParameter`."""
    try:
        return parameter_values(chosen.id, chosen.parameters, given)
    except ValueError as error:
        raise BadParameter(str(error)) from None


def model_values(module: str, folders: Sequence[str]) -> dict[str, str]:
    """The placeholders of a target that is a generated model."""
    return {"model": module, "models": os.pathsep.join(folders)}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared target for one release; `parameters` has the value of each."""

    target: Target
    release: str
    start: AdapterStart
    said: Mapping[str, str]
    built: tuple[str, ...] = ()
    """Files and folders in the private cache of the adapter that its command names."""
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """What `prepare` printed, and what it built."""
        return (*self.said.values(), *self.built)


def build_folder(adapter: Path, name: str) -> Path:
    """The folder in which an adapter is built: two adapters with the same name share none."""
    place = hashlib.sha256(str(adapter).encode()).hexdigest()[:12]
    return cache_folder() / "builds" / f"{name}-{place}"


def _forget_removed(builds: Path) -> None:
    """Remove what adapters built whose folders are gone."""
    for note in builds.glob("*.path"):
        with contextlib.suppress(OSError, ValueError):
            if not Path(note.read_text(encoding="utf-8")).exists():
                shutil.rmtree(note.with_suffix(""), ignore_errors=True)
                note.with_suffix(".lock").unlink(missing_ok=True)
                note.unlink()


def prepare(
    chosen: Target,
    wanted: str,
    extra: Mapping[str, str],
    given: Mapping[str, str] = NO_PARAMETERS,
) -> Prepared:
    """Run the target's `prepare` command, if it has one, and fill in the placeholders.

    `extra` are further placeholders, `given` the values of parameters. Raises `UnknownRelease`,
    `BadParameter` and `CannotPrepare`.
    """
    release, parameters = release_of(chosen, wanted), values_of(chosen, given)
    cache, downloads = _own_folders(chosen)
    values = {
        "adapter": str(chosen.folder),
        "cache": str(cache),
        "downloads": str(downloads),
        "sources": all_files_digest(chosen),
        "release": release,
        "variant": chosen.variant(release),
        "python": sys.executable,
        "java": java(),
        **extra,
        **parameters,
    }
    said: dict[str, str] = {}
    if chosen.prepare:
        command = fill_placeholders(chosen.prepare, values, chosen)
        _make_folders(cache, downloads, chosen.folder)
        with _alone(cache, chosen):
            said = _run_command(chosen, command)
    start = AdapterStart(
        command=fill_placeholders(chosen.start, {**values, **said, **parameters}, chosen),
        release=release,
        variant=chosen.variant(release),
        errors=chosen.errors,
        environment=adapter_environment(),
        deadlines=chosen.deadlines,
        expect=release,
    )
    inside = (part for part in start.command if Path(part).is_relative_to(cache))
    built = tuple(part for part in inside if Path(part).exists())
    return Prepared(chosen, release, start, said, built, parameters)


@contextlib.contextmanager
def _alone(cache: Path, chosen: Target) -> Iterator[None]:
    """Wait until no other process builds into the private cache of an adapter, and keep others
    out."""
    lease = Lease(Path(f"{cache}.lock"))
    try:
        if not lease.take() and lease.works:
            say(f"{chosen.id}: another command prepares this adapter; waiting until it is done")
            lease.wait()
        yield
    finally:
        lease.close()


def _make_folders(cache: Path, downloads: Path, adapter: Path) -> None:
    """Make the folders that `prepare` writes to. Raises `CannotPrepare`."""
    try:
        downloads.mkdir(parents=True, exist_ok=True)
        _forget_removed(cache.parent)
        cache.mkdir(parents=True, exist_ok=True)
        Path(f"{cache}.path").write_text(str(adapter), encoding="utf-8")
    except OSError as error:
        raise CannotPrepare(
            f"{error.filename} cannot be made ({error.strerror}); set CHARTER_CACHE to another"
            " folder"
        ) from None


def fill_placeholders(
    command: Sequence[str], values: Mapping[str, str], chosen: Target
) -> tuple[str, ...]:
    """A command with its placeholders replaced. Raises `UnknownTarget` for one without value."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            remedy = suggest(name, values) or "`prepare` can print it"
            raise UnknownTarget(
                f"{chosen.folder / FILE}: there is no value for {{{name}}} in"
                f" {match.string!r}; {remedy}"
            )
        return values[name]

    return tuple(_PLACEHOLDER.sub(value, part) for part in command)


def python_path() -> dict[str, str]:
    """Environment variables with which a child process finds the packages of this one."""
    found = (find_spec(name) for name in ("conform", "charter"))
    places = [next(iter(s.submodule_search_locations or ()), "") for s in found if s is not None]
    paths = [str(Path(place).absolute().parent) for place in places if place]
    paths += [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def adapter_environment() -> dict[str, str]:
    """Environment variables of an adapter: it finds our packages, and its modules where it would if
    the user started it, although Spark's workers do not look into their working folder."""
    return {**python_path(), SAFE_PATH: os.environ.get(SAFE_PATH, "")}


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    return shutil.which("java") or "java"


def check_reproduction(
    chosen: Target, kind: Reproduction, release: str, file: Path
) -> dict[str, str]:
    """What each case of a reproduction says on a release, by the command of its target: "" if it
    passed. Raises `CannotPrepare`."""
    cache, downloads = _own_folders(chosen)
    values = {
        "adapter": str(chosen.folder),
        "cache": str(cache),
        "downloads": str(downloads),
        "release": release,
        "variant": chosen.variant(release),
        "python": sys.executable,
        "java": java(),
        "file": str(file.resolve()),
    }
    command = fill_placeholders(kind.check, values, chosen)
    _make_folders(cache, downloads, chosen.folder)
    with _alone(cache, chosen):
        return _run_command(chosen, command, f"reproductions.{kind.name}.check")


def find_newer(chosen: Target) -> tuple[str, ...]:
    """The releases that a target's `list_releases` names, and that its adapter.toml lacks, from the
    first one there on. Raises `CannotPrepare`."""
    cache, downloads = _own_folders(chosen)
    values = {
        "adapter": str(chosen.folder), "cache": str(cache), "downloads": str(downloads),
        "python": sys.executable, "java": java(),
    }  # fmt: skip
    command = fill_placeholders(chosen.list_releases, values, chosen)
    _make_folders(cache, downloads, chosen.folder)
    said = _run_command(chosen, command, "list_releases", "the releases of {} could not be listed")
    known = set(chosen.releases)
    first = min(map(numbers, known), default=())
    found = dict.fromkeys(said.get("releases", "").split())
    return tuple(one for one in found if one not in known and numbers(one) > first)


def _own_folders(chosen: Target) -> tuple[Path, Path]:
    """What an adapter builds into, and what it fetches into."""
    return build_folder(chosen.folder, chosen.id), cache_folder() / "adapters" / chosen.id


def _run_command(
    chosen: Target,
    command: tuple[str, ...],
    key: str = "prepare",
    failed: str = "{} could not be prepared",
) -> dict[str, str]:
    """The object of texts that a command prints, which adapter.toml has under `key`. `failed` opens
    the sentence of an error."""
    failed = failed.format(chosen.id)
    stderr: tuple[str, ...] = ()
    try:
        with listen() as ears:
            done = subprocess.run(
                list(command),
                stdout=subprocess.PIPE,
                stderr=ears.pipe if ears else None,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **python_path()},
                timeout=_PREPARE_SECONDS,
                check=False,
            )
        stderr = ears.lines() if ears else ()
    except (FileNotFoundError, PermissionError) as error:
        raise CannotPrepare(
            f"{failed}: {command[0]!r}, the program of `{key}` in"
            f" {chosen.folder / FILE}, cannot be run ({error.strerror}); install it"
        ) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotPrepare(f"{failed}: {error}") from None
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    said = _object(lines[-1]) if lines else {}
    if said is not None and "error" not in said and not done.returncode:
        return {str(name): str(value) for name, value in said.items()}
    if said is not None and "error" in said:
        reason = str(said["error"])
    elif done.returncode:
        printed = "".join(f"\n  | {line}" for line in lines[-_PRINTED:])
        also = f", and this to stdout:{printed}" if printed else ""
        wrote = "; what it wrote to stderr stands above"
        if not stderr:  # on a terminal nobody knows whether it wrote any
            wrote = "; what it wrote to stderr, if anything, stands above"
            wrote = ", and wrote nothing to stderr" if ears else wrote
        reason = (
            f"`{shlex.join(command)}` (`{key}` in {chosen.folder / FILE}) ended with"
            f" {done.returncode}{wrote}{also}"
        )
    else:
        reason = (
            f"the last line that `{shlex.join(command)}` wrote to stdout is no JSON object:"
            f" {lines[-1][:_WIDTH]!r}; write what is for people to stderr (`conform help adapter`)"
        )
    raise CannotPrepare(f"{failed}: {reason}", stderr)


def _object(line: str) -> dict[str, object] | None:
    """The JSON object that a line is; None if it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
