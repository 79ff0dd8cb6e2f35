"""Computes what is right after the last operation of a path if an earlier step of it had been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charter.formats.canonical import Json
from charter.formats.reading import own_calls
from charter.formats.resolve import Unresolved
from conform.judging.differ import Allowed
from conform.judging.follow import CannotFollow, Follower
from conform.judging.siblings import ObservedStep, Siblings
from conform.judging.traces import ModelTrace, steps
from conform.runs.reproduce.case import CannotReproduce

_MOST_TRACES = 64


def allow_after_right_step(
    siblings: Siblings, question: Mapping[str, Json], observed: Sequence[ObservedStep], wrong: int
) -> list[Allowed]:
    """What the charter allows after the last operation of a question if it had been obeyed from
    the operation number `wrong` on. `observed` begins with the state before the first one. Raises
    `CannotReproduce`."""
    calls = own_calls(question)
    first = observed[0].observation
    observes = tuple(first) if isinstance(first, dict) else None
    try:
        follower = Follower(siblings, question, observes, first)
        for one in observed[1:wrong]:
            follower.step(one)
        if not follower.states:
            raise CannotFollow(follower.lost)
        labels, history = follower.labels, follower.history
        traces = [ModelTrace(state, labels, history) for state in follower.states]
        found: list[Allowed] = []
        for call in calls[wrong - 1 :]:
            outcomes = [one for at in traces for one in steps(siblings.charter, call, at, observes)]
            traces = [one.after for one in outcomes]
            found = [Allowed(one.branch, one.reply, one.seen) for one in outcomes]
            if len(traces) > _MOST_TRACES:
                raise CannotFollow(f"there are more than {_MOST_TRACES} of them")
    except (CannotFollow, Unresolved) as error:
        raise CannotReproduce(
            f"what is right after operation {len(calls)}, had operation {wrong} been right, is not"
            f" known ({error}); another path is needed"
        ) from None
    return found
