"""Prints what asks for the outcomes of one operation in one state, and for one property.

i64 outcomes_of(ctx, number)        -> how many rows
i64 noted(ctx, number, took)        -> whether the property with this note is to be noted

The state, the arguments and the rows stand in the context; a row is as `body` has it.
The state after a transition that a property is asked of stands where rows do; `took` is the number
of its branch.
"""

from __future__ import annotations

from collections.abc import Iterable

from charter.core import nodes as n
from charter.core import small as s
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import Code, Ref
from charter.explore.native.emit.functions import CTX
from charter.explore.native.emit.unit import Unit
from charter.explore.native.memory.machine_context import ROWS_ROOM, MachineContext
from charter.semantics.machine import Machine

NUMBER, TOOK = Ref("%number"), Ref("%took")


def target_of(machine: Machine[s.Expr, s.Statement], name: str) -> fn.Outcomes:
    """The function of an operation or step."""
    if machine.component is None:
        return fn.step(name)
    return fn.operation(machine.component.name, name)


def row_size(unit: Unit, context: MachineContext, operation: s.Operation | s.Step) -> int:
    """The slots of one outcome."""
    reply = unit.layout.slots(operation.result) if isinstance(operation, n.Operation) else 0
    return 1 + reply + context.slots


def print_outcomes(unit: Unit, context: MachineContext) -> None:
    """`@outcomes_of(ctx, number)`: the rows of an operation, without repeats."""
    code = Code.of(fn.OUTCOMES_OF, CTX, NUMBER)
    found = code.memory(1)
    code.store(0, found)
    fields, args = code.at(CTX, context.fields), code.at(CTX, context.arguments)
    rows = code.at(CTX, context.rows)
    for number, (name, operation) in enumerate(unit.machine.operations.items()):
        with code.when(code.compare("eq", NUMBER, number)):
            target = target_of(unit.machine, name)
            count = code.call(target, CTX, fields, args, rows, ROWS_ROOM)
            size = row_size(unit, context, operation)
            kept = code.call(fn.ONCE, rows, count, size)
            code.store(kept, found)
    code.give(code.load(found))
    unit.add(code)


def print_noted(unit: Unit, context: MachineContext, numbers: Iterable[int]) -> None:
    """`@noted(ctx, number, took)`."""
    code = Code.of(fn.NOTED, CTX, NUMBER, TOOK)
    found = code.memory(1)
    code.store(0, found)
    before, after = code.at(CTX, context.fields), code.at(CTX, context.rows)
    for number in numbers:
        with code.when(code.compare("eq", NUMBER, number)):
            noted = code.call(fn.prop(number), CTX, before, after, TOOK)
            code.store(code.widen(noted), found)
    code.give(code.load(found))
    unit.add(code)
