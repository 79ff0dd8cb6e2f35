"""From an instance to callable successor functions: prints the module and has Python import it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import cast

from charter.backends.explorer.arguments import Arguments
from charter.backends.explorer.emit import print_machine
from charter.backends.explorer.flat import Constants
from charter.backends.explorer.keys import KeyPrinter
from charter.ir import nodes as n
from charter.ir import types as t
from charter.ir.nodes import Value
from charter.ir.walk import children
from charter.semantics.evaluate import State
from charter.semantics.machine import Machine

FlatState = tuple[Value, ...]
"""One value for each variable, in the order of the declaration."""

Key = tuple[object, ...]
"""Equal for states that are equal up to renaming."""

FlatOutcome = tuple[str, Value, FlatState]
"""Branch, reply, state after."""

Operate = Callable[[FlatState, tuple[Value, ...], list[bool] | None], list[FlatOutcome]]
Holds = Callable[[FlatState, FlatState, str], bool]


@dataclass(frozen=True, slots=True)
class FlatMachine:
    """The generated functions of one instance, beside the machine they were printed from."""

    machine: Machine
    text: str
    operations: Mapping[str, Operate]
    properties: Mapping[str, Holds]
    outside: Callable[[FlatState, FlatState], str]
    key: Callable[[FlatState], Key]

    def initial(self) -> FlatState:
        """The initial state."""
        return self.flatten(self.machine.initial())

    def flatten(self, state: State) -> FlatState:
        """A state of the evaluator as a tuple."""
        return tuple(state[v.name] for v in self.machine.variables)

    def unflatten(self, state: FlatState) -> State:
        """A tuple as a state of the evaluator."""
        names = (v.name for v in self.machine.variables)
        return dict(zip(names, state, strict=True))

    def arguments(self, state: FlatState) -> Arguments:
        """The argument lists that an environment can offer in `state`."""
        return Arguments.at(self.machine.universe, self.machine.variables, state)


class _TextLoader(InspectLoader):
    """Imports a module from a text in memory."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, fullname: str) -> str:
        return self.text

    def is_package(self, fullname: str) -> bool:
        return False


def load(
    model: n.Model, instance: n.Instance, *, symmetry: bool = True, renaming: bool = True
) -> FlatMachine:
    """The functions of `instance`. Without `symmetry` and `renaming` a key is the state itself,
    encoded. Raises KeyError if the instance is of no machine of the model."""
    machine = Machine.of(model, instance)
    constants = Constants(machine.universe)
    mine = [p for p in model.properties if p.machine == instance.machine]
    names = {f"prop_{i}": prop for i, prop in enumerate(mine)}
    printer = print_machine(model, instance.machine, constants, names)
    counters = tuple(
        c for c in model.counters if any(holds_counter(v.type, c) for v in machine.variables)
    )
    sorts = tuple(name for name, members in instance.sorts if len(members) > 1)
    KeyPrinter(constants, (), counters, {}, printer.body).print_counters(machine.variables)
    KeyPrinter(
        constants,
        sorts if symmetry else (),
        counters if renaming else (),
        mentioned_numbers(model),
        printer.body,
    ).print(machine.variables)
    text = printer.text()
    functions = _import(text)
    kind = "step_" if machine.component is None else f"op_{machine.component.name}_"
    return FlatMachine(
        machine=machine,
        text=text,
        operations={o: cast(Operate, functions[f"{kind}{o}"]) for o in machine.operations},
        properties={p.name: cast(Holds, functions[name]) for name, p in names.items()},
        outside=cast(Callable[[FlatState, FlatState], str], functions["outside"]),
        key=cast(Callable[[FlatState], Key], functions["key"]),
    )


def _import(text: str) -> Mapping[str, object]:
    loader = _TextLoader(text)
    spec = spec_from_loader("charter_flat_machine", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return vars(module)


def holds_counter(kind: t.Type, counter: t.Counter) -> bool:
    """Whether `counter` occurs inside a type."""
    match kind:
        case t.Counter():
            return kind == counter
        case t.Option(inner=inner) | t.Set(inner=inner) | t.Seq(inner=inner) | t.Ranking(inner):
            return holds_counter(inner, counter)
        case t.Record(fields=fields):
            return any(holds_counter(part, counter) for _, part in fields)
        case t.Union(cases=cases):
            return any(holds_counter(part, counter) for _, params in cases for _, part in params)
        case t.Map(key=key, value=value):
            return holds_counter(key, counter) or holds_counter(value, counter)
        case _:
            return False


def mentioned_numbers(model: n.Model) -> Mapping[str, int]:
    """For each counter, the largest number that a rule or a property mentions."""
    found: dict[str, int] = {}
    for expr in expressions(model):
        for part in subexpressions(expr):
            if isinstance(part, n.Literal) and isinstance(part.type, t.Counter):
                assert isinstance(part.value, int)
                name = part.type.name
                found[name] = max(part.value, found.get(name, part.value))
    return found


def subexpressions(expr: n.Expr) -> Iterator[n.Expr]:
    """An expression and everything inside it."""
    yield expr
    for child in children(expr):
        yield from subexpressions(child)


def expressions(model: n.Model) -> Iterator[n.Expr]:
    """Every expression of the rules and properties, apart from initial values."""
    yield from (f.body for f in model.functions)
    yield from (p.body for p in model.properties)
    for component in model.components:
        for operation in component.operations:
            for branch in operation.branches:
                yield branch.reply
                yield from (bind.value for bind in branch.lets)
                yield from (conjunct.condition for conjunct in branch.guard)
                yield from statement_expressions(branch.body)
    for system in model.systems:
        for step in system.steps:
            yield from statement_expressions(step.body)


def statement_expressions(body: tuple[n.Statement, ...]) -> Iterator[n.Expr]:
    """The expressions of statements."""
    for statement in body:
        match statement:
            case n.Bind(value=value) | n.Assign(value=value):
                yield value
            case n.Pick(domain=domain):
                yield domain
            case n.Require(condition=condition):
                yield condition
            case n.CallOperation(index=index, args=args):
                yield from args
                if index is not None:
                    yield index
