"""`conform rejudge`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from conform.cli.entry_sets import SetsOfEntries
from conform.cli.output.overlay import releases_of
from conform.cli.output.run_output import show
from conform.cli.output.staleness import older_suite
from conform.console.terminal import out, out_json, say
from conform.runs.earlier_target import target_or_noted
from conform.runs.findings.baseline import NO_BASELINE, read_baseline
from conform.runs.rejudge import RejudgeOptions, rejudge
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import open_suite

EXAMPLES = """examples:
  conform rejudge build/runs/A --suite 9f01c2aa --out build/runs/A-again
  conform rejudge build/runs/A --suite 9f01c2aa --out build/new --baseline baselines/lease.toml

The target is not run: a changed charter changes answers, not questions. Warns if the suite is
older than the charter of the project, and the last line says so. Exit codes are
those of `conform run`: 0 no deviation, or only what the overlay or the baseline explain; 1 a new
one, or an entry that no longer applies; 3 vectors were left unjudged, or a canary misbehaved.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="folder of an earlier run")
    parser.add_argument("--suite", required=True, help="folder or digest of the suite to judge by")
    parser.add_argument("--out", required=True, help="folder for the new verdicts")
    parser.add_argument(
        "--baseline", default="", metavar="FILE", help="known findings, each with a reason"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    suite = open_suite(arguments.suite, os.cpu_count() or 1)
    baseline = read_baseline(arguments.baseline) if arguments.baseline else NO_BASELINE
    older = older_suite(suite.manifest, arguments.suite)
    earlier = Path(arguments.run).resolve()
    judged_target, _ = target_or_noted(earlier, RunFolder(str(earlier)).read_run())
    sets = SetsOfEntries(judged_target)
    options = RejudgeOptions(arguments.out, baseline, older.by, arguments.suite, sets)
    finished = rejudge(arguments.run, suite, options, releases_of)
    if older.told:
        say(older.told)
    if arguments.json:
        out_json(finished.json())
    else:
        show(finished)
        missing = finished.summary["not_observed"]
        if missing:
            many = "vector of the suite was" if missing == 1 else "vectors of the suite were"
            out(f"{missing} {many} not observed in that run")
    return finished.exit_code
