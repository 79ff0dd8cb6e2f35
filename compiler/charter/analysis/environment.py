"""Arguments that an environment may offer: all values of finite types, and selected values of
counters.

A counter value is *current* if the state holds it under a key that is in the same argument list
(the epoch of the broker that asks); if the state holds none under such a key, every value in the
state is current. Other values are *foreign*: another value from the state, an older one, one that
was never issued, one that the rules compare with. An argument list has at most one foreign value.
In a map to optional counters all entries are current, or all are none, but for at most one entry,
which counts as foreign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations, product

from charter.analysis.compared_numbers import NOTHING, NumbersCompared, find_compared
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State
from charter.semantics.machine import E, Machine, S
from charter.semantics.values import NotFinite, Universe, list_parts

Pool = tuple[tuple[Value, int], ...]
"""Values, each with the number of foreign counters in it."""

Context = frozenset[tuple[str, Value]]
"""Sort elements that an argument list mentions, by sort."""


NotEvaluated = Callable[[str, tuple[Value, ...], EvaluationError], None]
"""Takes an operation with arguments for which a condition of the instance has no value, and why."""


def list_offered(
    machine: Machine, state: State, note: NotEvaluated | None = None
) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Every operation (of a system: step) with every list of arguments that the instance offers in
    a state; lists without foreign counters come first. Raises EvaluationError where a condition of
    the instance has no value, unless `note` takes it."""
    arguments = Arguments.at(machine, state)
    for name, operation in machine.operations.items():
        for args in arguments.of(operation.params):
            try:
                offered = offers(machine, state, name, args)
            except EvaluationError as problem:
                if note is None:
                    raise
                note(name, args, problem)
                continue
            if offered:
                yield name, args


def offers(machine: Machine, state: State, name: str, args: tuple[Value, ...]) -> bool:
    """Whether an operation can be called with these arguments in a state: the instance offers it,
    and its assumptions hold. Raises EvaluationError where one of these conditions has no value."""
    conditions = machine.conditions(name)
    if not conditions:
        return True
    params = machine.operations[name].params
    names = dict(zip((p.name for p in params), args, strict=True))
    return all(machine.evaluator.truth(c, machine.scope(state), names) for c in conditions)


def unrestrict(machine: Machine[E, S]) -> Machine[E, S] | None:
    """The same system in an instance that leaves out no step and no argument; None if its own
    leaves out none."""
    instance = machine.instance
    if machine.component is not None or not (instance.offers or instance.only):
        return None
    return Machine.of(machine.model, replace(instance, offers=(), only=()))


def is_cut(machine: Machine, whole: Machine | None, state: State) -> bool:
    """Whether a step that the instance leaves out could happen in a state; `whole` is the machine
    without such limits (`unrestrict`)."""
    if whole is None:
        return False
    for name, args in list_offered(whole, state):
        if name in machine.operations and offers(machine, state, name, args):
            continue
        try:
            if whole.outcomes(state, name, args):
                return True
        except EvaluationError:
            return True
    return False


@dataclass(slots=True)
class Issued:
    """The counter values in a state: `all`, and `under` each sort element that is a map key above
    them. `compared`: what the rules compare counters with."""

    universe: Universe
    compared: Mapping[str, NumbersCompared] = field(default_factory=dict)
    all: dict[str, set[int]] = field(default_factory=dict)
    under: dict[tuple[str, str, Value], set[int]] = field(default_factory=dict)

    def collect(self, kind: t.Type, value: Value, keys: tuple[tuple[str, Value], ...] = ()) -> None:
        """Add every counter value inside `value`, which the state holds under `keys`."""
        match kind, value:
            case t.Counter(name=name), int():
                self.all.setdefault(name, set()).add(value)
                for sort, element in keys:
                    self.under.setdefault((name, sort, element), set()).add(value)
            case t.Map(key=t.Sort() as key, value=inner), tuple():
                for k, v in zip(self.universe.domain(key), value, strict=True):
                    self.collect(inner, v, (*keys, (key.name, k)))
            case _:
                for part, v in list_parts(kind, value):
                    self.collect(part, v, keys)

    def pool(self, counter: str, context: Context) -> Pool:
        """The values of one counter: current ones, newest first; then foreign ones."""
        everything = self.all.get(counter, set())
        current: set[int] = set()
        for sort, element in context:
            current |= self.under.get((counter, sort, element), set())
        current = current or everything
        newest = max(everything, default=-1)
        found: list[tuple[Value, int]] = [(v, 0) for v in sorted(current, reverse=True)]
        others = everything - current
        if others:
            found.append((max(others), 1))
        older = next((v for v in range(newest - 1, -1, -1) if v not in everything), None)
        if older is not None:
            found.append((older, 1))
        found.append((newest + 1, 1 if current else 0))
        more = self.compared.get(counter, NOTHING).after(newest) - {v for v, _ in found}
        return (*found, *((v, 1) for v in sorted(more)))


