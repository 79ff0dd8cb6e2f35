"""Finds the obligations that a transition meets, by evaluating it on the definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.obligations import Obligation, atoms, bound, joins
from charter.semantics.builtins import EvaluationError, items
from charter.semantics.evaluate import Evaluator
from charter.semantics.expressions import Code, Locals, Scope, State
from charter.semantics.machine import Machine


@dataclass(frozen=True, slots=True)
class _Watcher(Evaluator):
    """An evaluator that notes both sides of the comparisons it is told to watch."""

    watched: Mapping[int, n.Binary] = field(default_factory=dict)
    seen: set[tuple[int, Value, Value]] = field(default_factory=set)

    def code(self, expr: n.Expr) -> Code:
        code = Evaluator.code(self, expr)
        watched = self.watched.get(id(expr))
        return code if watched is None else self._noting(watched, code)

    def _noting(self, watched: n.Binary, code: Code) -> Code:
        left, right = Evaluator.code(self, watched.left), Evaluator.code(self, watched.right)

        def noting(scope: Scope, names: Locals) -> Value:
            found = code(scope, names)
            self.seen.add((id(watched), left(scope, names), right(scope, names)))
            return found

        return noting


@dataclass(frozen=True, slots=True)
class _Condition:
    """The truth of a condition (None: it has none), and for each atom its truth and whether it
    alone decides."""

    value: bool | None
    atoms: tuple[tuple[bool | None, bool], ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Obligations of one component, ready to be asked of many transitions."""

    machine: Machine
    obligations: tuple[Obligation, ...]
    _watcher: _Watcher

    @staticmethod
    def of(machine: Machine, obligations: Iterable[Obligation]) -> Coverage:
        """Coverage of a component's machine. Raises ValueError for an obligation that it does not
        have."""
        assert machine.component is not None
        wanted = bound(machine.model, machine.component, obligations)
        sites = {id(o.expr): o.expr for o in wanted if o.kind == "boundary"}
        base = machine.evaluator
        watched = cast(Mapping[int, n.Binary], sites)
        watcher = _Watcher(base.universe, base.functions, base.parts, watched)
        return Coverage(machine, wanted, watcher)

    def met(
        self, state: State, operation: str, args: tuple[Value, ...], branch: str, reply: Value
    ) -> frozenset[str]:
        """The names of the obligations that this outcome meets. Boundaries count where they are
        evaluated on the way to the branch or in any run of its body."""
        chosen = self.machine.operations[operation]
        assert isinstance(chosen, n.Operation)
        found = {f"branch {branch}"} | {f"reply {branch} {m}" for m in _members(reply)}
        seen, conditions = self._walk(chosen, state, args, branch)
        for label, (conjunct, atom), truth in conditions:
            found |= {
                o.name
                for o in self._conditions(label)
                if (o.conjunct, o.atom) == (conjunct, atom) and (o.want == "true") == truth
            }
        for obligation in self.obligations:
            if obligation.kind == "boundary" and obligation.operation == operation:
                sides = seen.get(id(obligation.expr), ())
                if any(_on_side(obligation.want, left, right) for left, right in sides):
                    found.add(obligation.name)
        return frozenset(found & {o.name for o in self.obligations})

    def _conditions(self, label: str) -> list[Obligation]:
        return [o for o in self.obligations if o.kind == "mcdc" and o.branch == label]

    def _walk(
        self, operation: n.Operation, state: State, args: tuple[Value, ...], taken: str
    ) -> tuple[dict[int, list[tuple[Value, Value]]], list[tuple[str, tuple[int, int], bool]]]:
        """Evaluate up to the branch, its group, and its body; what was seen on the way."""
        base, watcher = self.machine.evaluator, self._watcher
        watcher.seen.clear()
        names: Locals = dict(zip((p.name for p in operation.params), args, strict=True))
        scope, decided, group, done = Scope(state), [], 0, False
        for branch in operation.branches:
            if done and (branch.group == 0 or branch.group != group):
                break
            for bind in branch.lets:
                if bind.name not in names:
                    names[bind.name] = watcher.value(bind.value, scope, names)
            label = f"{operation.name}/{branch.name}"
            truth = all(watcher.truth(c.condition, scope, names) for c in branch.guard)
            read = _guard(base, branch.guard, scope, names)
            decided += [(label, at, value) for at, value, alone in read if alone]
            if truth:
                done, group = True, branch.group
                if label == taken:
                    for local, _ in watcher.run(branch.body, state, names):
                        watcher.value(branch.reply, scope, local)
                if group == 0:
                    break
        sides: dict[int, list[tuple[Value, Value]]] = {}
        for site, left, right in watcher.seen:
            sides.setdefault(site, []).append((left, right))
        return sides, decided


