"""Reads the steps of walks, relabelled, and gives them values that a model can read again.

A target may allot other values each time. Relabelled, its answers are the same, so a
walk is followed with values made from labels: the choices of two targets that behave alike are
alike, and the cache of a follower holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import orjson

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.status import Status
from conform.adapters.open_sessions import ShownSoFar
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts
from conform.judging.relabel import RelabelPlace

_LABEL = re.compile(rb'"#([0-9.]+)"')
_SCALE = 1 << 30
"""Labels are sums of halves; so many times a label is a whole number."""
_MEMORY = 20_000


class ReadStep(NamedTuple):
    """A step of a walk: the texts of its reply and observation, relabelled, with their digest, and
    whether all opaque values in them are old ones."""

    reply: bytes
    observation: bytes
    digest: bytes
    is_old: bool

    @property
    def texts(self) -> tuple[bytes, bytes]:
        return self.reply, self.observation


@dataclass(slots=True)
class StepReader:
    """Reads results for one judge, with a cache of values by their relabelled texts."""

    judge: Judge
    known: dict[bytes, Json] = field(default_factory=dict)

    def value(self, text: bytes) -> Json:
        """A relabelled reply or observation with values instead of labels."""
        found = self.known.get(text)
        if found is None:
            if len(self.known) > _MEMORY:
                self.known.clear()
            plain: Json = orjson.loads(text)
            found = plain if is_fault(plain) else orjson.loads(_LABEL.sub(_make_value, text))
            self.known[text] = found
        return found

    def begin(self) -> WalkSteps:
        """The steps of a walk that has not begun."""
        return WalkSteps(self.judge, self.judge.reader.begin())


@dataclass(slots=True)
class WalkSteps:
    """The steps of one walk, as far as they were read, without a `fault` at their end. `batch` has
    the values of its answer; `repeated`: the target performed its operations more than once."""

    judge: Judge
    place: RelabelPlace
    batch: BatchTexts = field(default_factory=BatchTexts)
    steps: list[ReadStep] = field(default_factory=list)
    fault: bool = False
    repeated: bool = False

    def take(self, answer: ShownSoFar, calls: Sequence[Mapping[str, Json]]) -> int:
        """Read the newest steps of these calls, or all again if they were repeated. Returns how
        many of the first steps are as they were. Raises `Malformed`."""
        before = [*self.steps]
        if answer.repeated or len(answer.result.steps) < len(before):
            self.place, self.batch = self.judge.reader.begin(), BatchTexts()
            self.steps, self.fault, self.repeated = [], False, True
        self.batch.extend(answer.results, self.judge.observes)
        for number in range(len(self.steps), len(answer.result.steps)):
            asked = 0 < number <= len(calls)
            operation = str(calls[number - 1]["operation"]) if asked else ""
            found = self.judge.reader.go_on(
                self.place, answer.result, number, self.batch, operation
            )
            if found is None:
                self.fault = True
                break
            reply, observation, place, digest = found
            self.steps.append(ReadStep(reply, observation, digest, place is self.place))
            self.place = place
        return len(before) if self.steps[: len(before)] == before else 0

    def hand_over(self, answer: ShownSoFar) -> BatchTexts:
        """The values of a walk that has ended, for its verdict, with the steps as they were
        read."""
        count = len(answer.result.steps)  # fewer than were read, if the walk was shortened
        if len(self.steps) + self.fault >= count:
            steps = [step[:3] for step in self.steps[:count]]
            whole = self.judge.reader.join(answer.result, self.batch, steps)
            self.batch.relabelled[answer.result.id] = whole
        return self.batch

    def is_whole(self, answer: ShownSoFar, calls: int) -> bool:
        """Whether the steps are those of so many calls, and nothing else came."""
        return answer.result.status is Status.OK and len(self.steps) == calls + 1


def _make_value(label: re.Match[bytes]) -> bytes:
    return b'"@%d"' % int(Fraction(label[1].decode()) * _SCALE)