@dataclass(slots=True)
class Arguments:
    """The argument lists of operations in one state."""

    issued: Issued
    pools: dict[tuple[t.Type, Context], Pool] = field(default_factory=dict)

    @staticmethod
    def at(machine: Machine, state: State) -> Arguments:
        """The arguments that can be offered in `state`."""
        issued = Issued(machine.universe, find_compared(machine.model, machine.instance.machine))
        for variable in machine.variables:
            issued.collect(variable.type, state[variable.name])
        return Arguments(issued)

    def of(self, params: tuple[n.Param, ...]) -> tuple[tuple[Value, ...], ...]:
        """Every argument list of an operation, those without foreign counters first. Raises
        TooManyValues."""
        self.issued.universe.refuse_many(params)
        found = self.together([p.type for p in params], frozenset())
        ranked = sorted(found, key=lambda pair: pair[1])
        return tuple(args for args, _ in ranked)

    def together(
        self, kinds: list[t.Type], context: Context
    ) -> Iterator[tuple[tuple[Value, ...], int]]:
        """All combinations of values of several types. The sort elements in a combination determine
        which counter values are current."""
        universe = self.issued.universe
        open_ = [i for i, kind in enumerate(kinds) if t.holds(kind, t.Counter)]
        closed = [i for i in range(len(kinds)) if i not in open_]
        rests: dict[Context, list[tuple[tuple[Value, ...], int]]] = {}
        for base in product(*(universe.domain(kinds[i]) for i in closed)):
            here = context
            for i, value in zip(closed, base, strict=True):
                here = narrow(here, kinds[i], value)
            if here not in rests:
                rests[here] = within_budget([self.pool(kinds[i], here) for i in open_])
            row: list[Value] = [None] * len(kinds)
            for i, value in zip(closed, base, strict=True):
                row[i] = value
            for rest, foreign in rests[here]:
                for i, value in zip(open_, rest, strict=True):
                    row[i] = value
                yield tuple(row), foreign

    def pool(self, kind: t.Type, context: Context) -> Pool:
        """The values of one type."""
        known = self.pools.get((kind, context))
        if known is None:
            known = self.pools[kind, context] = tuple(self._values(kind, context))
        return known

    def _values(self, kind: t.Type, context: Context) -> Iterator[tuple[Value, int]]:
        if not t.holds(kind, t.Counter):
            yield from ((value, 0) for value in self.issued.universe.domain(kind))
            return
        match kind:
            case t.Counter(name=name):
                yield from self.issued.pool(name, context)
            case t.Option(inner=inner):
                yield (None, 0)
                yield from self.pool(inner, context)
            case t.Record(fields=fields):
                yield from self.together([part for _, part in fields], context)
            case t.Union(cases=cases):
                for tag, params in cases:
                    for args, foreign in self.together([part for _, part in params], context):
                        yield (tag, *args), foreign
            case t.Map():
                yield from self._map(kind, context)
            case t.Set(inner=inner) | t.Ranking(inner=inner):
                yield from self._collections(kind, self.pool(inner, context))
            case t.Seq(inner=inner, limit=limit):
                for size in range(self.issued.universe.limit(limit) + 1):
                    yield from within_budget([self.pool(inner, context)] * size)
            case _:
                raise NotFinite(f"{kind} has no arguments to offer")

    def _map(self, kind: t.Map, context: Context) -> Iterator[tuple[Value, int]]:
        keys = self.issued.universe.domain(kind.key)
        pools = [self.pool(kind.value, narrow(context, kind.key, k)) for k in keys]
        if not isinstance(kind.value, t.Option):
            yield from within_budget(pools)
            return
        current = tuple(
            next((v for v, f in pool if v is not None and not f), None) for pool in pools
        )
        found: dict[tuple[Value, ...], int] = {current: 0, (None,) * len(keys): 0}
        for others in tuple(found):
            for i, pool in enumerate(pools):
                for value, _ in pool:
                    found.setdefault((*others[:i], value, *others[i + 1 :]), 1)
        yield from found.items()

    @staticmethod
    def _collections(kind: t.Set | t.Ranking, pool: Pool) -> Iterator[tuple[Value, int]]:
        ranking = isinstance(kind, t.Ranking)
        for size in range(len(pool) + 1):
            for chosen in (permutations if ranking else combinations)(pool, size):
                foreign = sum(f for _, f in chosen)
                if foreign <= 1:
                    values = [value for value, _ in chosen]
                    yield (tuple(values) if ranking else frozenset(values)), foreign


def narrow(context: Context, kind: t.Type, value: Value) -> Context:
    """The context with `value` added if it is a sort element, alone or in an option."""
    match kind:
        case t.Sort(name=name):
            return context | {(name, value)}
        case t.Option(inner=t.Sort(name=name)) if value is not None:
            return context | {(name, value)}
        case _:
            return context


def within_budget(pools: Sequence[Pool]) -> list[tuple[tuple[Value, ...], int]]:
    """All combinations with at most one foreign counter."""
    found: list[tuple[tuple[Value, ...], int]] = [((), 0)]
    for pool in pools:
        found = [
            ((*row, value), foreign + more)
            for row, foreign in found
            for value, more in pool
            if foreign + more <= 1
        ]
    return found
