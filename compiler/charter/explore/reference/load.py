"""From an instance to callable successor functions: prints the module and has Python import it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import cast

from charter.core import nodes as n
from charter.core import types as t
from charter.core.narrow import narrowed
from charter.core.nodes import Value
from charter.explore.reference.arguments import Arguments
from charter.explore.reference.emit import print_machine
from charter.explore.reference.flat import Constants
from charter.explore.reference.keys import KeyPrinter
from charter.passes import channels
from charter.semantics.evaluate import State
from charter.semantics.machine import Machine
from charter.semantics.quotient import Quotient

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
    model = channels.run(narrowed(model, instance.machine))
    machine = Machine.of(model, instance)
    constants = Constants(machine.universe)
    mine = [p for p in model.properties if p.machine == instance.machine]
    names = {f"prop_{i}": prop for i, prop in enumerate(mine)}
    filters = _filters(machine, instance)
    printer = print_machine(model, instance.machine, constants, names)
    asker = n.Component(FILTERS, machine.variables, (), ())
    for operation in filters.values():
        printer.operation(asker, operation)
    quotient = Quotient.of(machine, symmetry=symmetry, renaming=renaming)
    counters = tuple(c for c in model.counters if c.name in quotient.counters)
    keys = KeyPrinter(constants, quotient, counters, printer.body)
    keys.print_counters(machine.variables)
    keys.print(machine.variables)
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
