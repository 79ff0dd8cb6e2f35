"""Prints `key(s)`: equal for states that differ only by names of sort elements and of counters.

A key is a nested tuple of integers, so keys have an order: the smallest over all permutations of
the sorts stands for the whole orbit. Counters whose order the charter looks at are renamed to
their rank, all others to the order of their first occurrence. Numbers that the charter itself
mentions for a counter (apart from initial values) keep their distance from all others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.reference.flat import Constants, literal
from charter.render.text import INDENT, Emitter
from charter.semantics.quotient import Quotient, Renaming, permute

NOTHING = -(1 << 60)
"""What stands for `none` among numbers."""


@dataclass(slots=True)
class KeyPrinter:
    """Prints the key function of a quotient; `counters` are those that it renames, in the order of
    the declaration."""

    constants: Constants
    quotient: Quotient
    counters: tuple[t.Counter, ...]
    out: Emitter
    tables: dict[str, list[str]] = field(default_factory=dict)
    depth: int = 0

    def table(self, rows: list[Value]) -> str:
        """A table with one row for each permutation; the name holds the row of the current one."""
        texts = [literal(row) for row in rows]
        return self._named(texts)

    def _named(self, texts: list[str]) -> str:
        for name, known in self.tables.items():
            if known == texts:
                return name
        name = f"q{len(self.tables)}"
        self.tables[name] = texts
        return name

    def all_renamings(self) -> tuple[Renaming, ...]:
        """The permutations."""
        return self.quotient.renamings(self.constants.universe)

    # --- encoding --------------------------------------------------------------------------------

    def encoded(self, kind: t.Type, x: str) -> str:
        """A text for the part of the key that stands for `x`; `x` may be repeated."""
        match kind:
            case t.Bool() | t.Int():
                return x
            case t.Counter(name=name):
                if kind not in self.counters:
                    return x
                ranks = f"r_{name}"
                by_rank = name in self.quotient.ranked
                return f"{ranks}[{x}]" if by_rank else f"{ranks}.setdefault({x}, len({ranks}))"
            case t.Sort(name=name):
                if name not in self.quotient.sorts:
                    return x
                return f"{self.table([r[name] for r in self.all_renamings()])}[{x}]"
            case t.Enum():
                return f"{self.constants.positions(kind)}[{x}]"
            case t.Option(inner=inner):
                if isinstance(inner, t.Bool | t.Int | t.Counter | t.Sort | t.Enum):
                    return f"({NOTHING} if {x} is None else {self.encoded(inner, x)})"
                return f"(() if {x} is None else ({self.encoded(inner, x)},))"
            case t.Record(fields=fields):
                parts = [self.encoded(part, f"{x}[{i}]") for i, (_, part) in enumerate(fields)]
                return f"({''.join(f'{part}, ' for part in parts)})"
            case t.Union(cases=cases):
                return self.union(cases, x)
            case t.Map() | t.Set() | t.Seq() | t.Ranking():
                return self.several(kind, x)

    def union(self, cases: tuple[tuple[str, tuple[tuple[str, t.Type], ...]], ...], x: str) -> str:
        """A number for the tag, then the parameters."""
        text = "()"
        for number, (tag, params) in reversed(list(enumerate(cases))):
            parts = [self.encoded(part, f"{x}[{i + 1}]") for i, (_, part) in enumerate(params)]
            inside = "".join(f"{part}, " for part in parts)
            text = f"(({number}, {inside}) if {x}[0] == {tag!r} else {text})"
        return text

    def several(self, kind: t.Map | t.Set | t.Seq | t.Ranking, x: str) -> str:
        """Maps are reordered by their permuted keys, sets become sorted tuples or bit masks."""
        universe = self.constants.universe
        self.depth += 1
        item = f"e{self.depth}"
        try:
            match kind:
                case t.Map(key=key, value=inner):
                    keys = universe.domain(key)
                    if t.holds(key, t.Sort) and self.quotient.sorts:
                        rows = [self.origins(key, keys, r) for r in self.all_renamings()]
                        places = [f"{self.table(rows)}[{i}]" for i in range(len(keys))]
                    else:
                        places = [str(i) for i in range(len(keys))]
                    if len(keys) > 8 or not isinstance(
                        inner, t.Bool | t.Int | t.Counter | t.Sort | t.Enum | t.Set
                    ):
                        order = f"({''.join(f'{place}, ' for place in places)})"
                        body = self.encoded(inner, item)
                        return f"tuple([{body} for {item} in [{x}[j] for j in {order}]])"
                    texts = [self.encoded(inner, f"{x}[{place}]") for place in places]
                    return f"({''.join(f'{part}, ' for part in texts)})"
                case t.Set(inner=t.Sort() | t.Enum() | t.Bool() as inner):
                    return self.mask(kind, inner, x)
                case t.Set(inner=inner):
                    return f"tuple(sorted([{self.encoded(inner, item)} for {item} in {x}]))"
                case t.Seq(inner=inner) | t.Ranking(inner=inner):
                    return f"tuple([{self.encoded(inner, item)} for {item} in {x}])"
        finally:
            self.depth -= 1

    def origins(self, key: t.Type, keys: tuple[Value, ...], renaming: Renaming) -> Value:
        """For each position of a renamed map, the position that its value comes from."""
        universe = self.constants.universe
        came = {permute(key, k, renaming, universe): i for i, k in enumerate(keys)}
        return tuple(came[k] for k in keys)

    def mask(self, kind: t.Set, inner: t.Type, x: str) -> str:
        """A set of few possible members: one bit for each."""
        universe = self.constants.universe
        members = universe.domain(inner)
        if len(members) > 8:
            return f"tuple(sorted([{self.encoded(inner, 'e')} for e in {x}]))"
        rows: list[str] = []
        for renaming in self.all_renamings():
            bits = {
                subset: sum(
                    1 << universe.position(inner, permute(inner, member, renaming, universe))
                    for member in _members(subset)
                )
                for subset in universe.domain(kind)
            }
            rows.append("{" + ", ".join(f"{literal(s)}: {b}" for s, b in bits.items()) + "}")
        return f"{self._named(rows)}[{x}]"

    # --- counters --------------------------------------------------------------------------------

    def collect(self, kind: t.Type, x: str) -> None:
        """Lines that add every counter value inside `x` to the set of its type."""
        if not t.holds(kind, t.Counter):
            return
        out = self.out
        match kind:
            case t.Counter(name=name):
                if kind in self.counters:
                    out.line(f"c_{name}.add({x})")
            case t.Option(inner=inner):
                out.line(f"if {x} is not None:")
                with out.indent():
                    out.line("pass")
                    self.collect(inner, x)
            case t.Record(fields=fields):
                for i, (_, part) in enumerate(fields):
                    self.collect(part, f"{x}[{i}]")
            case t.Union(cases=cases):
                for tag, params in cases:
                    out.line(f"if {x}[0] == {tag!r}:")
                    with out.indent():
                        out.line("pass")
                        for i, (_, part) in enumerate(params):
                            self.collect(part, f"{x}[{i + 1}]")
            case t.Set() | t.Seq() | t.Ranking() | t.Map():
                inner = kind.value if isinstance(kind, t.Map) else kind.inner
                self.depth += 1
                item = f"e{self.depth}"
                out.line(f"for {item} in {x}:")
                with out.indent():
                    out.line("pass")
                    self.collect(inner, item)
                self.depth -= 1

    def ranks(self) -> None:
        """Lines that rank what was collected; numbers the charter mentions stay what they are."""
        for counter in self.counters:
            name, low = counter.name, self.quotient.fixed.get(counter.name, -1)
            if name in self.quotient.ranked:
                self.out.line(f"r_{name} = {{}}")
                self.out.line(f"for e in sorted(c_{name}):")
                self.out.line(
                    f"{INDENT}r_{name}[e] = e if e <= {low} else "
                    f"max({low}, r_{name}[last]) + 1 if r_{name} else {low + 1}"
                )
                self.out.line(f"{INDENT}last = e")

    # --- the function ----------------------------------------------------------------------------

    def print_counters(self, variables: tuple[n.StateVar, ...]) -> None:
        """`counters(s)`: for each counter, its values in a state."""
        sets = [f"c_{c.name}" for c in self.counters]
        self.out.line("def counters(s):")
        with self.out.indent():
            self.out.extend([f"{name} = set()" for name in sets])
            for i, variable in enumerate(variables):
                self.collect(variable.type, f"s[{i}]")
            self.out.line(f"return ({''.join(f'{name}, ' for name in sets)})")

    def print(self, variables: tuple[n.StateVar, ...]) -> None:
        """`encode(*s, tables, ranks...)` and `key(s)`; `print_counters` comes first."""
        out = self.out
        ordered = [c for c in self.counters if c.name in self.quotient.ranked]
        ranks = "".join(f", r_{c.name}" for c in ordered)
        parts = [self.encoded(v.type, f"s_{i}") for i, v in enumerate(variables)]
        names = "".join(f"s_{i}, " for i in range(len(variables)))
        out.line(f"def encode({names}p{ranks}):")
        with out.indent():
            if self.tables:
                out.line(f"{''.join(f'{name}, ' for name in self.tables)} = p")
            out.extend(
                [f"r_{c.name} = {{}}" for c in self.counters if c.name not in self.quotient.ranked]
            )
            out.line(f"return ({''.join(f'{part}, ' for part in parts)})")
        count = len(self.all_renamings())
        rows = [f"({''.join(f'{t[i]}, ' for t in self.tables.values())})" for i in range(count)]
        out.line(f"TABLES = ({''.join(f'{row}, ' for row in rows)})")
        out.line("def key(s):")
        with out.indent():
            if self.counters:
                sets = "".join(f"c_{c.name}, " for c in self.counters)
                out.line(f"{sets} = counters(s)")
                self.ranks()
            call = f"encode(*s, p{ranks})"
            if count == 1:
                out.line("(p,) = TABLES")
                out.line(f"return {call}")
            else:
                out.line(f"return min([{call} for p in TABLES])")


def _members(value: Value) -> frozenset[Value]:
    assert isinstance(value, frozenset)
    return value
