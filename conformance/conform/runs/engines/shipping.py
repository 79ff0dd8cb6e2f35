"""Sends what a run needs to workers that share no folder with this machine: our packages, the
generated models, and the files that the adapter needs."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from charter.formats.files import files_below
from conform.adapters.prepared import path_digest
from conform.adapters.targets import java, python_path
from conform.console.errors import CannotStart
from conform.judging.model import PACKAGE
from conform.runs.run_context import RunContext

_MODELS = "models"
_LEFT_OUT = frozenset({"__pycache__", ".git"})


@dataclass(frozen=True, slots=True)
class Shipment:
    """An archive for the workers with its SHA-256; `inside` has the path in it of each path on the
    driver. `python` and `java` are the driver's programs; workers start their own instead."""

    archive: str
    digest: str
    inside: Mapping[str, str]
    python: str = field(default_factory=lambda: sys.executable)
    java: str = field(default_factory=java)

    def receive(self, context: RunContext, archive: Path) -> RunContext:
        """The context of a worker that was sent the archive. Raises `CannotStart` if it is not as
        it was sent, or cannot be unpacked."""
        root = str(_unpack(archive, self.digest))
        start = replace(
            context.start,
            command=tuple(self.part(part, root) for part in context.start.command),
            environment={**context.start.environment, **python_path()},
        )
        return replace(context, start=start, folders=(f"{root}/{_MODELS}",))

    def part(self, part: str, root: str) -> str:
        """A part of the adapter's command as it is on a worker."""
        if part in (self.python, self.java):
            return sys.executable if part == self.python else java()
        if not self.inside:
            return part
        longest = sorted(self.inside, key=len, reverse=True)
        paths = "|".join(map(re.escape, longest))
        # A path begins where no other one goes on: behind a separator and, as in -I/opt/x, an
        # option.
        begins = r"(?P<before>(?:^|[\s:;,='\"])[^\s:;,='\"/]*)"
        return re.sub(
            rf"{begins}(?P<path>{paths})(?![\w.-])",
            lambda found: f"{found['before']}{root}/{self.inside[found['path']]}",
            part,
        )


@functools.lru_cache(maxsize=2)
def _unpack(archive: Path, digest: str) -> Path:
    """The folder with the content of an archive. Several processes of a worker use one folder: the
    first that is ready gives it its name. Raises `CannotStart`."""
    folder = archive.with_name(f"{archive.name}-{digest[:16]}")
    if folder.is_dir():
        return folder
    try:
        if path_digest(archive) != digest:
            raise OSError("it has another digest")
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
        with tarfile.open(archive) as tar:
            # `extractall(filter=...)` is known from Python 3.11.4 on.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(made)
        with contextlib.suppress(OSError):  # another process was faster
            made.rename(folder)
    except (OSError, tarfile.TarError) as error:
        raise CannotStart(
            f"a worker could not unpack the files of the run ({error}); repeat the command to go on"
        ) from None
    return folder


def pack(context: RunContext) -> tuple[Path, Shipment]:
    """An archive with the models and files of a run, and what it holds."""
    archive = _scratch() / f"conform-run-{time.time_ns():x}.tar.gz"
    inside = dict.fromkeys(context.folders, _MODELS)
    inside |= {path: f"files/{n}/{Path(path).name}" for n, path in enumerate(context.files)}
    with tarfile.open(archive, "w:gz", compresslevel=1, dereference=True) as tar:
        for name, path in _python_files(context.folders, (PACKAGE,)).items():
            tar.add(path, f"{_MODELS}/{name}")
        for source in map(Path, context.files):
            for file in _files(source):
                tar.add(file, inside[str(source)] + file.as_posix()[len(source.as_posix()) :])
    return archive, Shipment(archive.name, path_digest(archive), inside)


def _files(source: Path) -> list[Path]:
    """A file, or the files of a folder that an adapter needs."""
    return [source] if source.is_file() else [*files_below(source, _LEFT_OUT.__contains__)]


def pack_packages() -> Path:
    """Our packages as an archive that Python can import from."""
    bundle = _scratch() / "conform-packages.zip"
    roots = python_path()["PYTHONPATH"].split(os.pathsep)
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in _python_files(roots, ("charter", "conform")).items():
            archive.write(path, name)
    return bundle


def _python_files(roots: Sequence[str], names: Sequence[str]) -> dict[str, Path]:
    """The modules of packages by their path in them; the first root that has a file counts."""
    files: dict[str, Path] = {}
    for root in roots:
        for name in names:
            for path in sorted((Path(root) / name).rglob("*.py")):
                files.setdefault(path.relative_to(root).as_posix(), path)
    return files


def _scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="conform-"))
