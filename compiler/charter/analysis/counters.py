"""Finds what a model does with its counters: which it orders, which it bumps, which numbers it
mentions.

All of it is read off the text of rules and properties. Instances count only by their `only`: the
instances of a machine share one module of TLA+.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, TypeGuard

from charter.analysis.correlated_conditions import binds, decide, decisions
from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import branch_expressions, fold, nodes, rules, statement_expressions


@dataclass(frozen=True, slots=True)
class CounterUses:
    """What the rules, the properties and the `only` of the instances of a model do with counters.
    `ranked` are those whose order matters: two of them are compared, or a number is mentioned. The
    values of other counters are only compared for equality, so their order does not matter (`bump`
    allots a value that occurs nowhere). `numbers`: for each counter the largest number that is
    mentioned. `bumped` are those that rules bump."""

    ranked: frozenset[str]
    numbers: Mapping[str, int]
    bumped: frozenset[str]

    @staticmethod
    def of(model: n.Model) -> CounterUses:
        """What a model does."""
        numbers: dict[str, int] = {}
        compared = set[str]()
        inside = tuple(rule_expressions(model))
        for e in (*inside, *conditions(model.instances)):
            match e:
                case n.Literal(type=t.Counter(name=name), value=int() as value):
                    numbers[name] = max(value, numbers.get(name, value))
                case n.Binary(op="lt" | "le" | "gt" | "ge"):
                    if isinstance(e.left.type, t.Counter):
                        compared.add(e.left.type.name)
                case n.Builtin(type=t.Counter(name=name)) if e.traits.picks:
                    compared.add(name)
                case _:
                    pass
        bumped = (e.type.name for e in inside if is_bump(e) and isinstance(e.type, t.Counter))
        seen = compared | numbers.keys()
        ranked = frozenset(c.name for c in model.counters if c.ordered and c.name in seen)
        return CounterUses(ranked, numbers, frozenset(bumped))


def find_bumped_apart(model: n.Model) -> Mapping[str, tuple[str, ...]]:
    """The counters of which a rule or a property may bump a value that is not the greatest, with
    the names of what is bumped: several values, each on its own, an argument, or a variable that
    does not stay the greatest. Not looked at are values in records that have a name
    (`p.epoch`), and parameters of functions."""
    scopes = tuple(_scopes(model))
    return {
        counter: tuple(sorted(names)) for counter, names in sorted(_apart(model, scopes).items())
    }


def why_apart(model: n.Model) -> Mapping[str, tuple[str, ...]]:
    """For each counter of `find_bumped_apart`, where the text makes it so, and what to write:
    a sentence for each place."""
    scopes = tuple(_scopes(model))
    told: dict[str, tuple[str, ...]] = {}
    for counter, names in sorted(_apart(model, scopes).items()):
        if len(names) == 1 and "one" in names.values():
            fallen = (scope.falls(name) for name in names for scope in scopes)
            told[counter] = tuple(one for one in fallen if one)[:_SHOWN]
        else:
            bumps = (e for scope in scopes for e in scope.nodes if is_bump(e))
            mine = (e for e in bumps if e.type == t.Counter(counter))
            places = tuple(dict.fromkeys(map(_at, mine)))[:_SHOWN]
            told[counter] = (*places, "bump one value only, or the greatest, as in bump(max(a, b))")
    return told


_SHOWN = 4
"""How many places are reported."""


def _at(e: n.Expr) -> str:
    """The place and the text of an expression."""
    text = e.span.quote()
    return f"{e.span.where()}: `{text if len(text) <= 60 else f'{text[:57]}...'}`"


def _apart(model: n.Model, scopes: Sequence[_Scope]) -> Mapping[str, Mapping[str, Bumped]]:
    """The counters of which a value that is not the greatest may be bumped, with what is bumped."""
    state = _Held.of(model)
    found: dict[str, dict[str, Bumped]] = {}
    for scope in scopes:
        for e in scope.nodes:
            if isinstance(e, n.Builtin) and e.name == "bump" and isinstance(e.type, t.Counter):
                for name, values in scope.places(e.args[0], state.several):
                    found.setdefault(e.type.name, {})[name] = values
    return {
        counter: names
        for counter, names in found.items()
        if not state.alone(counter) and _is_apart(counter, names, scopes)
    }


def _is_apart(counter: str, names: Mapping[str, Bumped], scopes: Sequence[_Scope]) -> bool:
    """Whether one of the values of a counter that are bumped may be below another one that it is
    compared with."""
    if len(names) > 1 or "any" in names.values():
        return True
    if "entries" in names.values():
        return any(scope.compares_entries(counter) for scope in scopes)
    return not all(scope.falls(name) == "" for name in names for scope in scopes)


Bumped = Literal["one", "entries", "any"]
"""What is bumped: one value, an entry of a map, or any value (an argument, say)."""


@dataclass(frozen=True, slots=True)
class _Held:
    """Where a machine holds counters: the types of variables and arguments, and the variables of
    components of which a system has many."""

    kinds: tuple[t.Type, ...]
    several: frozenset[str]

    @staticmethod
    def of(model: n.Model) -> _Held:
        given = [p for c in model.components for o in c.operations for p in o.params]
        given += [p for system in model.systems for step in system.steps for p in step.params]
        machines = model.systems or model.components
        indexed = {p.component for s in model.systems for p in s.parts if p.index is not None}
        state = [variable for machine in machines for variable in machine.state]
        return _Held(
            (*(variable.type for variable in state), *(param.type for param in given)),
            frozenset(v.name for c in model.components if c.name in indexed for v in c.state),
        )

    def alone(self, counter: str) -> bool:
        """Whether there is at most one value of a counter, which is compared with nothing."""
        kinds = [kind for kind in self.kinds if counter in t.counters_in(kind)]
        plain = [kind.inner if isinstance(kind, t.Option) else kind for kind in kinds]
        return len(plain) <= 1 and all(isinstance(kind, t.Counter) for kind in plain)


@dataclass(frozen=True, slots=True)
class _Scope:
    """A function or a rule, in which a name has one meaning: every expression with its
    subexpressions, the values of local names, the arguments, the new values of variables, and what
    is sent or given to an operation. `free` are names whose values nothing ties to an entry.
    `bumps`: whether anything is bumped."""

    nodes: tuple[n.Expr, ...]
    named: Mapping[str, n.Expr]
    given: frozenset[str] = frozenset()
    assigned: tuple[tuple[str, n.Expr], ...] = ()
    sent: tuple[n.Expr, ...] = ()
    free: frozenset[str] = frozenset()
    fixed: frozenset[str] | None = None
    bumps: bool = True

    @staticmethod
    def of(
        roots: Iterable[n.Expr],
        statements: Sequence[n.Statement] = (),
        params: Sequence[n.Param] = (),
        free: Sequence[n.Param] = (),
    ) -> _Scope:
        inside = tuple(e for root in roots for e in nodes(root))
        named: dict[str, n.Expr] = {}
        for name, found in (*_list_named(inside), *_bound(statements)):
            value = _apart_inside(name, found)
            known = named.setdefault(name, value)
            if known != value:  # in another part of the text: one of them
                named[name] = n.If(n.Local("", type=t.Bool()), known, value, type=value.type)
        assigned = [(one.variable, one.value) for one in statements if isinstance(one, n.Assign)]
        sends = [one for one in statements if isinstance(one, n.Send | n.CallOperation)]
        sent = tuple(e for one in sends for e in statement_expressions(one))
        given, unbound = (frozenset(p.name for p in some) for some in (params, free))
        changing = any(isinstance(one, n.CallOperation | n.Receive) for one in statements)
        fixed = {*given, *(one.name for one in statements if isinstance(one, n.Bind | n.Pick))}
        fixed -= {name for e in inside for name in binds(e)}
        steady = None if changing else frozenset(fixed)
        bumps = any(map(is_bump, inside))
        return _Scope(inside, named, given, tuple(assigned), sent, unbound, steady, bumps)

    def places(self, expr: n.Expr, several: frozenset[str]) -> Iterator[tuple[str, Bumped]]:
        """Where the value of an expression may come from: the variable or argument, and which of
        its values."""
        match expr:
            case n.StateRef(name=name):
                yield name, "any" if name in several else "one"
            case n.FieldOf(target=target) | n.Builtin(name="value", args=(target,)):
                if not isinstance(target, n.Local):
                    yield from self.places(target, several)
            case n.MapGet():
                yield from ((name, "entries") for name, _ in self.places(expr.target, several))
            case n.Builtin(name="bump", args=(counter,)):
                yield from self.places(counter, several)
            case n.If() | n.Match() | n.Let():
                for chosen in _list_choices(expr):
                    yield from self.places(chosen, several)
            case n.Local(name=name) if name in self.given:
                yield name, "any"
            case n.Local(name=name) if name in self.named:
                yield from self.places(self.named[name], several)
            case n.Builtin(name=name) | n.Call(function=name):
                yield f"{name}(...)", "one"
            case _:
                pass

    def compares_entries(self, counter: str) -> bool:
        """Whether values of a counter under different keys of maps may be compared, or stored one
        under the key of the other. A free name is one value: it may be compared with one entry."""
        known: dict[str, tuple[n.Expr, ...]] = {}
        for left, right in self._together(counter):
            a, b = self._keys(left), self._keys(right)
            for name, keys in ((self._free(left), b), (self._free(right), a)):
                if name and keys and not all(map(self._is_one_key, keys)):
                    return True
                if name and keys is not None and known.setdefault(name, keys) != keys:
                    return True
            if a is not None and b is not None and a != b:
                return True
        return False

    def _is_one_key(self, key: n.Expr) -> bool:
        """Whether a key has one value while a rule is evaluated: it is not that of a quantifier."""
        return isinstance(key, n.Literal) or (
            isinstance(key, n.Local) and (key.name in self.free or key.name in self.given)
        )

    def _free(self, expr: n.Expr) -> str:
        """The free name that an expression is; "" if it is none."""
        return expr.name if isinstance(expr, n.Local) and expr.name in self.free else ""

    def _together(self, counter: str) -> Iterator[tuple[n.Expr, n.Expr]]:
        """Pairs of values with a counter that are compared, or of which one is stored in the place
        of the other."""
        for e in self.nodes:
            match e:
                case n.Binary(op="eq" | "ne" | "lt" | "le" | "gt" | "ge"):
                    if counter in t.counters_in(e.left.type):
                        yield from product(_list_choices(e.left), _list_choices(e.right))
                case n.Builtin(args=(left, right)) if e.traits.picks or e.traits.is_comparison:
                    if counter in t.counters_in(left.type):
                        yield from product(_list_choices(left), _list_choices(right))
                case n.MapWith(entries=entries):
                    for key, value in entries:
                        if counter in t.counters_in(value.type):
                            entry = n.MapGet(e.target, key, type=value.type)
                            stored = (v for v in _list_choices(value) if self._is_below(v, entry))
                            yield from ((entry, v) for v in stored)
                case _:
                    pass

    def _is_below(self, value: n.Expr, entry: n.Expr) -> bool:
        """Whether a value is found under a key of the same type as that of an entry."""
        keys, own = self._keys(value), self._keys(entry)
        return bool(keys and own and keys[-1].type == own[-1].type)

    def _keys(self, expr: n.Expr) -> tuple[n.Expr, ...] | None:
        """The keys under which a value is found; None for a literal, an argument, or what is made
        of several values."""
        match expr:
            case n.StateRef():
                return ()
            case n.MapGet():
                return (*(self._keys(expr.target) or ()), expr.key)
            case n.FieldOf(target=target) | n.Present(inner=target):
                return self._keys(target)
            case n.Builtin(name="value" | "bump", args=(target,)):
                return self._keys(target)
            case n.Local(name=name) if name in self.named:
                return self._keys(self.named[name])
            case n.Local(name=name) if name not in self.free:
                return (expr,)
            case _:
                return None

    def falls(self, variable: str) -> str:
        """Where a variable that was the greatest may not be so afterwards, with the remedy; "" if
        it is, whatever the answers of the conditions in the rule. A condition that is read in
        several places has one answer."""
        if not self._falls(variable):
            return ""
        return next((why for scope in self._decide() if (why := scope._falls(variable))), "")

    def _decide(self) -> Iterator[_Scope]:
        """This scope with each combination of answers of its conditions."""
        if self.fixed is None:
            yield self
            return
        changes = (*(value for _, value in self.assigned), *self.sent)
        inside = (e for value in changes for e in self._inside(value))
        for answers in decisions(inside, self.fixed, self._bumps):
            yield replace(
                self,
                named={name: decide(e, answers) for name, e in self.named.items()},
                assigned=tuple((name, decide(e, answers)) for name, e in self.assigned),
                sent=tuple(decide(e, answers) for e in self.sent),
            )

    def _bumps(self, value: n.Expr) -> bool:
        """Whether a value has the next one of a counter in it."""
        return any(map(is_bump, self._inside(value)))

    def _falls(self, variable: str) -> str:
        """As `falls`, for each condition on its own. A variable stays the greatest if its new value
        is the one before, some more, or the greatest of some with it, and no other place gets one
        of its next values that is greater."""
        set_to = [value for name, value in self.assigned if name == variable]
        grown = [(self._more(value, variable), value) for value in set_to]
        for more, value in grown:
            if more is None:
                return (
                    f"{_at(value)} may be less than {variable} was; `max({variable}, ...)` is not"
                )
        if not self.bumps:
            return ""
        least = min((more for more, _ in grown if more is not None), default=0)
        others = (value for name, value in self.assigned if name != variable)
        stored = (e for value in (*others, *self.sent) for e in self._inside(value))
        for e in stored:
            if is_bump(e) and (self._more(e, variable) or 0) > least:
                used, other = self._use(e)
                return (
                    f"{_at(e)} is {used} where {variable} may stay below it; set {variable} to"
                    f" it in the same branch and under the same condition{other}"
                )
        return ""

    def _use(self, used: n.Expr) -> tuple[str, str]:
        """What is done with a value, and what else can be done about it."""
        changes = (*(value for _, value in self.assigned), *self.sent)
        if any(used in _list_choices(value) for value in changes):
            return "stored", ""
        sides = (
            side
            for e in self.nodes
            if isinstance(e, n.Binary) and e.op in ("eq", "ne", "lt", "le", "gt", "ge")
            for side in (e.left, e.right)
        )
        if used in sides:
            return "compared", ", or compare with less"
        return "used", ""

    def _inside(self, value: n.Expr) -> Iterator[n.Expr]:
        """The subexpressions of a value, and those of what its local names mean."""
        for e in nodes(value):
            yield e
            if isinstance(e, n.Local) and e.name in self.named:
                yield from self._inside(self.named[e.name])

    def _more(self, value: n.Expr, variable: str) -> int | None:
        """By how much a counter is at least greater than a variable before; None if it may be less,
        0 if it is no counter."""
        match value:
            case n.StateRef(name=name) if name == variable:
                return 0
            case n.Builtin(name="bump", args=(counter,)):
                more = self._more(counter, variable)
                return None if more is None else more + 1
            case n.Builtin(name="max", args=args):
                known = [self._more(arg, variable) for arg in args]
                return max((more for more in known if more is not None), default=None)
            case n.If():
                return self._least((value.then, value.otherwise), variable)
            case n.Match(cases=cases):
                return self._least([case.body for case in cases], variable)
            case n.Let():
                return self._more(value.body, variable)
            case n.Local(name=name) if name in self.named:
                return self._more(self.named[name], variable)
            case _:
                return None if isinstance(value.type, t.Counter) else 0

    def _least(self, values: Iterable[n.Expr], variable: str) -> int | None:
        known = [self._more(value, variable) for value in values]
        return None if None in known else min(more for more in known if more is not None)


def _list_named(inside: Iterable[n.Expr]) -> Iterator[tuple[str, n.Expr]]:
    """The names that expressions give to values, or to what is in them."""
    for e in inside:
        if isinstance(e, n.Let):
            yield e.name, e.value
        elif isinstance(e, n.Match):
            yield from ((name, e.subject) for case in e.cases for name in case.names)


def _apart_inside(name: str, value: n.Expr) -> n.Expr:
    """The value of a name in which the names that its own quantifiers bind are others, so that none
    stands for the value: `let s = the s in ...` has two names."""
    own = {e.name for e in nodes(value) if isinstance(e, n.Quantified | n.Comprehend | n.MapNew)}

    def other(e: n.Expr) -> n.Expr:
        is_own = isinstance(e, n.Local) and e.name in {name, *own}
        return replace(e, name=f"{e.name}'") if isinstance(e, n.Local) and is_own else e

    return fold(value, other)


def _bound(statements: Iterable[n.Statement]) -> Iterator[tuple[str, n.Expr]]:
    """The names that statements give to values."""
    return ((one.name, one.value) for one in statements if isinstance(one, n.Bind))


def _list_choices(expr: n.Expr) -> Iterator[n.Expr]:
    """The values that an expression may choose."""
    match expr:
        case n.If():
            yield from (*_list_choices(expr.then), *_list_choices(expr.otherwise))
        case n.Match(cases=cases):
            yield from (value for case in cases for value in _list_choices(case.body))
        case n.Let():
            yield from _list_choices(expr.body)
        case _:
            yield expr


def is_bump(e: n.Expr) -> TypeGuard[n.Builtin]:
    """Whether an expression is the next value of a counter."""
    return isinstance(e, n.Builtin) and e.name == "bump"


def _scopes(model: n.Model) -> Iterator[_Scope]:
    """The scopes of a model. Arguments of operations are free if nothing but the environment gives
    them, those of functions are taken to be."""
    yield from (_Scope.of((f.body,), free=f.params) for f in model.functions)
    yield from (_Scope.of((prop.body,)) for prop in model.properties)
    for live in model.liveness:
        yield _Scope.of(part for part in (live.trigger, live.goal) if part is not None)
    for component in model.components:
        for operation in component.operations:
            free = () if model.systems else operation.params
            for assumed in operation.assumes:
                yield _Scope.of((assumed.condition,), (), operation.params, free)
            for b in operation.branches:
                lines = (*b.lets, *b.body)
                yield _Scope.of(branch_expressions(b), lines, operation.params, free)
    for system in model.systems:
        for step in system.steps:
            roots = (e for line in step.body for e in statement_expressions(line))
            yield _Scope.of(roots, step.body, step.params, step.params)


def rule_expressions(model: n.Model) -> Iterator[n.Expr]:
    """Every expression of rules and properties with its subexpressions, without initial values."""
    for whole in (*(f.body for f in model.functions), *rules(model)):
        yield from nodes(whole)


def conditions(instances: Iterable[n.Instance]) -> Iterator[n.Expr]:
    """Every expression in the conditions of instances, with its subexpressions. All instances of a
    machine count, since they share one TLA+ module."""
    for instance in instances:
        for _, condition in instance.only:
            yield from nodes(condition)
