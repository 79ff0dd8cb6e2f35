"""Why a property does not hold: the part of it that is false, for which elements, and the values
that it compares. Found by the definition, from the outside of the property to the inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from charter.formats.canonical import Json
from charter.ir import nodes as n
from charter.ir import types as t
from charter.ir.nodes import Value
from charter.ir.walk import children
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Locals, Scope
from charter.semantics.machine import Machine
from charter.semantics.retell import show_value

LONG = 60
"""Characters of a value that are worth showing."""


@dataclass(frozen=True, slots=True)
class Why:
    """`given`: variables of quantifiers and their values; `part`: the text that is not as it has
    to be, which is false if it `has_to_be` true; `premises`: what is true, and asks for it;
    `values`: texts inside of all these, with their values; `where`: the property's place; `says`:
    its comment; `cites`: the texts that it follows."""

    given: tuple[tuple[str, str], ...]
    part: str
    has_to_be: bool
    premises: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    where: str
    says: str
    cites: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The reason in words: what is false, for what, and the values."""
        given = ", ".join(f"{name} = {value}" for name, value in self.given)
        word = "this is false" if self.has_to_be else "this is true, and must not be"
        head = f"{word}{f' for {given}' if given else ''}: {self.part}"
        premises = (f"although this is true: {text}" for text in self.premises)
        return head, *premises, *(f"{name} is {value}" for name, value in self.values)

    @property
    def source(self) -> str:
        """Where the property stands, without folders, and what it follows."""
        place = self.where.rpartition("/")[2]
        return f"{place}, after {', '.join(self.cites)}" if self.cites else place

    def json(self) -> Json:
        """For a finding."""
        return {
            "given": dict(self.given),
            "part": self.part,
            "has_to_be": self.has_to_be,
            "premises": list(self.premises),
            "values": dict(self.values),
            "lines": list(self.lines),
            "where": self.where,
            "says": self.says,
            "cites": list(self.cites),
        }


def why(machine: Machine, prop: n.Property, scope: Scope) -> Why:
    """Why `prop`, which is false in `scope`, is."""
    reader = _Reader(machine, scope)
    part, names, has_to_be = reader.narrowed(prop.body, {}, True)
    return Why(
        given=tuple(reader.given),
        part=_text(part),
        has_to_be=has_to_be,
        premises=tuple(_text(premise) for premise, _ in reader.premises),
        values=tuple(reader.values([(part, names), *reversed(reader.premises)])),
        where=prop.span.where(),
        says=" ".join(prop.doc.split("\n\n")[-1].split()),
        cites=tuple(f'{c.source} "{c.section}"' for c in prop.citations if c.section),
    )


def _text(expr: n.Expr) -> str:
    """An expression as its author wrote it, on one line."""
    return " ".join(expr.span.source.text[expr.span.start : expr.span.end].split())


class _Reader:
    """Reads a property in one scope."""

    def __init__(self, machine: Machine, scope: Scope) -> None:
        self.machine = machine
        self.scope = scope
        self.given: list[tuple[str, str]] = []
        self.premises: list[tuple[n.Expr, Locals]] = []

    def shown(self, kind: t.Type, value: Value) -> str:
        return show_value(kind, value, self.machine.universe)

    def value(self, expr: n.Expr, names: Locals) -> Value:
        return self.machine.evaluator.value(expr, self.scope, names)

    def narrowed(self, expr: n.Expr, names: Locals, wanted: bool) -> tuple[n.Expr, Locals, bool]:
        """The innermost part that decides: an expression, its names, and the truth that it has to
        have and has not."""
        inner = self._inner(expr, names, wanted)
        return (expr, names, wanted) if inner is None else self.narrowed(*inner)

    def _inner(
        self, expr: n.Expr, names: Locals, wanted: bool
    ) -> tuple[n.Expr, Locals, bool] | None:
        match expr:
            case n.Unary(op="not", operand=operand):
                return operand, names, not wanted
            case n.Binary(op="and" | "or" | "implies"):
                return self._joined(expr, names, wanted)
            case n.Quantified(kind="forall" | "some"):
                return self._element(expr, names, wanted)
            case n.Let(name=name, value=value, body=body):
                return body, names | {name: self.value(value, names)}, wanted
            case n.If(condition=condition, then=then, otherwise=otherwise):
                return (then if self.value(condition, names) else otherwise), names, wanted
            case n.Match():
                return self._case(expr, names, wanted)
            case n.Call(function=function, args=args):
                called = self.machine.evaluator.functions[function]
                values = [self.value(arg, names) for arg in args]
                own = dict(zip((p.name for p in called.params), values, strict=True))
                return called.body, own, wanted
            case _:
                return None

    def _joined(
        self, expr: n.Binary, names: Locals, wanted: bool
    ) -> tuple[n.Expr, Locals, bool] | None:
        """The side that decides; none where both do."""
        if expr.op == "and" and wanted:
            side = expr.right if self.value(expr.left, names) else expr.left
            return side, names, True
        if expr.op == "implies" and wanted:
            self.premises.append((expr.left, names))
            return expr.right, names, True
        if expr.op == "or" and not wanted:
            side = expr.left if self.value(expr.left, names) else expr.right
            return side, names, False
        return None

    def _element(
        self, expr: n.Quantified, names: Locals, wanted: bool
    ) -> tuple[n.Expr, Locals, bool] | None:
        """The first element that decides; none where all do."""
        if (expr.kind == "forall") is not wanted:
            return None
        assert isinstance(expr.domain.type, t.Set)
        for member in self.machine.evaluator.members(expr.domain, self.scope, names):
            inside = names | {expr.name: member}
            if self.value(expr.body, inside) is not wanted:
                self.given.append((expr.name, self.shown(expr.domain.type.inner, member)))
                return expr.body, inside, wanted
        return None

    def _case(self, expr: n.Match, names: Locals, wanted: bool) -> tuple[n.Expr, Locals, bool]:
        """The case that is taken."""
        subject = self.value(expr.subject, names)
        kind = expr.subject.type
        for case in expr.cases:
            if isinstance(kind, t.Option):
                taken = (subject is None) is (case.tag == "none")
                parts: tuple[Value, ...] = (subject,)
            elif isinstance(kind, t.Union):
                assert isinstance(subject, tuple)
                taken, parts = subject[0] == case.tag, subject[1:]
            else:
                taken, parts = subject == case.tag, ()
            if taken:
                return case.body, names | dict(zip(case.names, parts, strict=False)), wanted
        raise AssertionError("a match that is not exhaustive")

    # --- values ----------------------------------------------------------------------------------

    def values(self, parts: Iterable[tuple[n.Expr, Locals]]) -> Iterator[tuple[str, str]]:
        """What stands in expressions and can be looked up, with its value, once each."""
        seen = {name for name, _ in self.given}
        for part, names in parts:
            for inner in self._looked_up(part, names):
                text = _text(inner)
                try:
                    value = self.shown(inner.type, self.value(inner, names))
                except (EvaluationError, KeyError):
                    continue
                if text not in seen and text != value and len(value) <= LONG:
                    seen.add(text)
                    yield text, value

    def _looked_up(self, expr: n.Expr, names: Locals) -> Iterator[n.Expr]:
        match expr:
            case n.StateRef() | n.MapGet() | n.FieldOf() | n.Call() | n.ConstRef():
                yield expr
            case n.Local(name=name) if name in names:
                yield expr
            case n.Quantified(domain=domain) | n.Comprehend(domain=domain):
                yield from self._looked_up(domain, names)
            case _:
                for child in children(expr):
                    yield from self._looked_up(child, names)
