"""Locks, resumes or clears the folder of a run. It is resumed if it holds the same run unfinished.

One run at a time writes into a folder."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from charter.formats.project import find_project
from charter.formats.run_description import RunDescription
from conform.console.errors import BadRun
from conform.runs.kept_vectors import PLACE
from conform.storage.bucket_store import RunFolder, guard_write
from conform.storage.lease import Lease

_LOCK = ".lock"
DIGESTS = {
    "adapter": "adapter's files", "sources": "sources", "prepared": "prepared files",
    "models": "models",
}  # fmt: skip
"""What run.json has digests of, with the words for it."""
_SAME = {
    "target": "target", "release": "release", "suite": "suite", "spec_digest": "charter",
    "limit": "limit", "selection": "selection", "walks": "walks",
    "parameters": "parameters",
    "remembered": "remembered questions", "crosschecks": "number of cross-checks",
    "implementation": "implementation", "component": "component",
    "overlay": "overlay", "entries": "overlay's entries",
    "buckets": "number of buckets", **DIGESTS,
}  # fmt: skip
"""What of run.json must be as it was for a run to go on, with the words for it."""
_OURS = ("commits", PLACE, "verdicts", "deviations", "observations", "transitions", "walks",
         "progress")  # fmt: skip


def folder_at(out: str, name: str) -> RunFolder:
    """The folder `out` of a run; by default its id, in the folder for runs of the project around
    the working folder (build/runs without a project)."""
    if not out:
        project = find_project(Path())
        runs = project.runs if project else Path("build") / "runs"
        out = str(runs / name)
    return RunFolder(out if "://" in out else str(Path(out).resolve()))


@contextlib.contextmanager
def lock(folder: RunFolder) -> Iterator[None]:
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
    folder: RunFolder,
    about: RunDescription,
    say: Callable[[str], None],
    go_on: bool = False,
) -> RunDescription:
    """Resume an unfinished run with the same run.json; otherwise start a new one. Without `sources`
    the implementation may be another one: then a run is resumed only to `go_on`, and run.json has
    how many buckets were judged before. Returns run.json. Raises `BadRun` for a run that shall go
    on and that something else than now was asked of."""
    before = _read_before(folder, say)
    if before is not None:
        ended = folder.has("summary.json")
        changed = _list_changed(before, about)
        done = len(folder.buckets_done())
        unknown = about.sources is None and done > 0
        since = f"the {' and the '.join(changed)} changed since the run in {folder.place} started"
        if changed and done and go_on and not ended:
            raise BadRun(f"{since}; it cannot be continued: without --continue it starts again")
        if not changed and not ended and (go_on or not unknown):
            _tell_resumed(folder, say)
            if unknown:
                about = replace(before, continued=len(folder.buckets_done()))
                folder.write_run(about)
            return about
        if changed and done:
            say(f"{since}; it starts again, and {_buckets(done)} judged again")
        elif unknown and not ended:
            say(
                f"the run in {folder.place} starts again, and {_buckets(done)} judged again:"
                " without `sources` in adapter.toml nobody knows whether the implementation is the"
                " same (`conform help adapter`)"
            )
        _clear(folder)
    folder.write_run(about)
    return about


def _read_before(folder: RunFolder, say: Callable[[str], None]) -> RunDescription | None:
    """The run.json in a folder. None if there is none, or if it is damaged in a folder that is one
    of a run: then what is there is removed. Raises `BadRun`."""
    if not folder.has("run.json"):
        return None
    try:
        return folder.read_run()
    except BadRun:
        if "://" in folder.place or not (Path(folder.place) / "commits").is_dir():
            raise  # it may be somebody else's
    say(f"run.json of the run in {folder.place} is damaged; it starts again")
    _clear(folder)
    return None


def is_finished(folder: RunFolder, about: RunDescription, say: Callable[[str], None]) -> bool:
    """Whether a folder holds the run that `about` describes, to its end, and as it was written."""
    if not (folder.has("run.json") and folder.has("summary.json")) or about.sources is None:
        return False
    try:
        same = not _list_changed(folder.read_run(), about)
    except BadRun:
        return False  # `start_or_resume` says so
    try:
        if same:
            folder.check()
    except BadRun:
        say(f"the run in {folder.place} is damaged, and is judged again")
        return False
    return same


def _list_changed(before: RunDescription, about: RunDescription) -> list[str]:
    """What differs between two runs of which one cannot go on with the other, in words."""
    then, now = before.json(), about.json()
    return [words for name, words in _SAME.items() if then.get(name) != now.get(name)]


def _tell_resumed(folder: RunFolder, say: Callable[[str], None]) -> None:
    """Drop damaged buckets of a run that goes on, and tell how many are done."""
    damaged, done = folder.drop_damaged(), len(folder.buckets_done())
    are = "is" if damaged == 1 else "are"
    again = f"; {damaged} {are} damaged, and judged again" if damaged else ""
    say(f"continuing the run in {folder.place}: {_buckets(done)} done{again}")


def _buckets(count: int) -> str:
    return "1 bucket is" if count == 1 else f"{count} buckets are"


@contextlib.contextmanager
def explain_interrupt(
    folder: RunFolder, about: RunDescription, say: Callable[[str], None]
) -> Iterator[None]:
    """A context that says, if it is interrupted, what is kept and how the run goes on."""
    try:
        yield
    except KeyboardInterrupt as ended:
        if done := len(folder.buckets_done()):
            ended.add_note(f"finished work is kept: {done} of {about.buckets} buckets")
            if about.sources is not None:
                ended.add_note("the same command goes on")
            else:
                say(
                    "adapter.toml has no `sources`, so this run goes on only with --continue, and"
                    " else starts again (`conform help adapter`)"
                )
        else:
            ended.add_note("no bucket was finished, so the same command starts again")
        raise


def tell_continued(count: int) -> str:
    """What a result says of a run that was continued; "" for none."""
    if not count:
        return ""
    were = "1 bucket was" if count == 1 else f"{count} buckets were"
    return (
        f"{were} judged before, perhaps with another implementation: the run was continued with"
        " --continue, and adapter.toml has no `sources`"
    )


def _clear(folder: RunFolder) -> None:
    """Remove what an earlier run wrote, and nothing else."""
    if "://" in folder.place:
        raise BadRun(f"{folder.place} holds another run; choose another folder with --out")
    root = Path(folder.place)
    # First what says that work is done, last what says whose folder this is: it may be killed.
    guard_write(folder.place, partial((root / "summary.json").unlink, missing_ok=True))
    for name in _OURS:
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("canaries.json", "prepared.json", "run.json"):
        guard_write(folder.place, partial((root / name).unlink, missing_ok=True))
