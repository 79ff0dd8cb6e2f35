"""Draws the arguments of an operation in a state that was observed.

Counters and opaque values are references to what the target showed: mostly to what it shows now,
under a key that the same arguments name (the epoch of the broker that asks), else to another value
or an older one, or to a value that was never issued. A list of arguments has at most one of those,
as where states are explored.

How values of a type are drawn is planned once for each type: a plan is a function that draws one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.types import DeclaredType
from conform.walks.offered import Offered, OfferedWorld
from conform.walks.places import SeenValues

FOREIGN_SHARE = 0.25
"""The probability that an argument list may have a foreign counter."""
_ABSENT_SHARE = 0.25
"""The probability that an optional value is absent."""
_ITEMS = 3
"""The most items of a list or set that has no small domain."""
_KEPT_SHARES = (0.25, 0.5, 0.75, 1.0)
"""The shares of a small domain that a set has."""

T = TypeVar("T")
Elements = frozenset[str]
"""The elements that an argument list names."""


@dataclass(slots=True)
class ArgumentDrawer:
    """Draws the arguments of one operation. `foreign`: a counter may still be a foreign one."""

    offered: Offered
    world: OfferedWorld
    seen: SeenValues
    chance: Random
    foreign: bool = False

    def draw(self, operation: str) -> dict[str, Json]:
        """An argument list, with references."""
        self.foreign = self.chance.random() < FOREIGN_SHARE
        plans = self.offered.plans
        plan = plans.get(operation)
        if plan is None:
            plan = plans[operation] = plan_fields(self.offered, self.offered.params[operation])
        return plan(self, frozenset())

    def draw_counter(self, name: str, chosen: bool, elements: Elements) -> Json:
        """A counter; `chosen`: implementations choose its values."""
        fitting, chance = self.seen.find_fitting(name, elements).places, self.chance
        if fitting and not (self.foreign and chance.random() < 0.5):
            return choose(chance, fitting).refer()
        self.foreign = False
        kinds = self.seen.list_foreign(name, elements)
        position = choose(chance, range(len(kinds) + 1))
        if position < len(kinds):
            return choose(chance, kinds[position]).refer()
        if chosen:
            return {"never_issued": True}
        if not fitting:
            return choose(chance, (0, 1))
        place = choose(chance, fitting)  # a number next to one that is shown
        value = place.shown.value
        fewer = isinstance(value, int) and value > 0
        return place.refer(choose(chance, (1, -1)) if fewer else 1)


Plan = Callable[[ArgumentDrawer, Elements], Json]
"""Draws a value of a type, in an argument list that names some elements."""
Domain = Callable[[OfferedWorld], Sequence[Json]]
"""The values of a small type."""


def choose(chance: Random, items: Sequence[T]) -> T:
    """One of the items, as `Random.choice` does, in a third of the time."""
    count = len(items)
    bits = count.bit_length()
    position = chance.getrandbits(bits)
    while position >= count:
        position = chance.getrandbits(bits)
    return items[position]


def plan_fields(
    offered: Offered, parts: Sequence[tuple[str, DeclaredType]]
) -> Callable[[ArgumentDrawer, Elements], dict[str, Json]]:
    """A plan for the fields of a record: those with counters last, since the others say which
    values are current."""
    plans = [(name, plan_value(offered, kind), offered.holds_counter(kind)) for name, kind in parts]
    plain = [(name, plan) for name, plan, counted in plans if not counted]
    last = [(name, plan) for name, plan, counted in plans if counted]
    is_ordered = [name for name, _ in plain + last] == [name for name, _ in parts]

    def draw(drawer: ArgumentDrawer, elements: Elements) -> dict[str, Json]:
        drawn: dict[str, Json] = {}
        for name, plan in plain:
            value = drawn[name] = plan(drawer, elements)
            if isinstance(value, str):
                elements |= {value}
        for name, plan in last:
            drawn[name] = plan(drawer, elements)
        return drawn if is_ordered else {name: drawn[name] for name, _ in parts}

    return draw


def plan_value(offered: Offered, kind: DeclaredType) -> Plan:
    """A plan for the values of a type."""
    counter = offered.counter(kind)
    if counter is not None:
        name, chosen = counter
        return lambda drawer, elements: drawer.draw_counter(name, chosen, elements)
    kind = offered.strip(kind)
    match kind.kind:
        case "option":
            return _plan_option(plan_value(offered, kind.parts[0][1]))
        case "record":
            return plan_fields(offered, kind.parts)
        case "union":
            return _plan_union(
                [(name, plan_fields(offered, held.parts)) for name, held in kind.parts]
            )
        case "set" | "list":
            return _plan_items(offered, kind)
        case "map":
            return _plan_map(offered, kind)
        case "int":
            low, high = kind.names
            return lambda drawer, _: _draw_number(drawer, low, high)
        case _:
            domain = _plan_domain(offered, kind)
            return lambda drawer, _: choose(drawer.chance, domain(drawer.world))


def _draw_number(drawer: ArgumentDrawer, low: str, high: str) -> int:
    least, most = drawer.world.read_limit(low), drawer.world.read_limit(high)
    return choose(drawer.chance, range(least, max(least, most) + 1))


def _plan_option(inner: Plan) -> Plan:
    def draw(drawer: ArgumentDrawer, elements: Elements) -> Json:
        return None if drawer.chance.random() < _ABSENT_SHARE else inner(drawer, elements)

    return draw


def _plan_union(cases: Sequence[tuple[str, Callable[..., dict[str, Json]]]]) -> Plan:
    def draw(drawer: ArgumentDrawer, elements: Elements) -> Json:
        case, fields = choose(drawer.chance, cases)
        return {"case": case, **fields(drawer, elements)}

    return draw


def _plan_domain(offered: Offered, kind: DeclaredType) -> Domain:
    """The values of a small type; none of another."""
    kind = offered.strip(kind)
    match kind.kind:
        case "bool":
            return lambda _: (False, True)
        case "enum":
            return lambda _: kind.names
        case "sort":
            (name,) = kind.names
            return lambda world: world.sorts[name]
        case "int" if kind.names:
            low, high = kind.names
            return lambda world: range(world.read_limit(low), world.read_limit(high) + 1)
        case _:
            return lambda _: ()


def _plan_items(offered: Offered, kind: DeclaredType) -> Plan:
    ((_, inner),) = kind.parts
    find_domain, draw_item = _plan_domain(offered, inner), plan_value(offered, inner)
    is_set, distinct = kind.kind == "set", kind.names == ("distinct",)
    limit = kind.names[0] if kind.kind == "list" and kind.names and not distinct else ""

    def draw(drawer: ArgumentDrawer, elements: Elements) -> Json:
        chance, domain = drawer.chance, find_domain(drawer.world)
        size = choose(chance, range(_ITEMS + 1))
        if is_set and domain:
            kept = choose(chance, _KEPT_SHARES)
            return [value for value in domain if chance.random() < kept]
        if distinct and domain:
            return chance.sample(list(domain), choose(chance, range(len(domain) + 1)))
        if limit:
            size = choose(chance, range(max(0, drawer.world.read_limit(limit)) + 1))
        items = [draw_item(drawer, elements) for _ in range(size)]
        if not is_set and not distinct:
            return items
        unique = {canonical.text(item): item for item in items}
        return [unique[text] for text in (sorted(unique) if is_set else unique)]

    return draw


def _plan_map(offered: Offered, kind: DeclaredType) -> Plan:
    (_, key), (_, inner) = kind.parts
    find_domain, draw_item = _plan_domain(offered, key), plan_value(offered, inner)
    shape, held = offered.strip(key).kind, offered.strip(inner)
    may_be_whole = held.kind == "option" and offered.holds_counter(inner)
    draw_shown = _plan_shown(offered, held.parts[0][1]) if may_be_whole else draw_item

    def draw(drawer: ArgumentDrawer, elements: Elements) -> Json:
        names = find_domain(drawer.world)
        whole = may_be_whole and drawer.chance.random() < 0.5
        draw_one = draw_shown if whole else draw_item  # all are present, as far as known
        drawn = [draw_one(drawer, elements | {str(name)}) for name in names]
        if shape == "bool":
            return dict(zip(("false", "true"), drawn, strict=True))
        if shape in ("sort", "enum"):
            return {str(name): value for name, value in zip(names, drawn, strict=True)}
        return [[name, value] for name, value in zip(names, drawn, strict=True)]

    return draw


def _plan_shown(offered: Offered, kind: DeclaredType) -> Plan:
    """A plan for a value, or for none where it is a counter that the target does not show under the
    key."""
    counter, draw_value = offered.counter(kind), plan_value(offered, kind)
    if counter is None:
        return draw_value
    name, _ = counter

    def draw(drawer: ArgumentDrawer, elements: Elements) -> Json:
        fitting = drawer.seen.find_fitting(name, elements)
        return draw_value(drawer, elements) if fitting.are_named else None

    return draw
