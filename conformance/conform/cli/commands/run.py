"""`conform run`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path

from charter.formats.canonical import Json
from conform.cli.commands.numbers import count
from conform.cli.commands.overlay import releases_of
from conform.console.extras import need
from conform.console.terminal import columns, number, one_line, out, out_json, say, shortened
from conform.runs.compared import read, sentence
from conform.runs.execute import Finished, RunOptions, run_target

EXAMPLES = """examples:
  conform run --target reference
  conform run --target kafka-controller --release 4.0.2
  conform run --target kafka-controller --suite 9f01c2aa --limit 10000 --engine inline

Repeat the command to resume an interrupted run. Exit code 0: no divergence, or only
those that the target's overlay explains; 1: a new one, or an overlay entry that no longer applies;
3: not all of the suite was compared, a canary misbehaved, or batches broke; 5: a generated model
has a bug.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--target", required=True, help="id or folder; `conform targets` lists them"
    )
    parser.add_argument("--release", default="", help="release of the target (default: its own)")
    parser.add_argument(
        "--suite", default="", help="folder, or digest of a recent suite (of three)"
    )
    parser.add_argument(
        "--engine",
        choices=("auto", "inline", "spark"),
        default="auto",
        help="inline: in this process; spark: on all cores, or a cluster; auto: inline for what is"
        " judged in seconds (default)",
    )
    parser.add_argument("--master", default="local[*]", help="Spark master (default: local[*])")
    parser.add_argument("--limit", type=count, default=0, help="judge about LIMIT vectors")
    parser.add_argument("--out", default="", help="folder of the run (default: build/runs/ID)")
    parser.add_argument("--strict", action="store_true", help="exit code 1 for any divergence")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.engine == "spark":
        need("pyspark", "--engine spark", "use --engine inline")
    options = RunOptions(
        target=arguments.target,
        release=arguments.release,
        suite=arguments.suite,
        engine=arguments.engine,
        master=arguments.master,
        limit=arguments.limit,
        out=arguments.out,
        strict=arguments.strict,
        command=("conform", *arguments.given),
    )
    finished = run_target(options, say, releases_of)
    if arguments.json:
        out_json({"run": dict(finished.run), "folder": finished.folder.place,
                  "summary": dict(finished.summary)})  # fmt: skip
    else:
        show(finished)
    return finished.exit_code


def show(finished: Finished) -> None:
    """Shows the summary to a person."""
    about, counted = finished.run, finished.summary
    implementation = about["implementation"]
    assert isinstance(implementation, dict)
    title = one_line(f"{about['title']} {implementation['version']}")
    out(f"{title} against {_charter(about)}")
    out("")
    if counted["findings"]:
        _show_findings(finished)
    out(columns([["  " + name, value] for name, value in _lines(counted)]))
    wrong = [item for item in finished.canaries if isinstance(item, dict) and not item["ok"]]
    out("")
    for item in wrong:
        told = f"{item['expected']}, got {item['got']} {item['detail']}".rstrip()
        out(f"canary {item['kind']} ({item['where']}): expected {one_line(told)}")
    _show_skipped(counted["skipped_canaries"])
    _show_broken(counted)
    out(f"run: {_near(finished.folder.place)}")
    out(one_line(_last_line(finished)))


def _show_skipped(skipped: Json, most: int = 6) -> None:
    """Shows the places for which no canary could be made, by reason."""
    assert isinstance(skipped, list)
    places: dict[str, list[str]] = {}
    for item in skipped:
        assert isinstance(item, dict)
        places.setdefault(str(item["why"]), []).append(str(item["where"]))
    for why, where in places.items():
        more = f" and {len(where) - most} more" if len(where) > most else ""
        out(f"no canary in {', '.join(where[:most])}{more}: {why}")


def _show_broken(counted: Mapping[str, Json]) -> None:
    """Shows the batches during which the adapter failed."""
    if counted["broken_batches"]:
        unexplained = len(_texts(counted["unexplained_breaks"]))
        out(f"batches that the adapter broke on: {_number(counted['broken_batches'])}; in"
            f" {unexplained} of them it answers each question when asked alone")  # fmt: skip


def _charter(about: Mapping[str, Json]) -> str:
    variant = f", variant {about['variant']}" if about["variant"] else ""
    return f"{about['protocol']} {about['component']}{variant}, suite {str(about['suite'])[:8]}"


def _lines(counted: Mapping[str, Json]) -> list[tuple[str, str]]:
    verdicts = counted["verdicts"]
    assert isinstance(verdicts, dict)
    lines = [("vectors", _number(counted["vectors"]))]
    lines += [
        (f"  {kind.replace('_', ' ')}", _number(count)) for kind, count in verdicts.items() if count
    ]
    lines.append(("steps judged", _number(counted["judged_steps"])))
    if counted["not_judged_steps"]:
        lines.append(("steps not judged", _number(counted["not_judged_steps"])))
    lines.append(("(state, branch) pairs", _number(counted["distinct_pairs"])))
    if counted["deviations"]:
        lines.append(("deviations", _number(counted["deviations"])))
        lines.append(("  new", _number(counted["new_deviations"])))
        entries = counted["by_entry"]
        assert isinstance(entries, dict)
        lines += [(f"  {entry}", _number(count)) for entry, count in entries.items()]
    lines.append(("seconds", str(counted["seconds"])))
    return lines


def _number(value: Json) -> str:
    assert isinstance(value, int)
    return number(value)


def _show_findings(finished: Finished, most: int = 12) -> None:
    """Shows the findings: those that the overlay does not explain first, the gravest first."""
    listed = finished.summary["findings"]
    assert isinstance(listed, list)
    findings = [item for item in listed if isinstance(item, dict)]
    new = [item for item in findings if not item["entry"]]
    for item in new[:most]:
        out(f"  {item['severity']:<5}  {item['id']}  {shortened(str(item['sentence']), 200)}")
        command = ["conform", "replay", str(item["vector"])[:12], "--run",
                   _near(finished.folder.place)]  # fmt: skip
        vectors = _plural(item["vectors"], "vector")
        out(f"         {vectors}; see step {item['step']} of: {shlex.join(command)}")
    if len(new) > most:
        out(f"         and {len(new) - most} more findings: --json, or conform report")
    for item in findings:
        if item["entry"]:
            told = f"explained by {item['entry']}: {_plural(item['vectors'], 'vector')}"
            out(f"  {item['severity']:<5}  {told}")
    out("")


def _plural(count: Json, noun: str) -> str:
    return f"{_number(count)} {noun}{'' if count == 1 else 's'}"


def _near(place: str) -> str:
    """A folder as a person would type it: relative to the working directory if it is below it."""
    here = Path.cwd()
    path = Path(place)
    return str(path.relative_to(here)) if path.is_relative_to(here) else place


def _texts(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _last_line(finished: Finished) -> str:
    counted = finished.summary
    reasons = _texts(counted["reasons"])
    judged, suite = counted["judged"], counted["suite_vectors"]
    assert isinstance(judged, int) and isinstance(suite, int)
    compared = sentence(judged, suite, read(counted["not_compared"]))
    if reasons:
        rest = "" if compared in reasons else f"; {compared}"
        return f"exit {counted['exit']}: {'; '.join(reasons)}{rest}"
    known = counted["deviations"]
    unmet = _texts(counted["unmet_entries"])
    rest = f"; not met: {', '.join(unmet)}" if unmet else ""
    if known:
        found = f"{_number(known)} deviations, all of them explained by the overlay"
        return f"fine: {found}{rest}; {compared}"
    return f"fine: no deviation from the charter{rest}; {compared}"
