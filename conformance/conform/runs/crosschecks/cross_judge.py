"""Asks a target the questions of cross-checks, and adds to the verdict of each by the charter what
the check says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson

from charter.formats.adapter import read_results
from charter.formats.canonical import Json
from charter.formats.findings.crosschecks import CrossCheck
from charter.formats.reading import own_calls
from charter.formats.status import Status
from charter.formats.verdict import JUDGED, Deviation, Kind
from conform.adapters.session import BATCH, Judgement, Session
from conform.judging.differ import Allowed, RelabelledStep, nearest, severity
from conform.judging.read_result import BatchTexts
from conform.judging.verdict import Assessment, VectorItem
from conform.runs.asked_vectors import answer_item
from conform.runs.crosschecks.cross_questions import (
    CrossQuestion,
    CrossQuestionMaker,
    ends_well,
)
from conform.runs.crosschecks.inserted_calls import AnsweredQuestion, UnlikeStep, find_unlike


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A question that was answered, with the verdict by the charter."""

    answered: AnsweredQuestion
    assessment: Assessment

    def list_entries(self, step: int) -> tuple[bool, tuple[str, ...]]:
        """Whether the charter or the overlay allows what was seen at a step, and the entries that
        explain it."""
        found = [one for one in self.assessment.verdict.deviations if one.step == step]
        return all(one.entries for one in found), tuple(e for one in found for e in one.entries)

    def find_branch(self, step: int) -> str:
        """The branch that a step certainly took; "" if it is not known."""
        branches = self.assessment.verdict.branches
        return branches[step] if step < len(branches) else ""


