"""Drops declarations that the chosen machine (or, for "", any machine) does not depend on.

Changes: the declarations of a model, so that counts, models and digests of one machine do not
depend on others. Keeps: the remaining declarations, and their order. Leaves none of: declarations
that only dropped machines mention.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from charter.core import nodes as n
from charter.core import types as t
from charter.core.reach import Mentioned, limits_of, with_called
from charter.core.walk import expressions, instances_of, state_of


def narrow(model: n.Model, machine: str) -> n.Model:
    """`model` with `machine` ("": all of them), its parts, its properties, instances, scenarios and
    mutants, and the functions, types and constants that these mention, in their order."""
    cut = _of_machine(model, machine) if machine else model
    found = Mentioned.of(cut, with_called(expressions(cut), cut.functions), _list_types(cut))
    given = (name for i in instances_of(cut) for name, _ in i.consts)
    limits = (name for kind in found.kinds for name in limits_of(kind))
    return found.keep(cut, (*given, *limits))


def _of_machine(model: n.Model, machine: str) -> n.Model:
    systems = tuple(s for s in model.systems if s.name == machine)
    names = {machine, *(part.component for s in systems for part in s.parts)}
    instances = tuple(i for i in model.instances if i.machine == machine)
    places = {i.name for i in instances}
    return replace(
        model,
        components=tuple(c for c in model.components if c.name in names),
        systems=systems,
        properties=tuple(p for p in model.properties if p.machine == machine),
        instances=instances,
        scenarios=tuple(s for s in model.scenarios if s.instance.machine == machine),
        mutants=tuple(m for m in model.mutants if m.instance in places),
        liveness=tuple(live for live in model.liveness if live.machine == machine),
    )


def _list_types(cut: n.Model) -> Iterator[t.Type]:
    """The types of state, parameters and replies."""
    yield from (v.type for v in state_of(cut))
    for component in cut.components:
        for operation in component.operations:
            yield operation.result
            yield from (p.type for p in operation.params)
    for system in cut.systems:
        for step in system.steps:
            yield from (p.type for p in step.params)
    for live in cut.liveness:
        yield from (p.type for p in live.params)
