"""`conform run`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from charter.formats.project import BadProject
from conform.adapters.targets import target
from conform.cli.entry_sets import SetsOfEntries
from conform.cli.output.numbers import count
from conform.cli.output.overlay import overlay_warnings, releases_of
from conform.cli.output.run_output import show
from conform.cli.output.staleness import older_than_charter
from conform.cli.output.walk_options import (
    add_crosschecks,
    add_walks,
    add_without_remembered,
    read_walks,
)
from conform.cli.releases.run_all import run_all
from conform.cli.set_options import add_set, read_set
from conform.console.errors import CannotPrepare, ConformError
from conform.console.extras import need
from conform.console.terminal import out_json, say
from conform.runs.execute import run_target
from conform.runs.findings.baseline import NO_BASELINE, Baseline, read_baseline
from conform.runs.kept_vectors import read_kept
from conform.runs.options import RunOptions
from conform.runs.releases.run_releases import WantedReleases
from conform.runs.select import RunSelection, choose
from conform.runs.selection import SuiteFilter
from conform.storage.bucket_store import RunFolder

EXAMPLES = """examples:
  conform run --target reference
  conform run --target kafka-controller --release 4.0.2
  conform run --target kafka-controller --suite 9f01c2aa --limit 10000 --engine inline
  conform run --target ./adapter --junit build/junit.xml --baseline baselines/lease.toml
  conform run --target ./adapter --baseline baselines/lease.toml --update-baseline
  conform run --target ./adapter -k renew/late -x
  conform run --target ./adapter --last-failed
  conform run --target ./adapter --walks 1000 --steps 30 --seed 7
  conform run --target kafka-controller --crosschecks 1000
  conform run --target redis-server --set url=redis://127.0.0.1:7001/0
  conform run --target ./adapter --exhaustive tiny
  conform run --target ./adapter --in-system
  conform run --target kafka-controller --releases 3.9..4.1
  conform run --target kafka-controller --releases 3.9..4.1 --suite build/old --suite build/new
  conform run --target ./adapter --master spark://HOST:7077 --out s3://BUCKET/runs/one

Warns if the suite is older than the charter of the project, and its last line says so; the exit
code is that of the old rules. `conform test` brings generated/ up to date. Repeat the command to
resume an interrupted run: it goes on if adapter.toml says by `sources` which files the
implementation has, and all is as it was; else it starts again.

What a run finds is remembered on this machine, and later runs of the target put it first. A
question that does not fail any more is dropped; `conform keep` lists them, and brings one into the
suite for good.

Exit code 0: no deviation, or only those that the target's overlay or the baseline explain; 1: a
new one, or an overlay entry that no longer applies; 3: not all of the suite was compared, it asks
for too few obligations of the rules, a canary misbehaved, or batches broke; 5: a generated model
has a bug. What -k, --limit, --last-failed and -x leave out costs nothing; the last line says it.

