"""The overlay, held to the target the other way round: where the target does what the charter
says, the charter with the overlay must allow it too. If it does not, an entry claims too much."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from charter.formats.adapter import read_results
from charter.formats.canonical import Json
from charter.formats.verdict import Kind
from conform.follow import Follower, Siblings, Step
from conform.session import Judgement
from conform.walk import Batch


@dataclass(frozen=True, slots=True)
class Claimed:
    """A transition that the target has, the charter allows, and the overlay does not."""

    id: str
    step: int
    branch: str

    def json(self) -> dict[str, Json]:
        return {"id": self.id, "step": self.step, "branch": self.branch}


def claimed_too_much(
    judgement: Judgement, overlay: Siblings, observes: tuple[str, ...] | None
) -> list[Claimed]:
    """The first such transition of each conforming vector of a batch. `overlay` has the model
    with all entries in the place of the charter's."""
    message = orjson.loads(judgement.line)
    asked = [(result["id"], result["nonce"]) for result in message["results"]]
    results = read_results(message, message["run"], asked)
    batch = Batch.of(results, observes)
    found = []
    for item, assessment, result in zip(
        judgement.items, judgement.assessments, results.results, strict=True
    ):
        if assessment.verdict.kind is not Kind.CONFORMS:
            continue
        question = orjson.loads(item.question)
        steps = [(batch.at(reply), batch.at(observation)) for reply, observation, _ in result.steps]
        step = _first_refused(question, steps, overlay, observes)
        if step:
            found.append(Claimed(item.id, step, assessment.verdict.branches[step]))
    return found


def _first_refused(
    question: dict[str, Json],
    steps: list[tuple[Json, Json]],
    overlay: Siblings,
    observes: tuple[str, ...] | None,
) -> int:
    """The first step that the model does not allow, or 0."""
    calls = question["operations"]
    assert isinstance(calls, list)
    try:
        follower = Follower(overlay, question, observes, steps[0][1])
        for number, (reply, observation) in enumerate(steps[1:], 1):
            call = calls[number - 1]
            assert isinstance(call, dict)
            step = Step(str(call["operation"]), call["args"], reply, observation)
            if not follower.step(step).allowed:
                return number
    except Exception:  # the model cannot stand there: nothing is claimed
        return 0
    return 0
