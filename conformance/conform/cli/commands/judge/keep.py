"""`conform keep`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from charter import api
from charter.api.generated import protocols
from charter.formats.canonical import Json
from charter.formats.project import Project
from charter.formats.target import Target
from conform.adapters.projects import project_here
from conform.adapters.targets import target_of, targets_of
from conform.cli.output.charters import errors_shown
from conform.cli.output.run_output import near
from conform.cli.set_options import write_set
from conform.console.errors import ConformError
from conform.console.terminal import columns, out, out_json, shorten
from conform.runs.failures.record import FailedQuestion, list_records
from conform.runs.failures.remembered import DIGITS_SHOWN

EXAMPLES = """examples:
  conform keep
  conform keep f-d28d595dca
  conform keep 3b0c91a2 --target lease-python --title "a lock that outlives its session"

What failed on a target is remembered in the cache of this machine, and put first by each later
run until it does not fail any more. This command writes one of these questions into
`findings.jsonl`, in the folder `found/` of the charter: commit it, and the suite has the question
from the next `conform generate` or `conform test` on. A question that is there stays as it is.

Without an id the remembered questions are listed: the beginning of the id, the finding, the target,
and the operations. What the adapter failed in comes after them, with the parameters of its run: it
is no finding about the implementation. The id is that of the finding (f- and ten digits), or the
beginning of that of the question. `--without-remembered` of `conform run` and `conform test` leaves
them out.

Exit code 0: the file has the question, or they are listed; 2: there is no such question, or the
charter cannot ask it.
"""
_LISTED_MAX = 20
_NOTHING = "nothing is remembered; `conform run` and `conform test` remember what fails"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="id of a finding, or the beginning of"
                        " that of a question (default: list them)")  # fmt: skip
    parser.add_argument("--target", default="", help="id or folder (default: all of the project)")
    parser.add_argument("--title", default="", help="title of the vector (default: the finding)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    project = project_here()
    if arguments.id is None:
        _show_remembered(project, arguments)
        return 0
    chosen = _choose(project, arguments.target, arguments.id)
    charter = _find_charter(project, chosen.question.protocol)
    title = arguments.title or chosen.finding
    with errors_shown(charter):
        kept = api.keep_question(charter, chosen.question, title)
    place, name = near(str(kept.place.resolve())), kept.question.id
    if arguments.json:
        out_json({"id": name, "instance": kept.instance, "place": place, "before": kept.before})
    elif kept.before:
        out(f"the suite has the question {name} already, and nothing was written")
    else:
        out(f"{place} has the question {name} now, in the instance {kept.instance}")
        out("next: `conform generate` brings it into the suite")
    return 0


def _show_remembered(project: Project, arguments: argparse.Namespace) -> None:
    """List the remembered questions. Raises `ConformError` if an option needs the id of one."""
    if arguments.title:
        raise ConformError("--title names a question that is kept; give its id")
    chosen = _list_targets(project, arguments.target)
    every = [(target.id, *one) for target in chosen for one in _list_failed(target)]
    if arguments.json:
        rows: list[Json] = [
            {"target": name, "parameters": {**given}, **one.json(), "id": one.id}
            for name, given, one in every
        ]
        out_json({"remembered": rows})
        return
    found = [
        [one.id[:DIGITS_SHOWN], one.finding, name, _list_operations(one)]
        for name, _, one in every
        if not one.is_of_adapter
    ]
    failed = [
        [one.id[:DIGITS_SHOWN], " ".join([name, *write_set(given)]), _list_operations(one)]
        for name, given, one in every
        if one.is_of_adapter
    ]
    if found or not failed:
        out(columns([["id", "finding", "target", "operations"], *found]) if found else _NOTHING)
    if failed:
        out("the adapter failed in these, which is no finding about the implementation:")
        out(columns([["id", "target", "operations"], *failed]))


def _list_operations(one: FailedQuestion) -> str:
    names = [call.operation for call in one.question.operations]
    return shorten(", ".join(names), 100) if names else "none: it failed in the first state"


def _list_targets(project: Project, wanted: str) -> list[Target]:
    return [target_of(project, wanted)] if wanted else targets_of(project)


def _list_failed(target: Target) -> list[tuple[Mapping[str, str], FailedQuestion]]:
    """What failed on any release of a target, each question once, with the parameters."""
    every = [(given, one) for given, held in list_records(target) for one in held.questions]
    return [*{one.id: (given, one) for given, one in every}.values()]


def _choose(project: Project, wanted: str, start: str) -> FailedQuestion:
    """The one question that failed on a target of the project and whose id begins so, or that shows
    the finding. Raises `ConformError`."""
    targets = _list_targets(project, wanted)
    every = {one.id: one for target in targets for _, one in _list_failed(target)}
    found = [
        one
        for one in every.values()
        if start and (one.finding == start or one.id.startswith(start))
    ]
    of = wanted or "the targets of this project"
    if not every:
        raise ConformError(
            f"nothing is remembered that failed on {of}; `conform run` and `conform test` remember"
            " what fails"
        )
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} questions that failed" if found else "no question that failed"
    have = "have" if found else "has"
    raise ConformError(
        f"{what} on {of} {have} the id {start!r}; there are: {_list([*every.values()])}"
    )


def _list(questions: Sequence[FailedQuestion]) -> str:
    """Ids to choose from."""
    shown = [f"{one.id[:DIGITS_SHOWN]} ({one.finding})" for one in questions[:_LISTED_MAX]]
    more = [f"and {len(questions) - _LISTED_MAX} more"] if len(questions) > _LISTED_MAX else []
    return ", ".join([*shown, *more])


def _find_charter(project: Project, protocol: str) -> Path:
    """The charter of a protocol. Raises `ConformError`."""
    for known in protocols(project):
        if known.name == protocol:
            return project.root / known.place
    raise ConformError(
        f"the question is about {protocol}, of which this project has no charter; run the command"
        " in the project of the charter"
    )
