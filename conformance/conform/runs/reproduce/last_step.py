"""Says what differs after the last operation of a path that a target has performed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import orjson

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.reading import own_calls, own_object
from charter.formats.verdict import Deviation
from conform.judging.automaton import AnswerJson
from conform.judging.differ import Allowed, RelabelledStep, image_paths, nearest, paths, value_at
from conform.judging.siblings import ObservedStep, Siblings
from conform.runs.findings.findings import finding_id
from conform.runs.reproduce.case import SHOWS, CaseCheck, Question
from conform.runs.reproduce.right_step import allow_after_right_step
from conform.storage.tables import cause_of, list_expected


@dataclass(frozen=True, slots=True)
class PerformedPath:
    """A question that a target has performed to its end: what the charter answers, the deviations,
    the last step, and all steps as they were received. `siblings` reads the models that it is
    judged by (None: there are none)."""

    question: Question
    answer: AnswerJson
    deviations: Sequence[Deviation]
    last: RelabelledStep
    raw: Sequence[ObservedStep]
    siblings: Callable[[], Siblings | None]

    def compare(self, case: WantedCase) -> tuple[CaseCheck, ...]:
        """What was expected and observed after the last operation. Raises `CannotReproduce`."""
        seen = self.last
        allowed = _allow_last(self, case.finding) or [Allowed("", seen.reply, seen.observation)]
        checks = compare_last(allowed, seen, case)
        if case.name != SHOWS or case.compared:
            return checks
        last = len(own_calls(self.question))
        return _compare_image(self.deviations, last, case.finding) or checks

    def list_findings(self) -> frozenset[str]:
        """The ids of the findings that it shows."""
        return frozenset(list_findings(self.deviations, own_object(self.question["sorts"])))


@dataclass(frozen=True, slots=True)
class WantedCase:
    """A way through to perform: its name, the finding, and the places that are compared (none: all
    that differ)."""

    name: str
    finding: str
    compared: Sequence[CaseCheck] = ()


def list_findings(deviations: Iterable[Deviation], sorts: Mapping[str, Json]) -> Iterator[str]:
    """The ids of the findings that deviations show."""
    held = cast("Mapping[str, Mapping[str, int]]", sorts)
    for deviation in deviations:
        yield from deviation.entries
        yield finding_id(" ".join(deviation.entries), cause_of(deviation, held))


def compare_last(
    allowed: Sequence[Allowed], seen: RelabelledStep, case: WantedCase
) -> tuple[CaseCheck, ...]:
    """What was expected and observed in the last step, in the places of a case, or else where they
    differ. Labels of opaque values are left out."""
    best = nearest(allowed, seen)
    assert best is not None
    wanted: dict[str, Json] = {"reply": best.reply, "state": best.observation}
    found: dict[str, Json] = {"reply": seen.reply, "state": seen.observation}
    compared = case.compared
    images = [one for one in compared if one.in_image]
    if images:
        kept = (
            value_at(seen.observation, ".".join(one.path)) if one.path else None for one in images
        )
        return tuple(
            replace(one, expected=value, observed=value)
            for one, value in zip(images, kept, strict=True)
        )
    if compared:
        places = [".".join(("reply" if one.is_reply else "state", *one.path)) for one in compared]
        places = [place.rstrip(".") for place in places]
        places = [place for place in places if _has_place(wanted, place)]
    elif seen.fault or _case(best.reply) != _case(seen.reply):
        places = ["reply"]
    else:
        # A reply that differs in a detail alone follows from the state.
        places = [*paths(wanted["state"], found["state"], "state")]
        places = places or [*paths(wanted["reply"], found["reply"], "reply")]
    checks = [_check(place, value_at(wanted, place), value_at(found, place)) for place in places]
    return tuple(one for one in checks if one.is_reply or not _has_label(one))


def _compare_image(
    deviations: Sequence[Deviation], last: int, finding: str
) -> tuple[CaseCheck, ...]:
    """What the image after the last operation shows otherwise than the state, if that is the
    finding; or that it cannot be made."""
    for deviation in deviations:
        seen = own_object(deviation.observed)
        if deviation.step != last or finding not in deviation.entries or "image" not in seen:
            continue
        if is_fault(seen["image"]):
            return (CaseCheck((), None, seen["image"], in_image=True),)
        found = image_paths(seen["observation"], seen["image"])
        return tuple(
            CaseCheck(
                tuple(place.split(".")[1:]),
                value_at({"image": seen["observation"]}, place),
                value_at(seen, place),
                in_image=True,
            )
            for place in found
        )
    return ()


def _has_place(value: Json, path: str) -> bool:
    """Whether a value has a place: a variant of the charter may lack a variable."""
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return True


def _check(place: str, expected: Json, observed: Json) -> CaseCheck:
    head, *path = place.split(".")
    return CaseCheck(tuple(path), expected, observed, is_reply=head == "reply")


def _case(reply: Json) -> Json:
    return reply.get("case") if isinstance(reply, dict) else reply


def _has_label(check: CaseCheck) -> bool:
    text = orjson.dumps([check.expected, check.observed]).decode()
    return '"#' in text or '"~' in text


def _allow_last(path: PerformedPath, finding: str) -> list[Allowed]:
    """What is right after the last operation of a path, empty if it is what was observed.

    - The last step shows the finding: what the charter allows in the state that was observed before
      it, since others of its differences are no part of the finding.
    - Other findings alone are before it: what was observed.
    - An earlier one shows it: what the charter allows if that step had been right. What the target
      chose before, as it may, stays.
    """
    deviations, sorts = path.deviations, own_object(path.question["sorts"])
    last = len(path.answer["steps"]) - 1
    showing = [one for one in deviations if finding in list_findings([one], sorts)]
    for one in showing:
        if one.step == last:
            return list_expected(one)
    if not showing and deviations and all(one.entries for one in deviations):
        return []
    if showing:
        siblings = path.siblings()
        if siblings:
            return allow_after_right_step(siblings, path.question, path.raw, showing[0].step)
    return _allow_from_start(path.answer)


def _allow_from_start(answer: AnswerJson) -> list[Allowed]:
    return [
        Allowed(
            node["branch"],
            answer["replies"][node["reply"]] if node["reply"] >= 0 else None,
            answer["observations"][node["observation"]],
        )
        for node in answer["steps"][-1]
    ]
