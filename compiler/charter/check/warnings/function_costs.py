"""Refuses functions whose calls of each other multiply: their evaluation would not end in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from charter.core import nodes as ir
from charter.core.walk import children, nodes
from charter.diagnostics import Diagnostics, Span

MOST_CALLS: Final = 1_000_000
"""How many functions one evaluation of a function may call. Each call takes about a microsecond,
and a search evaluates it in each state."""


def check_costs(functions: Iterable[ir.Function], diagnostics: Diagnostics) -> None:
    """Report functions that call others too often, directly or not: those that call no function
    which is reported as well. Functions that call themselves have no cost."""
    waiting, costs = list(functions), dict[str, int]()
    calls = {
        function.name: {node.function for node in nodes(function.body) if isinstance(node, ir.Call)}
        for function in waiting
    }
    known = calls.keys()
    while ready := [f for f in waiting if all(c in costs or c not in known for c in calls[f.name])]:
        for function in ready:
            cost = costs[function.name] = calls_of(function.body, costs)
            inner = max((costs.get(name, 0) for name in calls[function.name]), default=0)
            if cost > MOST_CALLS >= inner:
                message = f"one evaluation of {function.name} can call functions {cost:,} times"
                hint = "name what is called twice by a `let`, and pass it on"
                span = Span(function.span.source, function.span.start, function.body.span.start)
                diagnostics.error("function/too-costly", message, span, hint=hint)
        waiting = [function for function in waiting if function.name not in costs]


def calls_of(expr: ir.Expr, costs: Mapping[str, int]) -> int:
    """How many functions an evaluation calls at most, where no set has more than one member."""
    match expr:
        case ir.If():
            sides = max(calls_of(expr.then, costs), calls_of(expr.otherwise, costs))
            return calls_of(expr.condition, costs) + sides
        case ir.Match():
            cases = max((calls_of(case.body, costs) for case in expr.cases), default=0)
            return calls_of(expr.subject, costs) + cases
        case _:
            own = 1 + costs.get(expr.function, 0) if isinstance(expr, ir.Call) else 0
            return own + sum(calls_of(part, costs) for part in children(expr))
