"""What steps compute alike is a function, and means the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support import spec

from charter import api
from charter.analysis.environment import Arguments
from charter.core import nodes as n
from charter.core import small as s
from charter.core.valid import validate
from charter.explore.native.emit.outline import outline
from charter.explore.reference.search import ReferenceOptions, explore
from charter.passes import lower
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine

TOY = """
protocol toy
sort Node
component box {
  state held: set Node = {}
  operation put(node: Node) -> bool {
    branch first when node in held reply false
    branch second { held' = held | {node} reply true }
  }
}
system pair {
  box: map Node -> box
  state asked: set Node = {}
  history both: set Node = {} then
    both | { n in Node if n in box'[n].held and (some m in Node: m != n and m in box[m].held) }
  history alone: map Node -> bool = [n in Node: true] then
    [m in Node: alone[m] and (forall n in Node: n in box'[m].held implies n == m)]
  step put(n: Node) { box[n].put(n) }
  step give(n: Node, m: Node) { require n in box[n].held  box[m].put(n) }
  step ask(n: Node) { asked' = asked | {n} }
}
witness some_both of pair: both != {}
witness not_alone of pair: some n in Node: not alone[n]
instance tiny of pair { Node = 2 }
"""


def calls(system: s.System) -> Iterator[tuple[str, n.Call[s.Expr]]]:
    """Calls of what the pass has made, with the names of their steps."""
    for step in system.steps:
        for line in step.body:
            call = line.value if isinstance(line, n.Assign) else None
            if isinstance(call, n.Call) and call.function.startswith("alike."):
                yield step.name, call


def test_histories_are_two_functions_that_each_step_calls() -> None:
    whole = lower(api.load_text(TOY))
    model = outline(whole)
    validate(model, "outline")
    assert [f.name for f in model.functions[len(whole.functions) :]] == ["alike.0", "alike.1"]
    found = [(step, call.function) for step, call in calls(model.systems[0])]
    assert found == [
        (step, f"alike.{at}") for step in ("put", "give", "ask") for at in (0, 1)
    ]  # fmt: skip


def test_what_a_step_changes_is_read_after_it() -> None:
    model = outline(lower(api.load_text(TOY)))
    read = {
        step: [e.primed for e in call.args if isinstance(e, n.StateRef) and "held" in e.name]
        for step, call in calls(model.systems[0])
        if call.function == "alike.0"
    }
    assert read == {"put": [True, False], "give": [True, False], "ask": [False, False]}


def test_what_is_there_once_stays() -> None:
    others = ("  step give", "  step ask")
    alone = "\n".join(line for line in TOY.splitlines() if not line.startswith(others))
    model = lower(api.load_text(alone))
    assert len(model.systems[0].steps) == 1 and outline(model) == model


@pytest.mark.parametrize("charter", ["toy", "kafka"])
def test_steps_have_the_outcomes_that_they_had(charter: str) -> None:
    model = api.load_text(TOY) if charter == "toy" else spec.model("kafka")
    instance = next(i for i in model.instances if i.name in ("tiny", "pair_deleted"))
    small = lower(model)
    before, after = (Machine.of(one, instance) for one in (small, outline(small)))
    states = explore(model, instance, ReferenceOptions(most_states=12)).graph.states
    asked = 0
    for state in states[:12]:
        arguments = Arguments.at(before, state)
        for name, step in before.operations.items():
            for args in arguments.of(step.params):
                assert outcomes(before, state, name, args) == outcomes(after, state, name, args)
                asked += 1
    assert asked > 60


def outcomes(machine: Machine, state: n.Value, name: str, args: tuple[n.Value, ...]) -> object:
    try:
        return machine.outcomes(state, name, args)
    except EvaluationError as error:
        return str(error)
