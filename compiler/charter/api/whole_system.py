"""Finds out whether the operations of a question can happen in a system of the charter: whether a
trace of the system has exactly these calls of the component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from charter.analysis.followed_calls import name_of_depth
from charter.analysis.retell import Act, run_of
from charter.analysis.written_values import write_value
from charter.api.system_searches import (
    NO_STATE,
    ImpossibleCall,
    SystemLimits,
    SystemSearch,
    list_parts,
    list_searches,
)
from charter.core import nodes as n
from charter.explore import select
from charter.explore.model_checker import ExploreOptions, Progress
from charter.explore.result import SearchResult
from charter.formats.vector import Question
from charter.render.story.tell import Story
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import Universe

FIRST_ROUND = 10
"""In all instances a tenth of the states is searched first: most calls are found soon."""


@dataclass(frozen=True, slots=True)
class TriedInstance:
    """A search in vain: in the sizes of an instance of a system, from the state in which the
    component is after the first `begins` operations. `complete`: all states were searched,
    with all renamings of sort elements."""

    system: str
    instance: str
    begins: int
    states: int
    complete: bool


@dataclass(frozen=True, slots=True)
class FoundInSystem:
    """A trace of a system that has the calls: in the sizes of an instance, from the state in which
    the component is after the first `begins` operations (0: the trace begins where the question
    does). `tried` are the searches before."""

    system: str
    instance: str
    begins: int
    states: int
    story: Story
    tried: tuple[TriedInstance, ...]


@dataclass(frozen=True, slots=True)
class NotFoundInSystem:
    """No trace was found. `why`: why nothing was searched ("": see `tried`); `impossible`: since
    there can be none, as no step makes the calls."""

    tried: tuple[TriedInstance, ...]
    why: str = ""
    impossible: bool = False

    @property
    def states(self) -> int:
        """How many states were searched."""
        return sum(one.states for one in self.tried)


InSystem = FoundInSystem | NotFoundInSystem


def has_system(model: n.Model, component: str) -> bool:
    """Whether the charter has a system with this component as a part."""
    return bool(list_parts(model, component))


def find_in_system(
    model: n.Model, question: Question, limits: SystemLimits, progress: Progress
) -> InSystem:
    """Whether a trace of a system has the calls of a question. `model` has a system with its
    component (`has_system`). Raises CannotExplore, or ValueError for an argument that is not of its
    type."""
    if missing := _find_missing(model, question):
        return NotFoundInSystem((), missing)
    found = list(list_searches(model, question, limits))
    searches = [_Climb(one) for one in found if isinstance(one, SystemSearch)]
    if not searches:
        impossible = {one.part: one.why for one in found if isinstance(one, ImpossibleCall)}
        parts = {(s.name, p.name) for s, p in list_parts(model, question.component)}
        if parts == impossible.keys():
            return NotFoundInSystem((), next(iter(impossible.values())), impossible=True)
        return NotFoundInSystem((), _choose_reason([one for one in found if isinstance(one, str)]))
    for each in (limits.each // FIRST_ROUND, limits.each):
        for search in searches:
            left = limits.states - sum(one.count for one in searches)
            if not search.complete and left > 0:
                story = search.climb(each, left, progress)
                if story is not None:
                    others = tuple(one.tried for one in searches if one.count and one != search)
                    return FoundInSystem(*search.place, search.count, story, others)
    return NotFoundInSystem(tuple(search.tried for search in searches))


def _choose_reason(reasons: Sequence[str]) -> str:
    """Why nothing can be searched: what the question is, before what no instance has."""
    none = "no instance has the sorts and the constants of the question"
    named = [one for one in reasons if one != NO_STATE]
    return next(iter([*named, *reasons]), none)


def _find_missing(model: n.Model, question: Question) -> str:
    """What of a question the charter does not have: it may be of another version."""
    component = next(c for c in model.components if c.name == question.component)
    params = {o.name: {p.name for p in o.params} for o in component.operations}
    for call in question.operations:
        if call.operation not in params:
            return f"{component.name} has no operation {call.operation}"
        if set(call.args) != params[call.operation]:
            return f"{call.operation} has other parameters in the charter than in the question"
    return ""


@dataclass(frozen=True, slots=True)
class _Pin:
    """A state that was reached: how deep in the tree, and by which steps."""

    depth: int
    acts: tuple[Act, ...]
    state: State


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Bounds of a search: the number of states, and whether steps that do not call the component
    have no budget."""

    states: int
    spare: bool


