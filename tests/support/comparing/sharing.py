"""The definition, where many argument lists are asked for in many states: each part of a branch is
evaluated once for all that agree in the parameters and in the variables that the part reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Generic, TypeVar

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.reach import with_called
from charter.core.walk import locals_of, nodes, statement_expressions
from charter.semantics.builtins import Items
from charter.semantics.evaluate import Evaluator, Outcome
from charter.semantics.expressions import Code, Locals, Scope, State
from charter.semantics.machine import Machine

T = TypeVar("T")
Outcomes = tuple[Outcome, ...]
End = tuple[Value, State]
"""The reply, and the variables that were assigned."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a part of an operation reads: of the names before it those that `chosen` gives, and of
    the state these `variables`. What names follow from is read, too."""

    chosen: Callable[[Locals], Value]
    variables: tuple[str, ...]

    @staticmethod
    def of(operation: n.Operation, branch: n.Branch, exprs: Iterable[n.Expr]) -> Read:
        """What expressions of a branch read, themselves or in a `let` whose name they read."""
        every = [*exprs]
        names = frozenset[str]().union(*map(locals_of, every))
        for bind in reversed(branch.lets):
            if bind.name in names:
                names |= locals_of(bind.value)
                every.append(bind.value)
        params = [param.name for param in operation.params if param.name in names]
        inside = [part for e in every for part in nodes(e)]
        variables = {part.name for part in inside if isinstance(part, n.StateRef)}
        return Read(itemgetter(*params) if params else _nothing, tuple(sorted(variables)))


def _nothing(names: Locals) -> Value:
    return None


@dataclass(frozen=True, slots=True)
class Reads:
    """What parts of operations read, by their identity: the model holds them. `assigned` are the
    variables that a branch assigns."""

    binds: dict[int, Read] = field(default_factory=dict)
    guards: dict[int, Read] = field(default_factory=dict)
    ends: dict[int, Read] = field(default_factory=dict)
    assigned: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def of(components: Iterable[n.Component]) -> Reads:
        """Those of all operations of some components."""
        found = Reads()
        for operation in [o for component in components for o in component.operations]:
            for branch in operation.branches:
                for bind in branch.lets:
                    found.binds[id(bind)] = Read.of(operation, branch, [bind.value])
                guard = [conjunct.condition for conjunct in branch.guard]
                found.guards[id(branch)] = Read.of(operation, branch, guard)
                body = [e for line in branch.body for e in statement_expressions(line)]
                found.ends[id(branch)] = Read.of(operation, branch, [*body, branch.reply])
                assigned = {line.variable for line in branch.body if isinstance(line, n.Assign)}
                found.assigned[id(branch)] = tuple(sorted(assigned))
        return found


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """What was evaluated of the parts of one kind: for a part and the numbers of the values of the
    variables that it reads, what came of it by what it reads of names. `here` are those of one
    state, by the part."""

    reads: Mapping[int, Read]
    everywhere: dict[tuple[int, tuple[int, ...]], dict[Value, T]] = field(default_factory=dict)
    here: dict[int, dict[Value, T]] = field(default_factory=dict)

    def of(self, part: int, numbers: Mapping[str, int]) -> dict[Value, T]:
        """What is known of a part in the state whose variables have values of these numbers."""
        known = self.here.get(part)
        if known is None:
            key = part, tuple([numbers[name] for name in self.reads[part].variables])
            known = self.here[part] = self.everywhere.setdefault(key, {})
        return known


@dataclass(slots=True)
class Shared:
    """What was evaluated of parts of operations; and, in one state, the outcomes of branches and of
    several branches together (`joined`), by the identity of those of each, which are kept."""

    bound: Kept[Value]
    guards: Kept[bool]
    ends: Kept[list[End]]
    values: dict[Value, int] = field(default_factory=dict)
    """Numbers of the values of variables."""
    state: State = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    outcomes: dict[tuple[int, Value], Outcomes] = field(default_factory=dict)
    joined: dict[tuple[int, ...], Outcomes] = field(default_factory=dict)

    @staticmethod
    def of(reads: Reads) -> Shared:
        """Nothing is known yet."""
        return Shared(Kept(reads.binds), Kept(reads.guards), Kept(reads.ends))

    def begin(self, state: State) -> None:
        """Go to a state, unless it is this very one."""
        if state is not self.state:
            values = self.values
            self.state = state
            self.numbers = {x: values.setdefault(v, len(values)) for x, v in state.items()}
            for known in (self.bound, self.guards, self.ends):
                known.here.clear()
            self.outcomes.clear()
            self.joined.clear()


@dataclass(frozen=True, slots=True)
class Sharing(Evaluator):
    """An evaluator that evaluates each part of an operation once for all that are alike for it."""

    reads: Reads = field(kw_only=True)
    shared: Shared = field(kw_only=True)
    results: dict[str, dict[Items, Value]] = field(default_factory=dict, kw_only=True)
    """Of functions with loops, by their arguments: functions read no state."""

    @staticmethod
    def within(machine: Machine) -> Machine:
        """The machine with such an evaluator, if it has none yet."""
        base = machine.evaluator
        if isinstance(base, Sharing):
            return machine
        reads = Reads.of(machine.model.components)
        evaluator = Sharing(
            base.functions, universe=base.universe, parts=base.parts,
            reads=reads, shared=Shared.of(reads),
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

        def call(scope: Scope, names: Locals) -> Value:
            given = args(scope, names)
            if given not in results:
                results[given] = body(scope, dict(zip(params, given, strict=True)))
            return results[given]

        return call

    def operate(
        self, operation: n.Operation, state: State, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        self.shared.begin(state)
        return Evaluator.operate(self, operation, state, args)

    def bound(self, bind: n.Bind, scope: Scope, names: Locals) -> Value:
        known = self.shared.bound.of(id(bind), self.shared.numbers)
        key = self.reads.binds[id(bind)].chosen(names)
        if key not in known:
            known[key] = Evaluator.bound(self, bind, scope, names)
        return known[key]

    def is_enabled(self, branch: n.Branch, scope: Scope, names: Locals) -> bool:
        known = self.shared.guards.of(id(branch), self.shared.numbers)
        key = self.reads.guards[id(branch)].chosen(names)
        holds = known.get(key)
        if holds is None:
            holds = known[key] = Evaluator.is_enabled(self, branch, scope, names)
        return holds

    def ends(
        self, operation: n.Operation, branch: n.Branch, scope: Scope, names: Locals
    ) -> Outcomes:
        shared = self.shared
        key = self.reads.ends[id(branch)].chosen(names)
        outcomes = shared.outcomes.get((id(branch), key))
        if outcomes is None:
            known = shared.ends.of(id(branch), shared.numbers)
            if key in known:
                label, state = f"{operation.name}/{branch.name}", scope.before
                outcomes = tuple([Outcome(label, r, {**state, **new}) for r, new in known[key]])
            else:
                assigned = self.reads.assigned[id(branch)]
                outcomes = Evaluator.ends(self, operation, branch, scope, names)
                known[key] = [(o.reply, {x: o.state[x] for x in assigned}) for o in outcomes]
            shared.outcomes[id(branch), key] = outcomes
        return outcomes

    def together(self, found: Sequence[Outcomes]) -> Outcomes:
        key = tuple(map(id, found))
        known = self.shared.joined.get(key)
        if known is None:
            known = self.shared.joined[key] = Evaluator.together(self, found)
        return known
