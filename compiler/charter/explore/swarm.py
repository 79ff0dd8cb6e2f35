"""Runs batches of random walks in several processes and merges them in the order of their seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from charter.analysis.bounds import bounds_of
from charter.core import nodes as n
from charter.explore.result import CheckResult, Trace
from charter.explore.simulate import BATCH, Batch, WalkPlan, simulate
from charter.explore.workers import in_processes
from charter.semantics.machine import Machine

Subject = tuple[n.Model, n.Instance]


@dataclass(frozen=True, slots=True)
class WalkFinding:
    """A failure, with the seed and the number of walks of its batch."""

    finding: CheckResult
    seed: int
    batch: int


@dataclass(frozen=True, slots=True)
class WalksResult:
    """The result of random walks: how many steps they took, how often each branch, branches and
    witnesses that none of them met, how many states they saw up to renaming; `walk` is the walk if
    there was only one. `unchecked` are the `eventually` properties, which walks do not check."""

    machine: Machine
    seed: int
    walks: int
    steps: int
    states: int
    branches: Mapping[str, int]
    unseen: tuple[str, ...]
    unchecked: tuple[str, ...]
    findings: tuple[WalkFinding, ...]
    walk: Trace | None

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds of the instance, by name."""
        return bounds_of(self.machine.instance)


def swarm(
    subject: Subject, plan: WalkPlan, workers: int, progress: Callable[[int, int], None]
) -> WalksResult:
    """All walks of `plan` in batches, each with a seed of its own, counted up from that of the
    plan. `progress` is told how many walks are done, and of how many."""
    plans = [
        replace(plan, walks=min(BATCH, plan.walks - first), seed=plan.seed + number)
        for number, first in enumerate(range(0, plan.walks, BATCH))
    ]
    seen: list[Batch] = []
    states: set[Hashable] = set()
    for batch in _batches(subject, plans, workers):
        states |= batch.states
        batch.states.clear()  # they are in `states` now
        seen.append(batch)
        progress(sum(each.walks for each in plans[: len(seen)]), plan.walks)
    return _result(Machine.of(*subject), plans, seen, len(states))


def _batches(subject: Subject, plans: list[WalkPlan], workers: int) -> Iterator[Batch]:
    """The batches. Code is compiled only for several walks: a single one is faster without."""
    compiled = sum(plan.walks for plan in plans) > 1
    if workers == 1 or len(plans) == 1:
        yield from (simulate(*subject, plan, compiled=compiled) for plan in plans)
        return
    yield from in_processes(partial(_batch, subject), plans, workers)


def _batch(subject: Subject, plan: WalkPlan) -> Batch:
    return simulate(*subject, plan, compiled=True)


def _result(
    machine: Machine, plans: Sequence[WalkPlan], batches: Sequence[Batch], states: int
) -> WalksResult:
    model, name = machine.model, machine.instance.machine
    branches = sum((batch.branches for batch in batches), Counter[str]())
    witnesses = frozenset[str]().union(*(batch.witnesses for batch in batches))
    wanted = [p.name for p in model.properties if p.machine == name and p.kind == "witness"]
    return WalksResult(
        machine=machine,
        seed=plans[0].seed,
        walks=sum(plan.walks for plan in plans),
        steps=sum(branches.values()),
        states=states,
        branches={label: branches[label] for label in machine.labels},
        unseen=(
            *(label for label in machine.labels if not branches[label]),
            *(f"witness {witness}" for witness in wanted if witness not in witnesses),
        ),
        unchecked=tuple(p.name for p in model.liveness if p.machine == name),
        findings=_shortest(plans, batches),
        walk=batches[0].last if sum(plan.walks for plan in plans) == 1 else None,
    )


def _shortest(plans: Sequence[WalkPlan], batches: Sequence[Batch]) -> tuple[WalkFinding, ...]:
    """The shortest failure of each property; of equally long ones that of the first seed."""
    found: dict[str, WalkFinding] = {}
    for plan, batch in zip(plans, batches, strict=True):
        for name, failure in batch.failures.items():
            if name not in found or _length(failure) < _length(found[name].finding):
                found[name] = WalkFinding(failure, plan.seed, plan.walks)
    return tuple(found[name] for name in sorted(found))


def _length(finding: CheckResult) -> int:
    return len(finding.trace or ())
