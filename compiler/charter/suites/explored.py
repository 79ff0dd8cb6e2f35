"""Vectors of an instance that was explored: witnesses, every class of transition, a path to every
state with one more operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.reference.explore import (
    Exploration,
    Trace,
    Transition,
    explore,
    transitions,
)
from charter.explore.reference.load import FlatState
from charter.formats.vector import Vector, Why
from charter.semantics.retell import Act
from charter.suites.engine import Engine, pair
from charter.suites.walks import Chooser
from charter.vectors.plan import OPEN, Step


@dataclass(slots=True)
class Explored:
    """An exploration, and what turns it into vectors. `pairs` collects the (state, branch) pairs
    that the vectors take."""

    model: n.Model
    exploration: Exploration
    engine: Engine
    opened: Engine
    pairs: set[int] = field(default_factory=set)
    replies: dict[str, Transition] = field(default_factory=dict)

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> Explored:
        """Explore `instance` to its end."""
        found = explore(model, instance)
        engine = Engine.around(model, found.graph.flat)
        return Explored(model, found, engine, Engine.opened(model, instance))

    def witnesses(self) -> Iterator[Vector]:
        """A shortest path to every branch, every error reply, and every witness property; after
        `loaded`, which finds the replies."""
        for finding in self.exploration.branches:
            if finding.trace is not None:
                yield from self._along(
                    acts_of(finding.trace), f"branch {finding.name}", finding.name
                )
        for finding in self.exploration.properties:
            if finding.kind == "witness" and finding.trace is not None:
                last = finding.trace[-1].branch if finding.trace else ""
                yield from self._along(acts_of(finding.trace), f"witness {finding.name}", last)
        for name, found in self.replies.items():
            path = self.exploration.graph.path(found.source)
            acts = [*acts_of(path), (found.operation, found.args)]
            yield from self._along(acts, name, found.branch)

    def _note_replies(self, transition: Transition) -> None:
        """Keep the first transition with each enum member in the reply of each branch."""
        reply = transition.reply
        for part in reply[1:] if isinstance(reply, tuple) else (reply,):
            if isinstance(part, str):
                self.replies.setdefault(f"reply {transition.branch} {part}", transition)

    def _along(self, acts: Sequence[Act], name: str, branch: str) -> Iterator[Vector]:
        why = Why((name,), "witness", name, OPEN, (branch,) if branch else ())
        vector = self.engine.planner.walk(acts, why)
        if vector is not None:
            yield vector

    def loaded(self, every: int = 1) -> Iterator[Vector]:
        """A vector for each (state, operation, arguments) that stands for a class, or for one in
        `every` of them."""
        count = 0
        flat, graph, planner = self.engine.flat, self.exploration.graph, self.engine.planner
        last: tuple[int, str, tuple[Value, ...]] | None = None
        number, name, state = -1, "", graph.flat.machine.initial()
        for transition in transitions(self.exploration):
            self._note_replies(transition)
            if number != transition.source:
                number = transition.source
                name = self.engine.name(graph.states[number])
                state = flat.unflatten(graph.states[number])
            self.pairs.add(pair(name, transition.branch))
            this = (number, transition.operation, transition.args)
            if this != last:
                last, count = this, count + 1
                if count % every:
                    continue
                why = Why((f"branch {transition.branch}",), "exploration", "", OPEN, ())
                vector = planner.loaded(self._step(transition, state), why)
                if vector is not None:
                    yield vector

    def _step(self, transition: Transition, state: Mapping[str, Value]) -> Step:
        path = self.exploration.graph.path

        def acts() -> Sequence[Act]:
            return acts_of(path(transition.source))

        return Step(
            state, acts, transition.operation, transition.args, transition.branch, transition.reply
        )

    def paths(self) -> Iterator[Vector]:
        """For each state a shortest path there, and one more operation of the component; which
        one, and with what arguments, the number of the state decides."""
        planner, flat = self.opened.planner, self.opened.flat
        chooser = Chooser(flat, f"paths of {self.exploration.instance}")
        for number, state in enumerate(self.exploration.graph.states):
            act, branch, _ = chooser.choose(state, number)
            trace = [*self._trace(number), (flat.unflatten(state), act)]
            self.pairs.add(pair(self.engine.name(state), branch))
            why = Why((f"branch {branch}",), "exploration", "", OPEN, ())
            vector = planner.traced(trace, planner.start()[1], why)
            if vector is not None:
                yield vector

    def _trace(self, number: int) -> list[tuple[Mapping[str, Value], Act]]:
        """A shortest path to a state, each act with the state that it is done in."""
        graph = self.exploration.graph
        found: list[tuple[Mapping[str, Value], Act]] = []
        while True:
            source, action = graph.parents[number]
            if action is None:
                return found[::-1]
            before: FlatState = graph.states[source]
            found.append((graph.flat.unflatten(before), (action.operation, action.args)))
            number = source


def acts_of(trace: Trace) -> list[Act]:
    """The acts of a trace."""
    return [(action.operation, action.args) for action in trace]
