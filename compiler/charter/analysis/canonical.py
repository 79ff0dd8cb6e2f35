"""Computes the canonical form of a state: equal for two states that differ only by renamings of the
quotient.

It is the least form over all permutations of the sorts. A value of a counter whose order matters
becomes its rank, but numbers up to the largest that the charter mentions stay as they are. A value
of any other counter becomes the position of its first occurrence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never, cast

from charter.analysis.symmetry import Quotient, Renaming, permute
from charter.core import types as t
from charter.core.nodes import StateVar, Value
from charter.semantics.builtins import order
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import Universe, list_parts

Form = tuple[object, ...]
"""Numbers in tuples; forms of one machine can be compared."""
Ranks = Mapping[str, Mapping[int, int]]
"""Per renamed counter, the rank of each value; empty for counters that are renamed by first
occurrence."""
MOST_KEPT = 100_000
"""Forms of values that are kept."""


@dataclass(frozen=True, slots=True)
class PlacedForm:
    """The form of a state, the renaming of elements that leads to it, and the ranks of counters."""

    form: Form
    renaming: Renaming
    ranks: Ranks


@dataclass(frozen=True, slots=True)
class Canonical:
    """Canonical forms of the states of one machine. `reads`: for each variable the counters whose
    ranks its form depends on; None if it depends on the variables before it."""

    quotient: Quotient
    universe: Universe
    variables: tuple[StateVar, ...]
    renamings: tuple[Renaming, ...]
    reads: tuple[tuple[str, ...] | None, ...]
    _kept: dict[tuple[object, ...], Form] = field(default_factory=dict, repr=False)
    """Of values of variables that stand alone the form under each renaming, by the ranks: many
    states have the same."""
    _continued: dict[tuple[object, ...], tuple[object, Ranks]] = field(
        default_factory=dict, repr=False
    )
    """Of values of the other variables the form and the ranks after it, by the renaming and the
    ranks before."""
    _counted: dict[tuple[str, Value], tuple[tuple[str, int], ...]] = field(
        default_factory=dict, repr=False
    )
    """The values of counters inside of values of variables."""

    @staticmethod
    def of(machine: Machine, *, symmetry: bool = True, renaming: bool = True) -> Canonical:
        """The forms of a machine whose model has been narrowed to it. Without `symmetry` no sort is
        permuted, without `renaming` no counter is renamed."""
        quotient = Quotient.of(machine, symmetry=symmetry, renaming=renaming)
        universe, variables = machine.universe, machine.variables
        met = {name for name in quotient.counters if name not in quotient.ranked}
        reads: list[tuple[str, ...] | None] = []
        for variable in variables:
            names = t.counters_in(variable.type) & quotient.counters
            reads.append(None if names & met else tuple(sorted(names)))
        return Canonical(quotient, universe, variables, quotient.renamings(universe), tuple(reads))

    def form(self, state: State) -> Form:
        """The form of a state."""
        return min(self._list_forms(state)[1], default=())

    def place(self, state: State) -> PlacedForm:
        """The form of a state, with the renaming and the ranks that lead to it."""
        made, rows = self._list_forms(state)
        if not rows:
            return PlacedForm((), {}, {})
        best = min(range(len(rows)), key=rows.__getitem__)
        return PlacedForm(rows[best], made[best].renaming, made[best].ranks)

    def _list_forms(self, state: State) -> tuple[list[_Form], list[Form]]:
        """What computes the form under each renaming, and these forms; none without variables."""
        ranks = self._ranks(state)
        told = {name: tuple(known.items()) for name, known in ranks.items()}
        forms = [
            _Form(self, renaming, {name: dict(known) for name, known in ranks.items()})
            for renaming in self.renamings
        ]
        columns: list[Form] = []
        for variable, reads in zip(self.variables, self.reads, strict=True):
            value = state[variable.name]
            if reads is None:
                columns.append(tuple([self._make_form(form, variable, value) for form in forms]))
                continue
            key = variable.name, value, tuple([told[name] for name in reads])
            known = self._kept.get(key)
            if known is None:
                known = tuple([form.of(variable.type, value) for form in forms])
                if len(self._kept) < MOST_KEPT:
                    self._kept[key] = known
            columns.append(known)
        return forms, [*zip(*columns, strict=True)]

    def _make_form(self, form: _Form, variable: StateVar, value: Value) -> object:
        """The form of a value with counters that are renamed by first occurrence."""
        before = tuple([(name, tuple(known.items())) for name, known in form.ranks.items()])
        key = id(form.renaming), variable.name, value, before
        known = self._continued.get(key)
        if known is None:
            made = form.of(variable.type, value)
            known = made, {name: dict(ranks) for name, ranks in form.ranks.items()}
            if len(self._continued) < MOST_KEPT:
                self._continued[key] = known
        else:
            form.ranks = {name: dict(ranks) for name, ranks in known[1].items()}
        return known[0]

    def _ranks(self, state: State) -> Ranks:
        quotient = self.quotient
        held: dict[str, set[int]] = {name: set() for name in quotient.counters}
        for variable in self.variables:
            for name, value in self._numbers(variable, state[variable.name]):
                if name in held:
                    held[name].add(value)
        return {
            name: _rank(values, quotient.fixed.get(name, -1)) if name in quotient.ranked else {}
            for name, values in held.items()
        }

    def _numbers(self, variable: StateVar, value: Value) -> tuple[tuple[str, int], ...]:
        """Every value of a counter inside of the value of a variable, with the counter's name."""
        known = self._counted.get((variable.name, value))
        if known is None:
            known = tuple(dict.fromkeys(find_counters(variable.type, value)))
            if len(self._counted) < MOST_KEPT:
                self._counted[variable.name, value] = known
        return known


