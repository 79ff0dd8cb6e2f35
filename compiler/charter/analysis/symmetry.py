"""Defines when states are equal up to names of sort elements and counters.

Why this is sound. A rule cannot distinguish the elements of a sort unless it names one, so
permuting the elements in a state and in the arguments permutes the outcomes in the same way, and a
property has the same value in both states. The values of a counter may be renamed by any bijection
if rules only compare them for equality, and by any monotone one if rules also compare their order.
If rules mention numbers of a counter, these numbers and all below must also stay as they are
(`fixed`). Initial values do not matter: a search begins in one state.

`bump` depends on the order only if it is applied to the greatest of the values that rules compare
with each other: the next value is then greater than all of them. That is true of newest epochs and
of the last value allotted. It is false of values that are bumped on their own and then compared:
2 and 0, and 1 and 0, have the same order, but the next values of the smaller ones do not. Where
that can be seen from the text (`find_bumped_apart`) a counter is not renamed.

So a search may keep one state of each class: no violation and no witness is missed.

There are two exceptions, in which a search expands the member of each class that it reached first,
in the order of sources and outcomes, and every engine has to expand the same one:

- If arguments have counters. The environment offers an old counter value that the state does not
  hold, if there is one below the newest: with 0 and 1 in the state there is none, with 0 and 2
  there is.
- If `bump` allots values of a counter that is renamed by any bijection (`allotting`). The next
  value is new in a state that was reached, but may be held in a renamed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from math import factorial

from charter.analysis.counters import CounterUses, conditions, find_bumped_apart, rule_expressions
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.core.walk import nodes
from charter.semantics.machine import Machine
from charter.semantics.values import Universe, list_parts

Renaming = Mapping[str, tuple[int, ...]]
"""For each permuted sort, the new number of each element."""

MOST_RENAMINGS = 720
"""A sort that would make more permutations than these is left as it is."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """`sorts` are permuted and `counters` renamed, those in `ranked` by monotone renamings. Numbers
    of a counter up to `fixed` are not renamed. `apart`: why each other sort is not permuted.
    `allotting`: whether rules bump a counter that is renamed and not in `ranked`. `exact` are the
    counters that are not renamed because rules may bump a value that is not the greatest."""

    sorts: tuple[str, ...] = ()
    counters: frozenset[str] = frozenset()
    ranked: frozenset[str] = frozenset()
    fixed: Mapping[str, int] = field(default_factory=dict)
    apart: Mapping[str, str] = field(default_factory=dict)
    allotting: bool = False
    exact: frozenset[str] = frozenset()

    @staticmethod
    def of(machine: Machine, *, symmetry: bool = True, renaming: bool = True) -> Quotient:
        """The quotient of a machine whose model has been narrowed to it. Without `symmetry` no sort
        is permuted, without `renaming` no counter is renamed."""
        sorts, apart = _find_permuted(machine, symmetry)
        if not machine.model.counters:
            return Quotient(sorts, apart=apart)
        inside = {kind for v in machine.variables for kind in t.inside(v.type)}
        held = frozenset(c.name for c in machine.model.counters if c in inside)
        exact = held & find_bumped_apart(machine.model).keys()
        held -= exact
        uses = CounterUses.of(machine.model)
        ranked = uses.ranked & held
        return Quotient(
            sorts,
            held if renaming else frozenset(),
            ranked,
            uses.numbers,
            apart,
            renaming and not uses.bumped.isdisjoint(held - ranked),
            exact,
        )

    def renamings(self, universe: Universe) -> tuple[Renaming, ...]:
        """Every permutation of the sorts; the identity comes first."""
        each = [list(permutations(range(len(universe.sorts[name])))) for name in self.sorts]
        return tuple(dict(zip(self.sorts, choice, strict=True)) for choice in product(*each))

    def permutes(self, kind: t.Type) -> bool:
        """Whether a value of a type can change when sorts are permuted."""
        return any(isinstance(part, t.Sort) and part.name in self.sorts for part in t.inside(kind))


def _find_permuted(machine: Machine, symmetry: bool) -> tuple[tuple[str, ...], dict[str, str]]:
    """The sorts whose elements are interchangeable, and for each other sort why not."""
    several = {name: len(m) for name, m in machine.instance.sorts if len(m) > 1}
    if not symmetry:
        return (), dict.fromkeys(several, "--no-symmetry")
    named, asked = _find_named(machine), _find_asked(machine)
    sorts: list[str] = []
    apart: dict[str, str] = {}
    total = 1
    for name, size in several.items():
        if name in named:
            apart[name] = "a rule, a property or the instance's `only` names one of its elements"
        elif name in asked:
            apart[name] = "the expression of --where names one of its elements"
        elif total * factorial(size) > MOST_RENAMINGS:
            apart[name] = f"{size} elements have too many permutations"
        else:
            sorts.append(name)
            total *= factorial(size)
    return tuple(sorts), apart


def _find_named(machine: Machine) -> frozenset[str]:
    """The sorts of which a rule, a property or a condition of the instance names an element: those
    are not interchangeable."""
    properties = tuple(p for p in machine.model.properties if p.name != n.ASKED)
    rules = rule_expressions(replace(machine.model, properties=properties))
    return _sorts_in((*rules, *conditions([machine.instance])))


def _find_asked(machine: Machine) -> frozenset[str]:
    """The sorts of which the expression of `--where` names an element."""
    return _sorts_in(
        e for p in machine.model.properties if p.name == n.ASKED for e in nodes(p.body)
    )


def _sorts_in(expressions: Iterable[n.Expr]) -> frozenset[str]:
    literals = (e for e in expressions if isinstance(e, n.Literal))
    return frozenset(e.type.name for e in literals if isinstance(e.type, t.Sort))


def permute(kind: t.Type, value: Value, renaming: Renaming, universe: Universe) -> Value:
    """`value` with sort elements renamed."""
    moved = tuple(permute(part, v, renaming, universe) for part, v in list_parts(kind, value))
    match kind, value:
        case t.Sort(name=name), int():
            return renaming[name][value] if name in renaming else value
        case t.Option(), _ if value is not None:
            return moved[0]
        case ((t.Record() | t.Seq() | t.Ranking()), tuple()):
            return moved
        case t.Union(), (tag, *_):
            return (tag, *moved)
        case t.Set(), frozenset():
            return frozenset(moved)
        case t.Map(key=key), tuple():
            keys = universe.domain(key)
            renamed = (permute(key, k, renaming, universe) for k in keys)
            came = dict(zip(renamed, moved, strict=True))
            return tuple(came[k] for k in keys)
        case _:
            return value