@dataclass(frozen=True, slots=True)
class CrossJudge:
    """Judges the questions of cross-checks through one session. `left_open` counts, by check, what
    is no finding since the charter leaves it open. `not_compared` has the ids of questions whose
    shorter one has no answer."""

    session: Session
    left_open: Counter[str] = field(default_factory=Counter)
    not_compared: set[str] = field(default_factory=set)

    def judge(self, made: Sequence[CrossQuestion], batch: int = BATCH) -> Iterator[Judgement]:
        """The judgements of the questions, not of the shorter ones, which come first."""
        shorter = {one.short.id: one.short for one in made if one.short is not None}
        short = {
            name: answer
            for judgement in self.session.run(shorter.values(), batch)
            for name, answer in self._read(judgement).items()
        }
        by_id = {one.item.id: one for one in made}
        for judgement in self.session.run([one.item for one in by_id.values()], batch):
            answers = self._read(judgement)
            assessments = [
                self._add(by_id[item.id], assessment, answers.get(item.id), short)
                for item, assessment in zip(judgement.items, judgement.assessments, strict=True)
            ]
            yield replace(judgement, assessments=tuple(assessments))

    def judge_alone(
        self, item: VectorItem, maker: CrossQuestionMaker, checks: Iterable[CrossCheck]
    ) -> Judgement:
        """The judgement of one vector, by the first of some checks that fails for it; by the
        charter alone if none does."""
        (alone,) = self.session.run([item], 1)
        for made in (one for check in checks for one in maker.list_for(check, item)):
            (judgement,) = self.judge([made], 1)
            (assessment,) = judgement.assessments
            if any(one.branch == made.check.rule for one in assessment.verdict.deviations):
                return replace(judgement, items=(item,))
        return alone

    def _read(self, judgement: Judgement) -> dict[str, JudgedAnswer]:
        """The answers of a batch, by the ids of its questions."""
        if not judgement.line:
            return {}
        message = orjson.loads(judgement.line)
        sent = [(result["id"], result["nonce"]) for result in message["results"]]
        results = read_results(message, message["run"], sent)
        observes = self.session.judge.observes
        texts = BatchTexts.of(results, observes)
        return {
            item.id: JudgedAnswer(
                AnsweredQuestion(own_calls(orjson.loads(item.question)), result, texts, observes),
                assessment,
            )
            for item, result, assessment in zip(
                judgement.items, results.results, judgement.assessments, strict=True
            )
        }

    def _add(
        self, made: CrossQuestion, assessment: Assessment, long: JudgedAnswer | None,
        short: dict[str, JudgedAnswer],
    ) -> Assessment:  # fmt: skip
        """An assessment with the deviation that a check shows, if it shows one."""
        if long is None or assessment.verdict.kind not in JUDGED:
            return assessment
        found = None
        if made.check.append:
            found = self._check_end(made, long)
        elif made.short is not None:
            answer = short.get(made.short.id)
            if answer is None or not answer.answered.is_whole:
                self.not_compared.add(made.item.id)
            else:
                found = self._compare(made, long, answer)
        if found is None:
            return assessment
        verdict = assessment.verdict
        deviations = tuple(sorted((*verdict.deviations, found), key=lambda one: one.step))
        return replace(
            assessment, verdict=replace(verdict, kind=Kind.DIVERGES, deviations=deviations)
        )

    def _compare(
        self, made: CrossQuestion, long: JudgedAnswer, short: JudgedAnswer
    ) -> Deviation | None:
        """The first step in which the answers differ."""
        try:
            unlike = find_unlike(
                short.answered, long.answered, made.place, self.session.judge.opaque
            )
        except ValueError:
            return None  # the verdict by the charter names the value
        if unlike is None:
            return None
        sides, branches = [long.list_entries(unlike.step)], {long.find_branch(unlike.step)}
        if not made.place.start < unlike.step <= made.place.last:
            step = unlike.step - (0 if unlike.step <= made.place.start else made.place.size)
            sides.append(short.list_entries(step))
            branches.add(short.find_branch(step))
        if any(branches <= one.branches for one in made.check.open):
            self.left_open[made.check.name] += 1
            return None
        explained = all(allowed for allowed, _ in sides)
        entries = sorted({name for _, names in sides for name in names}) if explained else []
        return _write_deviation(made, unlike, long.answered, tuple(entries))

    def _check_end(self, made: CrossQuestion, long: JudgedAnswer) -> Deviation | None:
        """The last step, if it does not end as the check says."""
        answered, calls = long.answered, long.answered.calls
        if answered.result.status is not Status.OK or len(answered.result.steps) <= len(calls):
            return None
        steps = answered.relabel(range(len(calls) + 1), self.session.judge.opaque)
        if len(steps) <= len(calls) or steps[-1].fault:
            return None
        if made.check.ends_well(steps[-1].observation):
            return None
        answer = orjson.loads(made.item.answer)
        last = [
            Allowed(
                node["branch"], answer["replies"][node["reply"]],
                answer["observations"][node["observation"]],
            )
            for node in answer["steps"][-1]
        ]  # fmt: skip
        wanted = nearest(last, steps[-1])
        assert wanted is not None
        expected = RelabelledStep(wanted.reply, wanted.observation)
        unlike = UnlikeStep(len(calls), expected, steps[-1], steps[-2].observation)
        return _write_deviation(made, unlike, answered, self._explain_end(made, long))

    def _explain_end(self, made: CrossQuestion, long: JudgedAnswer) -> tuple[str, ...]:
        """The overlay entries with which the charter allows a bad end, each alone; else those of
        all deviations before, if each has some."""
        siblings, opaque = self.session.siblings, self.session.judge.opaque
        question = orjson.loads(made.item.question)
        alone = [
            name
            for name, model in (siblings.entries if siblings else {}).items()
            if name and _ends_badly(answer_item(model, question, opaque), made)
        ]
        if alone:
            return tuple(sorted(alone))
        deviations = long.assessment.verdict.deviations
        if not all(one.entries for one in deviations):
            return ()
        return tuple(sorted({name for one in deviations for name in one.entries}))


def _ends_badly(item: VectorItem | None, made: CrossQuestion) -> bool:
    return item is not None and not ends_well(made.check, orjson.loads(item.answer))


def _write_deviation(
    made: CrossQuestion, unlike: UnlikeStep, answered: AnsweredQuestion, entries: tuple[str, ...]
) -> Deviation:
    """What a check shows, as a deviation: `expected` is what it says."""
    call: Mapping[str, Json] = answered.calls[unlike.step - 1] if unlike.step else {}
    wanted = Allowed(made.check.rule, unlike.wanted.reply, unlike.wanted.observation)
    return Deviation(
        step=unlike.step,
        operation=str(call.get("operation", "")),
        args=call.get("args", {}),
        branch=made.check.rule,
        severity=severity([wanted], unlike.seen),
        before=unlike.before,
        expected=[wanted.json()],
        observed=unlike.seen.json(),
        entries=entries,
        values=(f"{made.check.rule}: {made.check.help}",),
    )
