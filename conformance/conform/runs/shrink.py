"""Makes the vector of a finding smaller, with the target: operations, elements of sorts and
constants are left out as long as the finding stays. The model answers each smaller question."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import orjson
import pyarrow as pa

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.findings.crosschecks import CrossCheck
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import mapping, own_calls, own_number, own_object
from charter.formats.resolve import leave_out_calls
from charter.formats.run import RunFinding, ShrunkQuestion
from charter.formats.vector import SOLVER
from charter.formats.verdict import Deviation, Kind
from conform.adapters.session import Session
from conform.console.errors import CannotStart, Incomplete
from conform.judging.model import JudgeModel, load
from conform.judging.places import ValuePlaces
from conform.judging.verdict import VectorItem
from conform.runs.asked_vectors import NO_REASON, AskedVectors, answer_item
from conform.runs.crosschecks.cross_judge import CrossJudge
from conform.runs.crosschecks.cross_questions import CrossQuestionMaker
from conform.runs.engines.bucket import start_session
from conform.runs.findings.findings import (
    GivenState,
    finding_id,
    is_chosen,
    read_findings,
    sentence,
    side_by_side,
)
from conform.runs.run_context import RunContext
from conform.storage.tables import cause_of, deviation_row
from conform.suites.cache import Suite, bucket_of

MOST_FINDINGS = 10
"""The most findings of a run that are shrunk, the gravest."""
MOST = 200
"""The most questions that one finding is shrunk with."""
ALONE = (
    "asked alone, the vector conforms: the adapter keeps state of an earlier question, or answers"
    " otherwise each time; in the run"
)
"""What is said of a finding that does not repeat, before what it is."""

Question = dict[str, Json]
_RANGE = re.compile(r"int (-?[0-9]+)\.\.(-?[0-9]+)")
BOUND = (
    "conforms with {name} = {value}: if `{name}` is only a bound of the instance, this is the bound"
    " of the model"
)
"""What is said below a finding that is none with a larger constant."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A smaller question that shows a finding in its last step, with the `sentence` about it.
    `before` is the number of operations of the vector that it was made from. `chosen`: the solver
    chose the given state, and no run was seen to reach it."""

    question: Mapping[str, Json]
    before: int
    shown: tuple[str, ...]
    sentence: str
    chosen: bool = False

    @property
    def id(self) -> str:
        return canonical.digest(dict(self.question))

    def to_json(self) -> ShrunkQuestion:
        """As summary.json lists it."""
        step = len(own_calls(self.question))
        return ShrunkQuestion(
            self.id, step, self.before, dict(self.question), self.shown, self.chosen
        )


@dataclass(slots=True)
class Shrinker:
    """Shrinks findings of one target. `lowest` and `highest` are the least and the greatest values
    of the constants, `checks` the cross-checks that show a finding."""

    session: Session
    model: JudgeModel
    lowest: Mapping[str, int] = field(default_factory=dict)
    highest: Mapping[str, int] = field(default_factory=dict)
    checks: tuple[CrossCheck, ...] = ()
    asked: int = 0

    def shrink(self, finding: str, item: VectorItem) -> Shrunk | None:
        """The smallest question found that shows the finding with this id; None if not even the
        vector itself does now."""
        self.asked = 0
        best: Question = orjson.loads(item.question)
        before = len(own_calls(best))
        shown = self._shows(best, finding)
        if shown is None:
            return None
        smaller = True
        while smaller:
            smaller = False
            best = _cut(best, shown.step)
            for candidate in _smaller(best, self.lowest):
                found = self._shows(candidate, finding)
                if found is not None:
                    best, shown, smaller = candidate, found, True
                    break
        row, bound = deviation_row(shown), self._find_bound(best)
        places = ValuePlaces(self.session.judge.types)
        chosen = is_chosen(best, orjson.loads(item.why))
        told = (*side_by_side(row, places), *bound)
        return Shrunk(best, before, told, sentence(row, places), chosen)

    def conforms(self, item: VectorItem) -> bool:
        """Whether the vector conforms when it is asked alone. Raises `CannotStart`."""
        self.session.connection.restart()
        (judgement,) = self.session.run([item])
        return judgement.assessments[0].verdict.kind is Kind.CONFORMS

    def _find_bound(self, question: Question) -> tuple[str, ...]:
        """A sentence about the constant of which a larger value makes the target conform: perhaps a
        bound of the instance alone refused the step, perhaps the target is off by one. None for a
        given state, which need not be one with a larger constant."""
        consts = mapping(question.get("consts"))
        for name, value in sorted(consts.items()) if question["given"] is None else ():
            if own_number(value) < self.highest.get(name, 0):
                larger = {**question, "consts": {**consts, name: own_number(value) + 1}}
                item = answer_item(self.model, larger, self.session.judge.opaque)
                if item is not None and self.conforms(item):
                    return (BOUND.format(name=name, value=own_number(value) + 1),)
        return ()

    def _shows(self, question: Question, finding: str) -> Deviation | None:
        """The first deviation of the finding when the target is asked, if there is one."""
        if self.asked >= MOST:
            return None
        item = answer_item(self.model, question, self.session.judge.opaque)
        if item is None:
            return None
        self.asked += 1
        sorts = cast("Mapping[str, Mapping[str, int]]", question["sorts"])
        maker = CrossQuestionMaker(self.model, self.session.judge.opaque)
        judgement = CrossJudge(self.session).judge_alone(item, maker, self.checks)
        for deviation in judgement.assessments[0].verdict.deviations:
            entry = " ".join(deviation.entries)
            if finding_id(entry, cause_of(deviation, sorts)) == finding:
                return deviation
        return None


def find_given_states(deviations: pa.Table, suite: Suite) -> dict[str, GivenState]:
    """The given states of the vectors with a deviation."""
    buckets: dict[int, set[str]] = {}
    for name in deviations["id"].to_pylist():
        buckets.setdefault(bucket_of(name, suite.buckets), set()).add(name)
    found: dict[str, GivenState] = {}
    for _, wanted in sorted(buckets.items()):  # so that the texts of one bucket are held at a time
        for row in suite.rows(wanted).select(["id", "question", "why"]).to_pylist():
            question = orjson.loads(row["question"])
            if question["given"] is not None:
                chosen = is_chosen(question, orjson.loads(row["why"]))
                found[row["id"]] = GivenState(chosen, len(orjson.dumps(question["given"])))
    return found


def with_shrunk(
    findings: Sequence[RunFinding], context: RunContext, vectors: AskedVectors
) -> tuple[RunFinding, ...]:
    """The findings, the first new ones with a smaller question. If the adapter does not start, or
    breaks on everything, the rest stay as they are."""
    new = [one for one in findings if one.new][:MOST_FINDINGS]
    if not new or not context.model or not context.reference:
        return tuple(findings)
    found: dict[str, RunFinding] = {}
    with contextlib.suppress(CannotStart, Incomplete), contextlib.ExitStack() as stack:
        session = start_session(context)
        stack.callback(session.connection.close)
        shrinker = Shrinker(session, load(context.model), *_limits(vectors.suite.manifest.consts))
        known = context.crosschecks.checks.values()
        for one in new:
            if found:
                session.connection.restart()  # the adapter may keep state of other questions
            shrinker.checks = tuple(check for check in known if check.rule == one.rule)
            found[one.id] = _smaller_finding(one, shrinker, vectors.find(one.vector))
    return tuple(found.get(one.id, one) for one in findings)


def _smaller_finding(finding: RunFinding, shrinker: Shrinker, item: VectorItem) -> RunFinding:
    """A finding with a smaller question, or with the remark that its vector does not show it."""
    shrunk = shrinker.shrink(finding.id, item)
    if shrunk is not None:
        return replace(finding, shrunk=shrunk.to_json(), sentence=shrunk.sentence)
    if shrinker.conforms(item):
        return replace(finding, sentence=f"{ALONE}, {finding.sentence}")
    return finding


def _limits(consts: Mapping[str, str]) -> tuple[dict[str, int], dict[str, int]]:
    """The least and the greatest values of constants, from their types (`int 1..9`)."""
    found = {name: _RANGE.match(kind) for name, kind in consts.items()}
    ranges = {name: (int(match[1]), int(match[2])) for name, match in found.items() if match}
    lowest = {name: low for name, (low, _) in ranges.items()}
    return lowest, {name: high for name, (_, high) in ranges.items()}


def read_shrunk(
    summary: Mapping[str, Json], start: str, model: JudgeModel, opaque: OpaqueTypes
) -> VectorItem | None:
    """The shrunk vector of a finding in summary.json whose id begins with `start`."""
    for finding in read_findings(summary):
        shrunk = finding.shrunk
        if shrunk is not None and shrunk.vector.startswith(start):
            item = answer_item(model, shrunk.question, opaque)
            source = SOLVER if shrunk.chosen else "finding"
            why = orjson.dumps({**orjson.loads(NO_REASON), "source": source})
            return item and replace(item, why=why)
    return None


def _cut(question: Question, steps: int) -> Question:
    """The question without the operations after a step."""
    return {**question, "operations": [*own_calls(question)[: max(steps, 0)]]}


def _smaller(question: Question, lowest: Mapping[str, int]) -> Iterator[Question]:
    """Questions that are a little smaller, those that leave out most first; always in the same
    order."""
    calls = own_calls(question)
    size = len(calls) // 2
    while size:
        for start in range(len(calls) - size, -1, -1):
            kept = leave_out_calls(calls, start, size)
            if kept is not None:
                yield {**question, "operations": kept}
        size = min(size - 1, size // 2) if size > 1 else 0
    if question["given"] is not None:
        # Elements and constants may be in its types and in `always` properties that the judge does
        # not know: with others it could be a state that cannot be.
        return
    yield from _fewer_elements(question, calls)
    consts = mapping(question.get("consts"))
    for name, value in sorted(consts.items()):
        # An argument may have this constant as its limit: it must stay within it.
        least = max(lowest.get(name, 0), max((_greatest(c["args"]) for c in calls), default=0))
        for less in range(least, own_number(value)):
            yield {**question, "consts": {**consts, name: less}}


def _greatest(value: Json) -> int:
    """The greatest number and the greatest length of a list in a value; 0 if there is none."""
    if isinstance(value, dict):
        return max((_greatest(item) for item in value.values()), default=0)
    if isinstance(value, list):
        return max((len(value), *(_greatest(item) for item in value)))
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _fewer_elements(question: Question, calls: list[dict[str, Json]]) -> Iterator[Question]:
    """The question without one element of a sort; another takes its place in arguments."""
    sorts = own_object(question["sorts"])
    for sort, held in sorted(sorts.items()):
        ids = own_object(held)
        for gone in sorted(ids, reverse=True) if len(ids) > 1 else ():
            rest = {name: number for name, number in ids.items() if name != gone}
            for instead in sorted(rest) if _mentions(calls, gone) else [gone]:
                changed = [{**call, "args": _rename(call["args"], gone, instead)} for call in calls]
                yield {**question, "sorts": {**sorts, sort: rest}, "operations": [*changed]}


def _mentions(value: Json | list[dict[str, Json]], name: str) -> bool:
    return f'"{name}"' in orjson.dumps(value).decode()


def _rename(value: Json, before: str, after: str) -> Json:
    """A value with another element in the place of one; a list has each element once."""
    if isinstance(value, str):
        return after if value == before else value
    if isinstance(value, dict):
        if before in value and after in value:
            value = {name: item for name, item in value.items() if name != before}
        return {
            (after if name == before else name): _rename(item, before, after)
            for name, item in value.items()
        }
    if isinstance(value, list):
        unique = {canonical.text(item): item for item in (_rename(v, before, after) for v in value)}
        return [*unique.values()]
    return value
