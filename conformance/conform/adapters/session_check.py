"""Checks that an adapter answers in sessions as it answers questions, also in several at once: part
of `conform doctor`, where hello claims sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.status import Status
from charter.formats.target import Deadlines
from conform.adapters.base import AdapterBroken, BatchAnswered, Connection, SentQuestion
from conform.adapters.leftover_state import ROUNDS, PlacedTexts, find_difference, read_places
from conform.adapters.open_sessions import Answer, NextStep, OpenSessions, ShownSoFar
from conform.adapters.operation_trials import Trial
from conform.adapters.session import offers
from conform.judging.read_result import BatchTexts, Malformed

MOST = 16
"""The most questions that are put as sessions, and sessions that are open at once."""


@dataclass(slots=True)
class SessionComparison:
    """Puts questions as sessions. `chances` are places where answers to one question differ, too:
    the implementation chooses. Labels count by the types in `opaque`."""

    connection: Connection
    deadlines: Deadlines
    opaque: OpaqueTypes
    chances: set[str] = field(default_factory=set)

    def compare(self, sample: Sequence[Trial]) -> str:
        """What differs between questions and sessions, first one by one, then several at once; ""
        if nothing does. Raises `CannotStart` and `Incomplete`."""
        offered = offers(self.connection.welcome)
        longest = sorted(sample, key=lambda trial: -len(trial.operations))
        chosen = [trial for trial in longest if trial.needs <= offered][:MOST]
        if len(chosen) == 1:
            chosen *= 2  # it must not see the state of itself, either
        trials: dict[str, Trial] = {}
        for number, trial in enumerate(chosen):
            if self._ask(f"{number}", trial) is not None:
                trials[f"{number}"] = trial
            if not self.connection.alive:  # another rule says so, and others may hang, too
                self.connection.restart()
                break
        for name, trial in trials.items():
            found = self._compare({name: trial}, "in a session")
            if found:
                return found
        held = min(self.connection.welcome.sessions, MOST)
        names = [*trials] if held > 1 else []
        for begin in range(0, len(names), held):
            group = {name: trials[name] for name in names[begin : begin + held]}
            found = self._compare(group, "in a session while others are open")
            if found:
                return found
        return ""

    def _compare(self, trials: Mapping[str, Trial], where: str) -> str:
        """What differs between these sessions, which are open at once, and their questions, each
        time that it is tried."""
        found = ""
        for round_ in range(ROUNDS):
            answers = self._walk(trials, f"{where}-{round_}")
            differences = (
                self._find_difference(name, trial, answers[name]) for name, trial in trials.items()
            )
            found = next(filter(None, differences), "")
            if not found:
                return ""
        return found.format(where)

    def _find_difference(self, name: str, trial: Trial, answer: Answer) -> str:
        """A sentence about the first place where a session and its question differ, {} for where
        that is; "" if they do not, or the answers to the question do."""
        if isinstance(answer, AdapterBroken):
            kind = str(answer.kind).replace("_", " ")
            return f"the adapter breaks {{}} ({kind}): {_quote(answer.detail)}"
        if answer.result.status is Status.ERROR:
            return f"the adapter fails {{}}: {_quote(answer.result.detail)}"
        first = self._ask(name, trial)
        second = self._ask(name, trial) if self.connection.alive else None
        if not self.connection.alive:
            self.connection.restart()
        shown = self._read(trial, answer)
        if first is None or second is None or shown is None or shown == first:
            return ""
        self.chances.add(find_difference(first, second)[0])
        place, seen, expected = find_difference(shown, first)
        if place in self.chances:
            return ""
        return f"{place} is {_quote(seen)} {{}}, and {_quote(expected)} in a question"

    def _ask(self, name: str, trial: Trial) -> PlacedTexts | None:
        """The answer to a question; None if it breaks the adapter, or has no steps."""
        text = orjson.dumps(trial.question, option=orjson.OPT_SORT_KEYS)
        self.connection.send([SentQuestion(name, "question", text)], self.deadlines.one)
        answer = self.connection.receive()
        if isinstance(answer, BatchAnswered) and answer.results.results[0].steps:
            return self._read(trial, ShownSoFar(answer.results))
        return None

    def _read(self, trial: Trial, shown: ShownSoFar) -> PlacedTexts | None:
        try:
            batch = BatchTexts.of(shown.results, None)
            return read_places(trial, shown.result, batch, self.opaque)
        except Malformed:
            return None

    def _walk(self, trials: Mapping[str, Trial], nonce: str) -> dict[str, Answer]:
        """The answers of sessions that take one step each in turn."""
        sessions = OpenSessions(self.connection, self.deadlines, nonce, self.opaque)
        calls = {name: _calls(trial.question) for name, trial in trials.items()}
        begun = sessions.begin([(name, _beginning(trials[name].question)) for name in trials])
        answers = dict(zip(trials, begun, strict=True))
        for number in range(max(map(len, calls.values()), default=0)):
            steps = [
                NextStep(name, *mine[number])
                for name, mine in calls.items()
                if number < len(mine) and _is_open(answers[name])
            ]
            shown = sessions.step(steps)
            answers.update(zip([step.id for step in steps], shown, strict=True))
        sessions.close()
        if not self.connection.alive:
            self.connection.restart()
        return answers


def _quote(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _is_open(answer: Answer) -> bool:
    return not isinstance(answer, AdapterBroken) and not answer.over


def _beginning(question: Mapping[str, Json]) -> bytes:
    begun = {name: value for name, value in question.items() if name != "operations"}
    return orjson.dumps(begun, option=orjson.OPT_SORT_KEYS)


def _calls(question: Mapping[str, Json]) -> list[tuple[str, dict[str, Json]]]:
    """The operations of a question with their arguments."""
    calls: list[tuple[str, dict[str, Json]]] = []
    operations = question["operations"]
    assert isinstance(operations, list)
    for call in operations:
        assert isinstance(call, dict) and isinstance(call["args"], dict)
        calls.append((str(call["operation"]), call["args"]))
    return calls