def _trace_of(found: SearchResult, depth: int) -> tuple[Act, ...] | None:
    """The steps to a depth; None if it was not reached."""
    name = name_of_depth(depth)
    trace = next((p.trace for p in found.properties if p.name == name), None)
    return None if trace is None else tuple((step.operation, step.args) for step in trace)


@dataclass(slots=True, eq=False)
class _Climb:
    """A search. `count` is how many states it has searched so far, `complete` whether these were
    all that there are; `pins` are states with more and more of the calls."""

    what: SystemSearch
    count: int = 0
    complete: bool = False
    pins: list[_Pin] = field(default_factory=list)
    opened: select.OpenedSearch | None = None

    @property
    def place(self) -> tuple[str, str, int]:
        """The system, the instance, and the depth at which the search begins."""
        return self.what.system, self.what.instance.name, self.what.begins

    @property
    def tried(self) -> TriedInstance:
        """What was searched so far in vain."""
        return TriedInstance(*self.place, self.count, self.complete and not self.what.cut)

    def climb(self, each: int, most: int, progress: Progress) -> Story | None:
        """Search for one more call at a time, from the first state found with the calls before: at
        most `each` states at once, `most` in all. In vain it goes on from an earlier state, in the
        end from the first one: so what is reported as not found was not found from there, either.
        """
        if not self.pins:
            machine = Machine.of(self.what.model, self.what.instance)
            self.pins.append(_Pin(self.what.begins, (), machine.initial()))
        pins, end, back = [*self.pins], self.count + most, 1
        best = pins[-1].depth
        while self.count < end:
            pin, acts = pins[-1], None
            for spare in self._list_tries(pin):
                room = min(each, end - self.count)
                if acts is None and room > 0:
                    found = self._explore(pin, best + 1, _Bounds(room, spare), progress)
                    acts = _trace_of(found, best + 1)
            if acts is not None:
                steps = (*pin.acts, *acts)
                best, back = best + 1, 1
                if best == self.what.depth:
                    return self._tell(steps)
                pins.append(self._pin(pin, best, steps))
                self.pins = [*pins]
            elif len(pins) == 1:
                self.complete = room > 0 and found.counts.complete
                return None
            else:
                del pins[max(1, len(pins) - back) :]
                back *= 2
        return None

    def _explore(self, pin: _Pin, depth: int, bounds: _Bounds, progress: Progress) -> SearchResult:
        """What a search finds from a state until a depth is reached."""
        begun = self.count
        if self.opened is None:
            options = ExploreOptions(symmetry=False)
            self.opened = select.open_search(self.what.model, self.what.instance, options)

        def tell(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
            progress(begun + distinct, generated, level, queue, doing)

        until = name_of_depth(depth)
        options = ExploreOptions(most_states=bounds.states, symmetry=False, until=until)
        found = self.opened.explore(self._starts(pin.state, spare=bounds.spare), options, tell)
        self.count += found.counts.distinct
        return found

    def _list_tries(self, pin: _Pin) -> tuple[bool, ...]:
        """Whether to search without budget for steps that do not call the component: first so, as
        most calls need none, then with it."""
        return (True, False) if any(pin.state[name] for name in self.what.spared) else (False,)

    def _starts(self, state: State, *, spare: bool = False) -> tuple[tuple[str, n.Expr], ...]:
        """A state, as the first one of an instance. `spare`: without budget for steps that do not
        call the component."""
        universe = Universe.of(self.what.instance)
        whole = next(s for s in self.what.model.systems if s.name == self.what.system)
        gone = self.what.spared if spare else ()
        return tuple(
            (v.name, write_value(v.type, 0 if v.name in gone else state[v.name], universe))
            for v in whole.state
        )

    def _pin(self, before: _Pin, depth: int, acts: tuple[Act, ...]) -> _Pin:
        starts = self._starts(before.state)
        machine = Machine.of(self.what.model, replace(self.what.instance, starts=starts))
        prop = next(p for p in self.what.model.properties if p.name == name_of_depth(depth))
        states = run_of(
            machine,
            acts[len(before.acts) :],
            lambda run: not machine.holds(prop, machine.scope(run[-1])),
        )
        return _Pin(depth, acts, states[-1])

    def _tell(self, acts: tuple[Act, ...]) -> Story:
        from charter.api.explain import story_of
        from charter.render.story.tell import ToldFinding

        found = ToldFinding("always", name_of_depth(self.what.depth), acts)
        return story_of(self.what.model, self.what.instance, found)


__all__ = [
    "FoundInSystem", "InSystem", "NotFoundInSystem", "SystemLimits", "TriedInstance",
    "find_in_system", "has_system",
]  # fmt: skip
