"""Prints the test whether a state is no deadlock, since the instance leaves out what could happen.

i64 cut(ctx)    -> 1 if a step that is left out has an outcome in the state in the context, else 0
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.body import arguments_of, print_step
from charter.explore.native.emit.code import FALSE, Code, Pointer, Truth
from charter.explore.native.emit.functions import CTX
from charter.explore.native.emit.unit import FATAL_CUT, Unit
from charter.explore.native.memory.layout import CannotCompile, Layout
from charter.explore.native.memory.machine_context import ERROR, FATAL, ROWS_ROOM
from charter.explore.native.program.environment import OfferPrinter
from charter.explore.native.program.issued_masks import counters_in
from charter.semantics.machine import Machine


def can_offer(layout: Layout, operation: n.Operation | n.Step) -> bool:
    """Whether the engine can list the arguments of an operation or a step."""
    try:
        layout.refuse_many(operation.params)
        arguments_of(layout, operation.params)
        for param in operation.params:
            if not tuple(counters_in(param.type)):
                layout.size(param.type)
    except CannotCompile:
        return False
    return True


def print_cut(offers: OfferPrinter, whole: Machine[s.Expr, s.Statement]) -> None:
    """`@cut(ctx)`; `whole` is the machine where the instance leaves out nothing. If the engine does
    not support a step that is left out, it gives up where that one matters."""
    unit = offers.unit
    left_out = [
        step
        for name, step in whole.operations.items()
        if name not in unit.machine.operations or offers.conditions(name)
    ]
    supported = [step for step in left_out if _print_step(unit, step)]
    code = offers.code = Code.of(fn.CUT, CTX)
    found = code.memory(1)
    code.store(0, found)
    for step in supported:
        with code.when(code.compare("eq", code.load(found), 0)):
            _try(offers, step, found)
    if len(supported) < len(left_out):
        with code.when(code.compare("eq", code.load(found), 0)):
            code.call(fn.FAIL, CTX, FATAL, FATAL_CUT)
    code.give(code.load(found))
    unit.add(code)


def _print_step(unit: Unit, step: s.Operation | s.Step) -> bool:
    """Print a step unless the instance offers it. Returns whether the engine supports it."""
    assert isinstance(step, n.Step)
    if step.name in unit.machine.operations:
        return True
    printed = set(unit.printed)
    system = next(s for s in unit.model.systems if s.name == unit.machine.instance.machine)
    try:
        if can_offer(unit.layout, step):
            print_step(unit, system, step)
            return True
    except CannotCompile:
        unit.printed = printed
    return False


def _try(offers: OfferPrinter, step: s.Operation | s.Step, found: Pointer) -> None:
    """Sets `found` if the step has an outcome, or one without a value, with arguments that are not
    offered. More outcomes than the engine supports are outcomes as well."""
    code, context = offers.code, offers.context
    fields, args = code.at(CTX, context.fields), code.at(CTX, context.arguments)
    fatal = code.load(CTX, FATAL)

    def try_places(places: Sequence[int]) -> None:
        with code.unless(_is_offered(offers, step, places)):
            rows = code.at(CTX, context.rows)
            count = code.call(fn.step(step.name), CTX, fields, args, rows, ROWS_ROOM)
            with code.when(code.nonzero(code.binary("or", count, code.load(CTX, ERROR)))):
                code.store(1, found)
                code.store(fatal, CTX, FATAL)
        code.store(0, CTX, ERROR)

    offers.loop(step, try_places)


def _is_offered(offers: OfferPrinter, step: s.Operation | s.Step, places: Sequence[int]) -> Truth:
    conditions = offers.conditions(step.name)
    if step.name not in offers.unit.machine.operations:
        return FALSE
    both = reduce(lambda a, b: n.Binary("and", a, b, type=t.Bool()), conditions)
    return offers.reading(step.params, places).truth(both)
