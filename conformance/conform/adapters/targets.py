"""Targets: implementations that can be judged, each a folder with an adapter.toml.

docs/formats/adapter.md ("adapter.toml") has the format. Deleting the folder removes the target and
changes nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from charter.formats.spelling import meant
from conform.adapters.base import AdapterStart, Deadlines
from conform.adapters.projects import projects
from conform.console.errors import CannotPrepare, UnknownRelease, UnknownTarget
from conform.judging.claims import IMAGE, NAMED
from conform.suites.cache import cache_folder

FILE = "adapter.toml"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_KEYS = {
    "id", "title", "protocol", "component", "capabilities", "start", "prepare", "overlay",
    "default_release", "releases", "deadlines", "variants", "errors", "not_compared",
}  # fmt: skip
_PREPARE_SECONDS = 900.0
_DEADLINES = Deadlines()


@dataclass(frozen=True, slots=True)
class Target:
    """A target as described by the adapter.toml in `folder`."""

    id: str
    title: str
    folder: Path
    start: tuple[str, ...]
    protocol: str = ""
    component: str = ""
    capabilities: tuple[str, ...] | None = None
    prepare: tuple[str, ...] = ()
    overlay: str = ""
    default_release: str = ""
    releases: tuple[str, ...] = ()
    deadlines: Deadlines = _DEADLINES
    variants: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    not_compared: Mapping[str, str] = field(default_factory=dict)

    def release(self, wanted: str) -> str:
        """The release to judge: `wanted`, or the default. Raises `UnknownRelease`."""
        chosen = wanted or self.default_release
        if chosen and chosen not in self.releases:
            known = ", ".join(self.releases) or "none"
            raise UnknownRelease(f"{self.id} has no release {chosen!r}; it has {known}")
        return chosen

    def variant(self, release: str) -> str:
        """The variant of the charter that a release is judged against."""
        parts = release.split(".")
        for length in range(len(parts), 0, -1):
            found = self.variants.get(".".join(parts[:length]))
            if found is not None:
                return found
        return ""


_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


def files_digest(chosen: Target) -> str:
    """A digest of the files of a target's folder: 20 hex digits. Hidden files and files of
    interpreters and package managers are ignored."""
    found = hashlib.sha256()
    for path in sorted(chosen.folder.rglob("*")):
        parts = path.relative_to(chosen.folder).parts
        hidden = any(part in _PASSED_OVER or part.startswith(".") for part in parts)
        if path.is_file() and not hidden:
            found.update("/".join(parts).encode())
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:20]


def targets() -> list[Target]:
    """All targets: those of the project around the working folder, then those that come with
    conform. Raises `UnknownTarget` for one that cannot be read, and `BadProject`."""
    return [read(path) for path in _files().values()]


def target(wanted: str) -> Target:
    """The target with the id `wanted`, or in the folder `wanted`. Raises `UnknownTarget`, and
    `BadProject`."""
    known = _files()
    found = [known[wanted]] if wanted in known else [Path(wanted) / FILE, Path(wanted)]
    for path in found:
        if path.is_file() and path.name == FILE:
            return read(path)
    listed = ", ".join(known) or "none"
    raise UnknownTarget(f"there is no target {wanted!r}; there are: {listed}")


def found_by(chosen: Target) -> str:
    """What `target` finds a target by: its id, or its folder if that is not among those listed."""
    listed = _files().get(chosen.id)
    same = listed is not None and listed.parent.resolve() == chosen.folder
    return chosen.id if same else str(chosen.folder)


def _files() -> dict[str, Path]:
    """The adapter.toml of each target by the name of its folder; a target of the project hides one
    of the same name that comes with conform."""
    found: dict[str, Path] = {}
    for project in projects():
        for path in sorted(project.adapters.glob(f"*/{FILE}")):
            found.setdefault(path.parent.name, path)
    return found


def read(path: Path) -> Target:
    """The target of one adapter.toml. Raises `UnknownTarget`."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        unknown = sorted(set(content) - _KEYS)
        if unknown:
            like = meant(unknown[0], _KEYS)
            raise ValueError(f"the key {unknown[0]!r} is not known{like and f', {like}'}")
        found = Target(
            id=_text(content, "id"),
            title=_text(content, "title"),
            folder=path.parent.resolve(),
            start=_texts(content, "start"),
            protocol=_text(content, "protocol", ""),
            component=_text(content, "component", ""),
            capabilities=_texts(content, "capabilities") if "capabilities" in content else None,
            prepare=_texts(content, "prepare", ()),
            overlay=_text(content, "overlay", ""),
            default_release=_text(content, "default_release", ""),
            releases=_texts(content, "releases", ()),
            deadlines=_deadlines(content),
            variants=_table(content, "variants"),
            errors=_table(content, "errors"),
            not_compared=_not_compared(content),
        )
        if not found.start:
            raise ValueError("'start' is empty")
        return found
    except (OSError, ValueError) as error:
        raise UnknownTarget(f"{path}: {error}; `conform help adapter` has the format") from None


