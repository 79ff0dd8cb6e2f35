"""Finds overlay entries that claim too much: behaviour of the target that the charter allows and
the charter with the overlay does not.

Only for suites that were made from the same charter as the models, so that operations and arguments
fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson

from charter.formats.adapter import Result, read_results
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls
from charter.formats.verdict import Kind
from conform.adapters.session import Judgement
from conform.judging.follow import CannotFollow, Follower
from conform.judging.model import JudgeModel, load, may_differ
from conform.judging.read_result import BatchTexts
from conform.judging.siblings import ObservedStep, Siblings
from conform.runs.findings.active_entries import find_first_active
from conform.storage.bucket_store import RunFolder
from conform.storage.observations import observations
from conform.suites.cache import Suite

_SAMPLE = 1_000


@dataclass(frozen=True, slots=True)
class Claimed:
    """A transition of the target that the charter allows and the overlay does not."""

    id: str
    step: int
    branch: str

    def json(self) -> dict[str, Json]:
        return {"id": self.id, "step": self.step, "branch": self.branch}


def find_overclaims(
    judgement: Judgement, overlay: Siblings, observes: tuple[str, ...] | None
) -> list[Claimed]:
    """The first such transition of each conforming vector of a batch. `overlay` has the model with
    all entries instead of the charter's."""
    message = orjson.loads(judgement.line)
    asked = [(result["id"], result["nonce"]) for result in message["results"]]
    results = read_results(message, message["run"], asked)
    batch = BatchTexts.of(results, observes)
    found = []
    for item, assessment, result in zip(
        judgement.items, judgement.assessments, results.results, strict=True
    ):
        if assessment.verdict.kind is Kind.CONFORMS:
            question = orjson.loads(item.question)
            step = _first_refused(question, _steps(result, batch), overlay, observes)
            if step:
                found.append(Claimed(item.id, step, assessment.verdict.branches[step]))
    return found


@dataclass(frozen=True, slots=True)
class RunOutput:
    """The output of a finished run: its folder, the suite, and the variables that were compared."""

    folder: RunFolder
    suite: Suite
    observes: tuple[str, ...] | None


def find_denied(run: RunOutput, entries: Mapping[str, Siblings]) -> dict[str, Claimed]:
    """Those of `entries` (none explains a deviation of the run) that no longer apply: the target
    was in a situation where the entry differs from the charter, and behaved like the charter.

    A sample of the conforming vectors is examined, by each entry those with an operation that it
    changes. Other entries did not occur in it; perhaps the
    suite does not reach them.
    """
    found: dict[str, Claimed] = {}
    charter = load(run.suite.manifest.models.charter)
    opaque = OpaqueTypes.of(run.suite.manifest.read_types())
    alone = Siblings(charter, opaque=opaque)
    for bucket in range(run.suite.buckets):
        for vector in _sample(run, bucket):
            question = orjson.loads(vector.question)
            models = {name: one.charter for name, one in entries.items() if name not in found}
            models = {name: one for name, one in models.items() if can_refuse(one, question)}
            raw = _list_observed(question, vector.steps)
            for entry in find_first_active(alone, models, question, run.observes, raw):
                step = _first_refused(question, vector.steps, entries[entry], run.observes)
                if step:
                    found[entry] = Claimed(vector.id, step, vector.branches[step])
    return found


@dataclass(frozen=True, slots=True)
class _Conforming:
    id: str
    question: bytes
    steps: list[tuple[Json, Json]]
    branches: list[str]


def _sample(run: RunOutput, bucket: int) -> Iterator[_Conforming]:
    """Some conforming vectors of a bucket, with the branches that they took."""
    rows = run.folder.bucket("verdicts", bucket, ["id", "kind", "branches"]).to_pylist()
    branches = {row["id"]: row["branches"] for row in rows if row["kind"] == Kind.CONFORMS}
    questions = {item.id: item.question for item in run.suite.items(bucket)}
    left = max(1, _SAMPLE // run.suite.buckets)
    for observed in observations(run.folder, bucket):
        batch = BatchTexts.of(observed.results, run.observes)
        for result in observed.results.results:
            if result.id in branches and left:
                left -= 1
                name = result.id
                yield _Conforming(name, questions[name], _steps(result, batch), branches[name])
        if not left:
            return


def _steps(result: Result, batch: BatchTexts) -> list[tuple[Json, Json]]:
    return [(batch.at(reply), batch.at(observation)) for reply, observation, _ in result.steps]


def _list_observed(question: dict[str, Json], steps: list[tuple[Json, Json]]) -> list[ObservedStep]:
    """The steps of a result as they were observed, from the state before the first operation."""
    calls: list[tuple[str, Json]] = [("", {})]
    calls += [(str(call["operation"]), call["args"]) for call in own_calls(question)]
    return [ObservedStep(*call, *shown) for call, shown in zip(calls, steps, strict=False)]


def can_refuse(model: JudgeModel, question: dict[str, Json]) -> bool:
    """Whether an entry's model may differ from the charter's in an operation of a question, or in
    the failover by which a given state is loaded."""
    names = {str(call["operation"]) for call in own_calls(question)}
    names |= {"failover"} if question["given"] is not None else set()
    return any(may_differ(model, name) for name in names)


def _first_refused(
    question: dict[str, Json],
    steps: list[tuple[Json, Json]],
    overlay: Siblings,
    observes: tuple[str, ...] | None,
) -> int:
    """The first step that the model does not allow; 0 if there is none or it cannot be followed."""
    try:
        follower = Follower(overlay, question, observes, steps[0][1])
    except CannotFollow:
        return 0
    for number, step in enumerate(_list_observed(question, steps)[1:], 1):
        try:
            if not follower.step(step).allowed:
                return number
        except CannotFollow:
            return 0
    return 0
