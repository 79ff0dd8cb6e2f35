"""Lists known faults of an implementation, from entries of an overlay; for the judge only, not part
of what a protocol allows."""

from __future__ import annotations

from dataclasses import dataclass

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.semantics.evaluate import Evaluator
from charter.semantics.expressions import Locals, Scope, State


@dataclass(frozen=True, slots=True)
class Failure:
    """Instead of taking `branch` an exception of the class `exception` is thrown, whose message
    contains `saying`; the state stays as it is."""

    branch: str
    exception: str
    saying: str


def fails(
    evaluator: Evaluator, operation: n.Operation, state: State, args: tuple[Value, ...]
) -> tuple[Failure, ...]:
    """The faults of every branch that may be taken, where their conditions hold, in the order of
    the text. Raises EvaluationError where the operation or a condition has no value."""
    if not any(branch.faults for branch in operation.branches):
        return ()
    scope = Scope(evaluator.universe, state)
    taken = {outcome.branch for outcome in evaluator.operate(operation, state, args)}
    found: list[Failure] = []
    for branch in operation.branches:
        label = f"{operation.name}/{branch.name}"
        if label not in taken or not branch.faults:
            continue
        names: Locals = dict(zip((p.name for p in operation.params), args, strict=True))
        for bind in branch.lets:
            names[bind.name] = evaluator.value(bind.value, scope, names)
        found += (
            Failure(label, fault.exception, fault.saying)
            for fault in branch.faults
            if evaluator.truth(fault.condition, scope, names)
        )
    return tuple(found)


def refuse_faults(model: n.Model) -> None:
    """Raises ValueError for a model with faults: it describes an implementation, and a search
    ignores faults."""
    for component in model.components:
        for operation in component.operations:
            for branch in operation.branches:
                if branch.faults:
                    where = f"{component.name}.{operation.name}/{branch.name}"
                    raise ValueError(f"{where} has a fault, which is for a judge alone")
