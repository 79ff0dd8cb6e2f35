"""Asks an adapter for each operation of the charter, as questions of the suite have it, and checks
that it performs it and that all values are of their types. What it answers is not compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from charter.formats.adapter import Result, is_fault
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls
from charter.formats.status import Status
from charter.formats.types import JudgedTypes
from conform.adapters.base import BatchAnswered, Connection, SentQuestion
from conform.adapters.session import offers
from conform.judging.read_result import BatchTexts, Malformed, ResultReader
from conform.judging.refutations import find_mistyped, lacks_variable
from conform.judging.verdict import VectorItem

MOST = 8
"""The most of the shortest questions that are asked for one operation."""
_STEP = re.compile(r"step ([0-9]+): ")


@dataclass(frozen=True, slots=True)
class Trial:
    """A question whose last operation is to be tried, and what it needs of an adapter."""

    operations: tuple[str, ...]
    question: Mapping[str, Json]
    needs: frozenset[str]


def trials_of(items: Iterable[VectorItem]) -> dict[str, list[Trial]]:
    """The shortest questions for each operation of a suite, cut after it: `MOST` of those that
    start in the initial state, `MOST` of the others, and one for each branch that these do not
    take, so that also the values of a reply that comes late are seen."""
    shortest: dict[tuple[str, bool], dict[bytes, Trial]] = {}
    taking: dict[tuple[str, bool, frozenset[str]], tuple[bytes, Trial]] = {}
    for item in items:
        question: dict[str, Json] = orjson.loads(item.question)
        branches = _branches(item.answer)
        calls = own_calls(question)
        names = tuple(str(call["operation"]) for call in calls)
        for number, name in enumerate(names):
            place = (name, question["given"] is not None)
            known = taking.get((*place, branches[number]))
            if name in names[:number] and known and len(known[1].operations) <= number + 1:
                continue
            cut: dict[str, Json] = {**question, "operations": [*calls[: number + 1]]}
            trial = Trial(names[: number + 1], cut, frozenset(item.needs.split()))
            text = orjson.dumps(cut, option=orjson.OPT_SORT_KEYS)
            if known is None or len(known[1].operations) > number + 1:
                taking[*place, branches[number]] = text, trial
            if name not in names[:number]:
                _keep(shortest.setdefault(place, {}), text, trial)
    for (name, given, _), (text, trial) in taking.items():
        shortest.setdefault((name, given), {}).setdefault(text, trial)
    trials: dict[str, list[Trial]] = {}
    for name, given in sorted(shortest):
        trials.setdefault(name, []).extend(shortest[name, given].values())
    return trials


def _keep(held: dict[bytes, Trial], text: bytes, trial: Trial) -> None:
    """Keep a trial among the `MOST` shortest."""
    held[text] = trial
    if len(held) > MOST:
        del held[max(held, key=lambda text: len(held[text].operations))]


def _branches(answer: bytes) -> list[frozenset[str]]:
    """The branches that each operation of an answer may take."""
    _, *steps = orjson.loads(answer)["steps"]
    return [frozenset(str(node["branch"]) for node in nodes) for nodes in steps]


@dataclass(slots=True)
class TrialResults:
    """What was found by operation: why it fails, a value of a wrong type, faults of the
    implementation; those that the adapter does not perform yet, and those that it performed."""

    failing: dict[str, str] = field(default_factory=dict)
    mistyped: dict[str, str] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)
    unwritten: list[str] = field(default_factory=list)
    performed: set[str] = field(default_factory=set)
    answered: int = 0
    """The questions that were answered with values."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Tries operations on one connection."""

    connection: Connection
    deadline: float
    types: JudgedTypes | None

    def results(self, trials: Mapping[str, Sequence[Trial]]) -> TrialResults:
        """Try each operation, with the shortest questions first, so that one that fails is known
        before it is used to reach another. Raises `CannotStart` if the adapter cannot be started
        again."""
        found = TrialResults()
        every = [trial for name in sorted(trials) for trial in trials[name]]
        offered = offers(self.connection.welcome)
        for trial in sorted(every, key=lambda trial: len(trial.operations)):
            known = {*found.failing, *found.unwritten}
            if trial.needs <= offered and not known & set(trial.operations):
                self._try(trial, found)
        for name, faults in found.faults.items():
            if name not in found.performed | found.failing.keys():
                each = (
                    f"each of {len(faults)} questions" if len(faults) > 1 else "the only question"
                )
                found.failing[name] = f"it ends in a fault in {each} with it: {faults[0]}"
        return found

    def _try(self, trial: Trial, found: TrialResults) -> None:
        """Ask one question. Its last operation fails if the adapter breaks or says `error`."""
        name = trial.operations[-1]
        answer = self._ask(trial)
        if isinstance(answer, str):
            found.failing[name] = answer
            return
        result, batch = answer
        if result.status is Status.ERROR:
            hint = "if the implementation threw it, report a `Fault`: conform help adapters"
            found.failing[name] = f"the adapter fails: {result.detail}; {hint}"
        elif result.status is Status.UNSUPPORTED and result.detail == name:
            found.unwritten.append(name)
        elif result.status is Status.OK:
            found.answered += 1
            wrong = find_mistyped(self.types, trial.question, result, batch) if self.types else ""
            wrong = wrong or lacks_variable(result, batch, self.connection.welcome.observes)
            if wrong:
                found.mistyped.setdefault(_find_blame(trial, wrong), wrong)
            fault = _fault(trial, result, batch)
            if fault:
                found.faults.setdefault(name, []).append(fault)
            else:
                found.performed.add(name)

    def _ask(self, trial: Trial) -> tuple[Result, BatchTexts] | str:
        """The answer to a question; how the adapter broke, if it did: it is started again then."""
        text = orjson.dumps(trial.question, option=orjson.OPT_SORT_KEYS)
        self.connection.send([SentQuestion("trial", "nonce", text)], self.deadline)
        answer = self.connection.receive()
        if isinstance(answer, BatchAnswered):
            result, batch = answer.results.results[0], BatchTexts.of(answer.results, None)
            try:
                ResultReader(OpaqueTypes.of(self.types)).read(result, batch, trial.operations)
            except Malformed as error:
                return f"its steps are not in the protocol: {error}"
            return result, batch
        self.connection.restart()
        return f"the adapter breaks ({str(answer.kind).replace('_', ' ')}): {answer.detail}"


def _find_blame(trial: Trial, wrong: str) -> str:
    """The operation after which a value is wrong; the last one where that is the first state."""
    step = _STEP.match(wrong)
    return trial.operations[int(step[1]) - 1 if step else -1]


def _fault(trial: Trial, result: Result, batch: BatchTexts) -> str:
    """The fault of the last operation of a trial, or ""."""
    if len(result.steps) != len(trial.operations) + 1:
        return ""
    reply = batch.at(result.steps[-1][0])
    return f"{reply['fault']}: {reply.get('message', '')}".rstrip(": ") if is_fault(reply) else ""
