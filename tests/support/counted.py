"""The counts of an exploration that tests pin."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from charter.explore.native.search.explore import Exploration
from charter.explore.native.states.graph import CompiledGraph
from charter.explore.reference.search import ReferenceExploration as Searched
from charter.explore.result import CheckResult

PINS = Path(__file__).parents[1] / "counts" / "kafka"
"""The counts of Kafka's instances."""
REFUSED = frozenset({"order_in_vain"})
"""Steps of Kafka's system that change nothing, so that no instance allows them. Searches for given
operations take them, and scenarios catch their mutants."""
Branches = list[tuple[CheckResult, int | None]]
"""The branches of a graph; to count them takes seconds where there are 200,000 transitions."""


def summary(graph: CompiledGraph, branches: Branches) -> str:
    """The counts of a graph as lines."""
    counts = graph.found.counts
    lines = [
        f"distinct   {counts.distinct}",
        f"generated  {counts.generated}",
        f"classes    {sum(branch.seen for branch, _ in branches)}",
        f"outside    {counts.outside}",
        f"levels     {' '.join(map(str, counts.levels))}",
        *findings(graph, 40, branches),
    ]
    return "\n".join(lines) + "\n"


def findings(graph: CompiledGraph, width: int, branches: Branches) -> list[str]:
    """A line for each finding: kind, name (padded to `width`), count, length of its trace."""
    found = graph.found

    def line(one: CheckResult, length: int | None) -> str:
        shown = "-" if length is None else str(length)
        return f"{one.kind:9} {one.name:{width}} {one.seen:7} {shown:>3}"

    def of_trace(one: CheckResult) -> str:
        return line(one, None if one.trace is None else len(one.trace))

    return [
        *map(of_trace, found.properties),
        *(line(*each) for each in branches),
        *map(of_trace, found.failures),
    ]


def branches_of(graph: CompiledGraph) -> Branches:
    """The branches, with the length of a shortest trace to each. For a component, cases of its
    transitions are counted; for a system, all transitions."""
    ends = list(accumulate(graph.found.counts.levels))
    cases: Counter[str] = Counter()
    first: dict[str, int] = {}
    for case in graph.cases():
        cases[case.step.branch] += 1
        if case.step.branch not in first:
            first[case.step.branch] = sum(case.source >= end for end in ends) + 1
    counted = graph.successors.machine.component is not None
    return [
        (replace(one, seen=cases[one.name]) if counted else one, first.get(one.name))
        for one in graph.found.branches
    ]


def never_met(found: Exploration | Searched) -> list[str]:
    """The branches never taken and the witnesses never found."""
    witnesses = (one for one in found.properties if one.kind == "witness")
    return [one.name for one in (*found.branches, *witnesses) if not one.seen]


def read_pinned(instance: str) -> tuple[int, frozenset[str]]:
    """How many distinct states an instance of Kafka has, and which branches (of a system: steps),
    witnesses and failures its pinned search saw."""
    lines = (PINS / f"{instance}.txt").read_text(encoding="utf-8").splitlines()
    counted = [line.split() for line in lines[5:]]
    names = frozenset(name for _, name, times, _ in counted if int(times))
    return int(lines[0].split()[1]), names
