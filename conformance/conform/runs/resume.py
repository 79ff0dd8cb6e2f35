"""The folder of a run: resumed if it holds the same run unfinished, cleared if it holds another.

One run at a time writes into a folder."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.project import find_project
from conform.console.errors import BadRun
from conform.runs.kept import PLACE
from conform.storage.lease import Lease
from conform.storage.store import RunFolder, guarded

_LOCK = ".lock"
_SAME = {
    "target": "target", "release": "release", "suite": "suite", "spec_digest": "charter",
    "limit": "limit", "selection": "selection",
    "implementation": "implementation", "component": "component",
    "overlay": "overlay", "entries": "overlay's entries", "models": "models",
    "buckets": "number of buckets", "adapter": "adapter's files",
    "prepared": "prepared files",
}  # fmt: skip
"""What of run.json must be as it was for a run to go on, with the words for it."""
_OURS = (PLACE, "verdicts", "deviations", "observations", "transitions", "commits", "progress")


def folder_at(out: str, about: Mapping[str, Json]) -> RunFolder:
    """The folder `out` of a run as run.json describes it; by default its id, in the folder for
    runs of the project around the working folder (build/runs without a project)."""
    if not out:
        project = find_project(Path())
        runs = project.runs if project else Path("build") / "runs"
        out = str(runs / str(about["id"]))
    return RunFolder(out if "://" in out else str(Path(out).resolve()))


@contextlib.contextmanager
def alone_in(folder: RunFolder) -> Iterator[None]:
    """A context that locks the folder of a run. Raises `BadRun` if another process has locked it,
    or if it is not the folder of a run."""
    if "://" in folder.place:
        yield
        return
    place = Path(folder.place)
    if not folder.has("run.json") and any(path.name != _LOCK for path in place.glob("*")):
        if any((place / name).is_dir() for name in _OURS):
            raise BadRun(f"{folder.place} holds a run, but its run.json is gone; remove the folder")
        raise BadRun(f"{folder.place} holds something else; choose another folder with --out")
    lease = Lease(place / _LOCK)
    try:
        if not lease.take() and lease.works:
            raise BadRun(
                f"another run writes into {folder.place}; wait for it, or choose another folder"
                " with --out"
            )
        yield
    finally:
        lease.close()


def start_or_resume(
    folder: RunFolder, about: Mapping[str, Json], say: Callable[[str], None]
) -> None:
    """Resume an unfinished run with the same run.json; otherwise start a new one."""
    if folder.has("run.json"):
        before = folder.read_json("run.json")
        changed = [words for name, words in _SAME.items() if before.get(name) != about[name]]
        if not changed and not folder.has("summary.json"):
            damaged, done = folder.drop_damaged(), len(folder.buckets_done())
            are = "is" if damaged == 1 else "are"
            again = f"; {damaged} {are} damaged, and judged again" if damaged else ""
            buckets = "1 bucket is" if done == 1 else f"{done} buckets are"
            say(f"continuing the run in {folder.place}: {buckets} done{again}")
            return
        done = len(folder.buckets_done())
        if changed and done:
            buckets = "1 bucket is" if done == 1 else f"{done} buckets are"
            say(
                f"the {' and the '.join(changed)} changed since the run in {folder.place}"
                f" started; it starts again, and {buckets} judged again"
            )
        _clear(folder)
    folder.write_json("run.json", dict(about))


def _clear(folder: RunFolder) -> None:
    """Remove what an earlier run wrote, and nothing else."""
    if "://" in folder.place:
        raise BadRun(f"{folder.place} holds another run; choose another folder with --out")
    root = Path(folder.place)
    for name in _OURS:
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("summary.json", "canaries.json", "run.json", "prepared.json"):
        guarded(folder.place, partial((root / name).unlink, missing_ok=True))
