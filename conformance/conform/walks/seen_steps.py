"""Reads the steps of walks, relabelled, and gives them values that a model can read again.

A target may allot other values each time. Relabelled, its answers are the same, so a
walk is followed with values made from labels: the choices of two targets that behave alike are
alike, and the cache of a follower holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

import orjson

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from conform.adapters.open_sessions import ShownSoFar
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts, RelabelledSteps

_LABEL = re.compile(rb'"#([0-9.]+)"')
_SCALE = 1 << 30
"""Labels are sums of halves; so many times a label is a whole number."""
_MEMORY = 20_000


@dataclass(slots=True)
class StepReader:
    """Reads results for one judge, with a cache of values by their relabelled texts."""

    judge: Judge
    known: dict[bytes, Json] = field(default_factory=dict)

    def read(self, answer: ShownSoFar, question: bytes) -> RelabelledSteps:
        """The relabelled steps of one result. Raises `Malformed`."""
        batch = BatchTexts.of(answer.results, self.judge.observes)
        return self.judge.reader.read(answer.result, batch, self.judge.operations(question))

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


def _make_value(label: re.Match[bytes]) -> bytes:
    return b'"@%d"' % int(Fraction(label[1].decode()) * _SCALE)
