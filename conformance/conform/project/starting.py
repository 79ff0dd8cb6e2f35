"""Writes the files of a new project: project file, charter, CI and README from templates."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import resources
from pathlib import Path
from string import Template

from charter.formats.project import DEFAULTS, FILE
from conform.console.errors import CannotWrite, ConformError
from conform.console.terminal import columns

TEMPLATES = ("lease", "queue", "register", "raft", "empty")
"""The charters that a project can start with; `empty` has each part once, to be replaced."""

EXAMPLE = "lease"
"""The template that has an example implementation in each language."""

_COUNTERS = """In this charter each lock counts its tokens for itself. If your service takes them
from one sequence for all locks, the judge reports a deviation as soon as two locks are granted. The
comment above `newest` says what to write then, and `conform help types` why.

"""
"""What the README says of the tokens of the template lease."""

_CI = ".github/workflows/charter.yml"
_KEPT = (".gitignore", "README.md", _CI)
"""Files that a folder may have already; they are left as they are."""


def project_files(template: str, adapter: str) -> dict[str, str]:
    """The files of a new project by their paths in it, apart from the adapter with the id
    `adapter` ("" for none)."""
    keys = "".join(f'{key} = "{folder}"\n' for key, folder in DEFAULTS.items())
    place = charter_place(template)
    commands = [
        ["conform test", "# check, explore, make questions, judge, report"],
        [f"conform check {place}", "# the errors of the charter"],
        [f"conform explore {place}", "# search all states of an instance"],
        [f"conform doctor --adapter {adapter}", "# does the adapter keep to the rules?"]
        if adapter
        else [f"conform generate --adapter go {place} --out {adapter_place('mine')}",
              "# write an adapter; `conform init --help` lists the languages"],
    ]  # fmt: skip
    none = "" if adapter else "; there is none yet"
    note = _COUNTERS if template == EXAMPLE else ""
    values = {"template": template, "commands": columns(commands), "none": none, "note": note}
    return {
        FILE: f"# The folders of this project.\n{keys}",
        charter_place(template): _template("charters", f"{template}.charter"),
        ".gitignore": "build/\n__pycache__/\n",
        "README.md": Template(_template("project", "README.md")).substitute(values),
        _CI: _template("project", "ci.yml"),
    }


def charter_place(template: str) -> str:
    """Where the charter of a template lies in a project."""
    return f"{DEFAULTS['charters']}/{template}.charter"


def adapter_place(adapter: str) -> str:
    """Where an adapter lies in a project."""
    return f"{DEFAULTS['adapters']}/{adapter}"


@contextlib.contextmanager
def stage_project(root: Path) -> Iterator[Path]:
    """A context with a folder beside `root`, or in it if it exists; what was written there becomes
    the project at the end, or nothing does. Removes such folders of processes that were killed.
    Raises `CannotWrite`."""
    new = not _exists(root)
    _sweep(root)
    stage = (root.parent if new else root) / f".{root.name}.init-{os.getpid()}"
    try:
        _at(root, partial(stage.mkdir, parents=True))
        yield stage
        if new:
            _at(root, partial(stage.rename, root))
        else:
            for path in sorted(stage.rglob("*"), key=lambda path: path.name == FILE):
                if not path.is_dir():  # charter.toml last: a part of a project is none
                    to = root / path.relative_to(stage)
                    _at(to, partial(_move, path, to))
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _sweep(root: Path) -> None:
    """Remove the folders of `stage_project` whose processes have ended, if they hold nothing but
    what is written there."""
    ours = {path.partition("/")[0] for path in project_files(EXAMPLE, "")} | {DEFAULTS["adapters"]}
    named = re.compile(rf"\.{re.escape(root.name)}\.init-(\d{{1,9}})")
    for folder in (root.parent, root):
        with contextlib.suppress(OSError):
            for stage in list(folder.iterdir()):
                found = named.fullmatch(stage.name)
                if found is None or stage.is_symlink() or not stage.is_dir():
                    continue
                if not _lives(int(found[1])) and {path.name for path in stage.iterdir()} <= ours:
                    shutil.rmtree(stage, ignore_errors=True)


def _lives(process: int) -> bool:
    """Whether another process runs. One of somebody else cannot be asked, so it does."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _move(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    path.rename(to)


def write_project(
    files: Mapping[str, str], root: Path, others: tuple[str, ...], stage: Path
) -> list[str]:
    """Write the new files of the project `root` into `stage`; returns their paths. Nothing is
    overwritten: raises `ConformError` if a file or one of the paths `others` exists, apart from
    those that a folder has anyway."""
    for path in (*files, *others):
        if path not in _KEPT and _exists(root / path):
            raise ConformError(
                f"{root / path} exists, and nothing is overwritten; choose another folder:"
                " conform init NAME"
            )
    written = [path for path in files if not _exists(root / path)]
    for path in written:
        _at(root / path, partial(_write, stage / path, files[path]))
    return written


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _template(*place: str) -> str:
    return resources.files("conform").joinpath("templates", *place).read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _at(path: Path, write: Callable[[], object]) -> None:
    """Do it. Raises `CannotWrite` about a path of the project."""
    try:
        write()
    except OSError as error:
        raise CannotWrite(
            f"{path} cannot be written: {error.strerror}; name another folder"
        ) from None
