"""Says which earlier value an opaque value must equal, or must differ from, where a step deviates.

A label says by its number that a value was there before, but not where: a reader of `expected "#2",
got "#3"` would have to search the steps for `"#2"`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from conform.judging.differ import Allowed, RelabelledStep, paths, value_at

_LABELS = ("#", "~")
ONE_COUNTER = (
    "if the implementation takes new values of all keys from one sequence, the charter must, too:"
    " `conform help types` has a section on it"
)
"""What is said where a new value came, but the charter allots one that was there before."""


@dataclass(frozen=True, slots=True)
class OpaqueSteps:
    """The steps of a run up to one that deviates, relabelled: `seen` with the state before the
    first operation, and the operation of each ("" for that state)."""

    opaque: OpaqueTypes
    operations: Sequence[str]
    seen: Sequence[RelabelledStep]


def equal_values(steps: OpaqueSteps, nearest: Allowed | None, several: bool) -> tuple[str, ...]:
    """One sentence for each pair of an expected and an observed opaque value in the last step.
    `several`: `nearest` is one of several outcomes that the charter allows."""
    seen = steps.seen[-1]
    if nearest is None or seen.fault:
        return ()
    wanted = _TypedStep.of(steps, nearest.reply, nearest.observation)
    came = _TypedStep.of(steps, seen.reply, seen.observation)
    pairs: dict[tuple[str, str], list[str]] = {}
    for path in paths(wanted.value, came.value, ""):
        pair = value_at(wanted.value, path), value_at(came.value, path)
        if _is_label(pair[0]) and _is_label(pair[1]):
            pairs.setdefault((str(pair[0]), str(pair[1])), []).append(path)
    earlier = _earlier(steps) if pairs else {}
    told: list[str] = []
    for (expected, observed), places in pairs.items():
        there, here = earlier.get(expected), earlier.get(observed)
        there = there or _find_agreed(expected, wanted, came)
        here = here or _find_agreed(observed, came, wanted)
        place = next((path for path in places if path.startswith("reply")), places[0])
        must = "in the nearest outcome must" if several else "must"
        says = _is(expected, there, earlier, "equal", "be")
        saw = _is(observed, here, earlier, "equals", "is")
        new = there is None and here is None
        turned = _find_turned((expected, observed), (wanted, came), earlier) if new else iter(())
        if beside := next(turned, ""):
            says = _is_beside(expected, str(value_at(wanted.value, beside)), beside, "be")
            saw = _is_beside(observed, str(value_at(came.value, beside)), beside, "is")
        told.append(f"{place} {must} {says}; it {saw}")
        if expected in earlier and here is None and _is_allotted(expected, places, steps):
            told.append(ONE_COUNTER)
    return tuple(dict.fromkeys(told))


@dataclass(frozen=True, slots=True)
class _TypedStep:
    """A reply and an observation, with the type at each label."""

    value: dict[str, Json]

    @staticmethod
    def of(steps: OpaqueSteps, reply: Json, observation: Json, at: int = -1) -> _TypedStep:
        shown = steps.opaque.observation(observation, _find_type)
        variables = shown if isinstance(shown, dict) else {}
        return _TypedStep(
            {"reply": steps.opaque.reply(steps.operations[at], reply, _find_type), **variables}
        )


def _find_type(kind: str, label: str) -> str:
    return f"{label} {kind}"


def _is_label(value: Json) -> bool:
    return isinstance(value, str) and value[:1] in _LABELS


def _labels(value: Json, at: str = "") -> Iterator[tuple[str, str]]:
    """The labels in a value with their paths; those in a list have that of the list."""
    if isinstance(value, dict):
        for name in sorted(value):
            yield from _labels(value[name], f"{at}.{name}" if at else name)
    elif isinstance(value, list):
        for item in value:
            yield from _labels(item, at)
    elif isinstance(value, str) and value[:1] in _LABELS:
        yield value, at


def _earlier(steps: OpaqueSteps) -> dict[str, str]:
    """Where each label was seen last before the step that deviates."""
    found: dict[str, str] = {}
    last = len(steps.seen) - 1
    for number, step in enumerate(steps.seen[:last]):
        shown = _TypedStep.of(steps, step.reply, step.observation, number)
        when = "before this step" if number == last - 1 else f"after step {number}"
        for label, path in _labels({"reply": shown.value.pop("reply")}):
            found[label] = f"{path} of step {number}"
        of_state: dict[str, str] = {}
        for label, path in _labels({**shown.value}):
            of_state.setdefault(label, f"{path} {when}")
        found |= of_state
    return found


def _find_agreed(label: str, shown: _TypedStep, other: _TypedStep) -> str | None:
    """Another place of the same step with this value, as expected."""
    for found, path in _labels({**shown.value}):
        if found == label and value_at(other.value, path) == label:
            return f"{path} of this step"
    return None


def _is(label: str, there: str | None, earlier: dict[str, str], equals: str, be: str) -> str:
    """What is known of a value: where it also is, or that it is new, and in which order."""
    text, _, kind = label.partition(" ")
    if there is not None:
        return f'{equals} {there} ("{text}")'
    before = [one for one in earlier if one.startswith("#") and one.partition(" ")[2] == kind]
    if text.startswith("~") or not before:
        return f'{be} a new value ("{text}")'
    number, numbers = _number(text), [_number(one.partition(" ")[0]) for one in before]
    if number > max(numbers):
        return f'{be} a new value, greater than all before ("{text}")'
    return f'{be} a new value, not greater than all before ("{text}")'


def _find_turned(
    pair: tuple[str, str], shown: tuple[_TypedStep, _TypedStep], earlier: Collection[str]
) -> Iterator[str]:
    """The paths of other new values of the step, to which an expected and an observed new value
    have different orders."""
    kind = pair[0].partition(" ")[2]
    for label, path in _labels({**shown[0].value}):
        both = label, str(value_at(shown[1].value, path))
        labels = (*pair, *both)
        if all(one.startswith("#") and one.partition(" ")[2] == kind for one in labels):
            new = not any(one in earlier for one in labels)
            expected, observed = (_order(a, b) for a, b in zip(pair, both, strict=True))
            if new and expected and observed and expected != observed:
                yield path


def _is_beside(label: str, other: str, path: str, be: str) -> str:
    """That a value is new, and its order to another new one of the step."""
    text = label.partition(" ")[0]
    return f'{be} a new value, {_order(label, other)} than {path} of this step ("{text}")'


def _order(label: str, other: str) -> str:
    """The order of two labels with numbers; "" if they are equal."""
    one, two = (_number(each.partition(" ")[0]) for each in (label, other))
    return "" if one == two else "less" if one < two else "greater"


def _number(label: str) -> Fraction:
    return Fraction(label[1:])


def _is_allotted(expected: str, places: Sequence[str], steps: OpaqueSteps) -> bool:
    """Whether an expected value comes to one of the places in this step: it was not there."""
    if not expected.startswith("#"):
        return False
    before = steps.seen[-2]
    state = _TypedStep.of(steps, None, before.observation, -2).value
    return all(value_at(state, path) != expected for path in places)
