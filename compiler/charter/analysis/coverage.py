"""Finds the obligations that a transition meets, by evaluating it on the definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from charter.analysis.conditions import guard_atoms
from charter.core import nodes as n
from charter.core.amounts import REPLY
from charter.core.nodes import Value
from charter.core.obligations import (
    AMOUNTS,
    SEEN,
    Amount,
    Obligation,
    bound,
    find_sides,
)
from charter.core.option_comparisons import APART, Apart, apart
from charter.semantics.builtins import items
from charter.semantics.evaluate import Evaluator, Outcome
from charter.semantics.expressions import Code, Locals, Parts, Scope, State
from charter.semantics.machine import Machine

_Decided = tuple[str, tuple[int, int], bool, Apart | None]
"""A branch, and what `guard_atoms` says of a condition that decided its guard."""


@dataclass(frozen=True, slots=True)
class _Watcher(Evaluator):
    """An evaluator that notes both sides of the comparisons that it is told to watch, and of
    sequences the first item beside each other one."""

    watched: Mapping[int, n.Expr] = field(kw_only=True)
    seen: set[tuple[int, Value, Value]] = field(default_factory=set, kw_only=True)

    def code(self, expr: n.Expr) -> Code:
        code = Evaluator.code(self, expr)
        watched = self.watched.get(id(expr))
        if watched is None:
            return code
        sides = find_sides(watched)
        if sides is None:
            return self._noting_items(id(expr), code)
        return self._noting(id(expr), sides, code)

    def _each(self, exprs: Sequence[n.Expr]) -> Parts:
        """As that of an evaluator, which takes names without their code."""
        if not any(id(e) in self.watched for e in exprs):
            return Evaluator._each(self, exprs)
        codes = [self.code(e) for e in exprs]
        return lambda scope, names: tuple([code(scope, names) for code in codes])

    def _noting(self, site: int, sides: tuple[n.Expr, n.Expr], code: Code) -> Code:
        left, right = (Evaluator.code(self, side) for side in sides)

        def noting(scope: Scope, names: Locals) -> Value:
            found = code(scope, names)
            self.seen.add((site, left(scope, names), right(scope, names)))
            return found

        return noting

    def _noting_items(self, site: int, code: Code) -> Code:
        def noting(scope: Scope, names: Locals) -> Value:
            found = code(scope, names)
            listed = items(found)
            self.seen.update((site, listed[0], other) for other in listed[1:])
            return found

        return noting


@dataclass(frozen=True, slots=True)
class Coverage:
    """Obligations of one component, ready to be asked of many transitions."""

    machine: Machine
    obligations: tuple[Obligation, ...]
    _watcher: _Watcher
    _names: frozenset[str]
    _conditions: Mapping[str, Sequence[Obligation]]
    _amounts: Mapping[str, Sequence[Obligation]]
    _seen: Mapping[str, Sequence[Obligation]]
    """Those of conditions and of amounts by branch, of what is seen by operation."""

    @staticmethod
    def of(machine: Machine, obligations: Iterable[Obligation]) -> Coverage:
        """Coverage of a component's machine, by obligations that may come from another compilation.
        Raises ValueError for an obligation that it does not have."""
        assert machine.component is not None
        return Coverage.own(machine, bound(machine.model, machine.component, obligations))

    @staticmethod
    def own(machine: Machine, wanted: tuple[Obligation, ...]) -> Coverage:
        """The same by obligations of the machine's own model."""
        watched = {id(o.expr): o.expr for o in wanted if o.kind in SEEN and o.expr is not None}
        base = machine.evaluator
        watcher = _Watcher(
            base.functions, universe=base.universe, parts=base.parts, watched=watched
        )
        return Coverage(
            machine,
            wanted,
            watcher,
            frozenset(o.name for o in wanted),
            _group((o.branch, o) for o in wanted if o.kind == "mcdc"),
            _group((o.branch, o) for o in wanted if o.kind == "amount"),
            _group((o.operation, o) for o in wanted if o.kind in SEEN),
        )

    def within(self, machine: Machine) -> Coverage:
        """The same in another instance of the machine's model. Expressions are made functions once
        for both. These note what they see in one place, so no two of them can be asked at the same
        time."""
        base = machine.evaluator
        watcher = replace(self._watcher, universe=base.universe, parts=base.parts)
        return replace(self, machine=machine, _watcher=watcher)

    def list_met(
        self, state: State, operation: str, args: tuple[Value, ...], outcome: Outcome
    ) -> frozenset[str]:
        """The names of the obligations that this outcome meets. Boundaries and sequences count
        where they are evaluated on the way to the branch or in any run of its body."""
        branch, reply = outcome.branch, outcome.reply
        chosen = self.machine.operations[operation]
        assert isinstance(chosen, n.Operation)
        found = {f"branch {branch}"} | {f"reply {branch} {m}" for m in _members(reply)}
        seen, conditions = self._walk(chosen, state, args, branch)
        for label, (conjunct, atom), truth, differ in conditions:
            found |= {
                o.name
                for o in self._conditions.get(label, ())
                if (o.conjunct, o.atom) == (conjunct, atom)
                and (o.want == "true") == truth
                and o.apart in (None, differ)
            }
        for obligation in self._amounts.get(branch, ()):
            if amount(members(obligation.member, state, outcome)) == obligation.want:
                found.add(obligation.name)
        for obligation in self._seen.get(operation, ()):
            sides = seen.get(id(obligation.expr), ())
            if any(_on_side(obligation.want, left, right) for left, right in sides):
                found.add(obligation.name)
        return frozenset(found & self._names)

    def _walk(
        self, operation: n.Operation, state: State, args: tuple[Value, ...], taken: str
    ) -> tuple[dict[int, list[tuple[Value, Value]]], list[_Decided]]:
        """Evaluate up to the branch, its group, and its body; what was seen on the way."""
        base, watcher = self.machine.evaluator, self._watcher
        watcher.seen.clear()
        names: Locals = dict(zip((p.name for p in operation.params), args, strict=True))
        scope, group, done = self.machine.scope(state), 0, False
        decided: list[_Decided] = []
        for branch in operation.branches:
            if done and (branch.group == 0 or branch.group != group):
                break
            for bind in branch.lets:
                if bind.name not in names:
                    names[bind.name] = watcher.value(bind.value, scope, names)
            label = f"{operation.name}/{branch.name}"
            truth = all(watcher.truth(c.condition, scope, names) for c in branch.guard)
            read = guard_atoms(base, branch.guard, scope, names)
            decided += [(label, *one) for one in read]
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


def _group(pairs: Iterable[tuple[str, Obligation]]) -> Mapping[str, Sequence[Obligation]]:
    grouped: dict[str, list[Obligation]] = {}
    for name, obligation in pairs:
        grouped.setdefault(name, []).append(obligation)
    return grouped


def members(part: str, state: State, outcome: Outcome) -> int:
    """How many members of a variable an outcome changes: keys of a map that get another value,
    members that a set wins or loses. With `REPLY`: how many its reply has."""
    if part == REPLY:
        return len(cast(frozenset[Value], outcome.reply))
    before, after = state[part], outcome.state[part]
    if isinstance(before, frozenset):
        return len(before ^ cast(frozenset[Value], after))
    return sum(a != b for a, b in zip(items(before), items(after), strict=True))


def amount(count: int) -> Amount:
    """None, one, or several."""
    return AMOUNTS[min(count, 2)]


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
    if want in APART:
        return apart(left, right) == want
    if want == "less":
        return cast(int, left) < cast(int, right)
    if want == "greater":
        return cast(int, left) > cast(int, right)
    step = -1 if want == "below" else 1
    return cast(int, left) == cast(int, right) + step
