"""Searches the systems of the charter for the operations that show the findings of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from charter.api.generated import protocols
from charter.api.whole_system import (
    FoundInSystem,
    InSystem,
    SystemLimits,
    find_in_system,
    has_system,
)
from charter.formats.project import find_project
from charter.formats.run import RunFinding, SystemAnswer
from charter.formats.vector import Question, read_question
from conform.adapters.projects import builtin
from conform.cli.output.charters import load_charter
from conform.cli.output.each_instance import CANNOT
from conform.console.errors import ConformError
from conform.console.terminal import plural
from conform.runs.findings.findings import read_findings
from conform.runs.findings.in_system import SystemAnswers, example
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import Suite

LIMITS = SystemLimits()
"""The bounds of a search for one finding."""


def search_systems(folder: RunFolder, suite: Suite, say: Callable[[str], None]) -> None:
    """Search for each finding of a run that has no answer yet, and store the answer as soon as it
    is there. Nothing happens if the charter has no system with the component. Raises
    `ConformError`s."""
    about, answers = folder.read_run(), SystemAnswers.read(folder)
    summary = folder.read_json("summary.json")
    left = [one for one in read_findings(summary) if answers.of(one) is None]
    if not left:
        return
    model = load_charter(find_charter(about.protocol, "--in-system"), about.variant)
    if not has_system(model, about.component):
        return
    for count, finding in enumerate(left, 1):
        say(f"searching the systems of the charter for {finding.id} ({count} of {len(left)})")
        vector, step = example(finding)
        try:
            found = find_in_system(model, _question(finding, suite), LIMITS, _quiet)
        except (*CANNOT, ConformError, ValueError) as error:
            say(f"the systems of the charter cannot be searched for {finding.id}: {error}")
            continue
        answers.keep(replace(_answer(found), vector=vector, step=step))


def find_charter(protocol: str, option: str) -> Path:
    """The charter of a protocol in the project, for an option. Raises `ConformError`."""
    for project in filter(None, (find_project(Path()), builtin())):
        for known in protocols(project):
            if known.name == protocol:
                return project.root / known.place
    raise ConformError(
        f"{option} reads the charter of {protocol}, which this project does not have; run it in the"
        " project of the charter"
    )


def _question(finding: RunFinding, suite: Suite) -> Question:
    """The operations up to the step that shows a finding."""
    if finding.shrunk is not None:
        return read_question(dict(finding.shrunk.question))
    question = suite.find(finding.vector).question
    return replace(question, operations=question.operations[: finding.step])


def _answer(found: InSystem) -> SystemAnswer:
    """What was found, of a vector that is not named yet."""
    if isinstance(found, FoundInSystem):
        story = tuple(
            f"{found.story.machine.call_shown(operation, args)}"
            + (f"  {', '.join(step.rules)}" if step.rules else "")
            for (operation, args), step in zip(
                found.story.found.acts, found.story.steps, strict=True
            )
        )
        states = found.states + sum(one.states for one in found.tried)
        return SystemAnswer("", 0, found.system, found.instance, found.begins, story, states, "")
    why = found.why
    if not why:
        places = ", ".join(dict.fromkeys(f"{one.system} ({one.instance})" for one in found.tried))
        every = "all " if all(one.complete for one in found.tried) else ""
        why = f"not found in {every}{plural(found.states, 'state')} of {places}; {_BOUNDS}"
    return SystemAnswer("", 0, "", "", 0, (), found.states, why, found.impossible)


_BOUNDS = (
    f"steps with a budget that call no operation were taken {LIMITS.budget} times at most, each"
)


def _quiet(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
    """Says nothing of a search."""
