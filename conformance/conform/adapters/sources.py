"""Digests of an implementation's files: those of the adapter's folder, and those that `sources` in
adapter.toml names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from charter.formats.files import files_below
from charter.formats.target import FILE, Target
from conform.adapters.prepared import path_digest
from conform.console.errors import UnknownTarget

_PASSED_OVER = frozenset({"__pycache__", "node_modules"})


def files_digest(chosen: Target) -> str:
    """A digest of the files of a target's folder, linked folders included: 20 hex digits. Hidden
    files and files of interpreters and package managers are ignored."""
    return _folder_digest(chosen.folder)


def digest_files(paths: Iterable[Path], folder: Path, about: str = "") -> str:
    """A digest of files, of their paths in a folder, and of a text: 20 hex digits."""
    found = hashlib.sha256(about.encode())
    for path in paths:
        found.update(path.relative_to(folder).as_posix().encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:20]


def sources_digests(chosen: Target) -> dict[str, str] | None:
    """The digest of each file and folder that a target's `sources` names; None if its adapter.toml
    does not say which there are. Ignores what `files_digest` ignores. Raises `UnknownTarget` for
    one that does not exist."""
    if chosen.sources is None:
        return None
    places = [(name, chosen.folder / name) for name in chosen.sources]
    for name, place in places:
        if not place.exists():
            raise UnknownTarget(
                f"{chosen.folder / FILE}: 'sources' names {name!r}, and there is no"
                f" {place.resolve()}; paths are relative to the folder of adapter.toml"
            )
    return {
        name: _folder_digest(place) if place.is_dir() else path_digest(place)[:20]
        for name, place in places
    }


def all_files_digest(chosen: Target) -> str:
    """A digest of a target's folder and of its `sources`, if it names some."""
    named = sources_digests(chosen)
    if not named:
        return files_digest(chosen)
    both = [files_digest(chosen), *(f"{name} {digest}" for name, digest in named.items())]
    return hashlib.sha256("\n".join(both).encode()).hexdigest()[:20]


def check_apart(chosen: Target, run: str) -> None:
    """Raises `UnknownTarget` if a folder of `sources` holds the folder of a run: each run would
    change them."""
    for name in chosen.sources or ():
        if "://" not in run and Path(run).is_relative_to((chosen.folder / name).resolve()):
            raise UnknownTarget(
                f"{chosen.folder / FILE}: 'sources' names {name!r}, which holds the folder of the"
                f" run, {run}; name only what the implementation consists of"
            )


def _folder_digest(folder: Path) -> str:
    return digest_files(files_below(folder, _is_passed_over), folder)


def _is_passed_over(name: str) -> bool:
    return name in _PASSED_OVER or name.startswith(".")
