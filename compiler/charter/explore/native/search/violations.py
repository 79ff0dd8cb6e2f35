"""Tells what is violated while a search still runs, once for each property."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Protocol

from charter.core.transition import is_of_transition
from charter.explore.native.program.compile_instance import Program
from charter.explore.native.search.levels import Note, SearchCounts
from charter.explore.result import WRONG, FirstViolation


class Running(Protocol):
    """The interface of a search that runs, in threads or on Spark."""

    @property
    def program(self) -> Program: ...
    @property
    def levels(self) -> Sequence[int]: ...
    def note(self, number: int) -> Note: ...


def watch(
    search: Running,
    on_progress: Callable[[SearchCounts], None] | None,
    on_violation: Callable[[FirstViolation], None] | None,
) -> Callable[[SearchCounts], None] | None:
    """The progress callback of `search`, which also tells each violation when it is first seen."""
    if on_violation is None:
        return on_progress
    plan = search.program.plan
    properties = {p.name: p for p in plan.machine.model.properties}
    all_ = {
        number: (kind, name)
        for number, (noted, name) in enumerate(plan.noted)
        for kind in WRONG
        if kind == noted
    }
    open_, distinct = dict(all_), 0

    def tell(now: SearchCounts) -> None:
        nonlocal distinct
        if now.distinct < distinct:  # the search began anew, with states told apart
            open_.update(all_)
        distinct = now.distinct
        for number, (kind, name) in [*open_.items()]:
            note = search.note(number)
            if not note.count:
                continue
            del open_[number]
            steps = bisect_right([*accumulate(search.levels)], note.source)
            if name in properties:
                steps += is_of_transition(properties[name])
            else:
                steps += kind == "undefined"  # the last step is the one that has no outcome
            on_violation(FirstViolation(kind, name, steps, now.distinct))
        if on_progress is not None:
            on_progress(now)

    return tell