def atoms_read(
    ev: Evaluator, operation: n.Operation, state: State, args: tuple[Value, ...]
) -> tuple[bool, ...]:
    """The truth of each atom of the guards that an operation reads on its way to what it does, in
    that order. Raises EvaluationError."""
    names: Locals = dict(zip((p.name for p in operation.params), args, strict=True))
    scope, found, group = Scope(state), list[bool](), 0
    for branch in operation.branches:
        if group and branch.group != group:
            break
        for bind in branch.lets:
            if bind.name not in names:
                names[bind.name] = ev.value(bind.value, scope, names)
        if all(_read(ev, c.condition, (scope, names), found) for c in branch.guard):
            if branch.group == 0:
                break
            group = branch.group
    return tuple(found)


def _read(ev: Evaluator, e: n.Expr, about: tuple[Scope, Locals], found: list[bool]) -> bool:
    """The truth of a part of a guard; its atoms go to `found` as they are read."""
    scope, names = about
    match e:
        case n.Unary(op="not", operand=operand):
            return not _read(ev, operand, about, found)
        case n.Let(name=name, value=value, body=body):
            inside = {**names, name: ev.value(value, scope, names)}
            return _read(ev, body, (scope, inside), found)
        case n.Binary(op="and", left=left, right=right):
            return _read(ev, left, about, found) and _read(ev, right, about, found)
        case n.Binary(op="or", left=left, right=right):
            return _read(ev, left, about, found) or _read(ev, right, about, found)
        case n.Binary(op="implies", left=left, right=right):
            return not _read(ev, left, about, found) or _read(ev, right, about, found)
        case n.Call(function=name) if joins(ev.functions, e):
            inside = _arguments(ev, e, scope, names)
            return _read(ev, ev.functions[name].body, (scope, inside), found)
        case _:
            found.append(ev.truth(e, scope, names))
            return found[-1]


def _arguments(ev: Evaluator, e: n.Call, scope: Scope, names: Locals) -> Locals:
    """The values of the parameters in a call."""
    params = ev.functions[e.function].params
    return {p.name: ev.value(a, scope, names) for p, a in zip(params, e.args, strict=True)}


def _guard(
    ev: Evaluator, guard: tuple[n.Conjunct, ...], scope: Scope, names: Locals
) -> list[tuple[tuple[int, int], bool, bool]]:
    """Of each atom of a guard that has a value its place, its truth, and whether it alone
    decides."""
    parts = [_condition(ev, c.condition, scope, names) for c in guard]
    found = []
    for i, part in enumerate(parts):
        earlier = all(p.value is True for p in parts[:i])
        later = all(p.value is not False for p in parts[i + 1 :])
        for k, (value, alone) in enumerate(part.atoms):
            if value is not None:
                found.append(((i, k), value, alone and earlier and later))
    return found


def _condition(ev: Evaluator, expr: n.Expr, scope: Scope, names: Locals) -> _Condition:
    """The condition and its atoms, which are those of `obligations.atoms`."""
    match expr:
        case n.Unary(op="not", operand=operand) if joins(ev.functions, expr):
            inner = _condition(ev, operand, scope, names)
            return _Condition(None if inner.value is None else not inner.value, inner.atoms)
        case n.Binary(op="and" | "or" | "implies" as op):
            left = _condition(ev, expr.left, scope, names)
            right = _condition(ev, expr.right, scope, names)
            goes_on = left.value is (op != "or")
            neutral = right.value is not (op != "and")
            both = (
                *((value, alone and neutral) for value, alone in left.atoms),
                *((value, alone and goes_on) for value, alone in right.atoms),
            )
            short = None if left.value is None else op != "and"
            return _Condition(right.value if goes_on else short, both)
        case n.Call(function=name) if joins(ev.functions, expr):
            try:
                inside = _arguments(ev, expr, scope, names)
            except EvaluationError:
                return _Condition(None, ((None, False),) * len(atoms(ev.functions, expr)))
            return _condition(ev, ev.functions[name].body, scope, inside)
        case _:
            truth = _truth(ev, expr, scope, names)
            return _Condition(truth, ((truth, True),))


def _truth(ev: Evaluator, expr: n.Expr, scope: Scope, names: Locals) -> bool | None:
    try:
        return ev.truth(expr, scope, names)
    except EvaluationError:
        return None


def _members(reply: Value) -> Iterable[str]:
    """The enum members that stand directly in a reply."""
    if isinstance(reply, str):
        return (reply,)
    if isinstance(reply, tuple):
        return tuple(item for item in items(reply)[1:] if isinstance(item, str))
    return ()


def _on_side(want: str, left: Value, right: Value) -> bool:
    if want == "equal":
        return left == right
    if want == "unequal":
        return left != right
    step = -1 if want == "below" else 1
    return cast(int, left) == cast(int, right) + step
