"""The exploration engine on charters small enough to check by hand."""

from __future__ import annotations

from charter import api
from charter.core import types as t
from charter.explore.reference.arguments import Arguments
from charter.explore.reference.explore import Exploration, Options, explore, path_to, transitions
from charter.explore.reference.load import load

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


def found(options: Options | None = None) -> Exploration:
    model = api.load_text(COUNTING)
    return explore(model, model.instances[0], options or Options(most_states=200))


def test_states_fold_when_only_names_and_counters_differ() -> None:
    model = api.load_text(COUNTING)
    flat = load(model, model.instances[0])
    assert flat.key(((3, None), 5)) == flat.key(((None, 3), 9))
    assert flat.key(((None, None), 5)) == flat.key(((None, None), 9))
    assert flat.key(((None, None), 5)) != flat.key(((None, None), 0))
    assert flat.key(((3, None), 5)) != flat.key(((3, 3), 5))
    apart = load(model, model.instances[0], symmetry=False)
    assert apart.key(((3, None), 5)) != apart.key(((None, 3), 5))
    exact = load(model, model.instances[0], renaming=False)
    assert exact.key(((3, None), 5)) != exact.key(((4, None), 5))


def test_counterexamples_are_shortest_when_a_property_fails() -> None:
    result = found(Options(renaming=False, most_states=200))
    findings = {f.name: f for f in (*result.properties, *result.branches)}
    broken = findings["nobody_passes"].trace
    assert broken is not None
    assert [a.operation for a in broken] == ["join", "advance", "advance"]
    moved = findings["tickets_stay"].trace
    assert moved is not None and [a.branch for a in moved] == ["join/joined", "advance/advanced"]
    assert findings["twice"].trace is not None and len(findings["twice"].trace) == 3
    assert not result.fine


def test_branches_are_vacuous_when_no_state_reaches_them() -> None:
    result = found()
    assert "never/odd" in result.vacuous
    assert "never/even" not in result.vacuous
    assert "two_in" not in result.vacuous


def test_transitions_lead_to_their_target_when_they_are_streamed() -> None:
    result = found()
    graph = result.graph
    moves = list(transitions(result))
    assert {move.branch for move in moves} == {f.name for f in result.branches if f.seen}
    for move in moves:
        assert graph.flat.key(move.successor) == graph.flat.key(graph.states[move.target])
        assert len(path_to(result, move.target)) <= len(path_to(result, move.source)) + 1


def test_paths_are_runs_when_they_are_replayed() -> None:
    result = found()
    flat = result.graph.flat
    for number, state in enumerate(result.graph.states):
        at = flat.initial()
        for action in path_to(result, number):
            (at,) = [s for b, _, s in flat.operations[action.operation](at, action.args, None)]
        assert at == state


def test_arguments_are_current_when_their_key_stands_beside_them() -> None:
    model = api.load_text(COUNTING)
    flat = load(model, model.instances[0])
    machine = flat.machine
    arguments = Arguments.at(machine.universe, machine.variables, ((4, 7), 0))
    advance = machine.operations["advance"]
    lists = set(arguments.of(advance.params))
    assert {args for args in lists if args[0] == 0} == {(0, 4), (0, 7), (0, 6), (0, 8)}
    assert {args for args in lists if args[0] == 1} == {(1, 7), (1, 4), (1, 6), (1, 8)}
    assert arguments.of(advance.params)[:2] == ((0, 4), (1, 7))


def test_maps_of_epochs_are_all_current_or_none_or_one_differs() -> None:
    model = api.load_text(COUNTING)
    machine = load(model, model.instances[0]).machine
    arguments = Arguments.at(machine.universe, machine.variables, ((4, 7), 0))
    kind = machine.variables[0].type
    assert isinstance(kind, t.Map)
    pool = dict(arguments.pool(kind, frozenset()))
    assert pool[4, 7] == 0 and pool[None, None] == 0
    assert pool[None, 7] == 1 and pool[4, 8] == 1
    assert (8, 8) not in pool


def test_json_names_arguments_when_an_exploration_is_exported() -> None:
    result = found()
    exported = result.to_json()
    assert isinstance(exported, dict)
    assert exported["distinct"] == len(result.graph.states)
    trace = next(f.trace for f in result.branches if f.name == "advance/advanced")
    assert trace is not None
    assert result.trace_json(trace)[0] == {
        "operation": "join", "args": {"n": "n1"}, "branch": "join/joined",
    }  # fmt: skip


def test_failures_are_found_when_a_value_does_not_exist() -> None:
    bad = COUNTING.replace("when unknown: epoch[n] == none", "when unknown: value(epoch[n]) == 9")
    model = api.load_text(bad)
    result = explore(model, model.instances[0], Options(most_states=50))
    assert any(f.kind == "undefined" and "value(none)" in f.detail for f in result.failures)
    assert not result.fine
