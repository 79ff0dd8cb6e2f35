"""The reference engine on charters small enough to check by hand."""

from __future__ import annotations

from charter import api
from charter.analysis.canonical import Canonical
from charter.analysis.environment import Arguments
from charter.api.as_json import search_json
from charter.core import types as t
from charter.explore.native.states.graph import CompiledGraph
from charter.explore.reference.graph import DefinedGraph
from charter.explore.reference.search import ReferenceExploration, ReferenceOptions, explore
from charter.explore.select import state_graph
from charter.explore.successors import witnesses
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

COUNTING = """
protocol test.counting

sort Node
counter Epoch
opaque counter Ticket

component desk {
  state epoch: map Node -> option Epoch = [n in Node: none]
  state ticket: Ticket = 0

  operation join(n: Node) -> bool cites silent {
    branch again when known: epoch[n] != none reply false
    branch joined { epoch' = epoch with [n: present(0)] reply true }
  }
  operation advance(n: Node, seen: Epoch) -> bool cites silent {
    branch stranger when unknown: epoch[n] == none reply false
    branch stale when behind: value(epoch[n]) != seen reply false
    branch advanced {
      epoch' = epoch with [n: present(bump(seen))]
      ticket' = bump(ticket)
      reply true
    }
  }
  operation never() -> bool cites silent {
    branch odd when impossible: ticket != ticket reply true
    branch even reply false
  }
  observe all { epoch }
}

always nobody_passes of desk cites silent: forall n in Node: epoch[n] != present(2)
stepwise tickets_stay of desk cites silent: ticket == ticket'
witness two_in of desk: forall n in Node: epoch[n] != none
witness twice of desk: took advance/advanced and ticket != 0
instance tiny of desk { Node = 2 }
"""


def search_all(options: ReferenceOptions | None = None) -> ReferenceExploration:
    model = api.load_text(COUNTING)
    return explore(model, model.instances[0], options or ReferenceOptions(most_states=200))


def state(first: int | None, second: int | None, ticket: int) -> State:
    return {"epoch": (first, second), "ticket": ticket}


def canonical(*, symmetry: bool = True, renaming: bool = True) -> Canonical:
    machine = machine_of_counting()
    return Canonical.of(machine, symmetry=symmetry, renaming=renaming)


def machine_of_counting() -> Machine:
    model = api.load_text(COUNTING)
    return Machine.of(model, model.instances[0])


def test_states_fold_when_only_names_and_counters_differ() -> None:
    form = canonical().form
    assert form(state(3, None, 5)) == form(state(None, 3, 9))
    assert form(state(None, None, 5)) == form(state(None, None, 9))
    assert form(state(None, None, 5)) != form(state(None, None, 0))
    assert form(state(3, None, 5)) != form(state(3, 3, 5))
    apart = canonical(symmetry=False).form
    assert apart(state(3, None, 5)) != apart(state(None, 3, 5))
    exact = canonical(renaming=False).form
    assert exact(state(3, None, 5)) != exact(state(4, None, 5))


def test_counterexamples_are_shortest_when_a_property_fails() -> None:
    result = search_all(ReferenceOptions(renaming=False, most_states=200))
    findings = {f.name: f for f in (*result.properties, *result.branches)}
    broken = findings["nobody_passes"].trace
    assert broken is not None
    assert [step.operation for step in broken] == ["join", "advance", "advance"]
    moved = findings["tickets_stay"].trace
    assert moved is not None
    assert [step.branch for step in moved] == ["join/joined", "advance/advanced"]
    assert findings["twice"].trace is not None and len(findings["twice"].trace) == 3
    assert not result.fine


def test_branches_are_never_taken_when_no_state_reaches_them() -> None:
    seen = {one.name: one.seen for one in (*search_all().branches, *search_all().properties)}
    assert not seen["never/odd"]
    assert seen["never/even"] and seen["two_in"]


def test_paths_are_runs_when_they_are_replayed() -> None:
    graph = search_all().graph
    for number, kept in enumerate(graph.states):
        at = graph.machine.initial()
        for step in graph.path(number):
            (outcome,) = graph.machine.outcomes(at, step.operation, step.args)
            at = outcome.state
        assert at == kept


