"""Makes the questions of cross-checks, and says of their answers whether the checks hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.findings.crosschecks import CrossCheck, list_calls
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import mapping, own_calls, own_object
from charter.formats.resolve import find_references, insert_calls, leave_out_calls
from charter.formats.vector import read_question
from conform.judging.answer import CannotAnswer, GrowingAnswer
from conform.judging.automaton import AnswerJson
from conform.judging.differ import value_at
from conform.judging.model import JudgeModel
from conform.judging.verdict import VectorItem
from conform.runs.asked_vectors import NO_REASON, answer_item
from conform.runs.crosschecks.cross_plan import CrossTry
from conform.runs.crosschecks.inserted_calls import NOWHERE, InsertedPlace, are_expected_alike
from conform.suites.importing import needs

Question = Mapping[str, Json]
_AT, _NULL = "@", "null"
"""What begins a path in an argument of `append`, and what is written for null."""


@dataclass(frozen=True, slots=True)
class CrossQuestion:
    """A question of a cross-check. With `short` it has operations inserted at `place`, and must be
    answered as that one."""

    check: CrossCheck
    item: VectorItem
    short: VectorItem | None = None
    place: InsertedPlace = NOWHERE


@dataclass(frozen=True, slots=True)
class ExpectedOtherwise:
    """The charter does not expect what a check says: it is not tried there."""


@dataclass(frozen=True, slots=True)
class CrossQuestionMaker:
    """Makes the questions, with the answers of a model."""

    model: JudgeModel
    opaque: OpaqueTypes

    def make(
        self, check: CrossCheck, tried: CrossTry, source: VectorItem
    ) -> CrossQuestion | ExpectedOtherwise | None:
        """The question of a place; None if the charter has no answer to it."""
        question = orjson.loads(source.question)
        if check.deltas:
            return self._make_deltas(check, tried, question)
        if check.append:
            return self._append(check, question, tried.start)
        calls: list[dict[str, Json]] = [{"operation": name, "args": {}} for name in check.insert]
        longer = insert_calls(own_calls(question), tried.start, calls)
        place = InsertedPlace(tried.start, len(calls))
        images = place.insert_images(question["delta"])
        long = {**question, "operations": longer, "delta": images}
        return self.pair(check, question, long, place)

    def pair(
        self, check: CrossCheck, short: Question, long: Question, place: InsertedPlace
    ) -> CrossQuestion | ExpectedOtherwise | None:
        """A question with operations inserted, and the one without."""
        one, other = (answer_item(self.model, each, self.opaque) for each in (short, long))
        if one is None or other is None:
            return None
        answers: list[AnswerJson] = [orjson.loads(each.answer) for each in (one, other)]
        if not are_expected_alike(answers[0], answers[1], place):
            return ExpectedOtherwise()
        return CrossQuestion(check, _complete(other, check), _complete(one, check), place)

    def list_for(self, check: CrossCheck, item: VectorItem) -> Iterator[CrossQuestion]:
        """The questions of a check that a vector is itself: it has what the check inserts, or the
        charter says that it ends well."""
        question, size = orjson.loads(item.question), len(check.insert)
        calls = own_calls(question)
        if check.append:
            answer = answer_item(self.model, question, self.opaque)
            if answer is not None and ends_well(check, orjson.loads(answer.answer)):
                yield CrossQuestion(check, _complete(answer, check))
        for start in range(len(calls) - size, -1, -1) if size else ():
            inserted = calls[start : start + size]
            rest = leave_out_calls(calls, start, size)
            if [call["operation"] for call in inserted] == [*check.insert] and rest is not None:
                place = InsertedPlace(start, size)
                images = place.leave_out_images(question["delta"])
                short = {**question, "operations": rest, "delta": images}
                found = self.pair(check, short, question, place)
                if isinstance(found, CrossQuestion):
                    yield found

    def _make_deltas(
        self, check: CrossCheck, tried: CrossTry, question: Question
    ) -> CrossQuestion | None:
        calls: list[Json] = [*own_calls(question)[: tried.end]]
        ends: list[Json] = [tried.start, tried.end]
        sent: dict[str, Json] = {**question, "operations": calls, "delta": ends}
        item = answer_item(self.model, sent, self.opaque)
        return None if item is None else CrossQuestion(check, _complete(item, check))

    def _append(
        self, check: CrossCheck, question: Question, start: int
    ) -> CrossQuestion | ExpectedOtherwise | None:
        """The first operations of a question, with those of a check behind them."""
        calls = own_calls(question)[:start]
        try:
            growing = GrowingAnswer.of(self.model, question, self.opaque)
            for number, call in enumerate(calls, 1):
                later = {place for one in calls[number:] for place in find_references(one)}
                growing.add(call, sorted({*later, (number, False)}))
            for call in list_calls(check, own_object(question["sorts"])):
                filled = _fill_places(call, _list_seen(growing), len(calls))
                if filled is None:
                    return ExpectedOtherwise()
                calls.append(filled)
                growing.add(filled, [(len(calls), False)])
        except CannotAnswer:
            return None
        if not all(check.ends_well(seen) for seen in _list_seen(growing)):
            return ExpectedOtherwise()
        whole: dict[str, Json] = {**question, "operations": [*calls], "delta": "each"}
        item = answer_item(self.model, whole, self.opaque)
        return None if item is None else CrossQuestion(check, _complete(item, check))


def ends_well(check: CrossCheck, answer: AnswerJson) -> bool:
    """Whether all that an answer allows ends as a check says."""
    seen = {node["observation"] for node in answer["steps"][-1]}
    return all(check.ends_well(answer["observations"][one]) for one in seen)


def _list_seen(growing: GrowingAnswer) -> Sequence[Json]:
    """What is observed after the last operation."""
    seen = {node["observation"] for node in growing.levels[-1]}
    return [growing.observations.values[one] for one in sorted(seen)]


def _fill_places(
    call: Mapping[str, Json], seen: Sequence[Json], step: int
) -> dict[str, Json] | None:
    """An operation in which each `@path` is a reference to the step before, or null where that has
    null; None if only some of the states that are `seen` have."""
    args = own_object(call["args"])
    filled = dict[str, Json]()
    for name, value in args.items():
        if not isinstance(value, str) or not value.startswith(_AT):
            filled[name] = None if value == _NULL else value
            continue
        path = value.removeprefix(_AT)
        there = {value_at(one, path) is not None for one in seen}
        if len(there) > 1:
            return None
        filled[name] = {"ref": [step, *path.split(".")]} if True in there else None
    return {**call, "args": filled}


def _complete(item: VectorItem, check: CrossCheck) -> VectorItem:
    """A vector with a title, and with all that it needs."""
    why = {**mapping(orjson.loads(NO_REASON)), "title": f"cross-check {check.name}"}
    sent = needs(read_question(orjson.loads(item.question)))
    return replace(item, why=canonical.text(why).encode(), needs=sent)
