"""Prints types as TLA+ sets, and tests that values are inside the ranges of an instance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from charter.core import small as s
from charter.core import types as t
from charter.render.tla.names import TlaNames

Inside = Callable[[str], str]


def union_field(union: t.Union, tag: str, name: str) -> str:
    """The record field of a case's parameter. If cases use one name for different types, each gets
    its own field: TLC refuses to compare values of different types."""
    kinds = {part for _, params in union.cases for other, part in params if other == name}
    if len(kinds) > 1 or name == "case":
        return f"{tag}_{name}"
    return name


@dataclass(slots=True)
class TlaTypePrinter:
    """Prints types. `rankings` collects the sets of rankings that are used; they get a name so that
    TLC computes each once."""

    names: TlaNames
    rankings: dict[t.Type, str] = field(default_factory=dict)

    def limit(self, limit: t.Limit) -> str:
        """The text of an end of a range."""
        if not limit.const:
            return str(limit.plus)
        name = self.names.of("const", limit.const)
        if limit.plus == 0:
            return name
        return f"{name} {'+' if limit.plus > 0 else '-'} {abs(limit.plus)}"

    def type(self, kind: t.Type) -> str:
        """The set of a type's values, for membership tests only; safe as an operand."""
        return self.set(kind, listed=False)

    def set(self, kind: t.Type, listed: bool = True) -> str:
        """The set of a type's values, safe as an operand; `listed`: TLC can enumerate it."""
        match kind:
            case t.Bool():
                return "BOOLEAN"
            case t.Int(low=low, high=high):
                if low is None or high is None:
                    return "Int"
                ends = self.limit(low), self.limit(high)
                texts = [f"({end})" if " " in end or "-" in end else end for end in ends]
                return f"({texts[0]}..{texts[1]})"
            case t.Counter():
                return "Nat"
            case t.Record(name="", fields=fields):
                return self.record(fields, listed)
            case t.Record() | t.Union() if listed and t.holds(kind, t.Seq):
                return self.spell(kind, listed)
            case t.Sort(name=name) | t.Enum(name=name) | t.Record(name=name) | t.Union(name=name):
                return self.names.of("type", name)
            case t.Option(inner=inner):
                return f"Option({bare(self.set(inner, listed))})"
            case t.Set(inner=inner):
                return f"(SUBSET {self.set(inner, listed)})"
            case t.Map(key=key, value=value):
                return f"[{bare(self.set(key))} -> {bare(self.set(value, listed))}]"
            case t.Seq(inner=inner, limit=limit):
                word = "AllSeqs" if listed else "BoundedSeq"
                return f"{word}({bare(self.set(inner, listed))}, {self.limit(limit)})"
            case t.Ranking(inner=inner):
                return self.ranking(inner)
            case _:
                assert_never(kind)

    def record(self, fields: tuple[tuple[str, t.Type], ...], listed: bool) -> str:
        """The set of records with these fields."""
        if not fields:
            return "{<<>>}"
        texts = [f"{name} : {bare(self.set(part, listed))}" for name, part in fields]
        return f"[{', '.join(texts)}]"

    def cases(self, union: t.Union, listed: bool) -> list[str]:
        """The sets of records of a union's cases."""
        rows: list[str] = []
        for tag, params in union.cases:
            texts = [f'case : {{"{tag}"}}']
            texts += [
                f"{union_field(union, tag, name)} : {bare(self.set(part, listed))}"
                for name, part in params
            ]
            rows.append(f"[{', '.join(texts)}]")
        return rows

    def spell(self, kind: t.Record | t.Union, listed: bool) -> str:
        """The set of a declared type, written out."""
        if isinstance(kind, t.Record):
            return self.record(kind.fields, listed)
        together = " \\cup ".join(self.cases(kind, listed))
        return f"({together})"

    def ranking(self, inner: t.Type) -> str:
        """The set of rankings of a type; by name, if the type has one."""
        if not isinstance(inner, t.Sort | t.Enum):
            return f"Rankings({bare(self.set(inner))})"
        if inner not in self.rankings:
            self.rankings[inner] = self.names.free(f"Rankings_{inner.name}")
        return self.rankings[inner]

    def definition(self, kind: t.Record | t.Union | t.Enum) -> list[str]:
        """The definition of a declared type, one field or case per line."""
        head = f"{self.names.of('type', kind.name)} == "
        match kind:
            case t.Enum(members=members):
                texts = [f'"{member}"' for member in members]
                return wrap(head + "{", texts, "}")
            case t.Record(fields=fields):
                texts = [f"{name} : {bare(self.type(part))}" for name, part in fields]
                return wrap(head + "[", texts, "]") if texts else [f"{head}{{<<>>}}"]
            case t.Union():
                rows = self.cases(kind, listed=False)
                return [head.rstrip(), f"  {rows[0]}", *(f"  \\cup {row}" for row in rows[1:])]

    # --- ranges ----------------------------------------------------------------------------------

    def inside(self, kind: t.Type, x: str, depth: int = 0) -> str:
        """The text of a test that all numbers and lengths in `x` are in range; "" if there are
        none."""
        item = f"x{depth}"
        match kind:
            case t.Int(low=low, high=high) if low is not None and high is not None:
                return f"{x} \\in {bare(self.set(kind))}"
            case t.Option(inner=inner):
                test = self.inside(inner, x, depth)
                return f"({x} = None \\/ {test})" if test else ""
            case t.Record(fields=fields):
                return join([self.inside(part, f"{x}.{name}", depth) for name, part in fields])
            case t.Union(cases=cases):
                return join([self.case_inside(kind, tag, x, depth) for tag, _ in cases])
            case t.Set(inner=inner):
                test = self.inside(inner, item, depth + 1)
                return f"(\\A {item} \\in {x} : {test})" if test else ""
            case t.Map(key=key, value=inner):
                test = self.inside(inner, f"{x}[{item}]", depth + 1)
                return f"(\\A {item} \\in {bare(self.set(key))} : {test})" if test else ""
            case t.Seq(inner=inner) | t.Ranking(inner=inner):
                test = self.inside(inner, f"{x}[{item}]", depth + 1)
                tests = [f"(\\A {item} \\in DOMAIN {x} : {test})"] if test else []
                if isinstance(kind, t.Seq):
                    tests.insert(0, f"Len({x}) <= {self.limit(kind.limit)}")
                return join(tests)
            case t.Bool() | t.Int() | t.Sort() | t.Counter() | t.Enum():
                return ""

    def case_inside(self, union: t.Union, tag: str, x: str, depth: int) -> str:
        """The text of that test for one case of a union."""
        tests = [
            self.inside(part, f"{x}.{union_field(union, tag, name)}", depth)
            for name, part in union.params(tag)
        ]
        test = join(tests)
        return f'({x}.case = "{tag}" => {test})' if test else ""


