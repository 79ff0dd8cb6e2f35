"""Batches of random walks in several processes, put together in the order of their seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from charter.core import nodes as n
from charter.explore.reference.load import Key
from charter.explore.reference.simulate import BATCH, Batch, Failure, Plan, simulate
from charter.formats.canonical import Json
from charter.semantics.bounds import bounds_of
from charter.semantics.machine import Machine

Subject = tuple[n.Model, n.Instance]
Seen = tuple[Plan, Batch]


def swarm(
    subject: Subject, plan: Plan, workers: int, progress: Callable[[int, int], None]
) -> dict[str, Json]:
    """All walks of `plan` in batches, each with a seed of its own, counted up from that of the
    plan. `progress` is told how many walks are done, and of how many."""
    plans = [
        replace(plan, walks=min(BATCH, plan.walks - first), seed=plan.seed + number)
        for number, first in enumerate(range(0, plan.walks, BATCH))
    ]
    seen: list[Batch] = []
    states: set[Key] = set()
    for batch in _batches(subject, plans, workers):
        states |= batch.states
        batch.states.clear()  # they are in `states` now
        seen.append(batch)
        progress(sum(each.walks for each in plans[: len(seen)]), plan.walks)
    return {**_summary(subject, plan, plans, seen), "states": len(states)}


def _batches(subject: Subject, plans: list[Plan], workers: int) -> Iterator[Batch]:
    if workers == 1 or len(plans) == 1:
        yield from (simulate(*subject, plan) for plan in plans)
        return
    with ProcessPoolExecutor(workers) as pool:
        for done in [pool.submit(simulate, *subject, plan) for plan in plans]:
            yield done.result()


def _summary(
    subject: Subject, plan: Plan, plans: list[Plan], batches: list[Batch]
) -> dict[str, Json]:
    model, instance = subject
    machine = Machine.of(model, instance)
    branches = sum((batch.branches for batch in batches), Counter[str]())
    witnesses = frozenset[str]().union(*(batch.witnesses for batch in batches))
    known = [
        f"{operation.name}/{branch.name}"
        for operation in machine.operations.values()
        if isinstance(operation, n.Operation)
        for branch in operation.branches
    ] or list(machine.operations)
    mine = [p for p in model.properties if p.machine == instance.machine and p.kind == "witness"]
    unseen = [name for name in known if not branches[name]]
    unseen += [f"witness {p.name}" for p in mine if p.name not in witnesses]
    seeds = {each.seed: each.walks for each in plans}
    return {
        "instance": instance.name,
        "machine": instance.machine,
        "bounds": {**bounds_of(instance)},
        "seed": plan.seed,
        "walks": plan.walks,
        "steps": sum(branches.values()),
        "branches": {name: branches[name] for name in known},
        "unseen": list(unseen),
        "not_looked_at": [p.name for p in model.liveness if p.machine == instance.machine],
        "findings": [
            {
                "name": one.name,
                "kind": one.kind,
                "seen": 1,
                "trace": machine.trace_json(one.trace),
                "detail": one.detail,
                "seed": one.seed,
                "batch": seeds[one.seed],
            }
            for one in _shortest(batches)
        ],
        "walk": machine.trace_json(batches[0].last) if plan.walks == 1 else None,
    }


def _shortest(batches: Iterable[Batch]) -> list[Failure]:
    """The shortest failure of each property; of equal ones that of the first seed."""
    found: dict[str, Failure] = {}
    for batch in batches:
        for name, failure in batch.failures.items():
            if name not in found or len(failure.trace) < len(found[name].trace):
                found[name] = failure
    return [found[name] for name in sorted(found)]
