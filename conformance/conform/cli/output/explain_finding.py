"""Tells what the runs and the baselines of a project know of a finding, by its id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from charter.formats.project import find_project
from charter.formats.run import RunFinding
from conform.cli.output.run_output import near, write_command
from conform.console.errors import BadBaseline, BadRun, ConformError
from conform.console.terminal import one_line, plural
from conform.runs.findings.baseline import read_baseline
from conform.runs.findings.findings import CHOSEN_START, LIMIT_TOLD, print_shrunk, read_findings
from conform.runs.findings.in_system import SystemAnswers, tell_answer
from conform.storage.bucket_store import RunFolder

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class _FindingOfRun:
    """A finding as a run in `folder` shows it."""

    folder: Path
    finding: RunFinding


def example_of(folder: RunFolder, name: str) -> str:
    """The vector that shows a finding of a run. Raises `BadRun`."""
    summary = folder.read_json("summary.json") if folder.has("summary.json") else {}
    for one in read_findings(summary):
        if one.id == name:
            return one.shrunk.vector if one.shrunk else one.vector
    raise BadRun(
        f"the run in {folder.place} has no finding {name}; `conform explain {name}` says which runs"
        " of the project have it"
    )


def tell_finding(name: str) -> str:
    """What is known of a finding: what deviates, in which runs, the command that shows it again,
    and the reason of a baseline. Raises `ConformError` if nothing is."""
    project = find_project(Path())
    runs = project.runs if project else Path("build") / "runs"
    seen = sorted(_find_runs(runs, name), key=lambda one: -_read_end(one.folder))
    reasons = [*_reasons(project.baselines, name)] if project else []
    if not seen and not reasons:
        raise ConformError(
            f"no run in {near(str(runs))} has the finding {name}, and no baseline lists it;"
            " `conform test` and `conform run` make runs"
        )
    lines: list[str] = []
    if seen:
        lines += [*_lines(seen[0])]
        lines += [f"also in {near(str(one.folder))}" for one in seen[1:_SHOWN]]
        if len(seen) > _SHOWN:
            lines.append(f"and in {plural(len(seen) - _SHOWN, 'more run')}")
    else:
        lines.append(f"no run in {near(str(runs))} has it now")
    return "\n".join([name, *map(one_line, lines), *map(one_line, reasons)])


def _lines(seen: _FindingOfRun) -> Iterator[str]:
    """What one run says of a finding."""
    finding, place = seen.finding, near(str(seen.folder))
    yield f"{finding.severity}: {finding.sentence}"
    yield f"{plural(finding.vectors, 'vector')} in {place}; the shortest that is known:"
    shown = print_shrunk(finding.shrunk) if finding.shrunk else finding.shown
    yield from (f"  {line}" for line in shown)
    if finding.chosen and not finding.shrunk:
        yield f"  {CHOSEN_START}"
    vector = (finding.shrunk or finding).vector
    yield f"see: {write_command(['conform', 'replay', vector[:12], '--run', place], '')}"
    answers = SystemAnswers.read(RunFolder(str(seen.folder)))
    yield from tell_answer(answers.of(finding))
    yield from (f"{LIMIT_TOLD} {says}" for says in finding.limits)
    if finding.like:
        yield f"perhaps of the same cause as {finding.like}"


def _find_runs(runs: Path, name: str) -> Iterator[_FindingOfRun]:
    """The runs that have a finding; those that cannot be read are left out."""
    for summary in runs.glob("*/summary.json"):
        try:
            found = read_findings(RunFolder(str(summary.parent)).read_json(summary.name))
        except BadRun:
            continue
        yield from (_FindingOfRun(summary.parent, one) for one in found if one.id == name)


def _read_end(folder: Path) -> float:
    return (folder / "summary.json").stat().st_mtime


def _reasons(baselines: Path, name: str) -> Iterator[str]:
    """What the baselines say of a finding; those that cannot be read are left out."""
    for path in sorted(baselines.glob("*.toml")):
        try:
            baseline = read_baseline(str(path), lenient=True)
        except BadBaseline:
            continue
        if entry := baseline.entries.get(name):
            told = f" ({entry.finding})" if entry.finding else ""
            yield f"listed in {near(str(path))}: {entry.reason or 'no reason yet'}{told}"
