"""Looks for triples of operations, and for variables that are set, cleared and set again: by random
walks in an instance that are drawn to what is left. What they find is the same at each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from charter.analysis.environment import Arguments
from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.vector import Vector, Why
from charter.semantics.builtins import items
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.suites.planning.instance_planner import InstancePlanner
from charter.suites.planning.random_walks import Chooser
from charter.suites.standard.wanted import Triple, Wanted
from charter.vectors.plan import OPEN

WALKS = 300
"""The most walks for triples in an instance; every second one begins before its prelude."""
STEPS = 10
"""The most operations of such a walk, besides those of a prelude."""
WALKS_AGAIN = 60
"""The most walks for variables in an instance."""
STEPS_AGAIN = 30
"""The most operations of such a walk, besides those of a prelude."""
AGAIN_MIN = 12
"""The fewest operations of a question that sets, clears and sets a variable again."""
TRIES = 3
"""How many lists of arguments of each operation are tried in a state of a walk."""
IN_VAIN_MAX = 60
"""After so many walks in a row that find nothing an instance is left."""

_SET_AGAIN = 3
"""How often a value changed between the first one and others when it is set again."""

_Trace = list[tuple[State, Act]]


@dataclass(frozen=True, slots=True)
class _Option:
    """Something that can be done in a state; whether it changes the state."""

    act: Act
    outcome: Outcome
    moves: bool


@dataclass(slots=True)
class Hunt:
    """A search in one instance. `triples` and `variables` are what is left; of the triples `firsts`
    and `seconds` count how many begin with an operation, and with two. `phases` says how often each
    value of a walk changed between the first one and others."""

    wanted: Wanted
    planner: InstancePlanner
    chooser: Chooser
    triples: set[Triple]
    variables: set[str]
    phases: dict[tuple[str, int], int] = field(default_factory=dict)
    firsts: Counter[str] = field(default_factory=Counter)
    seconds: Counter[tuple[str, str]] = field(default_factory=Counter)

    @staticmethod
    def of(
        model: n.Model,
        instance: n.Instance,
        wanted: Wanted,
        left: tuple[set[Triple], set[str]],
    ) -> Hunt:
        """The search of an instance for what is `left`, which shrinks, with everything that the
        component offers."""
        planner = InstancePlanner.open_planner(model, instance)
        chooser = Chooser(planner.asked, f"standard, {instance.name}")
        made = Hunt(wanted, planner, chooser, *left)
        made.firsts.update(triple[0] for triple in made.triples)
        made.seconds.update(triple[:2] for triple in made.triples)
        return made

    def list_vectors(self) -> Iterator[Vector]:
        """A vector for each triple and each variable that is found."""
        starts = self._list_starts()
        in_vain = 0
        for number in range(WALKS):
            before = len(self.triples)
            if self.triples and in_vain < IN_VAIN_MAX:
                yield from self._walk_for_triples(number, *starts[number % len(starts)])
            in_vain = in_vain + 1 if len(self.triples) == before else 0
        in_vain = 0
        for number in range(WALKS_AGAIN):
            many = len(self.variables)
            if self.variables and in_vain < IN_VAIN_MAX:
                yield from self._walk_for_variables(number, *starts[number % len(starts)])
            in_vain = in_vain + 1 if len(self.variables) == many else 0

    def _list_starts(self) -> list[tuple[State, bool]]:
        """Where walks begin, and whether that is behind the prelude."""
        machine = self.planner.machine
        first = (machine.initial_of_component(), False)
        return [(machine.initial(), True), first] if self.planner.led.prelude else [first]

    def _list_options(self, state: State, random: Random) -> list[_Option]:
        """Some lists of arguments of each operation, each with one outcome."""
        machine = self.planner.machine
        arguments = Arguments.at(machine, state)
        found: dict[Act, _Option] = {}
        for operation in machine.operations:
            for _ in range(TRIES):
                chosen = self.chooser.sample(state, operation, arguments, random)
                if chosen is not None:
                    act, outcome = chosen
                    found.setdefault(act, _Option(act, outcome, outcome.state != state))
        return list(found.values())

    # --- triples ---------------------------------------------------------------------------------

    def _walk_for_triples(self, number: int, state: State, led: bool) -> Iterator[Vector]:
        trace: _Trace = []
        last: list[_Option] = []
        for step in range(STEPS):
            random = Random(f"{self.chooser.seed}/{number}/{step}")
            options = self._list_options(state, random)
            for option in options:
                triple = self._find_triple(last, option)
                if triple is not None:
                    whole = [*trace, (state, option.act)]
                    vector = self._plan(whole, f"triple {' '.join(triple)}", led=led)
                    if vector is not None:
                        self.triples.discard(triple)
                        self.firsts[triple[0]] -= 1
                        self.seconds[triple[:2]] -= 1
                        yield vector
            moving = [option for option in options if option.moves] or options
            if not moving:
                return
            (chosen,) = random.choices(moving, [self._weigh(last, one) for one in moving])
            trace.append((state, chosen.act))
            state, last = chosen.outcome.state, [*last[-1:], chosen]

    def _find_triple(self, last: Sequence[_Option], option: _Option) -> Triple | None:
        """The triple that an operation ends, if it is left."""
        if len(last) < 2 or not self._reads(last[0], last[1]) or not self._reads(last[1], option):
            return None
        triple = (last[0].act[0], last[1].act[0], option.act[0])
        return triple if triple in self.triples else None

    def _reads(self, before: _Option, option: _Option) -> bool:
        """Whether an operation reads or writes what the one before it has written."""
        written = self.wanted.writes[before.outcome.branch]
        return bool(written & self.wanted.mentions[option.act[0]])

    def _weigh(self, last: Sequence[_Option], option: _Option) -> int:
        """How much a walk is drawn to an operation: by how many triples are left that it could be
        the second one of, or the first."""
        name = option.act[0]
        ahead = self.firsts[name] // len(self.wanted.mentions)
        if last and self._reads(last[-1], option):
            ahead += self.seconds[last[-1].act[0], name]
        return 1 + ahead

    # --- variables -------------------------------------------------------------------------------

    def _walk_for_variables(self, number: int, state: State, led: bool) -> Iterator[Vector]:
        first = self.planner.machine.initial_of_component()
        trace: _Trace = []
        before = [*self.planner.planner.prelude] if led else []
        self.phases = {}
        for earlier, _ in before[1:]:
            self._follow(first, earlier)
        self._follow(first, state)
        for step in range(STEPS_AGAIN):
            random = Random(f"{self.chooser.seed}/again/{number}/{step}")
            options = self._list_options(state, random)
            moving = [option for option in options if option.moves] or options
            if not moving:
                return
            scores = [self._count_nearer(first, option.outcome.state) for option in moving]
            best = max(scores)
            chosen = random.choice([o for o, s in zip(moving, scores, strict=True) if s == best])
            trace.append((state, chosen.act))
            state = chosen.outcome.state
            self._follow(first, state)
            if len(before) + len(trace) < AGAIN_MIN:
                continue
            ready = {name for (name, _), phase in self.phases.items() if phase >= _SET_AGAIN}
            names = sorted(ready & self.variables)
            if names:
                vector = self._plan(trace, f"set again: {', '.join(names)}", led=led)
                if vector is not None:
                    self.variables.difference_update(names)
                    yield vector

    def _list_entries(self, state: State) -> Iterator[tuple[tuple[str, int], Value]]:
        """The variables that are looked for; of a map each entry by itself."""
        for variable in self.planner.machine.variables:
            if variable.name in self.wanted.variables:
                value = state[variable.name]
                if isinstance(variable.type, t.Map):
                    for place, item in enumerate(items(value)):
                        yield (variable.name, place), item
                else:
                    yield (variable.name, 0), value

    def _follow(self, first: State, state: State) -> None:
        """Note which values differ now from the first ones, and which do so no more."""
        initial = dict(self._list_entries(first))
        for key, value in self._list_entries(state):
            phase = self.phases.get(key, 0)
            if (value != initial[key]) == (phase % 2 == 0):
                self.phases[key] = phase + 1

    def _count_nearer(self, first: State, state: State) -> int:
        """How many values of variables that are left a state brings nearer to being set again, and
        how far those are already."""
        initial = dict(self._list_entries(first))
        score = 0
        for key, value in self._list_entries(state):
            phase = self.phases.get(key, 0)
            nearer = (value != initial[key]) == (phase % 2 == 0)
            if nearer and key[0] in self.variables and phase < _SET_AGAIN:
                score += 1 + phase
        return score

    def _plan(self, trace: _Trace, title: str, *, led: bool) -> Vector | None:
        why = Why((title,), "exploration", title, OPEN, ())
        return self.planner.planner.plan_path(trace, why, led=led)
