"""Finds which steps can follow each other in an instance: on the transition graph of a native
search, a step that leads to a state, and one that leaves it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from charter.analysis.narrowed_machine import open_machine
from charter.core import nodes as n
from charter.explore.native.liveness.check_liveness import EDGES, Tell
from charter.explore.native.liveness.runs import Graph, follow, functions
from charter.explore.native.program import transition_graph
from charter.explore.native.program.transition_graph import ABSENT, TARGET_BITS
from charter.explore.native.search.explore import NativeOptions, run_search
from charter.explore.result import StepPairs
from charter.passes.companions import TRUE
from charter.semantics.machine import Machine


def step_pairs(
    model: n.Model, instance: n.Instance, options: NativeOptions, tell: Tell
) -> StepPairs:
    """The pairs of steps that follow each other in an instance of a model without properties; none
    if the search gave up before its end. Raises EngineUnsupported or CannotExplore."""
    machine = open_machine(model, instance)
    asked = replace(model, liveness=(_of_each(machine),))
    # Without any predicate the program still follows edges; with None it would not.
    chosen = replace(options, choices=replace(options.choices, predicates=()))
    names = tuple(machine.operations)
    with run_search(asked, instance, chosen, lambda now: tell(now, "")) as (search, _):
        if not search.complete:
            return StepPairs(names, frozenset(), complete=False)
        plan = search.program.plan
        labels = transition_graph.FairnessLabels.of(plan.machine, plan.layout)
        labelled = {step.first: name for name, step in labels.steps.items()}
        graph = Graph(search.room, functions(options.cache), search.distinct, 0)
        follow(search, graph, lambda now: tell(now, EDGES))
        in_a_row = _in_a_row(graph)
    followed = frozenset((labelled[one], labelled[other]) for one, other in in_a_row)
    return StepPairs(names, followed, complete=True)


def _of_each(machine: Machine[n.Expr, n.Statement]) -> n.Eventually:
    """A property with a fairness condition for each step: these give each step a label."""
    fair = tuple(n.Fair(name, ()) for name in machine.operations)
    return n.Eventually("in a row", machine.instance.machine, (), None, TRUE, fair, ())


def _in_a_row(graph: Graph) -> set[tuple[int, int]]:
    """The pairs of labels of an edge and one that begins where it ends."""
    into, out_of = [0] * graph.states, [0] * graph.states
    for number in range(graph.states):
        leaving = 0
        for word in graph.words(number):
            mark, target = 1 << (word >> TARGET_BITS), word & ABSENT
            leaving |= mark
            if target != ABSENT:
                into[target] |= mark
        out_of[number] = leaving
    different = set(zip(into, out_of, strict=True))
    return {pair for one, other in different for pair in product(_bits(one), _bits(other))}


def _bits(mask: int) -> list[int]:
    return [place for place in range(mask.bit_length()) if mask >> place & 1]
