"""Decides the verdict of one vector: by the automaton, and after a divergence transition by
transition."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson

from charter.formats.adapter import Result, is_fault
from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.reading import own_list, own_object
from charter.formats.status import Status
from charter.formats.target import IMAGE
from charter.formats.verdict import JUDGED, Deviation, Kind, Severity, Verdict
from conform.judging.astray import OF_BEHIND, list_astray, list_otherwise
from conform.judging.automaton import NOT_JUDGED, AnswerJson, Judge, Stop, Track, branches
from conform.judging.candidates import EntryWidth, Judged
from conform.judging.differ import Allowed, RelabelledStep, nearest, severity
from conform.judging.equal_values import OpaqueSteps, equal_values
from conform.judging.faults import judge_fault, list_failing
from conform.judging.follow import CannotFollow, Follower
from conform.judging.image_parts import ImageParts
from conform.judging.lagging_images import ImagedStep, explaining
from conform.judging.read_result import BatchTexts, Malformed, RelabelledSteps, project
from conform.judging.refutations import (
    EXCEPTION,
    find_mistyped,
    lacks_image,
    lacks_variable,
    refute,
    resolves,
    shows_another,
)
from conform.judging.relabel import key
from conform.judging.siblings import ObservedStep, Siblings

_ANOTHER_MODEL = "the present model is not that of the suite"
_NOTHING_BEHIND = (
    "the models in generated/ are of another version of the charter than the suite, so nothing is"
    " said behind a deviation; run `conform generate`"
)


@dataclass(frozen=True, slots=True)
class VectorItem:
    """One vector as canonical JSON texts. `needs` is what a target must offer: `load` and names of
    operations, sorted, separated by spaces. `ways` are the behaviours that the answer allows, if
    they are few (conform.judging.automaton.ways)."""

    id: str
    question: bytes
    answer: bytes
    why: bytes
    needs: str
    ways: bytes = b"{}"


@dataclass(frozen=True, slots=True)
class Assessment:
    """A verdict, the transitions for the ledger of the target (the renamed observation before a
    step, and the branch that the step certainly took), the digest of replies and observations,
    whether an image is missing although the adapter claims the capability, what images show, how
    much the overlay entries allow in the steps that they explain, and the steps that the target
    made in another state than the vector means (`astray`). `otherwise` are the steps and nodes of
    what is asked behind a choice where the target was elsewhere."""

    verdict: Verdict
    transitions: tuple[tuple[bytes, str], ...] = ()
    behaviour: str = ""
    imageless: bool = False
    images: tuple[ImageParts, ...] = ()
    widths: tuple[EntryWidth, ...] = ()
    astray: tuple[int, ...] = ()
    otherwise: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class _Findings:
    """The results for one diverging vector, as they are collected."""

    deviations: list[Deviation] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)
    judged: int = 0
    lost: str = ""
    transitions: list[tuple[bytes, str]] = field(default_factory=list)
    widths: list[EntryWidth] = field(default_factory=list)

    def note(self, step: int, judged: Judged) -> None:
        """Keep how much the entries allow that explain a step."""
        self.widths += [replace(width, step=step) for width in judged.widths]


def assess(
    item: VectorItem, result: Result, batch: BatchTexts, judge: Judge, siblings: Siblings | None
) -> Assessment:
    """The verdict on one vector. `siblings` are the models to follow the run with after a
    divergence; without them only the first deviation is found."""
    if result.status in NOT_JUDGED:
        lie = refute(item.needs, result, judge.offers)
        kind = Kind.ADAPTER_ERROR if lie else NOT_JUDGED[result.status]
        threw = EXCEPTION if result.status is Status.ERROR else ""
        return Assessment(Verdict(item.id, kind, lie or f"{threw}{result.detail}"))
    found = _compare(item, result, batch, judge, siblings)
    return _add_images(found, item, result, batch, judge)


def assess_allowed(
    item: VectorItem, result: Result, batch: BatchTexts, judge: Judge, taken: Sequence[str]
) -> Assessment | None:
    """The verdict on a run of which each step is allowed, by these branches; None if its images say
    otherwise."""
    relabelled = judge.reader.read(result, batch, judge.operations(item.question))
    if relabelled.images:
        return None
    return _add_images(conclude_allowed(item, relabelled, taken), item, result, batch, judge)


def _add_images(
    found: Assessment, item: VectorItem, result: Result, batch: BatchTexts, judge: Judge
) -> Assessment:
    """An assessment with what images show, if the adapter claims to show any."""
    if IMAGE not in judge.offers or found.verdict.kind not in JUDGED:
        return found
    lacking = lacks_image(item.question, result, batch)
    return replace(found, imageless=lacking, images=judge.reader.image_parts(result, batch))


def _compare(
    item: VectorItem, result: Result, batch: BatchTexts, judge: Judge, siblings: Siblings | None
) -> Assessment:
    """As `assess`, for a result with steps."""
    try:
        operations = judge.operations(item.question)
        relabelled = judge.reader.read(result, batch, operations)
        if judge.observes is None and result.status is Status.OK and not relabelled.images:
            taken: list[str] | None = orjson.loads(item.ways).get(relabelled.behaviour)
            if taken is not None:
                return conclude_allowed(item, relabelled, taken)
        answer: AnswerJson = orjson.loads(item.answer)
        track = judge.track(answer, result, relabelled, operations)
    except Malformed as error:
        detail = f"the steps of the result are not in the protocol: {error}"
        return Assessment(Verdict(item.id, Kind.ADAPTER_ERROR, detail))
    asked = len(answer["steps"]) - 1
    fronts = None if judge.observes is None else track.fronts
    if track.stop is None and not relabelled.images:
        false_claim = _false_claim(item, result, batch) if track.kind is Kind.UNRESOLVED else ""
        if false_claim:
            return Assessment(Verdict(item.id, Kind.ADAPTER_ERROR, false_claim))
        verdict = _conclude_undisturbed(item, answer, track, asked)
        return Assessment(
            verdict, _transitions(relabelled, verdict.branches), relabelled.behaviour,
            otherwise=list_otherwise(item.why, answer, relabelled.states, fronts),
        )  # fmt: skip
    question: dict[str, Json] = orjson.loads(item.question)
    allowed = track.stop.step if track.stop else len(result.steps)  # so they are of their types
    wrong = find_mistyped(judge.types, question, result, batch, allowed) if judge.types else ""
    claimed = _variables(answer) if judge.observes is None else judge.observes
    wrong = wrong or lacks_variable(result, batch, claimed)
    if wrong:
        return Assessment(Verdict(item.id, Kind.ADAPTER_ERROR, wrong))
    case = _DivergingVector(question, answer, result, batch, judge)
    wrong = case.not_loaded(track.stop, relabelled) if track.stop else ""
    if wrong:
        return Assessment(Verdict(item.id, Kind.ADAPTER_ERROR, wrong))
    try:
        found = case.findings(track, relabelled, siblings)
    except Malformed as error:
        return Assessment(Verdict(item.id, Kind.ADAPTER_ERROR, str(error)))
    verdict = Verdict(
        item.id,
        Kind.DIVERGES,
        track.detail or found.lost,
        tuple(sorted(found.deviations, key=lambda deviation: deviation.step)),
        tuple(found.branches),
        found.judged,
        asked - found.judged,
    )
    before = _transitions(relabelled, verdict.branches[: len(track.fronts)])
    stop = track.stop.step if track.stop else len(answer["steps"])
    return Assessment(
        verdict, before + tuple(found.transitions), relabelled.behaviour,
        widths=tuple(found.widths), astray=list_astray(answer, relabelled.states, stop),
        otherwise=list_otherwise(item.why, answer, relabelled.states, fronts),
    )  # fmt: skip


def _variables(answer: AnswerJson) -> Collection[str]:
    """The variables of the charter that observations show."""
    first = answer["observations"][0]
    return first.keys() if isinstance(first, dict) else ()


def _false_claim(item: VectorItem, result: Result, batch: BatchTexts) -> str:
    return resolves(orjson.loads(item.question), result, batch)


def conclude_allowed(
    item: VectorItem, relabelled: RelabelledSteps, taken: Sequence[str]
) -> Assessment:
    """The assessment of a run that is allowed, by these branches, and shows no image."""
    missed = _list_missed(item.why, taken)
    kind = Kind.INCONCLUSIVE if missed else Kind.CONFORMS
    detail = f"not taken: {', '.join(missed)}" if missed else ""
    verdict = Verdict(item.id, kind, detail, (), tuple(taken), judged=len(taken) - 1)
    answer: AnswerJson | None = orjson.loads(item.answer) if OF_BEHIND in item.why else None
    otherwise = answer and list_otherwise(item.why, answer, relabelled.states, None)
    return Assessment(
        verdict, _transitions(relabelled, taken), relabelled.behaviour, otherwise=otherwise or ()
    )


def _transitions(
    relabelled: RelabelledSteps, taken: Sequence[str]
) -> tuple[tuple[bytes, str], ...]:
    pairs = zip(relabelled.states, taken[1:], strict=False)
    return tuple((state, branch) for state, branch in pairs if branch)


def _conclude_undisturbed(
    item: VectorItem, answer: AnswerJson, track: Track, operations: int
) -> Verdict:
    """Every observed step was allowed."""
    judged = max(0, len(track.fronts) - 1)
    taken, possible = branches(answer, track.fronts)
    kind, detail = track.kind, track.detail
    if kind is None:
        missed = _list_missed(item.why, possible)
        kind = Kind.INCONCLUSIVE if missed else Kind.CONFORMS
        detail = f"not taken: {', '.join(missed)}" if missed else ""
    return Verdict(
        item.id, kind, detail, (), tuple(taken), judged=judged, not_judged=operations - judged
    )


def _list_missed(why: bytes, possible: Collection[str]) -> list[str]:
    if b'"purpose":[]' in why:
        return []
    purpose = orjson.loads(why)["purpose"]
    return [branch for branch in purpose if branch not in possible]


@dataclass(frozen=True, slots=True)
class _DivergingVector:
    """A diverging vector with its answer and result."""

    question: Mapping[str, Json]
    answer: AnswerJson
    result: Result
    batch: BatchTexts
    judge: Judge

    @property
    def observes(self) -> tuple[str, ...] | None:
        return self.judge.observes

    def findings(
        self, track: Track, relabelled: RelabelledSteps, siblings: Siblings | None
    ) -> _Findings:
        """All deviations. Raises `Malformed` for an image with a value that no type has."""
        seen = self._list_seen(relabelled)
        found = _Findings(branches=branches(self.answer, track.fronts)[0])
        found.judged = max(0, len(track.fronts) - 1)
        behind = self._behind(relabelled, siblings)
        found.deviations += [
            self._image(step, seen, behind.get(step) or self._failing(step, seen, siblings))
            for step in relabelled.images
        ]
        if track.stop is None:
            return found
        follower = self._follower(siblings, found)
        judged = self._retrace(follower, track.stop, found) if follower else None
        found.deviations.append(self._first(track.stop, seen, judged))
        if judged:
            found.note(track.stop.step, judged)
        found.judged = track.stop.step
        found.branches.append("")
        if track.stop.fault:
            found.lost = "the run ended with a fault"
        elif follower and judged:
            self._go_on(follower, track.stop.step, seen, found)
        return found

    def not_loaded(self, stop: Stop, relabelled: RelabelledSteps) -> str:
        """Why the adapter did not load the given state; "" if it did, or if there is none."""
        if stop.step or stop.fault or self.question["given"] is None:
            return ""
        return shows_another(
            self._list_expected(stop), RelabelledStep(None, orjson.loads(relabelled.states[0]))
        )

    def _list_seen(self, relabelled: RelabelledSteps) -> list[RelabelledStep]:
        """All steps, relabelled; images only if they do not agree with the observation."""
        images = self._images(relabelled) if relabelled.images else {}
        seen = [
            RelabelledStep(orjson.loads(reply), orjson.loads(state), False, images.get(number))
            for number, (reply, state) in enumerate(
                zip(relabelled.replies, relabelled.states, strict=True)
            )
        ]
        if relabelled.fault:
            seen.append(RelabelledStep(self.batch.at(self.result.steps[len(seen)][0]), None, True))
        return seen

    def _images(self, relabelled: RelabelledSteps) -> dict[int, Json]:
        """The images that do not agree with the observation, relabelled. Raises `Malformed`."""
        labels, found = Labels(self.judge.opaque), {}
        for number in range(len(relabelled.states)):
            reply, observation, image = self.result.steps[number]
            shown = (self.batch.at(reply), self.batch.at(observation))
            labels = labels.step(*shown, self._call(number)[0])[2]
            if number in relabelled.images:
                found[number] = self._image_by(labels, number, self.batch.at(image))
        return found

    def _image_by(self, labels: Labels, step: int, image: Json) -> Json:
        """The image of a step, relabelled; one that failed stays as it is. Raises `Malformed`."""
        if is_fault(image):
            return image
        try:
            return labels.step(None, image)[1]
        except ValueError as error:
            raise Malformed(f"the image of step {step}: {error}") from None

    def _call(self, step: int) -> tuple[str, Json]:
        """Operation and arguments of a step; nothing for step 0."""
        if step == 0:
            return "", {}
        call = own_object(own_list(self.question["operations"])[step - 1])
        return str(call["operation"]), call["args"]

    def _raw(self, step: int) -> ObservedStep:
        reply, observation, _ = self.result.steps[step]
        operation, args = self._call(step)
        shown = self.batch.at(reply), self.batch.at(observation)
        texts = self.batch.text(reply), self.batch.text(observation)
        return ObservedStep(operation, args, *shown, texts)

    def _list_expected(self, stop: Stop) -> tuple[Allowed, ...]:
        nodes = [self.answer["steps"][stop.step][position] for position in stop.possible]
        allowed = []
        for node in nodes:
            reply = self.answer["replies"][node["reply"]] if node["reply"] >= 0 else None
            observation = self.answer["observations"][node["observation"]]
            if self.observes is not None:
                observation = project(observation, self.observes)
            allowed.append(Allowed(node["branch"], reply, observation))
        return tuple(allowed)

    def _image(self, step: int, seen: list[RelabelledStep], entries: tuple[str, ...]) -> Deviation:
        operation, args = self._call(step)
        allowed = Allowed("", None, seen[step].observation)
        return Deviation(
            step=step,
            operation=operation,
            args=args,
            branch="",
            severity=Severity.IMAGE,
            before=seen[step - 1].observation if step else None,
            expected=[allowed.json()],
            observed=seen[step].json(),
            entries=entries,
        )

    def _behind(
        self, relabelled: RelabelledSteps, siblings: Siblings | None
    ) -> dict[int, tuple[str, ...]]:
        """The overlay entries that explain what images show, by step."""
        follower = self._follower(siblings, _Findings()) if relabelled.images else None
        if follower is None:
            return {}
        steps = self.result.steps[: len(relabelled.states)]
        images = (self.batch.at(image) for _, _, image in steps)
        return explaining(
            follower, [ImagedStep(self._raw(n), image) for n, image in enumerate(images)]
        )

    def _failing(
        self, last: int, seen: list[RelabelledStep], siblings: Siblings | None
    ) -> tuple[str, ...]:
        """The overlay entries that explain a failure at the step of an image or before: an image
        reads everything written since the previous one. None for an image that did not fail."""
        image = seen[last].image
        follower = self._follower(siblings, _Findings()) if is_fault(image) else None
        names: set[str] = set()
        for number in range(1, last + 1) if follower else ():
            assert follower is not None
            step = self._raw(number)
            try:
                failed = step._replace(reply=image, observation=None, texts=None)
                names |= set(list_failing(follower, failed))
                follower.step(step)
            except CannotFollow:
                break
        return tuple(sorted(names))

    def _first(self, stop: Stop, seen: list[RelabelledStep], judged: Judged | None) -> Deviation:
        expected = self._list_expected(stop)
        if self.observes is not None and judged and judged.expected:
            expected = judged.expected
        entries = judged.entries if judged else ()
        return self._deviation(stop.step, seen, expected, entries)

    def _deviation(
        self,
        step: int,
        seen: list[RelabelledStep],
        expected: tuple[Allowed, ...],
        entries: tuple[str, ...],
    ) -> Deviation:
        operation, args = self._call(step)
        fault = seen[step].fault or is_fault(seen[step].reply)  # it may have an observation
        shown = RelabelledStep(seen[step].reply, seen[step].observation, fault)
        closest = nearest(expected, shown)
        operations = [self._call(number)[0] for number in range(step + 1)]
        steps = OpaqueSteps(self.judge.opaque, operations, [*seen[:step], shown])
        return Deviation(
            step=step,
            operation=operation,
            args=args,
            branch=closest.branch if closest else "",
            severity=severity(expected, shown),
            before=seen[step - 1].observation if step else None,
            expected=[allowed.json() for allowed in expected],
            observed=shown.json(),
            entries=entries,
            values=equal_values(steps, closest, len(expected) > 1),
        )

    def _follower(self, siblings: Siblings | None, found: _Findings) -> Follower | None:
        if siblings is None:
            found.lost = "there is no model to continue with"
            return None
        start = self.batch.at(self.result.steps[0][1])
        try:
            return Follower(siblings, self.question, self.observes, start)
        except CannotFollow as error:
            found.lost = str(error)
            return None

    def _retrace(self, follower: Follower, stop: Stop, found: _Findings) -> Judged | None:
        """Follow the model up to the step at which the run left the automaton, and judge that
        step."""
        try:
            for step in range(1, stop.step):
                if not follower.step(self._raw(step)).allowed:
                    found.lost = _ANOTHER_MODEL
                    return None
            if stop.step == 0:
                found.lost = _ANOTHER_MODEL
                return None
            return self._judge(follower, stop.step)
        except CannotFollow as error:
            found.lost = str(error)
            return None

    def _judge(self, follower: Follower, step: int) -> Judged:
        """Judge a step that may be a fault, with or without an observation."""
        raw = self._raw(step)
        return judge_fault(follower, raw) if is_fault(raw.reply) else follower.step(raw)

    def _go_on(
        self, follower: Follower, after: int, seen: list[RelabelledStep], found: _Findings
    ) -> None:
        """Judge the steps after the first divergence, each from the state that was observed."""
        if not follower.siblings.same_operations:
            found.lost = _NOTHING_BEHIND
            return
        for step in range(after + 1, len(seen)):
            try:
                judged = self._judge(follower, step)
            except CannotFollow as error:
                found.lost = str(error)
                return
            found.judged = step
            found.branches.append(judged.branches[0] if len(judged.branches) == 1 else "")
            if found.branches[-1]:
                found.transitions.append((key(seen[step - 1].observation), found.branches[-1]))
            found.note(step, judged)
            if not judged.allowed:
                found.deviations.append(
                    self._deviation(step, seen, judged.expected, judged.entries)
                )