def bare(text: str) -> str:
    """A text without its outermost parentheses."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]


def join(tests: list[str]) -> str:
    """The conjunction of the tests that are not ""; "" for none."""
    some = [test for test in tests if test]
    together = " /\\ ".join(some)
    return f"({together})" if len(some) > 1 else together


def wrap(head: str, texts: list[str], close: str) -> list[str]:
    """`head`, the texts with commas, `close`: on one line, or one text per line."""
    line = f"{head}{', '.join(texts)}{close}"
    if len(line) <= 100:
        return [line]
    column = " " * len(head)
    rows = [f"{column}{text}," for text in texts[:-1]] + [f"{column}{texts[-1]}{close}"]
    return [head + rows[0][len(head) :], *rows[1:]]


def list_declared(model: s.Model) -> tuple[t.Record | t.Union | t.Enum, ...]:
    """The declared types, each after the types that it mentions."""
    found: list[t.Record | t.Union | t.Enum] = []
    wanted: tuple[t.Record | t.Union | t.Enum, ...] = (*model.enums, *model.records, *model.unions)

    def visit(kind: t.Type) -> None:
        for part in t.inside(kind):
            if part is not kind and isinstance(part, t.Record | t.Union | t.Enum):
                visit(part)
        if isinstance(kind, t.Record | t.Union | t.Enum) and kind not in found:
            found.append(kind)

    for kind in wanted:
        visit(kind)
    return tuple(found)
