"""Encodes core expressions as symbolic values. Each rule follows that of the definition
(`charter.semantics.evaluate`), and also gives the condition under which the expression has a value.

Functions are inlined, once for each tuple of arguments; quantifiers and comprehensions are
unrolled over the possible members of their domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import assert_never, cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.obligations import COMPARISONS
from charter.core.walk import children
from charter.diagnostics import Span
from charter.prove import collections as col
from charter.prove.terms import FALSE, TRUE, Term, Terms
from charter.prove.terms_of_types import TermsOfTypes
from charter.prove.values import Bag, Fields, Line, Mask, Maybe, Number, ScalarTerm, Sym, Tagged
from charter.semantics.builtins import ordered

Names = Mapping[str, Sym]
Coded = tuple[Sym, Term]
"""A value, and the condition under which the definition has one."""


@dataclass(frozen=True, slots=True)
class View:
    """The symbolic state that an expression reads. `took` has for each branch the condition that it
    was taken; `arguments` are those of all operations by their names in properties."""

    before: Mapping[str, Sym]
    after: Mapping[str, Sym] | None = None
    took: Mapping[str, Term] = field(default_factory=dict)
    arguments: Mapping[str, Sym] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ComparisonEvent:
    """A watched comparison was evaluated under `condition` with these two sides; or a watched
    sequence, whose first item is `left` and which has the item `right` behind it."""

    site: int
    condition: Term
    left: Sym
    right: Sym


@dataclass(slots=True)
class Encoder:
    """Encodes the expressions of one model. `watched` maps spans of comparisons and sequences to
    numbers; their evaluations are recorded in `events`. `tag` distinguishes the variables of two
    models."""

    types: TermsOfTypes
    functions: Mapping[str, s.Function]
    watched: Mapping[Span, int] = field(default_factory=dict)
    tag: str = ""
    events: list[ComparisonEvent] = field(default_factory=list)
    path: Term = TRUE
    _memo: dict[tuple[str, tuple[Sym, ...]], tuple[Coded, tuple[ComparisonEvent, ...]]] = field(
        default_factory=dict
    )

    @staticmethod
    def of(model: s.Model, types: TermsOfTypes) -> Encoder:
        """An encoder of `model`."""
        return Encoder(types, {f.name: f for f in model.functions})

    @property
    def terms(self) -> Terms:
        """The table of terms."""
        return self.types.terms

    def encode(self, e: s.Expr, view: View, names: Names) -> Coded:
        """The value of `e` and where it is defined."""
        value, defined = self._encoded(e, view, names)
        if isinstance(value, Line):
            self._listed(e, value, defined)
        return value, defined

    def _encoded(self, e: s.Expr, view: View, names: Names) -> Coded:
        terms, types = self.terms, self.types
        match e:
            case n.Literal(value=value):
                return types.constant(e.type, value), TRUE
            case n.Local(name=name):
                return names[name], TRUE
            case n.StateRef(name=name, primed=primed):
                state = view.after if primed else view.before
                if state is None:
                    return col.anything(types, e.type), FALSE
                return state[name], TRUE
            case n.ConstRef(name=name):
                return types.constant(e.type, types.universe.consts[name]), TRUE
            case n.Domain():
                keys, items = types.keys(t.inner_of(e.type))
                return Mask(keys, (TRUE,) * len(keys), items), TRUE
            case n.Took(branch=branch):
                return ScalarTerm(view.took.get(branch, FALSE)), TRUE
            case n.Binary(op="and" | "or" | "implies"):
                return self.either(s.as_choice(e), view, names)
            case n.If():
                return self.either(e, view, names)
            case n.Let(name=name, value=part, body=body):
                held, defined = self.encode(part, view, names)
                result, inside = self.encode(body, view, {**names, name: held})
                return result, terms.and_(defined, inside)
            case n.Checked(condition=condition, value=part):
                truth, known_ = self.truth(condition, view, names)
                result, inside = self.encode(part, view, names)
                return result, terms.and_(known_, truth, inside)
            case n.MapNew(name=name, value=part):
                keys_ = types.keys(t.map_of(e.type).key)[1]
                coded = [self.encode(part, view, {**names, name: key}) for key in keys_]
                return Fields(tuple(v for v, _ in coded)), terms.and_(*(d for _, d in coded))
            case n.Quantified(kind="sum"):
                return self.sum(e, view, names)
            case n.Quantified():
                return self.quantified(e, view, names)
            case n.Comprehend():
                return self.comprehend(e, view, names)
            case _:
                parts = [self.encode(part, view, names) for part in children(e)]
                args, defined = tuple(v for v, _ in parts), terms.and_(*(d for _, d in parts))
                if isinstance(e, n.Binary):
                    self.compared(e, args[0], args[1], defined)
                result, possible = self.applied(e, args)
                return result, terms.and_(defined, possible)

    def applied(self, e: s.Strict, args: tuple[Sym, ...]) -> Coded:
        """An operation with evaluated operands: its value, and the condition that it has one."""
        types = self.types
        match e:
            case n.Call(function=name):
                return self.call(self.functions[name], args)
            case n.Primitive():
                return col.primitive(types, e, args)
            case n.Unary() | n.Binary():
                return col.operator(types, e, args), TRUE
            case n.RecordNew():
                return Fields(args), TRUE
            case n.FieldOf(target=target, field=name):
                return cast(Fields, args[0]).items[t.record_of(target.type).index(name)], TRUE
            case n.UnionNew(tag=tag):
                cases = tuple(args if tag == name else None for name in t.tags_of(e.type))
                return Tagged(types.tag(e.type, tag), cases), TRUE
            case n.Present():
                return Maybe(TRUE, args[0]), TRUE
            case n.IsCase(target=target, tag=tag):
                return ScalarTerm(col.is_case(types, target.type, tag, args[0])), TRUE
            case n.CaseArg():
                return col.case_arg(types, e, args[0]), TRUE
            case n.MapGet(target=target):
                return col.look_up(types, t.map_of(target.type), cast(Fields, args[0]), args[1])
            case n.SetNew():
                bag = Bag(tuple((TRUE, item) for item in args))
                return col.normal(types, t.inner_of(e.type), bag), TRUE
            case n.SeqNew():
                return col.listing(types, e.type, args)
            case _:
                assert_never(e)

    def truth(self, expr: s.Expr, view: View, names: Names) -> tuple[Term, Term]:
        """A boolean expression: its value and where it is defined."""
        value, defined = self.encode(expr, view, names)
        return cast(ScalarTerm, value).term, defined

    def set_of(self, expr: s.Expr, view: View, names: Names) -> tuple[Mask | Bag, Term]:
        """A set expression."""
        value, defined = self.encode(expr, view, names)
        return cast("Mask | Bag", value), defined

    def walk(self, domain: Mask | Bag, kind: t.Type) -> tuple[tuple[Term, Sym], ...]:
        """The possible members of a set in the order in which the definition looks at them."""
        members = self.types.members(domain)
        inner = t.inner_of(kind)
        if isinstance(domain, Bag) or isinstance(inner, t.Bool | t.Int | t.Sort | t.Enum):
            return members
        there = zip(domain.members, domain.items, strict=True)
        by_key = dict(zip(domain.keys, there, strict=True))
        return tuple(by_key[k] for k in ordered(frozenset(domain.keys), inner))

    @contextmanager
    def under(self, condition: Term) -> Iterator[None]:
        """A context: expressions encoded inside are evaluated only if `condition` holds."""
        before = self.path
        self.path = self.terms.and_(before, condition)
        try:
            yield
        finally:
            self.path = before

    def call(self, function: s.Function, args: tuple[Sym, ...]) -> Coded:
        """A function of values, inlined."""
        key = (function.name, args)
        known = self._memo.get(key)
        if known is None:
            outer_path, outer_events = self.path, self.events
            self.path, self.events = TRUE, []
            names = {p.name: a for p, a in zip(function.params, args, strict=True)}
            coded = self.encode(function.body, View({}), names)
            known = self._memo[key] = coded, tuple(self.events)
            self.path, self.events = outer_path, outer_events
        for event in known[1]:
            self._record(event.site, event.condition, event.left, event.right)
        return known[0]

    def either(self, e: n.If[s.Expr], view: View, names: Names) -> Coded:
        """One of two values; only that one is evaluated."""
        truth, defined = self.truth(e.condition, view, names)
        if truth in (TRUE, FALSE):
            value, inside = self.encode(e.then if truth == TRUE else e.otherwise, view, names)
            return value, self.terms.and_(defined, inside)
        with self.under(truth):
            a, a_defined = self.encode(e.then, view, names)
        with self.under(self.terms.not_(truth)):
            b, b_defined = self.encode(e.otherwise, view, names)
        inside = self.terms.ite(truth, a_defined, b_defined)
        return self.types.choose(truth, a, b), self.terms.and_(defined, inside)

    def quantified(self, e: n.Quantified[s.Expr], view: View, names: Names) -> Coded:
        """`forall` and `some`; members behind the first that decides are not evaluated."""
        terms = self.terms
        domain, defined = self.set_of(e.domain, view, names)
        seen: list[tuple[Term, Term, Term]] = []
        still_open = TRUE
        for there, item in self.walk(domain, e.domain.type):
            with self.under(terms.and_(there, still_open)):
                value, ok = self.truth(e.body, view, {**names, e.name: item})
            goes_on = value if e.kind == "forall" else terms.not_(value)
            seen.append((there, goes_on, ok))
            if self.watched:
                still_open = terms.and_(still_open, terms.implies(there, goes_on))
        rest = TRUE
        for there, goes_on, ok in reversed(seen):
            rest = terms.ite(there, terms.and_(ok, terms.implies(goes_on, rest)), rest)
        every = terms.and_(*(terms.implies(there, goes_on) for there, goes_on, _ in seen))
        truth = every if e.kind == "forall" else terms.not_(every)
        return ScalarTerm(truth), terms.and_(defined, rest)

    def sum(self, e: n.Quantified[s.Expr], view: View, names: Names) -> Coded:
        """`sum`: each member counts once, or not at all."""
        terms, numbers = self.terms, self.types.numbers
        domain, defined = self.set_of(e.domain, view, names)
        total, parts = numbers.constant(0), [defined]
        members = self.walk(domain, e.domain.type)
        if isinstance(domain, Bag):
            members = col.distinct(self.types, members)
        for there, item in members:
            with self.under(there):
                value, ok = self.encode(e.body, view, {**names, e.name: item})
            parts.append(terms.implies(there, ok))
            addend = numbers.choose(there, cast(Number, value), numbers.constant(0))
            total = numbers.add(total, addend)
        return total, terms.and_(*parts)

    def comprehend(self, e: n.Comprehend[s.Expr], view: View, names: Names) -> Coded:
        """A comprehension: the set of its bodies, or their union."""
        terms, types = self.terms, self.types
        domain, defined = self.set_of(e.domain, view, names)
        parts = [defined]
        found: list[tuple[Term, Sym]] = []
        for there, item in self.walk(domain, e.domain.type):
            local = {**names, e.name: item}
            with self.under(there):
                condition, ok = self.truth(e.condition, view, local)
            chosen = terms.and_(there, condition)
            parts.append(terms.implies(there, ok))
            if chosen == FALSE:
                continue
            with self.under(chosen):
                body, body_ok = self.encode(e.body, view, local)
            parts.append(terms.implies(chosen, body_ok))
            inner = types.members(cast("Mask | Bag", body)) if e.flatten else ((TRUE, body),)
            found += [(terms.and_(chosen, inside), x) for inside, x in inner]
        return col.normal(types, t.inner_of(e.type), Bag(tuple(found))), terms.and_(*parts)

    def compared(self, expr: n.Binary[s.Expr], left: Sym, right: Sym, defined: Term) -> None:
        """Record the evaluation of a comparison if it is watched."""
        site = self.watched.get(expr.span) if expr.op in COMPARISONS else None
        if site is not None:
            self._record(site, defined, left, right)

    def _listed(self, expr: s.Expr, line: Line, defined: Term) -> None:
        """Record the evaluation of a sequence if it is watched."""
        site = self.watched.get(expr.span) if self.watched else None
        first, *others = line.slots or (None,)
        if site is None or first is None:
            return
        numbers = self.types.numbers
        for i, other in enumerate(others, 1):
            if other is not None:
                there = numbers.less(numbers.constant(i), line.length)
                self._record(site, self.terms.and_(defined, there), first, other)

    def _record(self, site: int, condition: Term, left: Sym, right: Sym) -> None:
        reached = self.terms.and_(self.path, condition)
        if reached != FALSE:
            self.events.append(ComparisonEvent(site, reached, left, right))