def test_edges_lead_to_the_state_that_has_the_form_of_what_comes_of_them() -> None:
    graph = search_all().graph
    form = graph.canonical.form
    for source, edges in zip(graph.states, graph.edges, strict=False):
        for edge in edges:
            (outcome,) = graph.machine.outcomes(source, edge.step.operation, edge.step.args)
            assert form(outcome.state) == form(graph.states[edge.target])


def test_arguments_are_current_when_their_key_stands_beside_them() -> None:
    machine = machine_of_counting()
    arguments = Arguments.at(machine, state(4, 7, 0))
    advance = machine.operations["advance"]
    lists = set(arguments.of(advance.params))
    assert {args for args in lists if args[0] == 0} == {(0, 4), (0, 7), (0, 6), (0, 8)}
    assert {args for args in lists if args[0] == 1} == {(1, 7), (1, 4), (1, 6), (1, 8)}
    assert arguments.of(advance.params)[:2] == ((0, 4), (1, 7))


def test_maps_of_epochs_are_all_current_or_none_or_one_differs() -> None:
    machine = machine_of_counting()
    arguments = Arguments.at(machine, state(4, 7, 0))
    kind = machine.variables[0].type
    assert isinstance(kind, t.Map)
    pool = dict(arguments.pool(kind, frozenset()))
    assert pool[4, 7] == 0 and pool[None, None] == 0
    assert pool[None, 7] == 1 and pool[4, 8] == 1
    assert (8, 8) not in pool


def test_json_names_arguments_when_a_search_is_printed() -> None:
    model = api.load_text(COUNTING)
    options = api.ExploreOptions(engine="reference", most_states=200)
    result = api.explore(model, "tiny", options, lambda *_: None)
    told = search_json(result)
    assert told["distinct"] == result.counts.distinct
    findings = told["findings"]
    assert isinstance(findings, list)
    (moved,) = (f for f in findings if isinstance(f, dict) and f["name"] == "advance/advanced")
    assert isinstance(moved["trace"], list)
    assert moved["trace"][0] == {
        "operation": "join", "args": {"n": "n1"}, "branch": "join/joined",
    }  # fmt: skip


def test_failures_are_found_when_a_value_does_not_exist() -> None:
    bad = COUNTING.replace("when unknown: epoch[n] == none", "when unknown: value(epoch[n]) == 9")
    model = api.load_text(bad)
    result = explore(model, model.instances[0], ReferenceOptions(most_states=50))
    assert any(f.kind == "undefined" and "value(none)" in f.detail for f in result.failures)
    assert not result.fine


CASES = """
protocol test.cases
sort Node
component desk {
  state on: map Node -> bool = [n in Node: false]
  state last: option Node = none
  operation flip(n: Node, hard: bool) -> int 0..2 cites silent {
    branch held when busy: (on[n] and not hard) or (last == present(n) and not on[n]) reply 0
    in any order {
      branch off when allowed: on[n] and (hard implies last == none) {
        on' = on with [n: false]
        reply 1
      }
      branch kept when meant: hard { last' = present(n) reply 2 }
    }
    branch lit { on' = on with [n: true] reply 1 }
  }
  operation clear() -> bool cites silent { branch done { last' = none reply true } }
  observe all { on }
}
witness both of desk: forall n in Node: on[n]
witness marked of desk: last != none
instance tiny of desk { Node = 2 }
"""


def test_both_graphs_have_the_same_cases_and_arrivals() -> None:
    """A suite is planned from either: from compiled code, or where there is none from this."""
    model = api.load_text(CASES)
    slow = DefinedGraph.of(model, model.instances[0])
    fast = state_graph(model, model.instances[0])
    assert isinstance(fast, CompiledGraph)
    assert [dict(one) for one in slow.states] == [dict(one) for one in fast.states]
    cases = list(slow.cases())
    assert cases == list(fast.cases()) and len(cases) > len(slow.states) > 3
    several = range(1, len(slow.states))
    assert [slow.arrival(i) for i in several] == [fast.arrival(i) for i in several]
    assert witnesses(slow) == witnesses(fast)