def _rank(values: set[int], fixed: int) -> dict[int, int]:
    """Values up to `fixed` stay; each of the others is one more than the one before it."""
    ranks: dict[int, int] = {}
    last = fixed
    for value in sorted(values):
        last = ranks[value] = value if value <= fixed else max(fixed, last) + 1
    return ranks


def find_counters(kind: t.Type, value: Value) -> Iterator[tuple[str, int]]:
    """Every value of a counter inside of a value, with the counter's name."""
    if isinstance(kind, t.Counter):
        yield kind.name, cast(int, value)
    for part, v in list_parts(kind, value):
        yield from find_counters(part, v)


@dataclass(slots=True)
class _Form:
    """Computes the form of a state under one permutation of the sorts. `ranks` grows for counters
    that are renamed by first occurrence."""

    about: Canonical
    renaming: Renaming
    ranks: dict[str, dict[int, int]]

    def of(self, kind: t.Type, value: Value) -> object:
        """The form of a value."""
        match kind:
            case t.Bool() | t.Int():
                return value
            case t.Counter(name=name):
                ranks, number = self.ranks.get(name), cast(int, value)
                return number if ranks is None else ranks.setdefault(number, len(ranks))
            case t.Sort():
                return permute(kind, value, self.renaming, self.about.universe)
            case t.Enum(members=members):
                return members.index(cast(str, value))
            case t.Option(inner=inner):
                return () if value is None else (self.of(inner, value),)
            case t.Record(fields=fields):
                return self.several([part for _, part in fields], _items(value))
            case t.Union(cases=cases):
                tag, rest = _items(value)[0], _items(value)[1:]
                parts = [part for _, part in kind.params(cast(str, tag))]
                number = [name for name, _ in cases].index(cast(str, tag))
                return (number, *self.several(parts, rest))
            case t.Map(key=key, value=inner):
                return self.several([inner] * len(_items(value)), self._move(key, _items(value)))
            case t.Set(inner=inner):
                forms = [self.of(inner, v) for v in order(cast(frozenset[Value], value), inner)]
                return tuple(sorted(cast(list[int], forms)))  # numbers, or tuples of one form
            case t.Seq(inner=inner) | t.Ranking(inner=inner):
                return self.several([inner] * len(_items(value)), _items(value))
            case _:
                assert_never(kind)

    def several(self, kinds: list[t.Type], values: tuple[Value, ...]) -> Form:
        """The forms of several values, in their order."""
        return tuple([self.of(kind, v) for kind, v in zip(kinds, values, strict=True)])

    def _move(self, key: t.Type, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """The values of a map in the order of its renamed keys."""
        universe = self.about.universe
        keys = universe.domain(key)
        pairs = zip(keys, values, strict=True)
        came = {permute(key, k, self.renaming, universe): v for k, v in pairs}
        return tuple(came[k] for k in keys)


def _items(value: Value) -> tuple[Value, ...]:
    return cast(tuple[Value, ...], value)
