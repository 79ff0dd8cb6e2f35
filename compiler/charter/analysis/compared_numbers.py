"""Finds the values of counters that rules compare with: an environment offers those besides the
values that it knows from a state, since they distinguish cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from charter.analysis.counters import is_bump
from charter.core import nodes as n
from charter.core import types as t
from charter.core.by_identity import ByIdentity
from charter.core.reach import with_called
from charter.core.walk import children, machine_rules

_ORDERED = ("lt", "le", "gt", "ge")


@dataclass(frozen=True, slots=True)
class NumbersCompared:
    """`numbers` of a counter that are compared, and those next to them where the order counts.
    `ahead`: how far after the newest value the comparisons with bumped values reach, 1 at least."""

    numbers: frozenset[int] = frozenset()
    ahead: int = 1

    def after(self, newest: int) -> frozenset[int]:
        """The values to offer in a state whose newest value is `newest`."""
        return self.numbers.union(range(newest + 1, newest + 1 + self.ahead))


NOTHING = NumbersCompared()


def find_compared(model: n.Model, machine: str) -> Mapping[str, NumbersCompared]:
    """What the rules of a machine compare counters with, by counter. A counter is missing if this
    adds nothing to what is offered anyway. Properties and the `only` of an instance do not count:
    what is offered is the same whatever is asked."""
    return _find_compared(ByIdentity(model), machine)


@lru_cache(maxsize=8)
def _find_compared(of: ByIdentity[n.Model], machine: str) -> Mapping[str, NumbersCompared]:
    found: dict[str, NumbersCompared] = {}
    for e in with_called(_own(of.held, machine), of.held.functions):
        for counter, more in _in(e):
            known = found.get(counter, NOTHING)
            numbers = known.numbers | more.numbers
            found[counter] = NumbersCompared(numbers, max(known.ahead, more.ahead))
    return {counter: one for counter, one in found.items() if one != NOTHING}


def _own(model: n.Model, name: str) -> Iterator[n.Expr]:
    """The expressions in the rules of a machine and of its parts."""
    systems = tuple(s for s in model.systems if s.name == name)
    named = {name, *(part.component for s in systems for part in s.parts)}
    components = tuple(c for c in model.components if c.name in named)
    yield from machine_rules(replace(model, components=components, systems=systems))


def _in(e: n.Expr) -> Iterator[tuple[str, NumbersCompared]]:
    """What one expression compares with, without its subexpressions. What is given to a function
    counts as compared by its order: the function may do it."""
    match e:
        case n.Binary(op="eq" | "ne" | "lt" | "le" | "gt" | "ge" as op):
            for side in (e.left, e.right):
                yield from _side(side, ordered=op in _ORDERED)
        case n.Binary(op="in"):
            for side in (e.left, e.right):
                yield from _side(side, ordered=False)
        case n.Builtin(args=args) if e.traits.is_comparison:
            for arg in args:
                yield from _side(arg, ordered=False)
        case n.Call(args=args):
            for arg in args:
                yield from _side(arg, ordered=True)
        case _:
            pass


def _side(e: n.Expr, *, ordered: bool) -> Iterator[tuple[str, NumbersCompared]]:
    match e:
        case n.Literal(type=t.Counter(name=name), value=int() as value):
            around = {value - 1, value, value + 1} if ordered else {value}
            yield name, NumbersCompared(frozenset(number for number in around if number >= 0))
        case n.Builtin(type=t.Counter(name=name)) if is_bump(e):
            yield name, NumbersCompared(ahead=_bumps(e) + ordered)
        case n.Present(inner=inner):
            yield from _side(inner, ordered=ordered)
        case n.SetNew() | n.SeqNew() | n.RecordNew() | n.UnionNew() if not ordered:
            for part in children(e):
                yield from _side(part, ordered=False)
        case _:
            pass


def _bumps(e: n.Expr) -> int:
    """How many bumps stand around a value."""
    return 1 + _bumps(e.args[0]) if is_bump(e) else 0


__all__ = ["NOTHING", "NumbersCompared", "find_compared"]
