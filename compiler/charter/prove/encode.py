"""Encodes core expressions as symbolic values. Each rule follows that of the definition
(`charter.semantics.evaluate`), and demands what must hold for the expression to have a value.

Functions are inlined, once for each tuple of arguments; quantifiers and comprehensions are
unrolled over the possible members of their domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import assert_never, cast

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.walk import children
from charter.diagnostics import Span
from charter.prove import collections as col
from charter.prove.terms import FALSE, TRUE, Term, Terms
from charter.prove.terms_of_types import TermsOfTypes
from charter.prove.values import Bag, Fields, Line, Mask, Maybe, Number, ScalarTerm, Sym, Tagged
from charter.semantics.builtins import order

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
    models. `path` is the condition that what is encoded is evaluated at all (if anything is
    watched), `demands` are those that it has a value, where it is evaluated."""

    types: TermsOfTypes
    functions: Mapping[str, s.Function]
    watched: Mapping[Span, int] = field(default_factory=dict)
    tag: str = ""
    events: list[ComparisonEvent] = field(default_factory=list)
    path: Term = TRUE
    demands: list[Term] = field(default_factory=list)
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
        outer, self.demands = self.demands, []
        value = self.value(e, view, names)
        defined = self.terms.and_(*self.demands)
        self.demands = outer
        return value, defined

    def condition(self, e: s.Expr, view: View, names: Names) -> tuple[Term, Term]:
        """A boolean expression: its value and where it is defined."""
        value, defined = self.encode(e, view, names)
        return cast(ScalarTerm, value).term, defined

    @contextmanager
    def under(self, condition: Term) -> Iterator[None]:
        """A context: expressions encoded inside are evaluated only if `condition` holds."""
        path, outer = self.path, self.demands
        self.path, self.demands = self.terms.and_(path, condition) if self.watched else TRUE, []
        try:
            yield
        finally:
            inside = self.terms.implies(condition, self.terms.and_(*self.demands))
            self.path, self.demands = path, outer
            self.demand(inside)

    def demand(self, condition: Term) -> None:
        """What is encoded has a value only where `condition` holds, too."""
        if condition != TRUE:
            self.demands.append(condition)

    def value(self, e: s.Expr, view: View, names: Names) -> Sym:
        """The value of `e`; anything where a demand does not hold."""
        value = self._value(e, view, names)
        if isinstance(value, Line) and e.span in self.watched:
            self._note_sequence(e.span, value)
        return value

    def _value(self, e: s.Expr, view: View, names: Names) -> Sym:
        types = self.types
        if s.is_connective(e):
            return self.either(s.as_choice(e), view, names)
        match e:
            case n.Literal():
                return types.constant(e.type, e.value)
            case n.Local(name=name):
                return names[name]
            case n.StateRef(name=name, primed=primed):
                state = view.after if primed else view.before
                if state is None:
                    self.demand(FALSE)
                    return col.anything(types, e.type)
                return state[name]
            case n.ConstRef(name=name):
                return types.constant(e.type, types.universe.consts[name])
            case n.Domain():
                keys, items = types.keys(t.inner_of(e.type))
                return Mask(keys, (TRUE,) * len(keys), items)
            case n.Took(branch=branch):
                return ScalarTerm(view.took.get(branch, FALSE))
            case n.If():
                return self.either(e, view, names)
            case n.Let(name=name):
                return self.value(e.body, view, {**names, name: self.value(e.value, view, names)})
            case n.Checked():
                self.demand(self.truth(e.condition, view, names))
                return self.value(e.value, view, names)
            case n.MapNew(name=name):
                _, members = types.keys(t.map_of(e.type).key)
                return Fields(tuple(self.value(e.value, view, {**names, name: k}) for k in members))
            case n.Quantified(kind="sum"):
                return self.sum(e, view, names)
            case n.Quantified():
                return self.encode_quantifier(e, view, names)
            case n.Comprehend():
                return self.comprehend(e, view, names)
            case _:
                args = tuple(self.value(part, view, names) for part in children(e))
                if isinstance(e, n.Binary) and e.traits.compares and e.span in self.watched:
                    left, right = args
                    site = self.watched[e.span]
                    self._record(ComparisonEvent(site, TRUE, left, right))
                return self.apply(e, args)

    def apply(self, e: s.Strict, args: tuple[Sym, ...]) -> Sym:
        """An operation with evaluated operands."""
        types = self.types
        match e:
            case n.Call(function=name):
                return self.call(self.functions[name], args)
            case n.Primitive():
                return self.give(col.primitive(types, e, args))
            case n.Unary() | n.Binary():
                return col.operator(types, e, args)
            case n.RecordNew():
                return Fields(args)
            case n.FieldOf(field=name):
                return cast(Fields, args[0]).items[t.record_of(e.target.type).index(name)]
            case n.UnionNew(tag=tag):
                cases = tuple(args if tag == name else None for name in t.tags_of(e.type))
                return Tagged(types.tag(e.type, tag), cases)
            case n.Present():
                return Maybe(TRUE, args[0])
            case n.IsCase(tag=tag):
                return ScalarTerm(col.is_case(types, e.target.type, tag, args[0]))
            case n.CaseArg():
                return col.case_arg(types, e, args[0])
            case n.MapGet():
                table = cast(Fields, args[0])
                return self.give(col.look_up(types, t.map_of(e.target.type), table, args[1]))
            case n.SetNew():
                bag = Bag(tuple((TRUE, item) for item in args))
                return col.normal(types, t.inner_of(e.type), bag)
            case n.SeqNew():
                return self.give(col.listing(types, e.type, args))
            case _:
                assert_never(e)

    def give(self, coded: Coded) -> Sym:
        """A value that is there only under a condition, which is demanded."""
        self.demand(coded[1])
        return coded[0]

    def truth(self, expr: s.Expr, view: View, names: Names) -> Term:
        """The value of a boolean expression."""
        return cast(ScalarTerm, self.value(expr, view, names)).term

    def walk(self, e: s.Expr, view: View, names: Names) -> tuple[tuple[Term, Sym], ...]:
        """The possible members of a set in the order in which the definition looks at them."""
        domain, inner = cast("Mask | Bag", self.value(e, view, names)), t.inner_of(e.type)
        if isinstance(domain, Bag) or isinstance(inner, t.Bool | t.Int | t.Sort | t.Enum):
            return self.types.members(domain)
        there = zip(domain.members, domain.items, strict=True)
        by_key = dict(zip(domain.keys, there, strict=True))
        return tuple(by_key[k] for k in order(frozenset(domain.keys), inner))

    def call(self, function: s.Function, args: tuple[Sym, ...]) -> Sym:
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
            self._record(event)
        return self.give(known[0])

    def either(self, e: n.If[s.Expr], view: View, names: Names) -> Sym:
        """One of two values; only that one is evaluated."""
        truth = self.truth(e.condition, view, names)
        if truth in (TRUE, FALSE):
            return self.value(e.then if truth == TRUE else e.otherwise, view, names)
        with self.under(truth):
            then = self.value(e.then, view, names)
        with self.under(self.terms.not_(truth)):
            otherwise = self.value(e.otherwise, view, names)
        return self.types.choose(truth, then, otherwise)

    def encode_quantifier(self, e: n.Quantified[s.Expr], view: View, names: Names) -> ScalarTerm:
        """`forall` and `some`; members behind the first that decides are not evaluated."""
        terms, passed = self.terms, list[Term]()
        with ExitStack() as behind:
            for there, item in self.walk(e.domain, view, names):
                with self.under(there):
                    truth = self.truth(e.body, view, {**names, e.name: item})
                goes_on = truth if e.kind == "forall" else terms.not_(truth)
                passed.append(terms.implies(there, goes_on))
                behind.enter_context(self.under(passed[-1]))
        every = terms.and_(*passed)
        return ScalarTerm(every if e.kind == "forall" else terms.not_(every))

    def sum(self, e: n.Quantified[s.Expr], view: View, names: Names) -> Number:
        """`sum`: each member counts once, or not at all."""
        numbers = self.types.numbers
        total = zero = numbers.constant(0)
        for there, item in col.distinct(self.types, self.walk(e.domain, view, names)):
            with self.under(there):
                value = self.value(e.body, view, {**names, e.name: item})
            total = numbers.add(total, numbers.choose(there, cast(Number, value), zero))
        return total

    def comprehend(self, e: n.Comprehend[s.Expr], view: View, names: Names) -> Mask | Bag:
        """A comprehension: the set of its bodies, or their union."""
        terms, types = self.terms, self.types
        found: list[tuple[Term, Sym]] = []
        for there, item in self.walk(e.domain, view, names):
            local = {**names, e.name: item}
            with self.under(there):
                chosen = terms.and_(there, self.truth(e.condition, view, local))
            if chosen == FALSE:
                continue
            with self.under(chosen):
                body = self.value(e.body, view, local)
            inner = types.members(cast("Mask | Bag", body)) if e.flatten else ((TRUE, body),)
            found += [(terms.and_(chosen, inside), x) for inside, x in inner]
        return col.normal(types, t.inner_of(e.type), Bag(tuple(found)))

    def _note_sequence(self, span: Span, line: Line) -> None:
        """Record the evaluation of a watched sequence."""
        numbers = self.types.numbers
        first, *others = line.slots or (None,)
        for i, other in enumerate(others, 1):
            if first is not None and other is not None:
                there = numbers.less(numbers.constant(i), line.length)
                self._record(ComparisonEvent(self.watched[span], there, first, other))

    def _record(self, event: ComparisonEvent) -> None:
        """Add an event, which happens only where what came before it has a value."""
        reached = self.terms.and_(self.path, event.condition, *self.demands)
        if reached != FALSE:
            self.events.append(replace(event, condition=reached))
