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
from charter.ir.narrow import narrowed
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

FILTERS = "only"
"""Whose operations the filters of arguments are printed as."""

Operate = Callable[[FlatState, tuple[Value, ...], list[bool] | None], list[FlatOutcome]]
Holds = Callable[[FlatState, FlatState, str], bool]


@dataclass(frozen=True, slots=True)
class FlatMachine:
    """The generated functions of one instance, beside the machine they were printed from."""

    machine: Machine
    text: str
    operations: Mapping[str, Operate]
    properties: Mapping[str, Holds]
    only: Mapping[str, Operate]
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
    model = narrowed(model, instance.machine)
    machine = Machine.of(model, instance)
    constants = Constants(machine.universe)
    mine = [p for p in model.properties if p.machine == instance.machine]
    names = {f"prop_{i}": prop for i, prop in enumerate(mine)}
    filters = _filters(machine, instance)
    printer = print_machine(model, instance.machine, constants, names)
    asker = n.Component(FILTERS, machine.variables, (), ())
    for operation in filters.values():
        printer.operation(asker, operation)
    counters = tuple(
        c for c in model.counters if any(holds_counter(v.type, c) for v in machine.variables)
    )
    named = named_sorts(model, instance)
    sorts = tuple(name for name, m in instance.sorts if len(m) > 1 and name not in named)
    ranked = ranked_counters(model, counters)
    KeyPrinter(constants, (), counters, {}, ranked, printer.body).print_counters(machine.variables)
    KeyPrinter(
        constants,
        sorts if symmetry else (),
        counters if renaming else (),
        mentioned_numbers(model),
        ranked,
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
        only={o: cast(Operate, functions[f"op_{FILTERS}_{o}"]) for o in filters},
        outside=cast(Callable[[FlatState, FlatState], str], functions["outside"]),
        key=cast(Callable[[FlatState], Key], functions["key"]),
    )


def _filters(machine: Machine, instance: n.Instance) -> Mapping[str, n.Operation]:
    """For each operation or step whose arguments the instance restricts, an operation that says
    whether it offers them: with the branch `offered`."""
    filters: dict[str, n.Operation] = {}
    for name, chosen in machine.operations.items():
        guard = tuple(
            n.Conjunct(str(i), condition)
            for i, (operation, condition) in enumerate(instance.only)
            if operation == name
        )
        if guard:
            yes, no = (n.Literal(value, type=t.Bool()) for value in (True, False))
            branches = (
                n.Branch("offered", 0, (), guard, (), yes, ()),
                n.Branch("withheld", 0, (), (), (), no, ()),
            )
            filters[name] = n.Operation(name, chosen.params, t.Bool(), branches, ())
    return filters


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


def ranked_counters(model: n.Model, counters: tuple[t.Counter, ...]) -> frozenset[str]:
    """The counters whose order matters: a rule or property compares two of them, or mentions a
    number. Of the others equality is all that anything can see, so states that differ by their
    order behave alike (`bump` allots a value that occurs nowhere)."""
    seen = set(mentioned_numbers(model))
    for expr in expressions(model):
        for part in subexpressions(expr):
            match part:
                case n.Binary(op="lt" | "le" | "gt" | "ge", left=left):
                    if isinstance(left.type, t.Counter):
                        seen.add(left.type.name)
                case n.Builtin(name="min" | "max", type=t.Counter(name=name)):
                    seen.add(name)
                case _:
                    pass
    return frozenset(c.name for c in counters if c.ordered and c.name in seen)


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


def named_sorts(model: n.Model, instance: n.Instance) -> frozenset[str]:
    """The sorts of which a rule, a property or a condition of the instance names an element: those
    are not interchangeable."""
    conditions = (condition for _, condition in instance.only)
    return frozenset(
        part.type.name
        for expr in (*expressions(model), *conditions)
        for part in subexpressions(expr)
        if isinstance(part, n.Literal) and isinstance(part.type, t.Sort)
    )


def subexpressions(expr: n.Expr) -> Iterator[n.Expr]:
    """An expression and everything inside it."""
    yield expr
    for child in children(expr):
        yield from subexpressions(child)


def expressions(model: n.Model) -> Iterator[n.Expr]:
    """Every expression of the rules and properties, apart from initial values."""
    yield from (f.body for f in model.functions)
    yield from (p.body for p in model.properties)
    for live in model.liveness:
        yield from (part for part in (live.trigger, live.goal) if part is not None)
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
