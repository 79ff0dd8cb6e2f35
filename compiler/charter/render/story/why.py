"""Explains a violated property: the part that is false, for which elements, with the values
compared; evaluated on the definition from the outside of the property inwards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.core.transition import is_argument
from charter.core.walk import children, nodes
from charter.formats.canonical import Json
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import Locals, Scope
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value

LONG = 60
"""The most characters of a value that is shown."""


@dataclass(frozen=True, slots=True)
class DecidingPart:
    """The smallest subexpression that explains the truth value of a property or of a function that
    it calls. `function`: the function that contains it ("": the property itself); `where`: its
    parameters with values; `given`: variables of quantifiers with values; `text`: the
    subexpression, which is false if it `has_to_be` true and true if not; `conditions`: premises
    that are true; `values`: subexpressions of all these with their values (for a name with a long
    value, its definition)."""

    function: str
    where: tuple[tuple[str, str], ...]
    given: tuple[tuple[str, str], ...]
    text: str
    has_to_be: bool
    conditions: tuple[str, ...]
    values: tuple[tuple[str, str], ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The part in words: what is false, for which elements, and the values."""
        where = ", ".join(f"{name} is {value}" for name, value in self.where)
        inside = f"in {self.function}, {f'where {where}, ' if where else ''}"
        word = "this is false" if self.has_to_be else "this is true, and must not be"
        given = ", ".join(f"{name} = {value}" for name, value in self.given)
        head = f"{word}{f' for {given}' if given else ''}: {self.text}"
        return (
            f"{inside if self.function else ''}{head}",
            *(f"although this is true: {text}" for text in self.conditions),
            *(f"{text} is {value}" for text, value in self.values),
        )

    def json(self) -> Json:
        """For a finding."""
        return {
            "function": self.function,
            "where": dict(self.where),
            "given": dict(self.given),
            "text": self.text,
            "has_to_be": self.has_to_be,
            "conditions": list(self.conditions),
            "values": dict(self.values),
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a property is false. `parts`: one for the property, then one for each called function,
    outermost first; `where`: the property's location; `says`: its comment; `cites`: its
    citations."""

    parts: tuple[DecidingPart, ...]
    where: str
    says: str
    cites: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The reason in words, outermost part first."""
        return tuple(line for part in self.parts for line in part.lines)

    @property
    def source(self) -> str:
        """The property's file and line, without folders, and its citations."""
        place = self.where.rpartition("/")[2]
        return f"{place}, which cites {', '.join(self.cites)}" if self.cites else place

    def json(self) -> Json:
        """For a finding."""
        return {
            "parts": [part.json() for part in self.parts],
            "lines": list(self.lines),
            "where": self.where,
            "says": self.says,
            "cites": list(self.cites),
        }


def why(machine: Machine, prop: n.Property, scope: Scope) -> Explanation:
    """Explains why `prop` is false in `scope`."""
    return Explanation(
        parts=tuple(_parts(machine, prop.body, scope)),
        where=prop.span.where(),
        says=" ".join(prop.doc.split("\n\n")[0].split()),
        cites=tuple(f'{c.source} "{c.section}"' for c in prop.citations if c.section),
    )


Deciding = tuple[n.Expr, Locals, bool]
"""An expression, the values of its names, and the truth value that it should have and does not."""


def _parts(machine: Machine, body: n.Expr, scope: Scope) -> Iterator[DecidingPart]:
    """The deciding part in the property, then in the function that it calls, and so on."""
    reader = _Reader(machine, scope)
    at: Deciding = body, machine.arguments(scope), True
    while (inner := reader.inner(at)) is not None:
        if isinstance(at[0], n.Call):
            yield reader.part(at)
            function = machine.evaluator.functions[at[0].function]
            reader = _Reader(machine, scope, function, inner[1])
        at = inner
    yield reader.part(at)


@dataclass(slots=True)
class _Reader:
    """Explains the body of a property, or of `function` called with `params`, in one scope.
    `stands_for` maps names to the expressions that they are bound to."""

    machine: Machine
    scope: Scope
    function: n.Function | None = None
    params: Locals = field(default_factory=dict)
    given: list[tuple[str, str]] = field(default_factory=list)
    conditions: list[tuple[n.Expr, Locals]] = field(default_factory=list)
    stands_for: dict[str, n.Expr] = field(default_factory=dict)

    def part(self, at: Deciding) -> DecidingPart:
        """The result if `at` is the smallest deciding expression."""
        expr, names, has_to_be = at
        seen = [(expr, names), *reversed(self.conditions)]
        inside = (node for e, _ in seen for node in nodes(e))
        read = {e.name: e for e in inside if isinstance(e, n.Local)}
        where = tuple(self._params(read))
        known = {name for name, _ in (*self.given, *where)} | {e.span.quote() for e, _ in seen}
        return DecidingPart(
            function="" if self.function is None else self.function.name,
            where=where,
            given=tuple(self.given),
            text=expr.span.quote(),
            has_to_be=has_to_be,
            conditions=tuple(condition.span.quote() for condition, _ in self.conditions),
            values=(*self._bound(read, names), *self._values(seen, known)),
        )

    def show(self, kind: t.Type, value: Value) -> str:
        return show_value(kind, value, self.machine.universe)

    def value(self, expr: n.Expr, names: Locals) -> Value:
        return self.machine.evaluator.value(expr, self.scope, names)

    def inner(self, at: Deciding) -> Deciding | None:
        """The subexpression that decides the value of `at`; None if there is no smaller one."""
        expr, names, wanted = at
        match expr:
            case n.Unary(op="not"):
                return expr.operand, names, not wanted
            case n.Binary(op="and" | "or" | "implies"):
                return self._decide(expr, names, wanted)
            case n.Quantified(kind="forall" | "some"):
                return self._element(expr, names, wanted)
            case n.Let(name=name):
                self.stands_for[name] = expr.value
                return expr.body, names | {name: self.value(expr.value, names)}, wanted
            case n.If():
                way = expr.then if self.value(expr.condition, names) else expr.otherwise
                return way, names, wanted
            case n.Match():
                return self._case(expr, names, wanted)
            case n.Call(function=function, args=args):
                called = self.machine.evaluator.functions[function]
                values = [self.value(arg, names) for arg in args]
                own = dict(zip((p.name for p in called.params), values, strict=True))
                return called.body, own, wanted
            case _:
                return None

    def _decide(self, expr: n.Binary, names: Locals, wanted: bool) -> Deciding | None:
        """The operand that decides; None if both do."""
        if expr.op == "and" and wanted:
            side = expr.right if self.value(expr.left, names) else expr.left
            return side, names, True
        if expr.op == "implies" and wanted:
            self.conditions.append((expr.left, names))
            return expr.right, names, True
        if expr.op == "or" and not wanted:
            side = expr.left if self.value(expr.left, names) else expr.right
            return side, names, False
        return None

    def _element(self, expr: n.Quantified, names: Locals, wanted: bool) -> Deciding | None:
        """The body for the first element that decides; None if all elements do."""
        if (expr.kind == "forall") is not wanted:
            return None
        assert isinstance(expr.domain.type, t.Set)
        for member in self.machine.evaluator.members(expr.domain, self.scope, names):
            inside = names | {expr.name: member}
            if self.value(expr.body, inside) is not wanted:
                self.given.append((expr.name, self.show(expr.domain.type.inner, member)))
                return expr.body, inside, wanted
        return None

    def _case(self, expr: n.Match, names: Locals, wanted: bool) -> Deciding:
        """The body of the case that is taken."""
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
                if isinstance(kind, t.Option):
                    self.stands_for |= dict.fromkeys(case.names, expr.subject)
                return case.body, names | dict(zip(case.names, parts, strict=False)), wanted
        raise AssertionError("a match that is not exhaustive")

    # --- values ----------------------------------------------------------------------------------

    def _params(self, read: Collection[str]) -> Iterator[tuple[str, str]]:
        """The parameters that are read and short, with their values."""
        for param in () if self.function is None else self.function.params:
            value = self.show(param.type, self.params[param.name])
            if param.name in read and len(value) <= LONG:
                yield param.name, value

    def _bound(self, read: Mapping[str, n.Local], names: Locals) -> Iterator[tuple[str, str]]:
        """The names with long values, with their definitions."""
        for name, bound in self.stands_for.items():
            if name in read and len(self.show(read[name].type, names[name])) > LONG:
                yield name, bound.span.quote()

    def _values(
        self, parts: Iterable[tuple[n.Expr, Locals]], known: Collection[str]
    ) -> Iterator[tuple[str, str]]:
        """The state and fields that expressions read, with values, each once."""
        seen = set(known)
        for part, names in parts:
            for inner in self._list_lookups(part, names):
                text = inner.span.quote()
                try:
                    value = self.show(inner.type, self.value(inner, names))
                except (EvaluationError, KeyError):
                    continue
                if text not in seen and text != value and len(value) <= LONG:
                    seen.add(text)
                    yield text, value

    def _list_lookups(self, expr: n.Expr, names: Locals) -> Iterator[n.Expr]:
        match expr:
            case n.StateRef() | n.MapGet() | n.FieldOf() | n.Call() | n.ConstRef():
                yield expr
            case n.Local(name=name) if name in names and not is_argument(name):
                yield expr
            case _:
                for child in children(expr):
                    yield from self._list_lookups(child, names)
