"""Reads and writes releases.json: which releases of a target lie as runs in a folder, and which of
them could not be judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.reading import mapping, texts
from charter.formats.run_description import RunDescription
from conform.console.errors import BadRun
from conform.storage.bucket_store import RunFolder

NAME = "releases.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class JudgedReleases:
    """The releases of a target whose runs lie in one folder, each in a folder of its name, in the
    order of its adapter.toml. `lost` says why a release could not be judged."""

    target: str
    title: str
    releases: tuple[str, ...]
    lost: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        return {
            "format": FORMAT, "target": self.target, "title": self.title,
            "releases": [*self.releases], "lost": {**self.lost},
        }  # fmt: skip


def write_releases(folder: Path, judged: JudgedReleases) -> None:
    """Write the releases.json of a folder. Raises `CannotWrite`."""
    RunFolder(str(folder.resolve())).write_json(NAME, judged.json())


def read_releases(folder: Path) -> JudgedReleases | None:
    """What the releases.json of a folder says; None without one. Raises `BadRun`."""
    store = RunFolder(str(folder.resolve()))
    if not folder.is_dir() or not store.has(NAME):
        return None
    held = store.read_json(NAME)
    if held.get("format") != FORMAT:
        raise BadRun(f"{folder / NAME} has the format {held.get('format')!r}, this program reads"
                     f" {FORMAT}")  # fmt: skip
    lost = {name: str(why) for name, why in mapping(held.get("lost")).items()}
    return JudgedReleases(
        str(held.get("target", "")), str(held.get("title", "")), texts(held.get("releases")), lost
    )


@dataclass(frozen=True, slots=True)
class NamedRuns:
    """The folders of runs that a command names, itself or by a folder of releases; `lost` are the
    releases without a run, each with the reason."""

    runs: tuple[str, ...]
    lost: Mapping[str, str] = field(default_factory=dict)


def find_runs(places: Sequence[str]) -> NamedRuns:
    """The runs in folders, each of which is that of a run or of releases. Raises `BadRun`."""
    lost: dict[str, str] = {}
    return NamedRuns(tuple(_find(places, lost)), lost)


def _find(places: Sequence[str], lost: dict[str, str]) -> Iterator[str]:
    for place in places:
        judged = None if "://" in place else read_releases(Path(place))
        if judged is None:
            yield place
            continue
        columns = {release: _read_column(Path(place) / release) for release in judged.releases}
        started = sorted((about for about, _ in columns.values()), key=lambda one: one.started)
        for release, (about, doubt) in columns.items():
            run = Path(place) / release
            why = judged.lost.get(release) or doubt or _compare(about, started) or _damage(run)
            if why:
                lost[release] = why
            else:
                yield str(run)


def _read_column(run: Path) -> tuple[RunDescription, str]:
    """The run.json of a run (an empty one if there is none), and why the run is no column of a
    table ("" if it is one). One that cannot be read costs only itself."""
    store, about = RunFolder(str(run.resolve())), RunDescription()
    try:
        about = store.read_run() if store.has("run.json") else about
        return about, _doubt(run, store)
    except BadRun as error:
        return about, str(error)


def _compare(run: RunDescription, started: Sequence[RunDescription]) -> str:
    """Why a run is not like the last one of those that were `started`, in their order: the command
    did not come to its end after a change; "" if it is. The suite is compared with that of the
    last one of the same variant."""
    last = started[-1]
    alike = [one for one in started if one.variant == run.variant][-1]
    says = "its run is of another adapter or other options than the last one"
    same = _options(run) == _options(last) and run.suite == alike.suite
    return "" if same else f"{says}; repeat the command that judges it"


def _options(run: RunDescription) -> tuple[object, ...]:
    """The adapter and the options of a run. What failed before is another part of the suite for
    each release."""
    part = [run.selection.get(name) for name in ("branch", "last_failed", "first")]
    return run.adapter, run.limit, run.walks, {**run.parameters}, part


def _doubt(run: Path, store: RunFolder) -> str:
    """Why a run did not come to a result; "" if it did. Raises `BadRun` if it cannot be read."""
    if not store.has("summary.json"):
        return "its run has not come to its end; repeat the command that judges it"
    if store.read_json("summary.json").get("trusted") is not True:
        return f"the run in {run} is not to be trusted"
    return ""


def _damage(run: Path) -> str:
    """Why a run is not as it was written; "" if it is."""
    try:
        RunFolder(str(run.resolve())).check()
    except BadRun as error:
        return str(error)
    return ""
