"""Finds the overlay entries that allow something else than the charter in one step of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charter.formats.canonical import Json
from charter.formats.resolve import Unresolved
from conform.judging.follow import CannotFollow, Follower
from conform.judging.model import JudgeModel, may_differ
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