--exhaustive explores an instance of the component, and asks each of its transitions besides the
small suite. The run says how many were executed, and why others were not; `conform help exhaustive`
has more.
"""

_JUNIT = "--junit"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target", required=True, help="id or folder; `conform targets` lists them"
    )
    parser.add_argument("--release", default="", help="release of the target (default: its own)")
    parser.add_argument("--releases", metavar="RANGE", help="judge each of these, such"
                        " as 3.3.. or 3.9..4.1 or 3.9.2,4.0.0, into one folder")  # fmt: skip
    add_set(parser)
    parser.add_argument(
        "--suite", action="append", default=[], help="folder, or digest of a recent suite (of"
        " three); with --releases one for each variant",
    )  # fmt: skip
    parser.add_argument(
        "--engine",
        choices=("auto", "inline", "spark"),
        default="auto",
        help="inline: in this process; spark: on all cores, or a cluster; auto: inline for what is"
        " judged in seconds (default)",
    )
    parser.add_argument(
        "--master", default="local[*]", help="Spark master (default: local[*]); for a cluster,"
        " `conform help cluster` says what is needed",
    )  # fmt: skip
    parser.add_argument("--limit", type=count, default=0, help="judge about LIMIT vectors")
    _add_selection(parser)
    add_walks(parser)
    add_crosschecks(parser)
    parser.add_argument("--exhaustive", default="", metavar="INSTANCE", help="judge all"
                        " transitions of an instance, besides the small suite; the summary has a"
                        " certificate of what was executed")  # fmt: skip
    parser.add_argument("--out", default="", help="folder of the run, or its URI"
                        " (default: build/runs/ID)")  # fmt: skip
    parser.add_argument("--continue", action="store_true", dest="go_on", help="go on with an"
                        " interrupted run although adapter.toml has no `sources`; the result says"
                        " so")  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true", help="exit code 1 for any deviation that the baseline"
        " does not know, and for findings that it lists in vain",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", default="", metavar="FILE",
        help="known findings, each with a reason: they do not fail the run",
    )  # fmt: skip
    parser.add_argument(
        "--update-baseline", action="store_true",
        help="write the findings of this run to the baseline; reasons stay",
    )  # fmt: skip
    parser.add_argument("--no-shrink", action="store_true", help="do not look for smaller vectors"
                        " that show the findings")  # fmt: skip
    parser.add_argument("--in-system", action="store_true", help="search the charter's systems for"
                        " the operations that show each finding (minutes for each)")  # fmt: skip
    parser.add_argument(_JUNIT, default="", metavar="FILE", help="write JUnit XML, also if the"
                        " run fails or is not to be trusted; makes its folder")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    """Options that leave vectors out; the run never says then that all was judged."""
    branch = (
        "judge vectors that may take a branch with this text in its name, such as renew or"
        " renew/late; the other steps of these vectors are judged, too"
    )
    parser.add_argument("-k", default="", metavar="BRANCH", dest="branch", help=branch)
    last = "judge what failed in earlier runs of the target; all if nothing did"
    parser.add_argument("--last-failed", action="store_true", help=last)
    add_without_remembered(parser)
    first = "stop after the first new finding or failure of the adapter; judges in one process"
    parser.add_argument("-x", action="store_true", dest="first", help=first)


def run(arguments: argparse.Namespace) -> int:
    _write_error(arguments, "the run has not come to its end")  # whatever ends it, even SIGKILL
    try:
        return _run(arguments)
    except (ConformError, BadProject) as error:
        stderr = error.stderr if isinstance(error, CannotPrepare) else ()
        _write_error(arguments, str(error), stderr)
        raise
    except KeyboardInterrupt:
        _write_error(arguments, "the run was interrupted; repeat the command to go on with it")
        raise


def _write_error(arguments: argparse.Namespace, sentence: str, stderr: Sequence[str] = ()) -> None:
    if arguments.junit:
        from conform.reports.junit import junit_of_error, write_junit  # slow to import

        write_junit(arguments.junit, junit_of_error(arguments.target, sentence, stderr))


def report_wrong_usage(given: Sequence[str], sentence: str) -> None:
    """Write the error of usage into the JUnit file that the options name: an older one would say
    that all is well."""
    from conform.reports.junit import junit_of_error, write_junit

    for number, word in enumerate(given):
        option, equals, place = word.partition("=")
        following = given[number + 1] if number + 1 < len(given) else ""
        if len(option) >= len("--ju") and _JUNIT.startswith(option) and (place or following):
            write_junit(place if equals else following, junit_of_error("", sentence))


def _baseline(arguments: argparse.Namespace) -> Baseline:
    if not arguments.baseline:
        if arguments.update_baseline:
            raise ConformError("--update-baseline writes a file: name it with --baseline FILE")
        return NO_BASELINE
    return read_baseline(arguments.baseline, lenient=arguments.update_baseline)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.engine == "spark":
        need("pyspark", "--engine spark", "use --engine inline")
    for warning in overlay_warnings(target(arguments.target)):
        say(warning)
    if arguments.releases is not None:  # "" names none
        wanted = WantedReleases(arguments.releases, tuple(arguments.suite))
        return run_all(_read_options(arguments, "", ""), wanted, as_json=arguments.json)
    suite = _find_suite(arguments)
    older = older_than_charter(arguments.target, arguments.release, suite)
    if older.told:
        say(older.told)
    finished = run_target(_read_options(arguments, suite, older.by), say, releases_of)
    if arguments.in_system:
        _search_systems(finished.folder)
    if arguments.junit:
        from conform.reports.junit import junit_of_run, write_junit  # slow to import

        write_junit(arguments.junit, junit_of_run(Path(finished.folder.place)))
    if arguments.json:
        out_json(finished.json())
    else:
        show(finished)
    return finished.exit_code


def _read_options(arguments: argparse.Namespace, suite: str, older: str) -> RunOptions:
    return RunOptions(
        target=arguments.target,
        release=arguments.release,
        suite=suite,
        engine=arguments.engine,
        master=arguments.master,
        limit=arguments.limit,
        out=arguments.out,
        strict=arguments.strict,
        baseline=_baseline(arguments),
        update_baseline=arguments.update_baseline,
        shrink=not arguments.no_shrink,
        go_on=arguments.go_on,
        older=older,
        wanted=SuiteFilter(arguments.branch, arguments.last_failed, arguments.first),
        command=("conform", *arguments.given),
        walks=read_walks(arguments),
        parameters=read_set(arguments.parameters),
        without_remembered=arguments.without_remembered,
        set_models=SetsOfEntries(target(arguments.target)),
        crosschecks=arguments.crosschecks,
    )


def _find_suite(arguments: argparse.Namespace) -> str:
    """The suite that the options name, or ""; with --exhaustive it is made."""
    if len(arguments.suite) > 1:
        raise ConformError("one release is judged by one suite; give --suite once")
    if not arguments.exhaustive:
        return "".join(arguments.suite)
    if arguments.suite:
        raise ConformError("--exhaustive makes a suite of its own; leave out --suite")
    from conform.cli.exhaustive import exhaustive_suite  # slow to import

    values = read_set(arguments.parameters)
    return exhaustive_suite(arguments.target, arguments.release, arguments.exhaustive, values)


def _search_systems(folder: RunFolder) -> None:
    """Search the systems of the charter for what the findings show. The verdicts hold without."""
    from conform.cli.search_systems import search_systems  # slow to import

    try:
        kept = read_kept(Path(folder.place))  # it has what the findings name, and walks, too
        search_systems(folder, kept or choose(RunSelection(folder.place)).suite, say)
    except ConformError as error:
        say(f"no system was searched: {error}")
