"""Prints what TLC needs to explore counters: the values that a state holds, the values that the
environment offers, and a VIEW that identifies states equal up to renaming of counters.

`Issued` corresponds to the engine's collection of counter values, `View` to its key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from charter.core import types as t
from charter.render.tla.boxes import Broken, place, shift
from charter.render.tla.types import TlaTypePrinter, bare, union_field

Within = Callable[[t.Type, str, int], str]


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """A variable of a module: a variable of the machine, or the record of a part's whole state."""

    name: str
    type: t.Type
    doc: str = ""
    kind: str = "durable"


@dataclass(frozen=True, slots=True)
class Orders:
    """The counters whose order matters, the largest number that the charter mentions of each, and
    the counters that are not renamed."""

    ranked: frozenset[str] = frozenset()
    fixed: Mapping[str, int] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()


class Unordered(Exception):
    """A counter without order has values inside a set, so no position can identify them."""


@dataclass(slots=True)
class Counters:
    """Prints the definitions about the counters of one machine."""

    types: TlaTypePrinter
    variables: Sequence[ModuleVariable]
    orders: Orders

    def free(self, name: str) -> str:
        """An unused name for a bound variable."""
        return self.types.names.free(name)

    def names(self) -> list[str]:
        """The counters that the state can hold."""
        found: list[str] = []
        for variable in self.variables:
            for kind in self._counters(variable.type):
                if kind.name not in found:
                    found.append(kind.name)
        return sorted(found)

    @staticmethod
    def _counters(kind: t.Type) -> list[t.Counter]:
        return [part for part in t.inside(kind) if isinstance(part, t.Counter)]

    # --- what the state holds --------------------------------------------------------------------

    def define_issued(self, counter: str) -> list[str]:
        """The definition of `Issued_C`, the set of all values of a counter in the state."""
        rows = [self.collect(v.type, v.name, counter, 0) for v in self.variables]
        return self._union(f"Issued_{counter}", [row for row in rows if row])

    def under(self, counter: str, sort: str) -> list[str]:
        """The definition of `Issued_C_at_S(key)`, the values stored under one element of a sort; no
        lines if the state has no such place."""
        rows = [self.at_key(v.type, v.name, (counter, sort), 0) for v in self.variables]
        rows = [row for row in rows if row]
        key = self.free("key")
        return self._union(f"Issued_{counter}_at_{sort}({key})", rows) if rows else []

    @staticmethod
    def _union(head: str, rows: list[str]) -> list[str]:
        first, *rest = rows or ["{}"]
        if not rest and len(head) + len(first) < 95:
            return [f"{head} == {bare(first)}"]
        lines = [f"{head} ==", *shift(Broken(first if rest else bare(first)).lines(98), 2)]
        for row in rest:
            lines += place("  \\cup ", Broken(row), 100)
        return lines

    def collect(self, kind: t.Type, x: str, counter: str, depth: int) -> str:
        """The set of a counter's values inside `x`, as text; "" if its type has none."""
        if counter not in (c.name for c in self._counters(kind)):
            return ""
        match kind:
            case t.Counter():
                return f"{{{x}}}"
            case t.Map(key=key, value=value):
                name = self.free(f"k{depth}")
                inner = self.collect(value, f"{x}[{name}]", counter, depth + 1)
                return gather(inner, f"{name} \\in {bare(self.types.set(key))}")
            case _:
                return self._inside(kind, x, depth, lambda k, y, d: self.collect(k, y, counter, d))

    def at_key(self, kind: t.Type, x: str, wanted: tuple[str, str], depth: int) -> str:
        """The set of the values that `x` stores under `key`; `wanted` is the counter and the key's
        sort; "" if there is no such place."""
        counter, sort = wanted
        if counter not in (c.name for c in self._counters(kind)):
            return ""
        match kind:
            case t.Counter():
                return ""
            case t.Map(key=key, value=value):
                name = self.free(f"k{depth}")
                deeper = self.at_key(value, f"{x}[{name}]", wanted, depth + 1)
                sets = [gather(deeper, f"{name} \\in {bare(self.types.set(key))}")]
                if isinstance(key, t.Sort) and key.name == sort:
                    sets = [
                        self.collect(value, f"{x}[{self.free('key')}]", counter, depth + 1),
                        *sets,
                    ]
                return either(sets)
            case _:
                return self._inside(kind, x, depth, lambda k, y, d: self.at_key(k, y, wanted, d))

    def _inside(self, kind: t.Type, x: str, depth: int, of: Within) -> str:
        """The union of what `of` gives for the parts of `x`; "" if it gives nothing."""
        match kind:
            case t.Option(inner=inner):
                found = of(inner, x, depth)
                return f"(IF {x} = None THEN {{}} ELSE {bare(found)})" if found else ""
            case t.Record(fields=fields):
                return either([of(part, f"{x}.{name}", depth) for name, part in fields])
            case t.Union(cases=cases):
                rows: list[str] = []
                for tag, params in cases:
                    found = either(
                        [of(p, f"{x}.{union_field(kind, tag, name)}", depth) for name, p in params]
                    )
                    if found:
                        rows.append(f'(IF {x}.case = "{tag}" THEN {bare(found)} ELSE {{}})')
                return either(rows)
            case t.Set(inner=inner):
                name = self.free(f"x{depth}")
                return gather(of(inner, name, depth + 1), f"{name} \\in {x}")
            case t.Seq(inner=inner) | t.Ranking(inner=inner):
                name = self.free(f"i{depth}")
                return gather(of(inner, f"{x}[{name}]", depth + 1), f"{name} \\in DOMAIN {x}")
            case _:
                return ""

    # --- how states are told apart ---------------------------------------------------------------

    def places(self, counter: str) -> list[str]:
        """The definition of `Places_C(value)`, the places at which the state holds a value. Raises
        Unordered."""
        rows = [self._places(v.type, v.name, counter, (v.name, ())) for v in self.variables]
        value = self.free("value")
        return self._union(f"Places_{counter}({value})", [row for row in rows if row])

    def _places(self, kind: t.Type, x: str, counter: str, path: tuple[str, tuple[str, ...]]) -> str:
        label, binders = path
        if counter not in (c.name for c in self._counters(kind)):
            return ""
        match kind:
            case t.Counter():
                place = ", ".join((f'"{label}"', *binders))
                return f"(IF {x} = {self.free('value')} THEN {{<<{place}>>}} ELSE {{}})"
            case t.Map(key=key, value=value):
                name = self.free(f"k{len(binders)}")
                inner = self._places(value, f"{x}[{name}]", counter, (label, (*binders, name)))
                return gather(inner, f"{name} \\in {bare(self.types.set(key))}")
            case t.Option(inner=inner_kind):
                inner = self._places(inner_kind, x, counter, path)
                return f"(IF {x} = None THEN {{}} ELSE {bare(inner)})"
            case t.Record(fields=fields):
                return either(
                    [
                        self._places(part, f"{x}.{name}", counter, (f"{label}.{name}", binders))
                        for name, part in fields
                    ]
                )
            case t.Union(cases=cases):
                rows: list[str] = []
                for tag, params in cases:
                    found = either(
                        [
                            self._places(
                                part, f"{x}.{union_field(kind, tag, name)}", counter,
                                (f"{label}.{tag}.{name}", binders),
                            )
                            for name, part in params
                        ]
                    )  # fmt: skip
                    if found:
                        rows.append(f'(IF {x}.case = "{tag}" THEN {bare(found)} ELSE {{}})')
                return either(rows)
            case t.Seq(inner=inner_kind):
                name = self.free(f"i{len(binders)}")
                inner = self._places(inner_kind, f"{x}[{name}]", counter, (label, (*binders, name)))
                return gather(inner, f"{name} \\in DOMAIN {x}")
            case _:
                raise Unordered(counter)

    def view(self, kind: t.Type, x: str, depth: int = 0) -> str:
        """The text of `x` with its counters renamed."""
        if not t.holds(kind, t.Counter):
            return x
        match kind:
            case t.Counter(name=name):
                if name in self.orders.apart:
                    return x
                if name in self.orders.ranked:
                    return f"Rank(Issued_{name}, {low(self.orders, name)}, {x})"
                return f"Places_{name}({x})"
            case t.Option(inner=inner):
                return f"(IF {x} = None THEN None ELSE {bare(self.view(inner, x, depth))})"
            case t.Record(fields=fields):
                changed = [
                    f"!.{name} = {bare(self.view(part, f'{x}.{name}', depth))}"
                    for name, part in fields
                    if t.holds(part, t.Counter)
                ]
                return f"[{x} EXCEPT {', '.join(changed)}]"
            case t.Union():
                return self._view_union(kind, x, depth)
            case t.Map(key=key, value=value):
                at = self.free(f"k{depth}")
                text = bare(self.view(value, f"{x}[{at}]", depth + 1))
                return f"[{at} \\in {bare(self.types.set(key))} |-> {text}]"
            case t.Set(inner=inner):
                item = self.free(f"x{depth}")
                return f"{{{bare(self.view(inner, item, depth + 1))} : {item} \\in {x}}}"
            case t.Seq(inner=inner) | t.Ranking(inner=inner):
                at = self.free(f"i{depth}")
                text = bare(self.view(inner, f"{x}[{at}]", depth + 1))
                return f"[{at} \\in DOMAIN {x} |-> {text}]"
            case _:
                return x

    def _view_union(self, kind: t.Union, x: str, depth: int) -> str:
        arms: list[str] = []
        for tag, params in kind.cases:
            fields = [(union_field(kind, tag, name), part) for name, part in params]
            changed = [
                f"!.{name} = {bare(self.view(part, f'{x}.{name}', depth))}"
                for name, part in fields
                if t.holds(part, t.Counter)
            ]
            if changed:
                arms.append(f'{x}.case = "{tag}" -> [{x} EXCEPT {", ".join(changed)}]')
        return f"(CASE {' [] '.join(arms)} [] OTHER -> {x})"


def low(orders: Orders, counter: str) -> int:
    """The largest number of a counter that renaming leaves as it is."""
    return orders.fixed.get(counter, -1)


def gather(inner: str, binder: str) -> str:
    """The text of the union of `inner` over a binder; "" if `inner` is ""."""
    return f"(UNION {{{bare(inner)} : {binder}}})" if inner else ""


def either(sets: list[str]) -> str:
    """The text of the union of the sets that are not ""; "" for none."""
    some = [text for text in sets if text]
    together = " \\cup ".join(some)
    return f"({together})" if len(some) > 1 else together
