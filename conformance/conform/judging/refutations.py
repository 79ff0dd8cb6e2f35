"""Checks statements of an adapter that its other messages can refute."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

import orjson

from charter.formats.adapter import Result, is_fault
from charter.formats.canonical import Json
from charter.formats.reading import own_calls, own_object
from charter.formats.resolve import History, Unresolved, resolve
from charter.formats.status import Status
from charter.formats.types import JudgedTypes
from conform.judging.differ import Allowed, RelabelledStep, nearest, paths, value_at
from conform.judging.read_result import BatchTexts
from conform.judging.relabel import key

LOAD = "load"
"""The capability to start from a given state."""


EXCEPTION = "an exception in the adapter: "
"""Begins the detail of a verdict on a question that the adapter answered with an error."""


SUCH_AS = "; such as "
"""Stands before an example in a detail, which differs from vector to vector."""


def refute(needs: str, result: Result, offers: Collection[str]) -> str:
    """Why a status without steps is contradicted, or "". `needs` is what the question needs, and
    `offers` are the operations and capabilities that hello claims."""
    if result.status is Status.NOT_LOADABLE and LOAD not in needs.split():
        return "it answered not_loadable, but the question gives no state"
    if result.status is Status.UNSUPPORTED and result.detail in offers:
        return explain_refusal(result.detail)
    return ""


def explain_refusal(name: str) -> str:
    """The sentence about an operation or capability that hello claims and an answer denies."""
    return f"it answered that {name} is unsupported, but its hello claims it"


def shows_another(given: Sequence[Allowed], seen: RelabelledStep) -> str:
    """The sentence about an adapter that begins in another state than the `given` one, which is
    not all that it loaded, with the first difference."""
    closest = nearest(given, seen)
    where = next(paths(closest.observation, seen.observation, ""), "") if closest else ""
    wanted = value_at(closest.observation, where) if closest else None
    shown = key(value_at(seen.observation, where)).decode()
    return (
        "the adapter claims `load`, but before the first operation it shows another state than the"
        f" given one: load it, or answer `not_loadable`{SUCH_AS}{where or 'the state'} = {shown},"
        f" given {key(wanted).decode()}"
    )


def resolves(question: Json, result: Result, batch: BatchTexts) -> str:
    """Why the status `unresolved` is contradicted (every reference leads to a value), or ""."""
    operations = own_calls(own_object(question))
    done = len(result.steps) - 1
    if done < 0:
        return "it answered unresolved, but showed no state at all"
    if done >= len(operations):
        return "it answered unresolved, but performed all operations"
    try:
        resolve(operations[done]["args"], _history(result, batch), lambda _: None)
    except Unresolved:
        return ""
    return f"it answered unresolved, but showed a value for each reference of step {done + 1}"


def _history(result: Result, batch: BatchTexts) -> History:
    observations = tuple(batch.at(step[1]) for step in result.steps)
    return History(observations, tuple(batch.at(step[0]) for step in result.steps))


def find_mistyped(
    types: JudgedTypes,
    question: Mapping[str, Json],
    result: Result,
    batch: BatchTexts,
    first: int = 0,
) -> str:
    """The first value in the steps of a result, from the `first` step on, that is not of its type,
    or ""."""
    sorts = cast("Mapping[str, Mapping[str, int]]", question["sorts"])
    operations = cast("Sequence[Mapping[str, str]]", question["operations"])
    checked: set[tuple[str, int]] = set()  # the same state is often shown again
    known: set[tuple[str, bytes]] = set()
    for number, (reply, observation, _) in enumerate(result.steps[first:], first):
        operation = operations[number - 1]["operation"] if number else ""
        value = batch.at(reply)
        wrong = ""
        if number and (operation, reply) not in checked and not is_fault(value):
            wrong = types.wrong_reply(operation, value, sorts)
        if not wrong and observation >= 0 and ("", observation) not in checked:
            wrong = types.wrong_observation(_select_other(batch.at(observation), known), sorts)
        checked |= {(operation, reply), ("", observation)}
        if wrong:
            return f"step {number}: {wrong}"
    return ""


def _select_other(observation: Json, known: set[tuple[str, bytes]]) -> Json:
    """The variables of an observation that were not shown with these values before."""
    if not isinstance(observation, dict):
        return observation
    texts = {(name, key(value)): name for name, value in observation.items()}
    others = {name: observation[name] for text, name in texts.items() if text not in known}
    known |= texts.keys()
    return others


def lacks_variable(result: Result, batch: BatchTexts, claimed: Collection[str]) -> str:
    """The first variable in `claimed` that an observation of the result lacks, told; or ""."""
    for number, (_, observation, _) in enumerate(result.steps):
        seen = batch.at(observation)
        lacking = [name for name in claimed if isinstance(seen, dict) and name not in seen]
        if lacking:
            return (
                f"step {number}: the observation lacks {', '.join(lacking)}, which the adapter's"
                " hello names in observes"
            )
    return ""


def lacks_image(question: bytes, result: Result, batch: BatchTexts) -> bool:
    """Whether an image is missing after a step for which the question requires one. After a fault
    of an operation or of an image none is required."""
    every = b',"delta":"each",' in question  # canonical JSON: only the field itself has this text
    due = () if every else orjson.loads(question)["delta"]
    for number, (_, observation, image) in enumerate(result.steps):
        if observation < 0:
            return False
        if image < 0 and (every or number in due):
            return True
        if image >= 0 and is_fault(batch.at(image)):
            return False
    return False
