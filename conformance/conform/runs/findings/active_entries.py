"""Finds the overlay entries that allow something else than the charter in a step of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.resolve import Unresolved
from conform.judging.follow import CannotFollow, Follower
from conform.judging.model import (
    JudgeModel,
    can_take_over,
    give_back,
    may_differ,
    take_over,
)
from conform.judging.model_bugs import ModelCall
from conform.judging.relabel import key
from conform.judging.siblings import ObservedStep, Siblings


def list_active(
    siblings: Siblings,
    question: Mapping[str, Json],
    observes: Sequence[str] | None,
    steps: Sequence[ObservedStep],
) -> tuple[str, ...]:
    """The entries that differ from the charter in the last of `steps`, by name; `steps` begin with
    the state before the first operation. All that may differ if the state is not known."""
    *before, last = steps
    able = [name for name, model in siblings.entries.items() if name]
    able = [name for name in able if may_differ(siblings.entries[name], last.operation)]
    try:
        follower = Follower(siblings, question, observes, steps[0].observation)
        for step in before[1:]:
            follower.step(step)
        call = follower.resolved(last)
        own = _show(follower, siblings.charter, call)
        return tuple(
            sorted(name for name in able if _show(follower, siblings.entries[name], call) != own)
        )
    except (CannotFollow, Unresolved):
        return tuple(sorted(able))


def _show(follower: Follower, model: JudgeModel, call: ModelCall) -> list[frozenset[bytes]]:
    """What a model allows in each of the likely states."""
    is_charter = model is follower.siblings.charter
    states = follower.likely if is_charter else follower.list_likely_in(model)
    try:
        return [
            frozenset(
                key([outcome.reply, model.observe(outcome.state)])
                for outcome in model.outcomes(state, call.operation, call.args)
            )
            for state in states
        ]
    except Exception as error:
        raise follower.failed(model, call, error) from error


def find_first_active(
    charter: Siblings,
    models: Mapping[str, JudgeModel],
    question: Mapping[str, Json],
    observes: Sequence[str] | None,
    steps: Sequence[ObservedStep],
) -> dict[str, int]:
    """The first of `steps` in which an entry may do otherwise than the charter, hidden state
    included: up to there a run is followed with its model alone as with the charter's. Entries that
    never may are left out. After a fault all may. `charter` has no entries. `steps` begin with the
    state before the first operation."""
    at_start = {"failover"} if question["given"] is not None else set()
    found = {
        name: 0
        for name, model in models.items()
        if not can_take_over(model, charter.charter)
        or any(may_differ(model, operation) for operation in at_start)
    }
    left = {name: model for name, model in models.items() if name not in found}
    at = 0
    try:
        follower = Follower(charter, question, observes, steps[0].observation)
        for at, step in enumerate(steps[1:], 1):
            if is_fault(step.reply):
                return found | dict.fromkeys(left, at)
            call = follower.resolved(step)
            for name in [name for name in left if may_differ(left[name], call.operation)]:
                if _is_active(follower, left[name], call):
                    found[name] = at
                    del left[name]
            follower.step(step)
    except (CannotFollow, Unresolved):
        found |= dict.fromkeys(left, at)
    return found


def _is_active(follower: Follower, model: JudgeModel, call: ModelCall) -> bool:
    """Whether an entry's model has other outcomes than the charter's in the present states."""
    charter = follower.siblings.charter
    for state in follower.states:
        try:
            own = charter.outcomes(state, call.operation, call.args)
            other = model.outcomes(take_over(model, state), call.operation, call.args)
            shown = [(one.reply, give_back(one.state, state)) for one in other]
        except Exception:  # the run of that model says what is wrong
            return True
        if shown != [(one.reply, one.state) for one in own]:
            return True
    return False
