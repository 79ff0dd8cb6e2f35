"""Records what the unchanged charter does in its instances: which rules are taken, and what is
met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

from charter.core import nodes as ir
from charter.core.reach import with_called
from charter.core.walk import branch_expressions, statement_expressions
from charter.explore.result import SearchResult
from charter.formats.canonical import Json
from charter.mutate.bodies import condition
from charter.mutate.mutants import MutatedRule


@dataclass(frozen=True, slots=True)
class InstanceBaseline:
    """An instance, and the result of searching it without a mutant: `taken` are the branches (of a
    system: steps) that were taken, `unmet` what was never met, `wrong` the properties that fail;
    `unknown` is why it cannot be searched ("": it can)."""

    instance: str
    machine: str
    distinct: int
    complete: bool
    taken: frozenset[str]
    unmet: frozenset[str]
    wrong: tuple[str, ...]
    unknown: str = ""

    @staticmethod
    def of(found: SearchResult) -> InstanceBaseline:
        """The baseline that a search gives."""
        return InstanceBaseline(
            found.instance.name,
            found.instance.machine,
            found.counts.distinct,
            found.complete,
            frozenset(one.name for one in found.branches if one.seen),
            list_unmet(found),
            tuple(one.name for one in found.wrong),
        )

    @staticmethod
    def without(instance: ir.Instance, why: str) -> InstanceBaseline:
        """The baseline of an instance that cannot be searched."""
        nothing = frozenset[str]()
        return InstanceBaseline(
            instance.name, instance.machine, 0, False, nothing, nothing, (), why
        )

    def json(self) -> dict[str, Json]:
        """The baseline as JSON."""
        names = {"taken": sorted(self.taken), "unmet": sorted(self.unmet), "wrong": [*self.wrong]}
        return {**asdict(self), **names}

    @staticmethod
    def from_json(data: Mapping[str, Json]) -> InstanceBaseline:
        """The inverse of `json`."""
        names = {key: value for key, value in data.items() if isinstance(value, list)}
        taken, lost, wrong = ([str(x) for x in names[key]] for key in ("taken", "unmet", "wrong"))
        distinct = data["distinct"]
        assert isinstance(distinct, int)
        return InstanceBaseline(
            str(data["instance"]), str(data["machine"]), distinct, data["complete"] is True,
            frozenset(taken), frozenset(lost), tuple(wrong), str(data["unknown"]),
        )  # fmt: skip


def list_unmet(found: SearchResult) -> frozenset[str]:
    """What a search never met, as phrases."""
    return frozenset(
        f"{one.kind} {one.name}" + (f" `{one.condition}`" if one.condition else "")
        for one in found.unmet
    )


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """Which branches and steps of a machine a rule has an effect on."""

    model: ir.Model
    _called: dict[int, frozenset[str]] = field(default_factory=dict, compare=False, repr=False)
    """The functions that an operation or a step of the model calls, by its identity: each mutant of
    a function asks for them."""

    def may_differ(self, rule: MutatedRule, baseline: InstanceBaseline) -> bool:
        """Whether a mutant of a rule may be seen in an instance: one of the effects of a branch or
        a step only where that is taken, any other one wherever the machine has the rule."""
        labels = set(self.labels(rule, baseline.machine))
        if baseline.complete and rule.branch and not self._decides(rule, baseline.machine):
            return not labels.isdisjoint(baseline.taken)
        return bool(labels)

    def _decides(self, rule: MutatedRule, machine: str) -> bool:
        """Whether a step of a system calls an operation before what decides whether it is taken."""
        return rule.kind == "operation" and any(
            self._is_in_step(rule, system, replace(step, body=condition(step.body)))
            for system in self.model.systems
            if system.name == machine
            for step in system.steps
        )

    def is_rule_of(self, rule: MutatedRule, machine: str) -> bool:
        """Whether a rule belongs to a component or system, or is a function that it calls."""
        if rule.kind != "function":
            return rule.machine == machine
        return self.is_read_in(rule, machine)

    def is_read_in(self, rule: MutatedRule, machine: str) -> bool:
        """Whether a branch or step of `machine` reads a rule."""
        return any(True for _ in self.labels(rule, machine))

    def labels(self, rule: MutatedRule, machine: str) -> Iterable[str]:
        """The branches (of a component) or steps (of a system) of `machine` that read a rule."""
        for component in self.model.components:
            if component.name == machine:
                for operation in component.operations:
                    yield from self._of_operation(rule, component.name, operation)
        for system in self.model.systems:
            if system.name == machine:
                yield from (s.name for s in system.steps if self._is_in_step(rule, system, s))

    def _of_operation(
        self, rule: MutatedRule, machine: str, operation: ir.Operation
    ) -> Iterable[str]:
        labels = [f"{operation.name}/{branch.name}" for branch in operation.branches]
        match rule.kind:
            case "operation" if (rule.machine, rule.name) == (machine, operation.name):
                return [f"{operation.name}/{rule.branch}"] if rule.branch else labels
            case "function":
                exprs = (e for branch in operation.branches for e in branch_expressions(branch))
                return labels if rule.name in self._functions(operation, exprs) else ()
            case "operation" | "step":
                return ()

    def _is_in_step(self, rule: MutatedRule, system: ir.System, step: ir.Step) -> bool:
        if rule.kind == "step":
            return (rule.machine, rule.name) == (system.name, step.name)
        parts = {part.name: part.component for part in system.parts}
        called = {
            (parts[line.part], line.operation)
            for line in step.body
            if isinstance(line, ir.CallOperation)
        }
        if rule.kind == "operation":
            return (rule.machine, rule.name) in called
        exprs = [e for line in step.body for e in statement_expressions(line)]
        for component in self.model.components:
            for operation in component.operations:
                if (component.name, operation.name) in called:
                    exprs += [
                        e for branch in operation.branches for e in branch_expressions(branch)
                    ]
        return rule.name in self._functions(step, exprs)

    def _functions(self, rule: ir.Operation | ir.Step, exprs: Iterable[ir.Expr]) -> frozenset[str]:
        """The functions that the expressions of an operation or a step call, directly or not."""
        if id(rule) not in self._called:
            found = with_called(exprs, self.model.functions)
            calls = (e.function for e in found if isinstance(e, ir.Call))
            self._called[id(rule)] = frozenset(calls)
        return self._called[id(rule)]
