"""Finds the operation at which an adapter breaks: asks it for beginnings of the vector."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.reading import own_calls, own_object
from charter.formats.status import Status
from conform.adapters.base import AdapterBroken, AdapterStart, SentQuestion
from conform.adapters.stdio import StdioConnection
from conform.console.errors import CannotStart
from conform.judging.verdict import VectorItem
from conform.runs.asked_vectors import AskedVectors
from conform.runs.findings.adapter_failures import STEP

MOST = 5
"""The most ways to fail whose operation is looked for, the most frequent of a run."""
SECONDS = 2.0
"""The most seconds that a beginning may take. The whole vector had the deadline of the target."""


@dataclass(frozen=True, slots=True)
class BreakingStep:
    """The first step of a vector at which an adapter breaks. Step 0 is the initial state: no
    operation."""

    step: int
    operation: str = ""
    args: Json = None

    def json(self) -> dict[str, Json]:
        return {"step": self.step, "operation": self.operation, "args": self.args}


def with_steps(trouble: Sequence[Json], start: AdapterStart, vectors: AskedVectors) -> list[Json]:
    """How an adapter failed, each with the step as `at`; {} if the detail names it, or the vector
    does not break the adapter again."""
    found: list[Json] = []
    for number, failure in enumerate(map(own_object, trouble)):
        at = None
        if number < MOST and not STEP.match(str(failure["detail"])):
            with contextlib.suppress(CannotStart):
                at = breaking_step(start, vectors.find(str(failure["vector"])))
        found.append({**failure, "at": at.json() if at else {}})
    return found


def breaking_step(start: AdapterStart, item: VectorItem) -> BreakingStep | None:
    """The step of a vector at which an adapter breaks; None if it does not break. Raises
    `CannotStart`."""
    question: dict[str, Json] = orjson.loads(item.question)
    calls = own_calls(question)
    with _RestartedAdapter(start) as asked:
        if not asked.breaks(question):
            return None
        least, most = 0, len(calls)
        while least < most:
            middle = (least + most) // 2
            if asked.breaks({**question, "operations": [*calls[:middle]]}):
                most = middle
            else:
                least = middle + 1
    if not most:
        return BreakingStep(0)
    call = calls[most - 1]
    return BreakingStep(most, str(call["operation"]), call["args"])


class _RestartedAdapter:
    """An adapter that is asked one question after the other, and started again when it breaks."""

    def __init__(self, start: AdapterStart) -> None:
        self._connection = StdioConnection(start)
        self._seconds = min(start.deadlines.one, SECONDS)

    def __enter__(self) -> _RestartedAdapter:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def breaks(self, question: Mapping[str, Json]) -> bool:
        """Whether the adapter ends, hangs or reports an exception. Raises `CannotStart`."""
        if not self._connection.alive:
            self._connection.restart()
        text = orjson.dumps(question, option=orjson.OPT_SORT_KEYS)
        sent = SentQuestion(canonical.digest(dict(question)), secrets.token_hex(8), text)
        self._connection.send([sent], self._seconds)
        answer = self._connection.receive()
        if isinstance(answer, AdapterBroken):
            return True
        return answer.results.results[0].status is Status.ERROR
