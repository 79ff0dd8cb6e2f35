"""Judges several releases of a target, a run for each, into one folder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from charter.formats.releases import select_releases
from charter.formats.target import Target
from conform.adapters.projects import model_folders
from conform.adapters.targets import target
from conform.console.errors import BadRun, BadSuite, ConformError, UnknownRelease
from conform.console.terminal import number
from conform.runs.conclusion import Finished
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.runs.releases.joined_suites import join_suites
from conform.runs.releases.releases_folder import JudgedReleases, read_releases, write_releases
from conform.runs.resume import folder_at
from conform.runs.select import Ranges, suite_for
from conform.storage.lease import Lease
from conform.suites.cache import open_suite

INCOMPLETE_CODE = 3
_LOCK = ".lock"
_SUITES = "suites"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WantedReleases:
    """Releases as a user names them, and the suites that are named for their variants (none: the
    generated ones)."""

    names: str
    suites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FinishedReleases:
    """The finished runs of releases, and why the others were lost, in a folder."""

    folder: Path
    runs: Mapping[str, Finished]
    lost: Mapping[str, str]

    @property
    def exit_code(self) -> int:
        """The worst of the runs; a release that could not be judged leaves it incomplete."""
        return max(
            [one.exit_code for one in self.runs.values()] + [INCOMPLETE_CODE] * bool(self.lost)
        )


def choose_releases(chosen: Target, wanted: str) -> tuple[str, ...]:
    """The releases of a target that a text names. Raises `UnknownRelease`."""
    try:
        return select_releases(wanted, chosen.releases)
    except ValueError as error:
        raise UnknownRelease(f"{chosen.id}: {error}") from None


def run_releases(
    options: RunOptions, wanted: WantedReleases, say: Say, ranges: Ranges,
    older: Callable[[str, str], str],
) -> FinishedReleases:  # fmt: skip
    """Judge the releases of a target that `wanted` names, each into a folder of its own. A release
    whose run in the folder is whole, and was judged by the same, is not judged again; one that
    cannot be judged costs only itself. `older` says by what a release is judged if that is not the
    charter as it is now; it gets the suite that was named, or "". Raises `ConformError` if no
    release could be judged."""
    chosen = target(options.target)
    releases = choose_releases(chosen, wanted.names)
    named = _sort_named(chosen, releases, wanted.suites)
    place = Path(folder_at(options.out, f"{chosen.id}-releases").place)
    runs, lost = dict[str, Finished](), dict[str, str]()
    with _alone(place):
        judged = JudgedReleases(chosen.id, chosen.title, releases)
        write_releases(place, judged)
        suites = make_suites(chosen, releases, named, place)
        for count, release in enumerate(releases, 1):
            one = replace(
                options, release=release, suite=suites.get(chosen.variant(release), ""),
                out=str(place / release), keep_finished=True, without_remembered=True,
                older=older(release, named.get(chosen.variant(release), "")),
            )  # fmt: skip
            say(f"{chosen.id} {release}: release {number(count)} of {number(len(releases))}")
            try:
                runs[release] = run_target(one, say, ranges)
            except ConformError as error:
                lost[release] = str(error)
                say(f"{chosen.id} {release} could not be judged: {error}")
                write_releases(place, replace(judged, lost=lost))
        write_releases(place, replace(judged, lost=lost))
    if not runs:
        raise ConformError(
            f"no release of {chosen.id} could be judged: {next(iter(lost.values()))}"
        )
    return FinishedReleases(place, runs, lost)


def _sort_named(
    chosen: Target, releases: tuple[str, ...], suites: tuple[str, ...]
) -> dict[str, str]:
    """The named suites by their variants. Raises `BadSuite` if a variant of the releases has none
    although another has, or if a suite is of no use."""
    named: dict[str, str] = {}
    wanted = {chosen.variant(one): one for one in releases}
    for suite in suites:
        variant = open_suite(suite, 1).manifest.variant
        if variant in named:
            raise BadSuite(f"{named[variant]} and {suite} are suites of the same variant; name one")
        if variant not in wanted:
            of = f"the variant {variant!r}" if variant else "no variant"
            raise BadSuite(f"{suite} is of {of}, and no release here is judged by it; leave it out")
        named[variant] = suite
    for variant, release in wanted.items() if suites else ():
        if variant not in named:
            by = f"the variant {variant!r}" if variant else "no variant"
            raise BadSuite(f"no --suite is for {release}, which is judged by {by}; name one more")
    return named


def make_suites(
    chosen: Target, releases: tuple[str, ...], named: Mapping[str, str], place: Path
) -> dict[str, str]:
    """The suite of each variant of the releases that has one. It has the questions of the others,
    too: those of the generated suites, since named ones may be large. Raises `BadSuite` if the only
    variant has none."""
    variants = {chosen.variant(one): one for one in releases}
    if len(variants) == 1:
        return {**named} or {name: suite_for(chosen, one) for name, one in variants.items()}
    small = dict[str, str]()
    for name, one in variants.items():
        with contextlib.suppress(BadSuite):
            small[name] = suite_for(chosen, one)
    opened = {name: open_suite(folder, 1) for name, folder in small.items()}
    made = {}
    for variant, folder in {**small, **named}.items():
        own = open_suite(folder, 1)
        others = [one for name, one in opened.items() if name != variant]
        folders = model_folders(own.manifest.models.charter, folder, chosen.folder)
        made[variant] = join_suites(own, others, folders, place / _SUITES / (variant or "own"))
    return made


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    """A context in which no other process judges releases into a folder. Raises `BadRun` if one
    does, or if the folder holds something else."""
    holds = place.is_dir() and any(one.name != _LOCK for one in place.iterdir())
    if holds and read_releases(place) is None:
        raise BadRun(f"{place} holds something else; choose another folder with --out")
    lease = Lease(place / _LOCK)
    try:
        if not lease.take() and lease.works:
            raise BadRun(
                f"another command judges releases into {place}; wait for it, or choose another"
                " folder with --out"
            )
        yield
    finally:
        lease.close()
