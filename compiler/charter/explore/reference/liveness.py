"""`eventually` and `leads to` on the graph of an exploration.

Renaming of counters keeps every infinite run: states with equal keys can do the same, for ever. So
do permutations of a sort, as long as neither the property nor its fairness speaks of single
elements; otherwise, and to tell a counterexample, the graph is built anew without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.reference.explore import (
    OUTSIDE,
    Action,
    Expander,
    Exploration,
    Options,
    explore,
)
from charter.explore.reference.load import Holds, load
from charter.explore.reference.support import Undefined
from charter.semantics.fairness import GAVE_UP, Verdict, bound, names_elements, places_of
from charter.semantics.lasso import Edge, Lasso, Waiting, lasso


def check_liveness(
    model: n.Model, instance: n.Instance, found: Exploration, options: Options
) -> tuple[Verdict, ...]:
    """A verdict for each `eventually` of the instance's machine, in the order of the charter."""
    wanted = [live for live in model.liveness if live.machine == instance.machine]
    if not wanted:
        return ()
    graphs = _Graphs(model, instance, found, options)
    return tuple(graphs.verdict(live) for live in wanted)


@dataclass(slots=True)
class _Graphs:
    """The graph of the exploration, and the one without permutations, built when it is needed."""

    model: n.Model
    instance: n.Instance
    found: Exploration
    options: Options
    kept: dict[bool, _Runs] = field(default_factory=dict)

    def verdict(self, live: n.Eventually) -> Verdict:
        """The verdict; a counterexample is looked for where single elements are told apart."""
        permuted = self.options.symmetry and any(len(m) > 1 for _, m in self.instance.sorts)
        if permuted and not names_elements(self.model, live):
            verdict = self._runs(True).verdict(live)
            if verdict.answer == "fails":
                return verdict.settled(self._runs(False).verdict(live))
            return verdict
        return self._runs(False).verdict(live)

    def _runs(self, symmetry: bool) -> _Runs:
        if symmetry not in self.kept:
            found = self.found
            if self.options.symmetry and not symmetry:
                bare = replace(self.model, properties=())
                found = explore(bare, self.instance, replace(self.options, symmetry=False))
            self.kept[symmetry] = _Runs(self.model, self.instance, found)
        return self.kept[symmetry]


@dataclass(slots=True)
class _Runs:
    """All transitions of an exploration, and what they mean to a property."""

    model: n.Model
    instance: n.Instance
    found: Exploration
    actions: list[Action] = field(default_factory=list)
    moves: list[list[tuple[int, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Every transition that changes the state: its target and the number of its action."""
        graph = self.found.graph
        expander = Expander(graph.flat)
        for state in graph.states:
            here: list[tuple[int, int]] = []
            for operation, args, outcomes in expander.offered(state):
                for branch, _, after in outcomes if not isinstance(outcomes, str) else ():
                    if after != state:
                        inside = not graph.flat.outside(state, after)
                        target = graph.numbers.get(graph.flat.key(after)) if inside else None
                        here.append((OUTSIDE if target is None else target, len(self.actions)))
                        self.actions.append(Action(operation, args, branch))
            self.moves.append(here)

    def verdict(self, live: n.Eventually) -> Verdict:
        """The verdict on one property."""
        if not self.found.complete:
            return Verdict(live.name, "unknown", detail=GAVE_UP)
        edges = self._edges(live.fairness)
        flat = self.found.graph.flat
        domains = [flat.machine.universe.domain(param.type) for param in live.params]
        try:
            for values in product(*domains):
                waiting = self._waiting(live, values)
                seen = lasso(edges, waiting)
                if seen is not None:
                    return self._fails(live, values, seen)
        except Undefined as problem:
            return Verdict(live.name, "unknown", detail=str(problem))
        outside = "" if not self.found.outside else "runs that leave the instance are not looked at"
        return Verdict(live.name, "holds", detail=outside)

    def _fails(self, live: n.Eventually, values: Sequence[Value], seen: Lasso) -> Verdict:
        return Verdict(
            live.name,
            "fails",
            tuple(zip(live.params, values, strict=True)),
            tuple(self.actions[number] for number in seen.stem),
            tuple(self.actions[number] for number in seen.cycle),
        )

    def _edges(self, fairness: tuple[n.Fair, ...]) -> list[list[Edge]]:
        numbers: dict[tuple[n.Fair, tuple[Value, ...]], int] = {}
        places = places_of(self.model, fairness)
        satisfied: list[frozenset[int]] = []
        for action in self.actions:
            mine = [
                (fair, tuple(action.args[place] for place in places[fair]))
                for fair in fairness
                if fair.step == action.operation
            ]
            satisfied.append(frozenset(numbers.setdefault(each, len(numbers)) for each in mine))
        return [
            [Edge(target, satisfied[number], number) for target, number in here]
            for here in self.moves
        ]

    def _waiting(self, live: n.Eventually, values: Sequence[Value]) -> Waiting:
        begins = self._truth(bound(live, live.trigger, values))
        return Waiting(begins, self._truth(bound(live, live.goal, values)), live.trigger is None)

    def _truth(self, wanted: n.Expr | None) -> list[bool]:
        """Where an expression is true. Raises Undefined."""
        states = self.found.graph.states
        if wanted is None:
            return [True] * len(states)
        holds = self._compiled(wanted)
        return [holds(state, state, "") for state in states]

    def _compiled(self, wanted: n.Expr) -> Holds:
        prop = n.Property("always", "it", self.instance.machine, wanted, ())
        bare = replace(self.model, properties=(prop,), liveness=())
        return load(bare, self.instance).properties["it"]
