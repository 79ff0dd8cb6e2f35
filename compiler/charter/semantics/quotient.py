"""The equivalence of states up to names of sort elements and counters.

Why that is sound. No rule can tell the elements of a sort apart, unless it names one: a permutation
of the elements, applied to a state and to the arguments, applies to all that comes of them. So a
state and its permutation can do the same, and a property has the same value in both. Of a counter
whose values are only told apart, a renaming that is one to one does as little; of one whose order
is looked at, a renaming that keeps the order; and of one of which a rule mentions numbers, a
renaming that keeps the order and leaves these numbers, and all below them, where they are: a rule
sees which of them a value is, and whether it is beyond (`fixed`). `bump` is chosen by order alone.
Initial values may be any: one state is where a search begins.

So a search may keep one state of each class and miss nothing that a property or a witness can see.

One thing that an environment invents is not chosen by order alone: a counter older than the newest
that the state does not hold is offered where there is such a number, and 0 and 1 leave none, while
0 and 2 do. Where arguments have counters a search therefore expands the state of each class that
was found first, in the order of sources and outcomes, as it was reached: its offers are part of
what the instance is bounded to, and every engine has to take the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product
from math import factorial

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.core.walk import nodes, rules
from charter.semantics.machine import Machine
from charter.semantics.values import Universe

Renaming = Mapping[str, tuple[int, ...]]
"""For each permuted sort, the new number of each element."""

MOST_RENAMINGS = 720
"""A sort that would make more permutations than these is left as it is."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """`sorts` are permuted, `counters` renamed, those in `ranked` in their order; of each counter
    the numbers up to `fixed` stay what they are; `apart` says why other sorts are not permuted."""

    sorts: tuple[str, ...] = ()
    counters: frozenset[str] = frozenset()
    ranked: frozenset[str] = frozenset()
    fixed: Mapping[str, int] = field(default_factory=dict)
    apart: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(machine: Machine, *, symmetry: bool = True, renaming: bool = True) -> Quotient:
        """What may be renamed in the states of a machine whose model is narrowed to it; without
        `symmetry` no sort is permuted, without `renaming` no counter is renamed."""
        sorts, apart = _permuted(machine, symmetry)
        inside = {kind for v in machine.variables for kind in t.inside(v.type)}
        held = frozenset(c.name for c in machine.model.counters if c in inside)
        return Quotient(
            sorts,
            held if renaming else frozenset(),
            ranked_counters(machine.model) & held,
            mentioned_numbers(machine.model),
            apart,
        )

    def renamings(self, universe: Universe) -> tuple[Renaming, ...]:
        """Every permutation of the sorts; the identity comes first."""
        each = [list(permutations(range(len(universe.sorts[name])))) for name in self.sorts]
        return tuple(dict(zip(self.sorts, choice, strict=True)) for choice in product(*each))

    def permutes(self, kind: t.Type) -> bool:
        """Whether a value of a type can change when sorts are permuted."""
        return any(isinstance(part, t.Sort) and part.name in self.sorts for part in t.inside(kind))


def _permuted(machine: Machine, symmetry: bool) -> tuple[tuple[str, ...], dict[str, str]]:
    """The sorts whose elements are interchangeable, and of the others why they are not."""
    several = {name: len(m) for name, m in machine.instance.sorts if len(m) > 1}
    if not symmetry:
        return (), dict.fromkeys(several, "--no-symmetry")
    named = _named(machine)
    sorts: list[str] = []
    apart: dict[str, str] = {}
    total = 1
    for name, size in several.items():
        if name in named:
            apart[name] = "a rule, a property or the instance's `only` names one of its elements"
        elif total * factorial(size) > MOST_RENAMINGS:
            apart[name] = f"{size} elements have too many permutations"
        else:
            sorts.append(name)
            total *= factorial(size)
    return tuple(sorts), apart


def _named(machine: Machine) -> frozenset[str]:
    """The sorts of which a rule, a property or a condition of the instance names an element: those
    are not interchangeable."""
    return frozenset(
        e.type.name
        for e in (*_expressions(machine.model), *_conditions([machine.instance]))
        if isinstance(e, n.Literal) and isinstance(e.type, t.Sort)
    )


def ranked_counters(model: n.Model) -> frozenset[str]:
    """The counters whose order matters: a rule, a property or an instance's `only` compares two of
    them, or mentions a number. Of the others equality is all that anything can see, so states that
    differ by their order behave alike (`bump` allots a value that occurs nowhere)."""
    seen = set(mentioned_numbers(model))
    for e in (*_expressions(model), *_conditions(model.instances)):
        match e:
            case n.Binary(op="lt" | "le" | "gt" | "ge", left=left):
                if isinstance(left.type, t.Counter):
                    seen.add(left.type.name)
            case n.Builtin(name="min" | "max", type=t.Counter(name=name)):
                seen.add(name)
            case _:
                pass
    return frozenset(c.name for c in model.counters if c.ordered and c.name in seen)


def mentioned_numbers(model: n.Model) -> Mapping[str, int]:
    """For each counter, the largest number that a rule, a property or an instance's `only`
    mentions."""
    found: dict[str, int] = {}
    for e in (*_expressions(model), *_conditions(model.instances)):
        if isinstance(e, n.Literal) and isinstance(e.type, t.Counter):
            assert isinstance(e.value, int)
            found[e.type.name] = max(e.value, found.get(e.type.name, e.value))
    return found


def _expressions(model: n.Model) -> Iterator[n.Expr]:
    """Every expression of the rules and properties and everything inside, but initial values."""
    for whole in (*(f.body for f in model.functions), *rules(model)):
        yield from nodes(whole)


def _conditions(instances: Iterable[n.Instance]) -> Iterator[n.Expr]:
    """Every expression of what instances offer, and everything inside. What counters mean is asked
    of all instances of a machine, since a module of TLA+ is of all of them."""
    for instance in instances:
        for _, condition in instance.only:
            yield from nodes(condition)


def permute(kind: t.Type, value: Value, renaming: Renaming, universe: Universe) -> Value:
    """`value` with sort elements renamed."""
    match kind, value:
        case t.Sort(name=name), int():
            return renaming[name][value] if name in renaming else value
        case t.Option(inner=inner), _ if value is not None:
            return permute(inner, value, renaming, universe)
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return tuple(permute(part, v, renaming, universe) for (_, part), v in pairs)
        case t.Union() as union, (str() as tag, *rest):
            several = zip(union.params(tag), rest, strict=True)
            return (tag, *(permute(part, v, renaming, universe) for (_, part), v in several))
        case t.Set(inner=inner), frozenset():
            return frozenset(permute(inner, v, renaming, universe) for v in value)
        case (t.Seq() | t.Ranking()) as listed, tuple():
            return tuple(permute(listed.inner, v, renaming, universe) for v in value)
        case t.Map(key=key, value=inner), tuple():
            keys = universe.domain(key)
            moved = {
                permute(key, k, renaming, universe): permute(inner, v, renaming, universe)
                for k, v in zip(keys, value, strict=True)
            }
            return tuple(moved[k] for k in keys)
        case _:
            return value
