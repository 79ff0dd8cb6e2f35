"""Prints core expressions as flat Python: short expressions in line, everything else as loops.

Values are those of `ir.nodes.Value`, so results compare with the evaluator's without conversion.
The instance is known, so domains are constants and short quantifiers are unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.render.text import INDENT, Emitter
from charter.semantics.values import Universe

UNROLLED = 4
"""Domains up to this size are unrolled where the body prints as one expression."""
LONGEST = 4000
"""No unrolled expression grows past this many characters."""

INFIX: Mapping[str, str] = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "add": "+", "sub": "-", "mul": "*",
    "union": "|", "intersection": "&", "difference": "-", "in": "in", "subset": "<=",
}  # fmt: skip


def literal(value: Value) -> str:
    """A value as a Python expression; sets are sorted, so that the text is always the same."""
    if isinstance(value, frozenset):
        return f"frozenset(({''.join(f'{item}, ' for item in sorted(map(literal, value)))}))"
    if isinstance(value, tuple):
        return f"({''.join(f'{literal(item)}, ' for item in value)})"
    return repr(value)


def is_name(text: str) -> bool:
    """Whether a text is a variable, which may be repeated at no cost."""
    return text.isidentifier() and text not in ("None", "True", "False")


@dataclass(slots=True)
class Constants:
    """Values that the generated module defines once, by name."""

    universe: Universe
    names: dict[str, str] = field(default_factory=dict)

    def named(self, prefix: str, text: str) -> str:
        """The name of the constant with this text."""
        known = self.names.get(text)
        if known is None:
            known = self.names[text] = f"{prefix}{len(self.names)}"
        return known

    def domain(self, kind: t.Type) -> str:
        """The members of a finite type, as a tuple."""
        return self.named("D", literal(self.universe.domain(kind)))

    def positions(self, kind: t.Type) -> str:
        """The positions of the members of a finite type, as a dict."""
        members = enumerate(self.universe.domain(kind))
        return self.named("P", "{" + ", ".join(f"{literal(m)}: {i}" for i, m in members) + "}")


@dataclass(slots=True)
class Flat:
    """Prints the expressions of one generated function into `out`.

    `names` maps locals to texts, `before` and `after` map state variables to texts."""

    constants: Constants
    out: Emitter
    names: dict[str, str] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    fresh: int = 0

    # --- helpers ---------------------------------------------------------------------------------

    def temporary(self, text: str) -> str:
        """A new variable that holds `text`."""
        name = self.new_name()
        self.out.line(f"{name} = {text}")
        return name

    def new_name(self) -> str:
        """A name that no other part of the function uses."""
        self.fresh += 1
        return f"t{self.fresh}"

    def bind(self, name: str, value: n.Expr) -> None:
        """`let name = value`."""
        text = self.expr(value)
        self.names[name] = text if is_name(text) else self.temporary(text)

    def apart(self, expr: n.Expr) -> tuple[str, list[str]]:
        """An expression, and the lines it needs first, printed apart."""
        outer, self.out = self.out, Emitter()
        try:
            text = self.expr(expr)
            return text, self.out.lines
        finally:
            self.out = outer

    def simple(self, expr: n.Expr) -> str:
        """An expression as a text that may be repeated."""
        text = self.expr(expr)
        return text if is_name(text) else self.temporary(text)

    def universe(self) -> Universe:
        """The instance."""
        return self.constants.universe

    # --- expressions -----------------------------------------------------------------------------

    def expr(self, e: n.Expr) -> str:
        """The text of `e`, safe as an operand; lines it needs are printed first."""
        match e:
            case n.Literal(value=value):
                return literal(value)
            case n.Local(name=name):
                return self.names[name]
            case n.StateRef(name=name, primed=primed):
                return self.after[name] if primed else self.before[name]
            case n.ConstRef(name=name):
                return repr(self.universe().consts.get(name))
            case n.Domain():
                assert isinstance(e.type, t.Set)
                members = frozenset(self.universe().domain(e.type.inner))
                return self.constants.named("S", literal(members))
            case n.Call(function=name, args=args):
                return f"fn_{name}({', '.join(self.expr(a) for a in args)})"
            case n.Builtin():
                return self.builtin(e)
            case n.FieldOf(target=target, field=name):
                assert isinstance(target.type, t.Record)
                return f"{self.expr(target)}[{target.type.index(name)}]"
            case n.RecordNew(fields=fields):
                return self.tuple_of([self.expr(f) for f in fields])
            case n.UnionNew(tag=tag, args=args):
                return self.tuple_of([repr(tag), *(self.expr(a) for a in args)])
            case n.SetNew(items=items):
                return f"frozenset({self.tuple_of([self.expr(i) for i in items])})"
            case n.Present(inner=inner):
                return self.expr(inner)
            case n.Took(branch=branch):
                return f"(took == {branch!r})"
            case n.Unary(op=op, operand=operand):
                return f"({'not ' if op == 'not' else '-'}{self.expr(operand)})"
            case n.MapGet() | n.MapWith() | n.MapNew() | n.RecordWith() | n.SeqNew():
                return self.structure(e)
            case n.IsCase() | n.CaseArg() | n.Primitive() | n.Checked():
                raise TypeError("small core")
            case _:
                return self.control(e)

    @staticmethod
    def tuple_of(items: list[str]) -> str:
        """A tuple display."""
        return f"({''.join(f'{item}, ' for item in items)})"

    def key(self, kind: t.Type, key: n.Expr) -> str:
        """The position of a key in a map."""
        text = self.expr(key)
        if isinstance(kind, t.Sort | t.Bool) or (
            isinstance(kind, t.Int) and kind.low == t.Limit() and text.isdigit()
        ):
            return text
        return f"position({self.constants.positions(kind)}, {text}, {key.span.where()!r})"

    def structure(self, e: n.MapGet | n.MapWith | n.MapNew | n.RecordWith | n.SeqNew) -> str:
        """Records, maps and sequences."""
        match e:
            case n.MapGet(target=target, key=key):
                assert isinstance(target.type, t.Map)
                return f"{self.expr(target)}[{self.key(target.type.key, key)}]"
            case n.MapWith(target=target, entries=entries):
                assert isinstance(e.type, t.Map)
                items = self.temporary(f"list({self.expr(target)})")
                for key, value in entries:
                    at = self.key(e.type.key, key)
                    self.out.line(f"{items}[{at}] = {self.expr(value)}")
                return f"tuple({items})"
            case n.MapNew(name=name, value=value):
                assert isinstance(e.type, t.Map)
                return self.map_new(e.type, name, value)
            case n.RecordWith(target=target, fields=fields):
                assert isinstance(e.type, t.Record)
                whole = self.simple(target)
                new = {field: self.expr(value) for field, value in fields}
                kept = [f"{whole}[{i}]" for i in range(len(e.type.fields))]
                names = (field for field, _ in e.type.fields)
                pairs = zip(names, kept, strict=True)
                return self.tuple_of([new.get(field, old) for field, old in pairs])
            case n.SeqNew(items=parts):
                text = self.tuple_of([self.expr(i) for i in parts])
                if isinstance(e.type, t.Ranking) and len(parts) > 1:
                    text = self.temporary(text)
                    self.out.line(f"if len(set({text})) < {len(parts)}:")
                    self.failure("a ranking holds nothing twice", e)
                return text

    def in_order(self, domain: n.Expr) -> str:
        """The members of a set, in an order that depends on their values alone."""
        assert isinstance(domain.type, t.Set)
        if isinstance(domain, n.Domain):
            return self.constants.domain(domain.type.inner)
        text = self.expr(domain)
        match domain.type.inner:
            case t.Sort() | t.Bool() | t.Int() | t.Counter():
                return f"sorted({text})"
            case t.Enum() as kind:
                held, member = self.temporary(text), self.new_name()
                domain_name = self.constants.domain(kind)
                return f"[{member} for {member} in {domain_name} if {member} in {held}]"
            case _:
                return f"in_order({text})"

    def failure(self, why: str, e: n.Expr) -> None:
        """The body of an `if` that guards a partial operation."""
        self.out.line(f"{INDENT}fail({why!r}, {e.span.where()!r})")

    def map_new(self, kind: t.Map, name: str, value: n.Expr) -> str:
        """`[name in K: value]`."""
        unrolled = self.unrolled(kind.key, name, [value])
        if unrolled is not None:
            return self.tuple_of([parts[0] for parts in unrolled])
        items, member = self.temporary("[]"), self.new_name()
        self.names[name] = member
        self.out.line(f"for {member} in {self.constants.domain(kind.key)}:")
        with self.out.indent():
            self.out.line(f"{items}.append({self.expr(value)})")
        return f"tuple({items})"

    def unrolled(self, kind: t.Type, name: str, parts: list[n.Expr]) -> list[list[str]] | None:
        """`parts` for each member of a small type, or None if that is too long or needs lines."""
        members = self.universe().domain(kind)
        if len(members) > UNROLLED:
            return None
        texts: list[list[str]] = []
        mark = self.fresh
        for member in members:
            self.names[name] = literal(member)
            row: list[str] = []
            for part in parts:
                text, lines = self.apart(part)
                if lines:
                    self.fresh = mark
                    return None
                row.append(text)
            texts.append(row)
            if sum(len(text) for row in texts for text in row) > LONGEST:
                return None
        return texts

    def control(self, e: n.Comprehend | n.Quantified | n.Binary | n.If | n.Let | n.Match) -> str:
        """What branches, loops or binds."""
        match e:
            case n.Binary():
                return self.binary(e)
            case n.If(condition=condition, then=then, otherwise=otherwise):
                test = self.expr(condition)
                yes, no = self.apart(then), self.apart(otherwise)
                return self.choice([(test, *yes), ("", *no)])
            case n.Let(name=name, value=value, body=body):
                self.bind(name, value)
                return self.expr(body)
            case n.Match():
                return self.match(e)
            case n.Quantified():
                return self.quantified(e)
            case n.Comprehend():
                return self.comprehend(e)
            case _:
                assert_never(e)

    def choice(self, cases: list[tuple[str, str, list[str]]]) -> str:
        """The first case with a true test (the last has none): test, value, lines before it."""
        if not any(lines for _, _, lines in cases):
            text = cases[-1][1]
            for test, value, _ in reversed(cases[:-1]):
                text = f"({value} if {test} else {text})"
            return text
        result = self.new_name()
        for i, (test, value, lines) in enumerate(cases):
            last = i == len(cases) - 1
            self.out.line("else:" if last else f"{'elif' if i else 'if'} {test}:")
            with self.out.indent():
                self.out.extend(lines)
                self.out.line(f"{result} = {value}")
        return result

    def match(self, e: n.Match) -> str:
        """A chain of tests on the tag, in the order of the author; exhaustive."""
        subject = self.simple(e.subject)
        cases: list[tuple[str, str, list[str]]] = []
        for case in e.cases:
            match e.subject.type:
                case t.Option():
                    test = f"{subject} is {'None' if case.tag == 'none' else 'not None'}"
                    parts = [subject]
                case t.Union():
                    test = f"{subject}[0] == {case.tag!r}"
                    parts = [f"{subject}[{i + 1}]" for i in range(len(case.names))]
                case _:
                    test, parts = f"{subject} == {case.tag!r}", []
            self.names.update(zip(case.names, parts, strict=False))
            cases.append((test, *self.apart(case.body)))
        if len(cases) == 1:
            self.out.extend(cases[0][2])
            return cases[0][1]
        return self.choice(cases)

    def binary(self, e: n.Binary) -> str:
        """An infix operation; `and`, `or` and `implies` look right only if they must."""
        left = self.expr(e.left)
        if e.op not in ("and", "or", "implies"):
            return f"({left} {INFIX[e.op]} {self.expr(e.right)})"
        if e.op == "implies":
            left = f"(not {left})"
        right, lines = self.apart(e.right)
        word = "and" if e.op == "and" else "or"
        if not lines:
            return f"({left} {word} {right})"
        result = self.temporary(left)
        self.out.line(f"if {result if e.op == 'and' else f'not {result}'}:")
        with self.out.indent():
            self.out.extend(lines)
            self.out.line(f"{result} = {right}")
        return result

    def members(self, domain: n.Expr) -> str:
        """What a loop over a set iterates."""
        if isinstance(domain, n.Domain):
            assert isinstance(domain.type, t.Set)
            return self.constants.domain(domain.type.inner)
        return self.expr(domain)

    def quantified(self, e: n.Quantified) -> str:
        """`forall`, `some`, `exactly one`, `the`."""
        if e.kind in ("exactly one", "the"):
            return self.the(e)
        if isinstance(e.domain, n.Domain):
            assert isinstance(e.domain.type, t.Set)
            unrolled = self.unrolled(e.domain.type.inner, e.name, [e.body])
            if unrolled is not None:
                word = " and " if e.kind == "forall" else " or "
                parts = [row[0] for row in unrolled]
                return f"({word.join(parts)})" if parts else str(e.kind == "forall")
        result = self.temporary(str(e.kind == "forall"))
        member = self.new_name()
        self.out.line(f"for {member} in {self.members(e.domain)}:")
        self.names[e.name] = member
        with self.out.indent():
            body = self.expr(e.body)
            self.out.line(f"if {'not ' if e.kind == 'forall' else ''}{body}:")
            self.out.line(f"{INDENT}{result} = {e.kind == 'some'}")
            self.out.line(f"{INDENT}break")
        return result

    def the(self, e: n.Quantified) -> str:
        """The only member for which the body is true, or whether there is one."""
        found, member = self.temporary("[]"), self.new_name()
        self.out.line(f"for {member} in {self.members(e.domain)}:")
        self.names[e.name] = member
        with self.out.indent():
            self.out.line(f"if {self.expr(e.body)}:")
            self.out.line(f"{INDENT}{found}.append({member})")
        if e.kind == "exactly one":
            return f"(len({found}) == 1)"
        self.out.line(f"if len({found}) != 1:")
        self.failure("`the` of none or several members", e)
        return f"{found}[0]"

    def comprehend(self, e: n.Comprehend) -> str:
        """A set built from another."""
        domain = self.members(e.domain)
        member = self.new_name()
        self.names[e.name] = member
        condition, before = self.apart(e.condition)
        body, lines = self.apart(e.body)
        always = e.condition == n.Literal(True, type=t.Bool())
        if not before and not lines and not e.flatten:
            test = "" if always else f" if {condition}"
            return f"frozenset([{body} for {member} in {domain}{test}])"
        found = self.temporary("set()")
        self.out.line(f"for {member} in {domain}:")
        with self.out.indent():
            self.out.extend(before)
            self.out.line(f"if {condition}:")
            with self.out.indent():
                self.out.extend(lines)
                self.out.line(f"{found} |= {body}" if e.flatten else f"{found}.add({body})")
        return f"frozenset({found})"

    # --- built-ins -------------------------------------------------------------------------------

    def builtin(self, e: n.Builtin) -> str:
        """A built-in function."""
        where = repr(e.span.where())
        texts = [self.expr(a) for a in e.args]
        ranking = isinstance(e.type, t.Ranking)
        match e.name:
            case "size":
                return f"len({texts[0]})"
            case "value":
                held = self.temporary(texts[0])
                self.out.line(f"if {held} is None:")
                self.failure("value(none)", e)
                return held
            case "default":
                held = self.temporary(texts[0])
                return f"({texts[1]} if {held} is None else {held})"
            case "bump":
                return f"({texts[0]} + 1)"
            case "set":
                return f"frozenset({texts[0]})"
            case "first" | "last":
                held = self.temporary(texts[0])
                return f"({held}[{'0' if e.name == 'first' else '-1'}] if {held} else None)"
            case "append" if ranking:
                return f"appended({texts[0]}, {texts[1]})"
            case "append":
                return self.limited(f"(*{texts[0]}, {texts[1]})", e)
            case "remove":
                held, gone = self.temporary(texts[1]), self.new_name()
                return f"tuple([{gone} for {gone} in {texts[0]} if {gone} != {held}])"
            case "keep":
                held, kept = self.temporary(texts[1]), self.new_name()
                return f"tuple([{kept} for {kept} in {texts[0]} if {kept} in {held}])"
            case "concat" if ranking:
                return f"joined({texts[0]}, {texts[1]})"
            case "concat":
                return self.limited(f"({texts[0]} + {texts[1]})", e)
            case "take":
                return f"{texts[0]}[:max(0, {texts[1]})]"
            case "drop":
                return f"{texts[0]}[max(0, {texts[1]}):]"
            case "at":
                return f"at({texts[0]}, {texts[1]})"
            case "item":
                return f"item({texts[0]}, {texts[1]}, {where})"
            case "min" | "max":
                if len(texts) == 2:
                    return f"{e.name}({texts[0]}, {texts[1]})"
                return f"{'least' if e.name == 'min' else 'greatest'}({texts[0]}, {where})"
            case _:
                assert_never(e.name)

    def limited(self, text: str, e: n.Builtin) -> str:
        """A sequence that has grown."""
        if not isinstance(e.type, t.Seq):
            return text
        return f"bounded({text}, {self.universe().limit(e.type.limit)}, {e.span.where()!r})"
