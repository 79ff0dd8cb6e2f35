"""The definition, where many argument lists are asked for in one state: what a branch does is
evaluated once for all that agree in the parameters that the branch reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.reach import with_called
from charter.core.walk import locals_of, statement_expressions
from charter.semantics.builtins import Items
from charter.semantics.evaluate import Evaluator, Outcome
from charter.semantics.expressions import Code, Locals, Scope, State
from charter.semantics.machine import Machine

Outcomes = tuple[Outcome, ...]
Read = Callable[[Locals], Value]
"""The values of the parameters that a part of an operation reads."""
Key = tuple[int, Value]
"""A part of an operation, by its identity, and what it reads."""


@dataclass(slots=True)
class Shared:
    """What was evaluated in one state: of parts of operations, by what they read; and the outcomes
    of several branches together, by the identity of those of each, which are kept."""

    state: State = field(default_factory=dict)
    bound: dict[Key, Value] = field(default_factory=dict)
    guards: dict[Key, bool] = field(default_factory=dict)
    ends: dict[Key, Outcomes] = field(default_factory=dict)
    joined: dict[tuple[int, ...], Outcomes] = field(default_factory=dict)

    def begin(self, state: State) -> None:
        """Forget the state before, unless it is this very one."""
        if state is not self.state:
            self.state = state
            for kept in (self.bound, self.guards, self.ends, self.joined):
                kept.clear()


@dataclass(frozen=True, slots=True)
class Reads:
    """What parts of operations read, by their identity: the model holds them. All that they read
    apart from parameters is the state, and names that follow from it and from parameters."""

    binds: dict[int, Read] = field(default_factory=dict)
    guards: dict[int, Read] = field(default_factory=dict)
    ends: dict[int, Read] = field(default_factory=dict)

    @staticmethod
    def of(components: Iterable[n.Component]) -> Reads:
        """Those of all operations of some components."""
        found = Reads()
        for operation in [o for component in components for o in component.operations]:
            for branch in operation.branches:
                for bind in branch.lets:
                    found.binds[id(bind)] = _read(operation, branch, [bind.value])
                guard = [conjunct.condition for conjunct in branch.guard]
                found.guards[id(branch)] = _read(operation, branch, guard)
                body = [e for line in branch.body for e in statement_expressions(line)]
                found.ends[id(branch)] = _read(operation, branch, [*body, branch.reply])
        return found


def _read(operation: n.Operation, branch: n.Branch, exprs: Iterable[n.Expr]) -> Read:
    """The values of the parameters that expressions read, themselves or in a `let` whose name they
    read."""
    read = frozenset[str]().union(*map(locals_of, exprs))
    for bind in reversed(branch.lets):
        if bind.name in read:
            read |= locals_of(bind.value)
    names = [param.name for param in operation.params if param.name in read]
    return itemgetter(*names) if names else _nothing


def _nothing(names: Locals) -> Value:
    return None


@dataclass(frozen=True, slots=True)
class Sharing(Evaluator):
    """An evaluator that evaluates each part of an operation once for all argument lists that are
    alike for it."""

    reads: Reads = field(kw_only=True)
    results: dict[str, dict[Items, Value]] = field(default_factory=dict, kw_only=True)
    """Of functions with loops, by their arguments: functions read no state."""
    shared: Shared = field(default_factory=Shared, kw_only=True)

    @staticmethod
    def within(machine: Machine) -> Machine:
        """The machine with such an evaluator, if it has none yet."""
        base = machine.evaluator
        if isinstance(base, Sharing):
            return machine
        evaluator = Sharing(
            base.functions, universe=base.universe, parts=base.parts,
            reads=Reads.of(machine.model.components),
        )  # fmt: skip
        return replace(machine, evaluator=evaluator)

    def _call(self, e: n.Call) -> Code:
        function = self.functions[e.function]
        loops = (n.Quantified, n.Comprehend, n.MapNew)
        inside = with_called([function.body], self.functions.values())
        if not e.args or not any(isinstance(part, loops) for part in inside):
            return Evaluator._call(self, e)
        params, args = [param.name for param in function.params], self._each(e.args)
        body, results = self.code(function.body), self.results.setdefault(function.name, {})

        def called(scope: Scope, names: Locals) -> Value:
            given = args(scope, names)
            if given not in results:
                results[given] = body(scope, dict(zip(params, given, strict=True)))
            return results[given]

        return called

    def operate(
        self, operation: n.Operation, state: State, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        self.shared.begin(state)
        return Evaluator.operate(self, operation, state, args)

    def bound(self, bind: n.Bind, scope: Scope, names: Locals) -> Value:
        key = id(bind), self.reads.binds[id(bind)](names)
        if key not in self.shared.bound:
            self.shared.bound[key] = Evaluator.bound(self, bind, scope, names)
        return self.shared.bound[key]

    def guarded(self, branch: n.Branch, scope: Scope, names: Locals) -> bool:
        key = id(branch), self.reads.guards[id(branch)](names)
        known = self.shared.guards.get(key)
        if known is None:
            known = self.shared.guards[key] = Evaluator.guarded(self, branch, scope, names)
        return known

    def ends(
        self, operation: n.Operation, branch: n.Branch, scope: Scope, names: Locals
    ) -> Outcomes:
        key = id(branch), self.reads.ends[id(branch)](names)
        known = self.shared.ends.get(key)
        if known is None:
            known = Evaluator.ends(self, operation, branch, scope, names)
            self.shared.ends[key] = known
        return known

    def together(self, found: Sequence[Outcomes]) -> Outcomes:
        key = tuple(map(id, found))
        known = self.shared.joined.get(key)
        if known is None:
            known = self.shared.joined[key] = Evaluator.together(self, found)
        return known
