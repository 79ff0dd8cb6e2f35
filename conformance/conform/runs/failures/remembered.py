"""Asks a target again what failed in its earlier runs, before the suite, and remembers what a run
found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.findings.crosschecks import is_crosscheck
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_list, own_object
from charter.formats.run import RunFinding
from charter.formats.run_description import RunDescription
from charter.formats.suite import Manifest
from charter.formats.target import Target
from charter.formats.vector import Question, read_question
from conform.adapters.targets import Prepared
from conform.console.errors import BadSuite
from conform.console.terminal import plural
from conform.judging import model
from conform.judging.answer import CannotAnswer
from conform.judging.verdict import VectorItem
from conform.runs.asked_vectors import AskedVectors, answer_question
from conform.runs.failures.record import (
    QUESTIONS_MAX,
    AskedVerdicts,
    FailedQuestion,
    FailedRecord,
    digest_judging,
    list_unsteady,
    read_record,
    record_failed,
    write_record,
)
from conform.runs.select import ResolvedRun
from conform.runs.selection import SuiteFilter, branches_of
from conform.suites.cache import Suite
from conform.suites.importing import needs
from conform.walks.asked_types import find_misfit
from conform.walks.offered import read_offered

DIGITS_SHOWN = 12
"""The digits of an id that are shown."""
_WHY = orjson.dumps(
    {"label": "", "obligations": [], "purpose": [], "source": "finding", "title": "remembered"}
)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The questions that a run asks before its suite, with today's answers; those that the charter
    cannot ask any more, each with the reason."""

    items: tuple[VectorItem, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest of the questions; "" if there are none."""
        ids: list[Json] = [item.id for item in self.items]
        return canonical.digest(ids) if ids else ""

    def tell_left_out(self) -> str:
        """That the caller leaves them out; "" if there are none."""
        count = len(self.items)
        are = "is" if count == 1 else "are"
        return f"{plural(count, 'remembered question')} {are} left out" if count else ""


NOTHING_REMEMBERED = Remembered()
"""What a run puts that leaves remembered questions out."""


def choose_remembered(resolved: ResolvedRun, wanted: SuiteFilter) -> Remembered:
    """The questions that are remembered of a target and that its suite does not have. A question
    of another component or variant waits for a run of that."""
    suite, prepared = resolved.suite, resolved.prepared
    manifest = suite.manifest
    record = read_record(prepared.target, prepared.release, prepared.parameters)
    known = _list_known(suite, record.questions)
    left = [
        one
        for one in record.questions
        if not known & {one.id, one.vector} and _is_about(one, manifest)
    ]
    if not left or not manifest.models.charter:
        return Remembered()
    found, gone = list[VectorItem](), dict[str, str]()
    for one in left:
        item = _answer(one, manifest)
        if isinstance(item, str):
            gone[one.id] = item
        elif any(wanted.branch.lower() in taken.lower() for taken in branches_of(item)):
            found.append(item)
    return Remembered(tuple(found), gone)


def forget_gone(prepared: Prepared, gone: Mapping[str, str]) -> Iterator[str]:
    """Forget what the charter cannot ask any more: a sentence for each."""
    if not gone:
        return
    held = prepared.target, prepared.release, prepared.parameters
    record = read_record(*held)
    kept = tuple(one for one in record.questions if one.id not in gone)
    write_record(*held, replace(record, questions=kept))
    for name, why in gone.items():
        cannot = f"the remembered question {name[:DIGITS_SHOWN]} cannot be put any more"
        yield f"{cannot}, and is dropped: {why}"


def _list_known(suite: Suite, questions: Sequence[FailedQuestion]) -> frozenset[str]:
    """Which of some questions, and of the vectors that they were made from, a suite has."""
    wanted = {name for one in questions for name in (one.id, one.vector) if name}
    return frozenset(suite.rows(wanted)["id"].to_pylist()) if wanted else frozenset()


def _is_about(one: FailedQuestion, manifest: Manifest) -> bool:
    about = (one.question.protocol, one.question.component, one.question.variant)
    return about == (manifest.protocol, manifest.component, manifest.variant)


def _answer(one: FailedQuestion, manifest: Manifest) -> VectorItem | str:
    """A question with today's answer, or why it cannot be put."""
    charter = model.load(manifest.models.charter)
    try:
        if misfit := find_misfit(read_offered(charter), one.question):
            return misfit
    except BadSuite:
        pass  # the tables of the model are of an earlier version
    try:
        item = answer_question(
            charter, {**own_object(one.question.json())}, OpaqueTypes.of(manifest.read_types())
        )
    except CannotAnswer as error:
        return f"the charter has no answer to it ({error})"
    return replace(item, why=_WHY, needs=needs(one.question))


# --- what a run found -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunVerdicts:
    """The verdicts of a run on its suite and on remembered questions, for what is kept of
    failures."""

    target: Target
    about: RunDescription
    of_suite: AskedVerdicts
    remembered: AskedVerdicts

    @property
    def unsteady(self) -> tuple[str, ...]:
        """What failed in the last run of the same files and is fine now, until it is recorded."""
        return list_unsteady(self.target, self.about, self.of_suite, self.remembered)

    def record(self, *, trusted: bool) -> dict[str, Json]:
        """Keep what failed, and drop the remembered questions that do not fail any more if the run
        is `trusted`: each of them with its verdict."""
        record_failed(self.target, self.about, self.of_suite, self.remembered, trusted=trusted)
        good = sorted(self.remembered.good) if trusted else []
        return {name: self.remembered.kinds[name] for name in good}


def remember(
    target: Target,
    about: RunDescription,
    findings: Iterable[RunFinding],
    trouble: Json,
    vectors: AskedVectors,
) -> None:
    """Remember a question for each new finding and each trouble with the adapter that has none."""
    record = read_record(target, about.release, about.parameters)
    judged_by = digest_judging(about)
    found = {one.id: one for one in record.questions}
    shown = {one.finding for one in record.questions}
    for one in _list_failures(findings, trouble, vectors, found.keys() | {""}):
        if one.id not in found and one.finding not in shown:
            found[one.id] = replace(one, judged_with=judged_by)
            shown.add(one.finding)
    kept = tuple(found.values())[:QUESTIONS_MAX]
    if kept != record.questions:
        write_record(target, about.release, about.parameters, FailedRecord(record.vectors, kept))


def _list_failures(
    findings: Iterable[RunFinding], trouble: Json, vectors: AskedVectors, known: Collection[str]
) -> Iterator[FailedQuestion]:
    """A question for each new finding, the smaller one if there is one, and for each trouble that
    is not allowed; none for examples that are `known`, nor for what a cross-check shows: its
    question alone may conform, and a later run tries the same places."""
    for finding in findings:
        alone = not is_crosscheck(finding.rule)
        if finding.new and alone and finding.vector not in known:
            if finding.shrunk is not None:
                question = read_question(dict(finding.shrunk.question))
            else:
                question = _question_of(vectors, finding.vector)
            yield FailedQuestion(question, finding.id, finding.vector)
    for item in map(own_object, own_list(trouble)):
        name = str(item["vector"])
        if not item["allowed"] and name not in known:
            yield FailedQuestion(_question_of(vectors, name), f"{item['kind']} {name}", name)


def _question_of(vectors: AskedVectors, name: str) -> Question:
    return read_question(orjson.loads(vectors.find(name).question))
