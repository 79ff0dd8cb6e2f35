"""Shared by the agreement tests of the solver: random values, and outcomes as Z3 finds them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.prove.program import EncodingOptions, SymbolicProgram, encode_component
from charter.prove.solve import BOUNDED, Solver
from charter.prove.terms import FALSE, Term
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import Universe

HIGHEST = 6
"""Counters are drawn up to this, so that one bump stays within the three bits of the encoding."""


def random_value(kind: t.Type, universe: Universe, rng: Random) -> Value:
    """A value of a type; counters are small."""
    match kind:
        case t.Counter():
            return rng.randint(0, HIGHEST)
        case t.Option(inner=inner):
            return None if rng.random() < 0.25 else random_value(inner, universe, rng)
        case t.Record(fields=fields):
            return tuple(random_value(part, universe, rng) for _, part in fields)
        case t.Union(cases=cases):
            tag, params = rng.choice(cases)
            return (tag, *(random_value(part, universe, rng) for _, part in params))
        case t.Map(key=key, value=value):
            return tuple(random_value(value, universe, rng) for _ in universe.domain(key))
        case t.Seq(inner=inner, limit=limit):
            length = rng.randint(0, universe.limit(limit))
            return tuple(random_value(inner, universe, rng) for _ in range(length))
        case t.Ranking(inner=inner):
            items = list(universe.domain(inner))
            return tuple(rng.sample(items, rng.randint(0, len(items))))
        case t.Set(inner=inner):
            return frozenset(x for x in universe.domain(inner) if rng.random() < 0.5)
        case _:
            return rng.choice(universe.domain(kind))


def random_args(
    machine: Machine, operation: str, rng: Random, near: State | None = None
) -> tuple[Value, ...]:
    """Arguments of an operation; counters mostly from the state `near`, if there is one."""
    held = sorted(set(_numbers(tuple((near or {}).values())))) or list(range(HIGHEST + 1))
    params = machine.operations[operation].params
    return tuple(_near(p.type, machine.universe, rng, held) for p in params)


def _numbers(value: Value) -> list[int]:
    match value:
        case bool() | str() | None:
            return []
        case int():
            return [value]
        case _:
            return [number for part in value for number in _numbers(part)]


def _near(kind: t.Type, universe: Universe, rng: Random, held: list[int]) -> Value:
    match kind:
        case t.Counter():
            return rng.choice(held) if rng.random() < 0.8 else rng.randint(0, HIGHEST)
        case t.Option(inner=inner):
            return None if rng.random() < 0.25 else _near(inner, universe, rng, held)
        case t.Map(key=key, value=value):
            return tuple(_near(value, universe, rng, held) for _ in universe.domain(key))
        case _:
            return random_value(kind, universe, rng)


def random_state(machine: Machine, rng: Random) -> dict[str, Value]:
    """A random state of the right types, reachable or not."""
    return {v.name: random_value(v.type, machine.universe, rng) for v in machine.variables}


@dataclass(slots=True)
class Agreement:
    """A machine and its encoding for Z3."""

    machine: Machine
    program: SymbolicProgram
    solver: Solver

    @staticmethod
    def of(machine: Machine) -> Agreement:
        """The encoding with words, three bits for a counter."""
        program = encode_component(machine, EncodingOptions(counter_bits=3))
        solver = Solver(program.terms, BOUNDED, 50_000_000)
        solver.add(program.before_inside)
        solver.add(program.step)
        return Agreement(machine, program, solver)

    def compare(self, state: State, operation: str, args: tuple[Value, ...]) -> int:
        """How many outcomes both allow. Fails where the definition allows an outcome that Z3 does
        not find, or Z3 finds one that the definition does not allow."""
        defined = self._outcomes(state, operation, args)
        terms = self.program.terms
        here = self.call(state, operation, args)
        shown = [self._outcome(operation, o) for o in defined or ()]
        for outcome, term in zip(defined or (), shown, strict=True):
            both = self.solver.possible(terms.and_(here, term))
            assert both is True, (state, operation, args, outcome)
        if defined is not None:
            other = terms.and_(here, *(terms.not_(term) for term in shown))
            assert self.solver.possible(other) is False, (state, operation, args, defined)
        return len(shown)

    def counters(self, state: State) -> list[int]:
        """Every counter value in a state."""
        return _numbers(tuple(state.values()))

    def _outcomes(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> list[Outcome] | None:
        """The outcomes that stay inside the instance; None if the definition has no value."""
        try:
            found = self.machine.outcomes(state, operation, args)
        except EvaluationError:
            return None
        return [o for o in found if not self.machine.outside(o.state) and self._fits(o)]

    def _fits(self, outcome: Outcome) -> bool:
        types = self.program.types
        state = outcome.state
        return all(
            types.inside(v.type, types.constant(v.type, state[v.name])) != FALSE
            for v in self.program.component.state
        )

    def call(self, state: State, operation: str, args: tuple[Value, ...]) -> Term:
        """That an operation is called with these arguments."""
        program, types = self.program, self.program.types
        code = next(o for o in program.operations if o.name == operation)
        params = self._declare(operation).params
        pairs = zip(params, code.params, args, strict=True)
        given = (types.equal(sym, types.constant(p.type, value)) for p, sym, value in pairs)
        return program.terms.and_(program.is_state(state), program.calls(code), *given)

    def _outcome(self, operation: str, outcome: Outcome) -> Term:
        program, types = self.program, self.program.types
        _, branch = program.branch(outcome.branch)
        result = self._declare(operation).result
        after = (
            types.equal(program.after[v.name], types.constant(v.type, outcome.state[v.name]))
            for v in program.component.state
        )
        reply = types.equal(branch.reply, types.constant(result, outcome.reply))
        return program.terms.and_(program.takes(outcome.branch), reply, *after)

    def _declare(self, name: str) -> n.Operation:
        return next(o for o in self.program.component.operations if o.name == name)
