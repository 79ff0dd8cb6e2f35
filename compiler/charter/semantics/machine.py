"""Runs a component or a system in an instance as a transition system: initial states, enabled
operations or steps, and successors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

from charter.core import nodes as n
from charter.core import types as t
from charter.core.by_identity import ByIdentity
from charter.core.expressions import E_co
from charter.core.nodes import S_co, Value
from charter.core.reach import list_modelled
from charter.core.transition import argument
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.types import read_types
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Evaluator, Outcome
from charter.semantics.expressions import Locals, Scope, State
from charter.semantics.judged_types import collect_judged_types
from charter.semantics.shown_values import show_call, show_value
from charter.semantics.values import Universe, fits, from_json, is_bounded, to_json

E = TypeVar("E", bound="n.Expr")
S = TypeVar("S", bound="n.Statement")


class Taken(Protocol):
    """A step of a trace. The engines have classes of their own with these properties."""

    @property
    def operation(self) -> str: ...
    @property
    def args(self) -> tuple[Value, ...]: ...
    @property
    def branch(self) -> str: ...


class NoInitialState(EvaluationError):
    """The initial value of a variable does not exist in an instance; the message is one sentence
    with the place in the charter. `cause` says which expression has no value."""

    def __init__(self, variable: str, instance: str, cause: EvaluationError) -> None:
        told = f"{variable} has no initial value in {instance}: {cause.message}"
        super().__init__(told, cause.span)
        self.variable = variable
        self.instance = instance
        self.cause = cause

    def __reduce__(self) -> tuple[type[EvaluationError], tuple[object, ...]]:
        """As it is sent from one process to another."""
        return type(self), (self.variable, self.instance, self.cause)


@dataclass(frozen=True, slots=True)
class Machine(Generic[E_co, S_co]):
    """A component or a system in an instance. `operations` are those (of a system: steps) that the
    instance offers, by name."""

    model: n.Model[E_co, S_co]
    instance: n.Instance[E_co]
    evaluator: Evaluator
    variables: tuple[n.StateVar, ...]
    operations: Mapping[str, n.Operation[E_co] | n.Step[E_co, S_co]]
    component: n.Component[E_co] | None
    opaque: OpaqueTypes = field(default_factory=OpaqueTypes, compare=False)
    """The types by which labels of opaque values count."""
    _bounded: tuple[n.StateVar, ...] = field(init=False, compare=False, repr=False)
    """The variables whose values can be out of their range."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_bounded", _list_bounded(ByIdentity(self.variables)))

    @staticmethod
    def of(model: n.Model[E, S], instance: n.Instance[E]) -> Machine[E, S]:
        """The machine that `instance` is an instance of. Raises KeyError for an unknown name."""
        evaluator = Evaluator.of(model, instance.machine, Universe.of(instance))
        offered = set(instance.offers)
        for component in model.components:
            if component.name == instance.machine:
                chosen: dict[str, n.Operation[E] | n.Step[E, S]] = {
                    o.name: o for o in component.operations if not offered or o.name in offered
                }
                opaque = _opaque_types(ByIdentity(model), component.name)
                return Machine(
                    model, instance, evaluator, component.state, chosen, component, opaque
                )
        for system in model.systems:
            if system.name == instance.machine:
                steps: dict[str, n.Operation[E] | n.Step[E, S]] = {
                    s.name: s for s in system.steps if not offered or s.name in offered
                }
                return Machine(model, instance, evaluator, system.state, steps, None)
        raise KeyError(instance.machine)

    @property
    def universe(self) -> Universe:
        """The universe of the instance."""
        return self.evaluator.universe

    @property
    def modelled(self) -> tuple[n.StateVar, ...]:
        """The state of a component that its outcomes depend on: without the ghost state that no
        assumption needs."""
        assert self.component is not None
        return list_modelled(self.component)

    @property
    def labels(self) -> tuple[str, ...]:
        """All branches of a component's operations, all steps of a system."""
        if self.component is None:
            return tuple(self.operations)
        return tuple(
            f"{operation.name}/{branch.name}"
            for operation in self.operations.values()
            if isinstance(operation, n.Operation)
            for branch in operation.branches
        )

    def conditions(self, operation: str) -> tuple[E_co, ...]:
        """What holds of state and arguments wherever the environment calls an operation: what the
        instance says of it, then what the operation assumes."""
        only = tuple(condition for of, condition in self.instance.only if of == operation)
        chosen = self.operations.get(operation)  # None: the instance does not offer it
        if chosen is None or isinstance(chosen, n.Step):
            return only
        return (*only, *(assumed.condition for assumed in chosen.assumes))

    def scope(
        self,
        before: State,
        after: State | None = None,
        took: str = "",
        args: tuple[Value, ...] = (),
    ) -> Scope:
        """What a property can see in a state or, of transitions, in the states before and after."""
        return Scope(self.universe, before, after, took, args)

    def initial(self) -> State:
        """The only initial state; `start`s of the instance replace initial values. Raises
        NoInitialState."""
        return self._values(dict(self.instance.starts))

    def initial_of_component(self) -> State:
        """The initial state without the `start`s of the instance. A question without a given state
        begins here. Raises NoInitialState."""
        return self._values({})

    def _values(self, starts: Mapping[str, E_co]) -> State:
        """The initial value of each variable. Raises NoInitialState."""
        nowhere, found = self.scope({}), dict[str, Value]()
        for v in self.variables:
            try:
                found[v.name] = self.evaluator.value(starts.get(v.name, v.initial), nowhere, {})
            except EvaluationError as cause:
                raise NoInitialState(v.name, self.instance.name, cause) from None
        return found

    def reply_type(self, operation: str) -> t.Type:
        """The type of an operation's reply. Raises KeyError for a step of a system."""
        chosen = self.operations[operation]
        if not isinstance(chosen, n.Operation):
            raise KeyError(operation)
        return chosen.result

    def outcomes(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        """The outcomes that `operation` allows in `state`; empty if it is a step that is not
        enabled."""
        chosen = self.operations[operation]
        if isinstance(chosen, n.Operation):
            return self.evaluator.operate(chosen, state, args)
        return self.evaluator.step(chosen, state, args)

    def outside(self, state: State) -> str:
        """The first variable whose value is out of its range, or ""."""
        for variable in self._bounded:
            if not fits(variable.type, state[variable.name], self.universe):
                return variable.name
        return ""

    def holds(self, prop: n.Property, scope: Scope) -> bool:
        """Whether a property (or witness) is true in `scope`."""
        return self.truth(prop.body, scope)

    def truth(self, body: n.Expr, scope: Scope) -> bool:
        """Whether the body of a property is true in `scope`."""
        return self.evaluator.truth(body, scope, self.arguments(scope))

    def arguments(self, scope: Scope) -> Locals:
        """The arguments of a transition by the names that they have in properties."""
        if not scope.args:
            return {}
        operation = scope.took.partition("/")[0]
        return {
            argument(operation, param.name): value
            for param, value in zip(self.operations[operation].params, scope.args, strict=True)
        }

    def load(self, durable: State) -> State:
        """The state after a failover from `durable`: volatile variables get their initial values,
        whatever the instance starts with, then the component's `failover` runs if it has one (it
        must have one outcome)."""
        fresh = self.initial_of_component()
        kept = {
            v.name: durable[v.name] if v.kind == "durable" else fresh[v.name]
            for v in self.variables
        }
        if self.component is None:
            return kept
        for operation in self.component.operations:
            if operation.name == "failover":
                outcomes = self.evaluator.operate(operation, kept, ())
                if len(outcomes) != 1:
                    raise EvaluationError("failover has several outcomes", operation.span)
                return outcomes[0].state
        return kept

    # --- JSON ------------------------------------------------------------------------------------

    def durable_json(self, state: State) -> Json:
        """The durable variables, as a question's `given`."""
        chosen = [v for v in self.variables if v.kind == "durable"]
        return {v.name: to_json(v.type, state[v.name], self.universe) for v in chosen}

    def from_durable(self, data: Mapping[str, Json]) -> State:
        """The inverse of `durable_json`. Raises ValueError."""
        fresh = dict(self.initial())
        for variable in self.variables:
            if variable.kind == "durable":
                if variable.name not in data:
                    raise ValueError(f"the given state has no {variable.name}")
                fresh[variable.name] = from_json(variable.type, data[variable.name], self.universe)
        return fresh

    def observe(self, state: State) -> Json:
        """The observation of `state` at the widest level, not yet relabelled."""
        return {
            variable.name: self.show(variable, state[variable.name], paths)
            for variable, paths in self.list_shown()
        }

    def list_shown(self) -> list[tuple[n.StateVar, frozenset[tuple[str, ...]]]]:
        """The variables that the widest level shows, with the paths inside of them."""
        assert self.component is not None
        shown = {o.path for o in self.component.observables if o.mode != "ignored"}
        found = []
        for variable in self.variables:
            paths = frozenset(path[1:] for path in shown if path[0] == variable.name)
            if paths:
                found.append((variable, paths))
        return found

    def show(self, variable: n.StateVar, value: Value, paths: frozenset[tuple[str, ...]]) -> Json:
        """What is shown of the value of a variable."""
        return _project(to_json(variable.type, value, self.universe), variable.type, paths)

    def args_json(self, operation: str, args: tuple[Value, ...]) -> dict[str, Json]:
        """Arguments by parameter name."""
        params = self.operations[operation].params
        pairs = zip(params, args, strict=True)
        return {p.name: to_json(p.type, value, self.universe) for p, value in pairs}

    def args_shown(self, operation: str, args: tuple[Value, ...]) -> dict[str, str]:
        """Arguments by parameter name, each in the notation of charters."""
        pairs = zip(self.operations[operation].params, args, strict=True)
        return {p.name: show_value(p.type, value, self.universe) for p, value in pairs}

    def call_shown(self, operation: str, args: tuple[Value, ...]) -> str:
        """An operation with its arguments, in the notation of charters."""
        return show_call(operation, self.args_shown(operation, args).items())

    def trace_json(self, trace: Iterable[Taken]) -> list[Json]:
        """A trace with its arguments by name."""
        return [
            {
                "operation": act.operation,
                "args": self.args_json(act.operation, act.args),
                "branch": act.branch,
            }
            for act in trace
        ]


@lru_cache(maxsize=8)
def _list_bounded(of: ByIdentity[tuple[n.StateVar, ...]]) -> tuple[n.StateVar, ...]:
    """The variables whose values can be out of their range. Kept, since each scenario asks for
    those of one machine."""
    return tuple([v for v in of.held if is_bounded(v.type)])


@lru_cache(maxsize=8)
def _opaque_types(of: ByIdentity[n.Model], component: str) -> OpaqueTypes:
    """Kept, since each scenario and each instance asks for those of one model."""
    (found,) = (c for c in of.held.components if c.name == component)
    return OpaqueTypes.of(read_types(collect_judged_types(found), component))


def _project(value: Json, kind: t.Type, paths: frozenset[tuple[str, ...]]) -> Json:
    """The JSON of a value with only the fields on `paths`. Paths do not mention map keys, options
    or list positions."""
    if () in paths or value is None:
        return value
    match kind:
        case t.Option(inner=inner):
            return _project(value, inner, paths)
        case t.Map(value=inner):
            assert isinstance(value, dict)
            return {key: _project(item, inner, paths) for key, item in value.items()}
        case t.Record(fields=fields):
            assert isinstance(value, dict)
            heads = {path[0] for path in paths}
            return {
                name: _project(value[name], part, frozenset(p[1:] for p in paths if p[0] == name))
                for name, part in fields
                if name in heads
            }
        case _:
            return value
