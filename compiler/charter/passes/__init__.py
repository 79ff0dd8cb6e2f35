"""Core to core: one list of passes, in the order in which they run.

`RICH` is run on what the check makes; all readers get what comes of it. `MACHINE` prepares a search
of one machine. `LOWERING` leads to small core: the native engine, the solver and TLA+ read nothing
else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from charter.core import nodes as ir
from charter.core import small
from charter.core.rewrite import Rule, rewritten
from charter.core.valid import InvalidCore, validate
from charter.core.walk import expressions, fold, nodes
from charter.passes import (
    builtins,
    channels,
    companions,
    fold_constants,
    match,
    narrow,
    only,
    unused,
    updates,
)


@dataclass(frozen=True, slots=True)
class Pass:
    """`rule` gives what is done to the nodes of an expression, `change` what is done to a model and
    one of its machines ("": all) after that. Neither this pass nor a later one leaves anything of
    which `is_done_with` is true."""

    name: str
    change: Callable[[ir.Model, str], ir.Model] | None = None
    rule: Callable[[], Rule] | None = None
    is_done_with: Callable[[ir.Expr | ir.Statement], bool] = lambda _: False


RICH = (Pass("fold", rule=lambda: fold_constants.simplify),)

MACHINE = (Pass("narrow", narrow.narrowed), Pass("companions", companions.run))

LOWERING = (
    # First, since what it writes has built-in functions.
    Pass(
        "channels",
        lambda model, _: channels.run(model),
        is_done_with=lambda e: isinstance(e, ir.Send | ir.Receive),
    ),
    Pass("match", rule=match.Matches, is_done_with=lambda e: isinstance(e, ir.Match)),
    Pass(
        "updates",
        rule=updates.Updates,
        is_done_with=lambda e: isinstance(e, ir.RecordWith | ir.MapWith),
    ),
    Pass("builtins", rule=builtins.Builtins, is_done_with=lambda e: isinstance(e, ir.Builtin)),
    Pass(
        "only",
        rule=only.OnlyRule,
        is_done_with=lambda e: isinstance(e, ir.Quantified) and e.kind in only.KINDS,
    ),
    Pass("unused", lambda model, _: unused.run(model), lambda: unused.without_let),
)

PASSES = (*RICH, *MACHINE, *LOWERING)


def run(model: ir.Model, passes: Sequence[Pass], machine: str = "") -> ir.Model:
    """The passes in order. The rules of passes that stand side by side are applied in one walk: no
    rule writes a node that another one would change."""
    rules: list[Callable[[], Rule]] = []
    for item in passes:
        if item.rule is not None:
            rules.append(item.rule)
        if item.change is not None:
            model = item.change(_applied(model, rules), machine)
            rules = []
    return _applied(model, rules)


def _applied(model: ir.Model, makers: Sequence[Callable[[], Rule]]) -> ir.Model:
    return rewritten(model, lambda: _in_turn([make() for make in makers])) if makers else model


def _in_turn(rules: Sequence[Rule]) -> Rule:
    def change(expr: ir.Expr) -> ir.Expr:
        for rule in rules:
            expr = rule(expr)
        return expr

    return change


def run_rich(model: ir.Model) -> ir.Model:
    """What the check made, as all readers get it. Raises `InvalidCore` if a pass breaks core."""
    validate(model, "elaboration")
    return run_checked(model, RICH)


def run_checked(model: ir.Model, passes: Sequence[Pass], machine: str = "") -> ir.Model:
    """The passes in order, each alone. Raises `InvalidCore`, with the name of the pass, if one
    breaks core or leaves what it, or one before it, should have removed."""
    for number, item in enumerate(passes, 1):
        model = run(model, (item,), machine)
        stage = f"pass {item.name}"
        validate(model, stage)
        if problems := list(_left(model, passes[:number])):
            raise InvalidCore(stage, problems)
    return model


def for_search(model: ir.Model, machine: str) -> ir.Model:
    """Rich core of one machine, with what a search has to look for."""
    return run(model, MACHINE, machine)


def lowered(model: ir.Model) -> small.Model:
    """Small core. It is checked when all is done, and after each pass only where something is wrong
    then: to name the pass."""
    done = run(model, LOWERING)
    try:
        validate(done, "lowering")
        if problems := list(_left(done, LOWERING)):
            raise InvalidCore("lowering", problems)
    except InvalidCore:
        run_checked(model, LOWERING)
        raise
    # What is not of small core has just been looked for.
    return cast(small.Model, done)


def lowered_instance(model: ir.Model, instance: ir.Instance) -> tuple[small.Model, small.Instance]:
    """Small core of the machine that an instance is of, and the instance in it."""
    cut = replace(narrow.narrowed(model, instance.machine), instances=(instance,), scenarios=())
    whole = lowered(cut)
    return whole, whole.instances[0]


def lowered_expr(expr: ir.Expr) -> small.Expr:
    """An expression of a machine's model in small core."""
    for item in LOWERING:
        expr = expr if item.rule is None else fold(expr, item.rule())
    return cast(small.Expr, expr)


def _left(model: ir.Model, passes: Sequence[Pass]) -> Iterator[str]:
    """What passes should have removed, and did not. They leave scenarios as they are."""
    cut = replace(model, scenarios=())
    exprs = (*expressions(cut), *(f.body for f in model.functions))
    found: list[ir.Expr | ir.Statement] = [node for whole in exprs for node in nodes(whole)]
    found += [line for system in model.systems for step in system.steps for line in step.body]
    for node in found:
        for item in passes:
            if item.is_done_with(node):
                yield f"{item.name} leaves no {type(node).__name__} ({node.span.where()})"
