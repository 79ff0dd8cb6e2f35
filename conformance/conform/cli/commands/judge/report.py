"""`conform report`."""

from __future__ import annotations

import argparse
import contextlib
import itertools
from pathlib import Path

from charter.formats.project import BadProject
from conform.adapters.projects import model_folders
from conform.cli.output.overlay import overlay_warnings
from conform.cli.releases.show_matrix import read_notes
from conform.console.errors import BadRun, ConformError
from conform.console.terminal import out, out_json, say
from conform.judging.model import use_folders
from conform.reports.build_site import write
from conform.runs.earlier_target import target_of_run
from conform.runs.entry_widths import both_told
from conform.runs.releases.releases_folder import find_runs
from conform.runs.reproduce.written import read_written
from conform.storage.bucket_store import RunFolder

EXAMPLES = """examples:
  conform report build/runs/kafka-controller-4.3.1-9f01c2aa
  conform report build/runs/kafka-controller-releases
  conform report build/runs/A build/runs/B --out build/report

Open build/report/index.html in a browser. Exit code 3: a run
cannot be trusted (`conform help run`, canaries), and the report is withheld.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path, help="folder of a run")
    parser.add_argument("--out", type=Path, default=Path("build/report"), help="folder of the site")
    parser.add_argument("--sections", type=Path, help="a sections.json for all of the runs")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    named = find_runs([str(run) for run in arguments.runs])
    runs = [Path(run) for run in named.runs]
    if not runs:
        why = next(iter(named.lost.values()), "it has no release")
        raise BadRun(f"{arguments.runs[0]} has no finished run: {why}")
    first = runs[0]  # sections.json is next to the models
    use_folders(model_folders(target=first if first.is_dir() else None))
    for warning in dict.fromkeys(itertools.chain(*map(_warnings, runs))):
        say(warning)
    notes = read_notes(_name_target(first), named.lost)
    written = write(runs, arguments.out, arguments.sections, read_written(), notes)
    if arguments.json:
        out_json(written.json())
    else:
        out("\n".join(written.lines))
        state = "withheld" if written.withheld else "report"
        out(f"{state}: {written.index}")
    return 3 if written.withheld else 0


def _name_target(run: Path) -> str:
    """The target of a run; "" if its run.json cannot be read, which the report then says."""
    with contextlib.suppress(ConformError):
        return RunFolder(str(run.resolve())).read_run().target
    return ""


def _warnings(run: Path) -> tuple[str, ...]:
    """What is wrong with the overlay of the target that a run judged, and what the run itself shows
    of it."""
    found: tuple[str, ...] = ()
    with contextlib.suppress(ConformError, BadProject):  # the report says what is wrong with a run
        folder = RunFolder(str(run.resolve()))
        about = folder.read_run()
        if about.overlay:
            found += tuple(
                f"warning: {told}" for told in both_told(folder.read_json("summary.json"))
            )
            found += overlay_warnings(target_of_run(run.resolve(), about))
    return found
