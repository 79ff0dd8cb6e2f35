"""Core expressions as symbolic values. Every rule follows the rule of the definition
(`charter.semantics.evaluate`), and says beside the value where the expression has one.

Functions are inlined, once for each tuple of arguments; quantifiers and comprehensions are
unrolled over the possible members of their domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from charter.core import nodes as n
from charter.core import types as t
from charter.prove import collections as col
from charter.prove.layout import Layout, word_width
from charter.prove.terms import FALSE, TRUE, Term, Terms
from charter.prove.values import (
    Bag,
    Fields,
    Line,
    Mask,
    Maybe,
    Number,
    Scalar,
    Sym,
    Tagged,
)
from charter.semantics.builtins import ordered

Names = Mapping[str, Sym]
Coded = tuple[Sym, Term]
"""A value, and the condition under which the definition has one."""


@dataclass(frozen=True, slots=True)
class View:
    """What an expression can see; `took` says of each branch whether it was taken."""

    before: Mapping[str, Sym]
    after: Mapping[str, Sym] | None = None
    took: Mapping[str, Term] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """A watched comparison was evaluated under `condition` with these two sides."""

    site: int
    condition: Term
    left: Sym
    right: Sym


@dataclass(slots=True)
class Encoder:
    """Encodes the expressions of one model. `watched` maps the `id` of comparisons to numbers of
    sites; their evaluations pile up in `events`. `tag` keeps the variables of two models apart."""

    layout: Layout
    functions: Mapping[str, n.Function]
    watched: Mapping[int, int] = field(default_factory=dict)
    tag: str = ""
    events: list[Event] = field(default_factory=list)
    path: Term = TRUE
    _memo: dict[tuple[str, tuple[Sym, ...]], tuple[Coded, tuple[Event, ...]]] = field(
        default_factory=dict
    )

    @staticmethod
    def of(model: n.Model, layout: Layout) -> Encoder:
        """An encoder of `model`."""
        return Encoder(layout, {f.name: f for f in model.functions})

    @property
    def terms(self) -> Terms:
        """The table of terms."""
        return self.layout.terms

    def encode(self, expr: n.Expr, view: View, names: Names) -> Coded:
        """The value of `expr` and where it is defined."""
        return _RULES[type(expr)](self, expr, view, names)

    def truth(self, expr: n.Expr, view: View, names: Names) -> tuple[Term, Term]:
        """A boolean expression: its value and where it is defined."""
        value, defined = self.encode(expr, view, names)
        return cast(Scalar, value).term, defined

    def set_of(self, expr: n.Expr, view: View, names: Names) -> tuple[Mask | Bag, Term]:
        """A set expression."""
        value, defined = self.encode(expr, view, names)
        return cast("Mask | Bag", value), defined

    def walk(self, domain: Mask | Bag, kind: t.Type) -> tuple[tuple[Term, Sym], ...]:
        """The possible members of a set in the order in which the definition looks at them."""
        members = self.layout.members(domain)
        assert isinstance(kind, t.Set)
        if isinstance(domain, Bag) or isinstance(kind.inner, t.Bool | t.Int | t.Sort | t.Enum):
            return members
        there = zip(domain.keys, zip(domain.members, domain.items, strict=True), strict=True)
        by_key = dict(there)
        return tuple(by_key[k] for k in ordered(frozenset(domain.keys), kind.inner))

    @contextmanager
    def under(self, condition: Term) -> Iterator[None]:
        """What is encoded inside is evaluated only where `condition` holds."""
        before = self.path
        self.path = self.terms.and_(before, condition)
        try:
            yield
        finally:
            self.path = before

    def all_of(
        self, exprs: tuple[n.Expr, ...], view: View, names: Names
    ) -> tuple[tuple[Sym, ...], Term]:
        """Several expressions that are all evaluated."""
        coded = [self.encode(e, view, names) for e in exprs]
        return tuple(value for value, _ in coded), self.terms.and_(*(d for _, d in coded))

    def call(self, function: n.Function, args: tuple[Sym, ...]) -> Coded:
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

    def compared(self, expr: n.Binary, left: Sym, right: Sym, defined: Term) -> None:
        """Note the evaluation of a comparison, if it is watched."""
        site = self.watched.get(id(expr))
        if site is not None:
            self._record(site, defined, left, right)

    def _record(self, site: int, condition: Term, left: Sym, right: Sym) -> None:
        reached = self.terms.and_(self.path, condition)
        if reached != FALSE:
            self.events.append(Event(site, reached, left, right))


Rule = Callable[[Encoder, n.Expr, View, Names], Coded]


def _literal(en: Encoder, e: n.Literal, view: View, names: Names) -> Coded:
    return en.layout.constant(e.type, e.value), TRUE


def _local(en: Encoder, e: n.Local, view: View, names: Names) -> Coded:
    return names[e.name], TRUE


def _state_ref(en: Encoder, e: n.StateRef, view: View, names: Names) -> Coded:
    if not e.primed:
        return view.before[e.name], TRUE
    if view.after is None:
        return col.anything(en.layout, e.type), FALSE
    return view.after[e.name], TRUE


def _const_ref(en: Encoder, e: n.ConstRef, view: View, names: Names) -> Coded:
    return en.layout.constant(e.type, en.layout.universe.consts[e.name]), TRUE


def _domain(en: Encoder, e: n.Domain, view: View, names: Names) -> Coded:
    assert isinstance(e.type, t.Set)
    keys, items = en.layout.keys(e.type.inner)
    return Mask(keys, (TRUE,) * len(keys), items), TRUE


def _call(en: Encoder, e: n.Call, view: View, names: Names) -> Coded:
    args, defined = en.all_of(e.args, view, names)
    value, inside = en.call(en.functions[e.function], args)
    return value, en.terms.and_(defined, inside)


def _builtin(en: Encoder, e: n.Builtin, view: View, names: Names) -> Coded:
    args, defined = en.all_of(e.args, view, names)
    value, possible = col.builtin(en.layout, e, args)
    return value, en.terms.and_(defined, possible)


def _field(en: Encoder, e: n.FieldOf, view: View, names: Names) -> Coded:
    assert isinstance(e.target.type, t.Record)
    record, defined = en.encode(e.target, view, names)
    return cast(Fields, record).items[e.target.type.index(e.field)], defined


def _map_get(en: Encoder, e: n.MapGet, view: View, names: Names) -> Coded:
    assert isinstance(e.target.type, t.Map)
    key, key_defined = en.encode(e.key, view, names)
    table, defined = en.encode(e.target, view, names)
    value, found = col.look_up(en.layout, e.target.type, cast(Fields, table), key)
    return value, en.terms.and_(key_defined, defined, found)


def _record_new(en: Encoder, e: n.RecordNew, view: View, names: Names) -> Coded:
    items, defined = en.all_of(e.fields, view, names)
    return Fields(items), defined


def _record_with(en: Encoder, e: n.RecordWith, view: View, names: Names) -> Coded:
    assert isinstance(e.type, t.Record)
    record, defined = en.encode(e.target, view, names)
    items = list(cast(Fields, record).items)
    parts = [defined]
    for name, expr in e.fields:
        items[e.type.index(name)], inside = en.encode(expr, view, names)
        parts.append(inside)
    return Fields(tuple(items)), en.terms.and_(*parts)


def _union_new(en: Encoder, e: n.UnionNew, view: View, names: Names) -> Coded:
    assert isinstance(e.type, t.Union)
    args, defined = en.all_of(e.args, view, names)
    tags = [tag for tag, _ in e.type.cases]
    cases = tuple(args if tag == e.tag else None for tag in tags)
    return Tagged(en.layout.word(tags.index(e.tag), len(tags)), cases), defined


def _map_with(en: Encoder, e: n.MapWith, view: View, names: Names) -> Coded:
    assert isinstance(e.type, t.Map)
    layout = en.layout
    table, defined = en.encode(e.target, view, names)
    items = list(cast(Fields, table).items)
    parts = [defined]
    for key_expr, value_expr in e.entries:
        key, key_defined = en.encode(key_expr, view, names)
        value, value_defined = en.encode(value_expr, view, names)
        hits = [layout.equal(key, k) for k in layout.keys(e.type.key)[1]]
        items = [layout.choose(hit, value, old) for hit, old in zip(hits, items, strict=True)]
        parts += [key_defined, value_defined, col.in_domain(layout, e.type.key, hits)]
    return Fields(tuple(items)), en.terms.and_(*parts)


def _map_new(en: Encoder, e: n.MapNew, view: View, names: Names) -> Coded:
    assert isinstance(e.type, t.Map)
    keys = en.layout.keys(e.type.key)[1]
    coded = [en.encode(e.value, view, {**names, e.name: key}) for key in keys]
    return Fields(tuple(v for v, _ in coded)), en.terms.and_(*(d for _, d in coded))


def _set_new(en: Encoder, e: n.SetNew, view: View, names: Names) -> Coded:
    assert isinstance(e.type, t.Set)
    items, defined = en.all_of(e.items, view, names)
    bag = Bag(tuple((TRUE, item) for item in items))
    return col.normal(en.layout, e.type.inner, bag), defined


def _seq_new(en: Encoder, e: n.SeqNew, view: View, names: Names) -> Coded:
    items, defined = en.all_of(e.items, view, names)
    line = Line(en.layout.numbers.constant(len(items)), items)
    if isinstance(e.type, t.Ranking):
        pairs = [(a, b) for i, a in enumerate(items) for b in items[:i]]
        repeat = en.terms.or_(*(en.layout.equal(a, b) for a, b in pairs))
        defined = en.terms.and_(defined, en.terms.not_(repeat))
    return line, defined


def _present(en: Encoder, e: n.Present, view: View, names: Names) -> Coded:
    value, defined = en.encode(e.inner, view, names)
    return Maybe(TRUE, value), defined


def _comprehend(en: Encoder, e: n.Comprehend, view: View, names: Names) -> Coded:
    assert isinstance(e.type, t.Set)
    terms, layout = en.terms, en.layout
    domain, defined = en.set_of(e.domain, view, names)
    parts = [defined]
    found: list[tuple[Term, Sym]] = []
    for there, item in en.walk(domain, e.domain.type):
        local = {**names, e.name: item}
        with en.under(there):
            condition, ok = en.truth(e.condition, view, local)
        chosen = terms.and_(there, condition)
        parts.append(terms.implies(there, ok))
        if chosen == FALSE:
            continue
        with en.under(chosen):
            body, body_ok = en.encode(e.body, view, local)
        parts.append(terms.implies(chosen, body_ok))
        if e.flatten:
            inner = layout.members(cast("Mask | Bag", body))
            found += [(terms.and_(chosen, inside), x) for inside, x in inner]
        else:
            found.append((chosen, body))
    return col.normal(layout, e.type.inner, Bag(tuple(found))), terms.and_(*parts)


def _quantified(en: Encoder, e: n.Quantified, view: View, names: Names) -> Coded:
    terms, layout = en.terms, en.layout
    domain, defined = en.set_of(e.domain, view, names)
    seen: list[tuple[Term, Sym, Term, Term]] = []
    still_open = TRUE
    for there, item in en.walk(domain, e.domain.type):
        with en.under(terms.and_(there, still_open)):
            value, ok = en.truth(e.body, view, {**names, e.name: item})
        seen.append((there, item, value, ok))
        if e.kind != "the" and en.watched:
            goes_on = value if e.kind == "forall" else terms.not_(value)
            still_open = terms.and_(still_open, terms.implies(there, goes_on))
    if e.kind == "the":
        hits = [(terms.and_(there, value), item) for there, item, value, _ in seen]
        every = terms.and_(*(terms.implies(there, ok) for there, _, _, ok in seen))
        single = layout.numbers.equal(
            layout.numbers.count([h for h, _ in hits]), layout.numbers.constant(1)
        )
        result = col.pick_first(layout, e.type, hits)
        return result, terms.and_(defined, every, single)
    rest = TRUE
    for there, _, value, ok in reversed(seen):
        goes_on = value if e.kind == "forall" else terms.not_(value)
        rest = terms.ite(there, terms.and_(ok, terms.implies(goes_on, rest)), rest)
    if e.kind == "forall":
        truth = terms.and_(*(terms.implies(there, value) for there, _, value, _ in seen))
    else:
        truth = terms.or_(*(terms.and_(there, value) for there, _, value, _ in seen))
    return Scalar(truth), terms.and_(defined, rest)


def _unary(en: Encoder, e: n.Unary, view: View, names: Names) -> Coded:
    value, defined = en.encode(e.operand, view, names)
    if e.op == "not":
        return Scalar(en.terms.not_(cast(Scalar, value).term)), defined
    return en.layout.numbers.negate(cast(Number, value)), defined


def _binary(en: Encoder, e: n.Binary, view: View, names: Names) -> Coded:
    if e.op in ("and", "or", "implies"):
        return _connective(en, e, view, names)
    (left, right), defined = en.all_of((e.left, e.right), view, names)
    en.compared(e, left, right, defined)
    return col.infix(en.layout, e, left, right), defined


def _connective(en: Encoder, e: n.Binary, view: View, names: Names) -> Coded:
    terms = en.terms
    left, defined = en.truth(e.left, view, names)
    goes_on = terms.not_(left) if e.op == "or" else left
    if goes_on == FALSE:
        return Scalar(FALSE if e.op == "and" else TRUE), defined
    with en.under(goes_on):
        right, right_defined = en.truth(e.right, view, names)
    match e.op:
        case "and":
            value = terms.and_(left, right)
        case "or":
            value = terms.or_(left, right)
        case _:
            value = terms.implies(left, right)
    return Scalar(value), terms.and_(defined, terms.implies(goes_on, right_defined))


def _if(en: Encoder, e: n.If, view: View, names: Names) -> Coded:
    condition, defined = en.truth(e.condition, view, names)
    value, inside = _either(
        en,
        condition,
        lambda: en.encode(e.then, view, names),
        lambda: en.encode(e.otherwise, view, names),
    )
    return value, en.terms.and_(defined, inside)


def _either(
    en: Encoder, condition: Term, then: Callable[[], Coded], otherwise: Callable[[], Coded]
) -> Coded:
    """Only the branch that is taken is evaluated."""
    if condition == TRUE:
        return then()
    if condition == FALSE:
        return otherwise()
    with en.under(condition):
        a, a_defined = then()
    with en.under(en.terms.not_(condition)):
        b, b_defined = otherwise()
    return en.layout.choose(condition, a, b), en.terms.ite(condition, a_defined, b_defined)


def _let(en: Encoder, e: n.Let, view: View, names: Names) -> Coded:
    value, defined = en.encode(e.value, view, names)
    body, inside = en.encode(e.body, view, {**names, e.name: value})
    return body, en.terms.and_(defined, inside)


def _match(en: Encoder, e: n.Match, view: View, names: Names) -> Coded:
    subject, defined = en.encode(e.subject, view, names)
    ways = [_way(en, e, case, subject) for case in e.cases]

    def take(position: int) -> Coded:
        case, (condition, parts) = e.cases[position], ways[position]
        if position + 1 == len(ways):
            return body(case, parts)
        return _either(en, condition, lambda: body(case, parts), lambda: take(position + 1))

    def body(case: n.Case, parts: tuple[Sym, ...]) -> Coded:
        local = {**names, **dict(zip(case.names, parts, strict=True))}
        return en.encode(case.body, view, local)

    value, inside = take(0)
    return value, en.terms.and_(defined, inside)


def _way(en: Encoder, e: n.Match, case: n.Case, subject: Sym) -> tuple[Term, tuple[Sym, ...]]:
    """When a case applies, and the values that its names stand for."""
    kind = e.subject.type
    match kind, subject:
        case t.Option(inner=inner), Maybe(present=present, inner=inside):
            if case.tag == "none":
                return en.terms.not_(present), ()
            held = col.anything(en.layout, inner) if inside is None else inside
            return present, (held,)
        case t.Union(cases=cases), Tagged(tag=tag, cases=found):
            position = [name for name, _ in cases].index(case.tag)
            parts = found[position]
            if parts is None:
                parts = tuple(col.anything(en.layout, p) for _, p in cases[position][1])
            return en.terms.eq(tag, en.layout.word(position, len(cases))), parts
        case t.Enum(members=members), Scalar(term=term):
            word = en.terms.const(members.index(case.tag), word_width(len(members)))
            return en.terms.eq(term, word), ()
        case _:
            raise TypeError(f"match over {kind}")


def _took(en: Encoder, e: n.Took, view: View, names: Names) -> Coded:
    return Scalar(view.took.get(e.branch, FALSE)), TRUE


def _rules() -> Mapping[type, Rule]:
    rules: dict[type, object] = {
        n.Literal: _literal,
        n.Local: _local,
        n.StateRef: _state_ref,
        n.ConstRef: _const_ref,
        n.Domain: _domain,
        n.Call: _call,
        n.Builtin: _builtin,
        n.FieldOf: _field,
        n.MapGet: _map_get,
        n.RecordNew: _record_new,
        n.RecordWith: _record_with,
        n.UnionNew: _union_new,
        n.MapWith: _map_with,
        n.MapNew: _map_new,
        n.SetNew: _set_new,
        n.SeqNew: _seq_new,
        n.Present: _present,
        n.Comprehend: _comprehend,
        n.Quantified: _quantified,
        n.Unary: _unary,
        n.Binary: _binary,
        n.If: _if,
        n.Let: _let,
        n.Match: _match,
        n.Took: _took,
    }
    return cast(Mapping[type, Rule], rules)


_RULES = _rules()
