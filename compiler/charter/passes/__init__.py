"""Core to core. `RICH` is run on what the check makes; all readers get what comes of it. `LOWERING`
leads from there to small core: the native engine, the solver and TLA+ read nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from charter.core import nodes as ir
from charter.core import small
from charter.core.narrow import expressions, narrowed
from charter.core.rewrite import Rule, rewritten
from charter.core.valid import InvalidCore, validate
from charter.core.walk import fold, nodes
from charter.passes import builtins, channels, fold_constants, match, only


@dataclass(frozen=True, slots=True)
class Pass:
    """`change` is what is done to a model, `rule` gives what is done to the nodes of an expression
    (None: nothing). Neither this pass nor a later one leaves anything of which `is_done_with` is
    true."""

    name: str
    change: Callable[[ir.Model], ir.Model] | None
    rule: Callable[[], Rule] | None
    is_done_with: Callable[[ir.Expr | ir.Statement], bool]

    def run(self, model: ir.Model) -> ir.Model:
        """The model after the pass."""
        changed = model if self.change is None else self.change(model)
        return changed if self.rule is None else rewritten(changed, self.rule)

    def on(self, expr: ir.Expr) -> ir.Expr:
        """An expression after the pass."""
        return expr if self.rule is None else fold(expr, self.rule())


RICH = (Pass("fold", None, lambda: fold_constants.simplify, lambda _: False),)

LOWERING = (
    # First, since what it writes has built-in functions.
    Pass("channels", channels.run, None, lambda e: isinstance(e, ir.Send | ir.Receive)),
    Pass("match", None, match.Matches, lambda e: isinstance(e, ir.Match)),
    Pass("builtins", None, builtins.Builtins, lambda e: isinstance(e, ir.Builtin)),
    Pass("only", None, only.Only, lambda e: isinstance(e, ir.Quantified) and e.kind in only.KINDS),
)

PASSES = (*RICH, *LOWERING)


def run_rich(model: ir.Model) -> ir.Model:
    """What the check made, as all readers get it. Raises `InvalidCore` if a pass breaks core."""
    validate(model, "elaboration")
    return run_checked(model, RICH)


def run_checked(model: ir.Model, passes: Sequence[Pass]) -> ir.Model:
    """The passes in order. Raises `InvalidCore`, with the name of the pass, if one breaks core or
    leaves what it, or one before it, should have removed."""
    for number, item in enumerate(passes, 1):
        model = item.run(model)
        stage = f"pass {item.name}"
        validate(model, stage)
        if problems := list(_left(model, passes[:number])):
            raise InvalidCore(stage, problems)
    return model


def lowered(model: ir.Model) -> small.Model:
    """Small core. It is checked when all is done, and after each pass only where something is wrong
    then: to name the pass."""
    done = model
    for item in LOWERING:
        done = item.run(done)
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
    cut = replace(narrowed(model, instance.machine), instances=(instance,), scenarios=())
    whole = lowered(cut)
    return whole, whole.instances[0]


def lowered_expr(expr: ir.Expr) -> small.Expr:
    """An expression of a machine's model in small core."""
    for item in LOWERING:
        expr = item.on(expr)
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
