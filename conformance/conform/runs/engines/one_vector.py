"""Judges one vector on one target, step by step, for `conform replay`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import orjson

from charter.formats.canonical import Json
from charter.formats.findings.crosschecks import CrossCheck
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls
from charter.formats.suite import Manifest
from charter.formats.verdict import STDERR, Kind
from conform.adapters.base import AdapterStart
from conform.adapters.session import Session
from conform.adapters.stdio import StdioConnection
from conform.judging import model
from conform.judging.siblings import ObservedStep, Siblings
from conform.judging.verdict import Assessment, VectorItem
from conform.runs.crosschecks.cross_judge import CrossJudge
from conform.runs.crosschecks.cross_questions import CrossQuestionMaker
from conform.storage.observations import rename_steps


@dataclass(frozen=True, slots=True)
class Shown:
    """One step: operation, relabelled reply and observation, and the deviation if it is one."""

    step: int
    operation: str
    args: Json
    reply: Json
    observation: Json
    branch: str
    deviation: Json

    def json(self) -> dict[str, Json]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of replaying a vector."""

    assessment: Assessment
    steps: tuple[Shown, ...]
    line: str
    said: tuple[str, ...] = ()
    """What the adapter wrote to stderr, if it failed."""
    siblings: Siblings | None = None
    """The models that it was judged by; None if the suite has none."""


def replay(
    start: AdapterStart, item: VectorItem, manifest: Manifest, entries: Mapping[str, str],
    checks: Sequence[CrossCheck] = (),
) -> Replayed:  # fmt: skip
    """Send one vector to the target and judge it, by cross-checks, too. Raises `CannotStart`."""
    siblings, types = None, manifest.read_types()
    if manifest.models.charter:
        known = {entry: model.load(module) for entry, module in entries.items()}
        same = model.is_of(manifest.models.charter, manifest.spec_digest)
        siblings = Siblings(
            model.load(manifest.models.charter), known, same_state=same, same_operations=same,
            opaque=OpaqueTypes.of(types),
        )  # fmt: skip
    first = orjson.loads(item.answer)["observations"][0]
    variables = tuple(first) if isinstance(first, dict) else None
    connection = StdioConnection(start)
    try:
        nonce = secrets.token_hex(4)
        session = Session(connection, siblings, start.deadlines, nonce, variables)
        session.judge.set_types(types)
        maker = siblings and CrossQuestionMaker(siblings.charter, OpaqueTypes.of(types))
        if maker and siblings and siblings.same_state:
            judgement = CrossJudge(session).judge_alone(item, maker, checks)
        else:
            (judgement,) = session.run([item], 1)
        said = connection.said
    finally:
        connection.close()
    assessment = judgement.assessments[0]
    if assessment.verdict.kind is not Kind.ADAPTER_ERROR or STDERR in assessment.verdict.detail:
        said = ()
    opaque = OpaqueTypes.of(types)
    steps = _steps(item, assessment, judgement.line, opaque) if judgement.line else ()
    return Replayed(assessment, steps, judgement.line.decode("utf-8", "replace"), said, siblings)


def list_raw(question: Mapping[str, Json], line: str) -> list[ObservedStep]:
    """The steps of an answer, raw, from the state before the first operation."""
    message = orjson.loads(line)
    values: list[Json] = message["values"]
    calls: list[Mapping[str, Json]] = [{"operation": "", "args": {}}, *own_calls(question)]
    return [
        ObservedStep(str(call["operation"]), call["args"], values[reply], values[observation])
        for call, (reply, observation, _) in zip(
            calls, message["results"][0]["steps"], strict=False
        )
    ]


def _steps(
    item: VectorItem, assessment: Assessment, line: bytes, opaque: OpaqueTypes
) -> tuple[Shown, ...]:
    message = orjson.loads(line)
    values: list[Json] = message["values"]
    calls: list[dict[str, Json]] = [{"operation": "", "args": {}}]
    calls += orjson.loads(item.question)["operations"]
    operations = [str(call["operation"]) for call in calls[1:]]
    verdict = assessment.verdict
    deviations = {deviation.step: deviation.json() for deviation in verdict.deviations}
    renamed = rename_steps(values, message["results"][0]["steps"], opaque, operations)
    return tuple(
        Shown(
            number,
            str(call["operation"]),
            call["args"],
            reply,
            observation,
            verdict.branches[number] if number < len(verdict.branches) else "",
            deviations.get(number),
        )
        for number, (call, (reply, observation)) in enumerate(zip(calls, renamed, strict=False))
    )
