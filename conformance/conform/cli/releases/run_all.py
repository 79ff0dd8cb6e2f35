"""Judges several releases of a target, and says what came of each."""

from __future__ import annotations

from conform.cli.output.overlay import releases_of
from conform.cli.output.run_output import near, tell_verdict
from conform.cli.output.staleness import older_than_charter
from conform.console.terminal import out, out_json, say
from conform.runs.options import RunOptions
from conform.runs.releases.run_releases import FinishedReleases, WantedReleases, run_releases


def run_all(options: RunOptions, wanted: WantedReleases, *, as_json: bool) -> int:
    """Judge the releases that `wanted` names; returns the exit code."""
    said = set[str]()

    def explain_older(release: str, suite: str) -> str:
        older = older_than_charter(options.target, release, suite)
        if (sentence := older.told) and sentence not in said:
            said.add(sentence)
            say(sentence)
        return older.by

    finished = run_releases(options, wanted, say, releases_of, explain_older)
    if as_json:
        out_json({
            "folder": str(finished.folder), "exit": finished.exit_code,
            "releases": {name: one.json() for name, one in finished.runs.items()},
            "lost": {**finished.lost},
        })  # fmt: skip
    else:
        _show(finished)
    return finished.exit_code


def _show(finished: FinishedReleases) -> None:
    """Shows a line for each release, and where the runs are."""
    for name, one in finished.runs.items():
        out(f"{name}: {tell_verdict(one)}")
    place = near(str(finished.folder))
    for release, why in finished.lost.items():
        out(f"{release} was not judged: {why}")
    out(f"see: conform compare {place}")
    out(f"see: conform report {place}")
