"""Checks the steps of a result against the adapter protocol, and relabels them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from charter.formats.adapter import Result, Results, is_fault
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from conform.judging.image_parts import ImageParts, image_parts
from conform.judging.relabel import (
    Relabelling,
    RelabelPlace,
    Renamed,
    behaviour_digest,
    is_same,
    key,
)

_MOST_PAIRS = 10_000
"""Pairs of texts in a full cache."""
NOTHING = b"null"

Found = TypeVar("Found")


class Malformed(Exception):
    """The steps of a result violate the adapter protocol."""


@dataclass(slots=True)
class BatchTexts:
    """The values of one batch with their canonical texts, each computed once. `relabelled` are the
    steps of results, by id, that were read when they came."""

    values: list[Json] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    relabelled: dict[str, RelabelledSteps] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Results, observes: Sequence[str] | None) -> BatchTexts:
        """The values of `results`; observations are cut down to the variables in `observes`."""
        made = cls()
        made.extend(results, observes)
        return made

    def extend(self, results: Results, observes: Sequence[str] | None) -> None:
        """Take the values that follow those before."""
        new = results.values[len(self.values) :]
        if observes is not None:
            steps = (step for result in results.results for step in result.steps)
            shown = {step[1] - len(self.values) for step in steps if _has_indices(step)}
            new = [
                project(value, observes) if position in shown else value
                for position, value in enumerate(new)
            ]
        self.values += new
        self.texts += map(key, new)

    def at(self, index: int) -> Json:
        """The value at `index`; -1 is nothing."""
        return None if index == -1 else self.values[index]

    def text(self, index: int) -> bytes:
        """The text of the value at `index`."""
        return NOTHING if index == -1 else self.texts[index]


def _has_indices(step: object) -> bool:
    """Whether a step has the shape that the protocol says; one that has not is told later."""
    return isinstance(step, list) and len(step) == 3 and isinstance(step[1], int)


def project(observation: Json, observes: Sequence[str]) -> Json:
    """The variables in `observes` of an observation."""
    if not isinstance(observation, dict):
        return observation
    return {name: observation[name] for name in observes if name in observation}


@dataclass(frozen=True, slots=True)
class RelabelledSteps:
    """The steps of one result, relabelled. `images` are the steps whose image does not agree with
    the observation. With `fault` there was one more step: an exception without observation.
    `behaviour` is a digest of all steps."""

    replies: tuple[bytes, ...]
    states: tuple[bytes, ...]
    images: tuple[int, ...]
    fault: bool
    behaviour: str


class _OfPairs(Generic[Found]):
    """Computes something of an image and the observation beside it, once for equal texts."""

    def __init__(self, compute: Callable[[Json, Json], Found]) -> None:
        self._compute = compute
        self._known: dict[tuple[bytes, bytes], Found] = {}

    def of(self, batch: BatchTexts, image: int, observation: int) -> Found:
        """What was computed of the values at these indices."""
        pair = (batch.texts[image], batch.texts[observation])
        found = self._known.get(pair)
        if found is None:
            if len(self._known) > _MOST_PAIRS:
                self._known.clear()
            found = self._compute(batch.values[image], batch.values[observation])
            self._known[pair] = found
        return found


class ResultReader:
    """Reads results, with a cache of relabelled steps."""

    def __init__(self, types: OpaqueTypes) -> None:
        self.types = types
        self._relabelling = Relabelling(types)
        self._agreements = _OfPairs(shows_part)
        self._parts = _OfPairs(image_parts)

    def read(self, result: Result, batch: BatchTexts, operations: Sequence[str]) -> RelabelledSteps:
        """The relabelled steps of one result of these operations, which may be left out where all
        values are of one type. Raises `Malformed` for steps that violate the protocol."""
        known = batch.relabelled.get(result.id)
        if known is not None:
            return known
        with _explain_steps():
            place, steps = self._relabelling.begin(), list[tuple[bytes, bytes, bytes]]()
            for number in range(len(result.steps)):
                operation = operation_at(operations, number)
                found = self._read_step(place, result, number, batch, operation)
                if found is None:
                    break
                reply, state, place, digest = found
                steps.append((reply, state, digest))
            return self.join(result, batch, steps)

    def join(
        self, result: Result, batch: BatchTexts, steps: Sequence[tuple[bytes, bytes, bytes]]
    ) -> RelabelledSteps:
        """One result, of which the `steps` were relabelled (reply, observation and digest of each):
        all but a fault at its end."""
        fault = len(steps) < len(result.steps)
        digests = [digest for _, _, digest in steps]
        if fault:
            digests.append(_fault_name(batch.at(result.steps[len(steps)][0])))
        images = [
            number
            for number, (_, observation, image) in enumerate(result.steps[: len(steps)])
            if image not in (-1, observation) and not self._agreements.of(batch, image, observation)
        ]
        replies, states = (tuple([step[at] for step in steps]) for at in (0, 1))
        return RelabelledSteps(replies, states, tuple(images), fault, behaviour_digest(digests))

    def _read_step(
        self, place: RelabelPlace, result: Result, number: int, batch: BatchTexts, operation: str
    ) -> Renamed | None:
        """One step after those that lead to a place; None for a fault."""
        reply, observation, image = result.steps[number]
        raw, shown = NOTHING, None
        if reply < 0 or observation < 0 or image < -1:
            if _unusual(result, number, batch):
                return None
        else:
            raw, shown = batch.texts[reply], batch.values[reply]
        text = batch.texts[observation]
        found = place.after.get((raw, text, operation))
        if found is None:
            pair = (text, batch.values[observation])
            found = self._relabelling.step(place, (raw, shown), pair, operation)
        return found

    def begin(self) -> RelabelPlace:
        """The place before the first step of a result."""
        return self._relabelling.begin()

    def go_on(
        self, place: RelabelPlace, result: Result, number: int, batch: BatchTexts, operation: str
    ) -> Renamed | None:
        """As `_read_step`. Raises `Malformed` for a step that violates the protocol."""
        with _explain_steps():
            return self._read_step(place, result, number, batch, operation)

    def image_parts(self, result: Result, batch: BatchTexts) -> tuple[ImageParts, ...]:
        """What each image of a result shows of the observation beside it."""
        return tuple(
            self._parts.of(batch, image, observation)
            for _, observation, image in result.steps
            if image >= 0 and observation >= 0 and not is_fault(batch.values[image])
        )


@contextmanager
def _explain_steps() -> Iterator[None]:
    """A context in which the exceptions for steps that violate the protocol are `Malformed`."""
    try:
        yield
    except IndexError:
        raise Malformed("a step has an index that `values` does not have") from None
    except (TypeError, ValueError) as error:
        raise Malformed(str(error)) from None


def operation_at(operations: Sequence[str], step: int) -> str:
    """The operation of a step; "" for the state before the first, and where none is known."""
    return operations[step - 1] if 0 < step <= len(operations) else ""


def _unusual(result: Result, number: int, batch: BatchTexts) -> bool:
    """Whether a step with an index below 0 is a fault; False for a step 0 that has no reply."""
    reply, observation, image = result.steps[number]
    if min(reply, observation, image) < -1 or (number and reply < 0):
        raise Malformed(f"step {number} has an invalid index")
    if observation == -1:
        if not is_fault(batch.at(reply)):
            raise Malformed(f"step {number} has no observation, and its reply is no fault")
        if number != len(result.steps) - 1:
            raise Malformed(f"step {number} is a fault, but others follow")
        return True
    return False


def _fault_name(reply: Json) -> bytes:
    """The class of the exception, without its message, which may vary."""
    return key(reply["fault"] if is_fault(reply) else reply)


def shows_part(image: Json, observation: Json) -> bool:
    """Whether every part of `image` equals that part of `observation`."""
    if isinstance(image, dict) and isinstance(observation, dict):
        return all(
            name in observation and shows_part(value, observation[name])
            for name, value in image.items()
        )
    return is_same(image, observation)
