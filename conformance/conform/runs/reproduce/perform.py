"""Performs the operations that lead to a finding on a target, and says what differs after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls, own_list, own_number, own_object
from charter.formats.resolve import History, Unresolved, is_reference, leave_out_calls, look_up
from conform.adapters.base import AdapterStart
from conform.console.terminal import plural
from conform.judging.answer import CannotAnswer
from conform.judging.automaton import AnswerJson
from conform.judging.differ import RelabelledStep
from conform.judging.model import load
from conform.judging.verdict import VectorItem
from conform.judging.written_values import call_text
from conform.runs.asked_vectors import answer_question
from conform.runs.engines.one_vector import Shown, list_raw, replay
from conform.runs.reproduce.case import (
    LEFT_OUT,
    SHOWS,
    CannotReproduce,
    CaseCheck,
    CaseStep,
    KeptValue,
    Question,
    ReproducedCase,
)
from conform.runs.reproduce.last_step import PerformedPath, WantedCase
from conform.runs.reproduce.paths import FindingPath
from conform.suites.cache import Suite


@dataclass(frozen=True, slots=True)
class CaseRunner:
    """Performs questions on a started target. `entries` are the models of its overlay."""

    start: AdapterStart
    suite: Suite
    entries: Mapping[str, str]

    @property
    def _implementation(self) -> str:
        """The release, in words where a target has none."""
        return self.start.release or "the target"

    def reproduce(self, path: FindingPath, name: str) -> tuple[ReproducedCase, ReproducedCase]:
        """The two cases of a finding: with all operations of its path, whose last one shows it, and
        without its causes (none: those are found). Raises `CannotReproduce`."""
        question = path.question
        if question["given"] is not None:
            raise CannotReproduce(
                f"the path of {name} begins in a given state, which nobody may reach"
            )
        shows = self._perform(question, WantedCase(SHOWS, name))
        if path.differs:
            kept = tuple(one for one in shows.checks if one.place in path.differs)
            shows = replace(shows, checks=kept)
        if name not in shows.entries or not shows.differs:
            others = ", ".join(sorted(shows.entries)) or "nothing"
            raise CannotReproduce(
                f"{name} does not show on {self._implementation} after the"
                f" {plural(len(shows.steps), 'operation')} of its path (they show {others}): it is"
                " mended there, or another path is needed"
            )
        case, gone = self._leave_out(path, name, shows)
        calls = tuple(shows.steps[number - 1].call for number in gone)
        return shows, replace(case, gone=calls)

    def pass_instead(
        self, path: FindingPath, name: str, checks: Sequence[CaseCheck]
    ) -> tuple[ReproducedCase, ReproducedCase]:
        """The two cases on a release that does not show a finding: the places that differ where it
        shows are compared. Raises `CannotReproduce`."""
        question, causes = path.question, path.causes
        rest = without(question, causes) or question
        try:
            shows = self._perform(question, WantedCase(SHOWS, name, checks))
            left_out = self._perform(rest, WantedCase(LEFT_OUT, name, checks))
        except CannotAnswer as error:
            raise CannotReproduce(
                f"{self._implementation} has not all that the path of {name} needs ({error}); name"
                " another release"
            ) from None
        if not shows.checks:
            raise CannotReproduce(
                f"{self._implementation} has nothing of what {name} changes; name another release"
            )
        if shows.differs or left_out.differs:
            raise CannotReproduce(
                f"{name} is not known for {self._implementation}, but what it changes is not as"
                " expected there; name another release"
            )
        calls = tuple(shows.steps[number - 1].call for number in causes)
        return shows, replace(left_out, gone=calls)

    def _leave_out(
        self, path: FindingPath, name: str, shows: ReproducedCase
    ) -> tuple[ReproducedCase, Sequence[int]]:
        """The case without the causes, and their numbers; without any given, that without one
        operation, the last that is one. What differs on purpose may be of the same entry."""
        question, causes, last = path.question, path.causes, len(shows.steps)
        if any(number >= last for number in causes):
            raise CannotReproduce(
                f"a cause of {name} is no operation before the last, which is number {last}"
            )
        for gone in (causes,) if causes else [(number,) for number in range(last - 1, 0, -1)]:
            rest = without(question, gone)
            case = self._try(rest, name, shows) if rest is not None else None
            if case is None or case.differs:
                continue
            if name not in case.entries or path.differs:
                return case, gone
        named = f"operation {', '.join(map(str, causes))}" if causes else "any one operation"
        raise CannotReproduce(
            f"{name} shows also without {named} of its path, or the rest cannot be performed; name"
            " other operations as its causes"
        )

    def _try(self, question: Question, name: str, shows: ReproducedCase) -> ReproducedCase | None:
        """The case of a shorter question; None if it has no answer."""
        try:
            return self._perform(question, WantedCase(LEFT_OUT, name, shows.checks))
        except CannotAnswer:
            return None

    def _perform(self, question: Question, case: WantedCase) -> ReproducedCase:
        """Perform a question. Raises `CannotAnswer`."""
        manifest = self.suite.manifest
        opaque = OpaqueTypes.of(manifest.read_types())
        item = answer_question(load(manifest.models.charter), question, opaque)
        replayed = replay(self.start, item, manifest, self.entries)
        calls, verdict = own_calls(question), replayed.assessment.verdict
        if len(replayed.steps) != len(calls) + 1:
            why = verdict.detail or str(verdict.kind)
            raise CannotReproduce(
                f"{self._implementation} performs {len(replayed.steps) - 1} of"
                f" {plural(len(calls), 'operation')} alone ({why}); another path is needed"
            )
        last, answer = replayed.steps[-1], _read_answer(item)
        path = PerformedPath(
            question,
            answer,
            verdict.deviations,
            RelabelledStep(last.reply, last.observation, is_fault(last.reply)),
            list_raw(question, replayed.line),
            lambda: replayed.siblings,
        )
        checks = path.compare(case)
        steps = _keep_values(_steps(question, replayed.steps, checks))
        return ReproducedCase(case.name, steps, checks, path.list_findings())


def _read_answer(item: VectorItem) -> AnswerJson:
    answer: AnswerJson = orjson.loads(item.answer)
    return answer


def without(question: Question, gone: Sequence[int]) -> Question | None:
    """A question without some operations, by number; None if a later one needs their reply."""
    for number in sorted(gone, reverse=True):
        kept = leave_out_calls(own_calls(question), number - 1, 1)
        if kept is None:
            return None
        question = {**question, "operations": kept}
    return question


def _steps(
    question: Question, shown: Sequence[Shown], checks: Sequence[CaseCheck]
) -> Iterator[CaseStep]:
    """The operations, each with its reply; the last one with that which is expected, None if its
    reply is not compared."""
    calls, images = own_calls(question), question["delta"]
    observed = [step.observation for step in shown]
    replies = [step.reply for step in shown]
    for number, call in enumerate(calls, 1):
        args = own_object(call["args"])
        history = History(tuple(observed), tuple(replies))
        used = own_object(_use(args, number, history))
        reply = replies[number]
        if number == len(calls):
            reply = next((one.expected for one in checks if one.is_reply and not one.path), None)
        operation = str(call["operation"])
        published = not isinstance(images, list) or number in images
        yield CaseStep(number, operation, used, call_text(operation, args), reply, published)


def _use(value: Json, number: int, history: History) -> Json:
    """An argument; a reference says whether its value is still in that place (`now`)."""
    if isinstance(value, dict):
        if is_reference(value):
            return {**value, "now": _is_there(value, number, history)}
        return {name: _use(one, number, history) for name, one in value.items()}
    if isinstance(value, list):
        return [_use(one, number, history) for one in value]
    return value


def _is_there(reference: dict[str, Json], number: int, history: History) -> bool:
    if "in" in reference:
        return False
    _, *path = own_list(reference["ref"])
    try:
        now = look_up({**reference, "ref": [number - 1, *path], "plus": 0}, history)
        return now == look_up({**reference, "plus": 0}, history)
    except Unresolved:
        return False


def _keep_values(steps: Iterable[CaseStep]) -> tuple[CaseStep, ...]:
    """The steps, where each notes the values that later ones need and that change meanwhile."""
    keeps: dict[int, dict[str, KeptValue]] = {}
    named = [replace(one, args=own_object(_name(one.args, keeps))) for one in steps]
    return tuple(replace(one, keeps=tuple(keeps.get(one.number, {}).values())) for one in named)


def _name(value: Json | Mapping[str, Json], keeps: dict[int, dict[str, KeptValue]]) -> Json:
    if isinstance(value, Mapping):
        if value.get("now") is False and isinstance(value.get("ref"), list):
            step, *path = own_list(value["ref"])
            in_reply = "in" in value
            parts = ("reply", *path) if in_reply else path
            name = "_".join(map(str, (*parts, step)))
            kept = KeptValue(name, tuple(path), in_reply)
            keeps.setdefault(own_number(step), {})[name] = kept
            return {**value, "kept": name}
        return {name: _name(one, keeps) for name, one in value.items()}
    if isinstance(value, list):
        return [_name(one, keeps) for one in value]
    return value