def model_values(module: str, folders: Sequence[str]) -> dict[str, str]:
    """The placeholders of a target that is a generated model."""
    return {"model": module, "models": os.pathsep.join(folders)}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared target for one release."""

    target: Target
    release: str
    start: AdapterStart
    said: Mapping[str, str]


def prepare(chosen: Target, wanted: str, extra: Mapping[str, str]) -> Prepared:
    """Run the target's `prepare` command, if it has one, and fill in the placeholders.

    `extra` are further placeholders. Raises `UnknownRelease` and `CannotPrepare`.
    """
    release = chosen.release(wanted)
    cache = cache_folder() / "adapters" / chosen.id
    values = {
        "adapter": str(chosen.folder),
        "cache": str(cache),
        "release": release,
        "variant": chosen.variant(release),
        "python": sys.executable,
        "java": java(),
        **extra,
    }
    said: dict[str, str] = {}
    if chosen.prepare:
        try:
            cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotPrepare(
                f"{cache} cannot be made ({error.strerror}); set CHARTER_CACHE to another folder"
            ) from None
        said = _run_prepare(chosen, filled(chosen.prepare, values, chosen))
    start = AdapterStart(
        command=filled(chosen.start, {**values, **said}, chosen),
        release=release,
        variant=chosen.variant(release),
        errors=chosen.errors,
        environment=python_path(),
        deadlines=chosen.deadlines,
        expect=release,
    )
    return Prepared(chosen, release, start, said)


def filled(command: Sequence[str], values: Mapping[str, str], chosen: Target) -> tuple[str, ...]:
    """A command with its placeholders replaced. Raises `UnknownTarget` for one without value."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise UnknownTarget(
                f"{chosen.folder / FILE}: there is no value for {{{name}}} in"
                f" {match.string!r}; `prepare` can print it"
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


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    return shutil.which("java") or "java"


def _run_prepare(chosen: Target, command: tuple[str, ...]) -> dict[str, str]:
    try:
        done = subprocess.run(
            list(command),
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **python_path()},
            timeout=_PREPARE_SECONDS,
            check=False,
        )
        printed = done.stdout.decode().strip().splitlines()
        said = json.loads(printed[-1]) if printed or done.returncode else {}
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotPrepare(f"{chosen.id} could not be prepared: {error}") from None
    except (ValueError, IndexError):
        raise CannotPrepare(
            f"{chosen.id} could not be prepared: {command[0]} ended with {done.returncode} and its"
            " last line on stdout is no JSON object; what it wrote to stderr stands above"
        ) from None
    if not isinstance(said, dict) or "error" in said or done.returncode:
        reason = said.get("error", said) if isinstance(said, dict) else said
        raise CannotPrepare(f"{chosen.id} could not be prepared: {reason}")
    return {str(name): str(value) for name, value in said.items()}


def _deadlines(content: Mapping[str, object]) -> Deadlines:
    held = content.get("deadlines", {})
    found: dict[str, float] = held if isinstance(held, dict) else {"": 0}
    numbers = all(isinstance(seconds, int | float) for seconds in found.values())
    if not numbers or not set(found) <= {"hello", "batch", "one"}:
        raise ValueError("'deadlines' has the seconds hello, batch and one")
    return Deadlines(**{name: float(seconds) for name, seconds in found.items()})


def _not_compared(content: Mapping[str, object]) -> dict[str, str]:
    """What runs of this target may leave uncompared, by name, each with its reason."""
    found = _table(content, "not_compared")
    for name, reason in found.items():
        word, _, rest = name.partition(" ")
        if not (name == IMAGE or (word in NAMED and rest)):
            raise ValueError(
                f"'not_compared' has the unknown name {name!r}; write one of {', '.join(NAMED)} and"
                f" a name, or {IMAGE}"
            )
        if not reason.strip():
            raise ValueError(f"'not_compared' has no reason for {name!r}")
    return found


def _text(content: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = content.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is missing, or not a text")
    return value


def _texts(
    content: Mapping[str, object], name: str, default: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    value = content.get(name, default)
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name!r} is missing, or not a list")
    return tuple(str(item) for item in value)


def _table(content: Mapping[str, object], name: str) -> dict[str, str]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} is not a table")
    return {str(key): str(item) for key, item in value.items()}
