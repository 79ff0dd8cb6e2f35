"""Runs the passes in their order.

`RICH` is applied after the check; every reader of core gets its result. `MACHINE` prepares a search
of one machine. `LOWERING` leads to small core, which the native engine, the solver and TLA+
read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from charter.core import nodes as ir
from charter.core import small
from charter.core.rewrite import rewrite_model
from charter.core.valid import InvalidCore, validate
from charter.core.walk import Rule, expressions, fold, nodes
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


def _nothing(node: ir.Expr | ir.Statement) -> bool:
    """What a pass is done with that removes no kind of node."""
    return False


@dataclass(frozen=True, slots=True)
class Pass:
    """`rule` makes the rule for the nodes of expressions; after it `change` is applied to the
    model, for one of its machines ("": all). After this pass no node for which `is_done_with` is
    true may remain."""

    name: str
    change: Callable[[ir.Model, str], ir.Model] | None = None
    rule: Callable[[], Rule] | None = None
    is_done_with: Callable[[ir.Expr | ir.Statement], bool] = _nothing


RICH = (Pass("fold", rule=lambda: fold_constants.simplify),)

MACHINE = (Pass("narrow", narrow.narrow), Pass("companions", companions.run))

LOWERING = (
    # First, since it introduces calls of built-in functions.
    Pass(
        "channels",
        lambda model, _: channels.run(model),
        is_done_with=lambda e: isinstance(e, ir.OnChannel),
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
    """The passes in order. The rules of adjacent passes are applied in one traversal: no rule makes
    a node that another of them would change."""
    rules: list[Callable[[], Rule]] = []
    for item in passes:
        if item.rule is not None:
            rules.append(item.rule)
        if item.change is not None:
            model = item.change(_apply(model, rules), machine)
            rules = []
    return _apply(model, rules)


def _apply(model: ir.Model, makers: Sequence[Callable[[], Rule]]) -> ir.Model:
    return rewrite_model(model, lambda: _in_turn([make() for make in makers])) if makers else model


def _in_turn(rules: Sequence[Rule]) -> Rule:
    def change(expr: ir.Expr) -> ir.Expr:
        for rule in rules:
            expr = rule(expr)
        return expr

    return change


def run_rich(model: ir.Model) -> ir.Model:
    """Apply `RICH` to the result of the check. Raises `InvalidCore` if that, or a pass, breaks
    core."""
    return _apply_and_validate(model, RICH, "elaboration")


def run_checked(model: ir.Model, passes: Sequence[Pass], machine: str = "") -> ir.Model:
    """The passes in order, each alone. Raises `InvalidCore` with the name of the pass if one breaks
    core or leaves nodes that it, or an earlier pass, should have removed."""
    for number, item in enumerate(passes, 1):
        model = run(model, (item,), machine)
        stage = f"pass {item.name}"
        validate(model, stage)
        if problems := list(_left(model, passes[:number])):
            raise InvalidCore(stage, problems)
    return model


def for_search(model: ir.Model, machine: str) -> ir.Model:
    """Rich core of one machine, with the companions of its properties."""
    return run(model, MACHINE, machine)


def lower(model: ir.Model) -> small.Model:
    """Small core. Raises `InvalidCore` if a pass breaks core."""
    # The validation has just shown that all nodes are of small core.
    return cast(small.Model, _apply_and_validate(model, LOWERING, "the passes before"))


def _apply_and_validate(model: ir.Model, passes: Sequence[Pass], before: str) -> ir.Model:
    """The passes in order. The result is validated; if that fails, `model` is, whose stage is
    `before`, and the passes are repeated with a validation after each, to name the wrong one."""
    together = "all passes together"
    try:
        done = run(model, passes)
        validate(done, together)
        if problems := list(_left(done, passes)):
            raise InvalidCore(together, problems)
    except Exception:
        validate(model, before)
        run_checked(model, passes)
        raise
    return done


def lower_instance(model: ir.Model, instance: ir.Instance) -> tuple[small.Model, small.Instance]:
    """Small core of the machine of an instance, and the instance in it."""
    alone = replace(model, instances=(replace(instance, prelude=None),), scenarios=())
    whole = lower(narrow.narrow(alone, instance.machine))
    return whole, whole.instances[0]


def lower_expr(expr: ir.Expr) -> small.Expr:
    """An expression of a machine's model in small core."""
    for item in LOWERING:
        expr = expr if item.rule is None else fold(expr, item.rule())
    return cast(small.Expr, expr)


def _left(model: ir.Model, passes: Sequence[Pass]) -> Iterator[str]:
    """The nodes that passes should have removed and did not, outside of scenarios and preludes."""
    passes = [item for item in passes if item.is_done_with is not _nothing]
    if not passes:
        return
    bare = tuple(replace(instance, prelude=None) for instance in model.instances)
    cut = replace(model, scenarios=(), instances=bare)
    exprs = (*expressions(cut), *(f.body for f in model.functions))
    found: list[ir.Expr | ir.Statement] = [node for whole in exprs for node in nodes(whole)]
    found += [line for system in model.systems for step in system.steps for line in step.body]
    for node in found:
        for item in passes:
            if item.is_done_with(node):
                yield f"{item.name} leaves no {type(node).__name__} ({node.span.where()})"
