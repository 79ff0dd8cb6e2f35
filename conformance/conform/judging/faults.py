"""Judges faults of a target: exceptions that the protocol does not name."""

from __future__ import annotations

from charter.formats.resolve import Unresolved
from conform.judging.candidates import Judged
from conform.judging.follow import CannotFollow, Follower
from conform.judging.model import JudgeModel, can_fail, fails, is_thrown
from conform.judging.model_bugs import ModelCall
from conform.judging.siblings import SEVERAL_ENTRIES, ObservedStep


def judge_fault(follower: Follower, step: ObservedStep) -> Judged:
    """Judge a fault: what the charter allows instead, and which entries explain it. Following
    ends here. The observation is None if there was none. Raises `CannotFollow` if the state
    before the step is not known."""
    if not follower.states:
        raise CannotFollow(follower.lost)
    judged = _judge(follower, step)
    follower.end("the run ended with a fault")
    return judged


def _judge(follower: Follower, step: ObservedStep) -> Judged:
    try:
        call = follower.resolved(step)
    except Unresolved:
        return Judged(False, ())
    allowed = follower.ask_charter(call)
    expected = tuple(item.list_allowed() for items in allowed for item in items)
    changed = step.observation is not None and follower.has_changed(step.observation)
    entries = () if changed else list_failing(follower, step)
    return Judged(False, (), expected, entries)


def list_failing(follower: Follower, step: ObservedStep) -> tuple[str, ...]:
    """The entries that explain the fault `step.reply` at a step."""
    try:
        call = follower.resolved(step)
    except Unresolved:
        return ()
    follower.begin_step(call.operation)
    knows = [
        entry
        for entry, sibling in follower.siblings.entries.items()
        if can_fail(sibling) and _knows_fault(follower, sibling, step, call)
    ]
    names = tuple(sorted(entry for entry in knows if entry))
    return names or (SEVERAL_ENTRIES,) * len(knows)


def _knows_fault(
    follower: Follower, sibling: JudgeModel, step: ObservedStep, call: ModelCall
) -> bool:
    """Whether an entry's model has this fault in one of the possible states."""
    states = follower.list_likely_in(sibling)
    try:
        known = [f for state in states for f in fails(sibling, state, call.operation, call.args)]
    except Exception as error:
        raise follower.failed(sibling, call, error) from error
    return any(is_thrown(fault, step.reply) for fault in known)
