"""Generated steps and channel state, run on the definition."""

from __future__ import annotations

from itertools import product

import pytest
from tests.support.charters import WORDS, load

from charter.diagnostics import Source
from charter.project.pipeline import check_texts
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

POST = """system post {{
  channel mail: Broker -> Broker carries Status {kind}
  state got: map Broker -> set Status = [b in Broker: {{}}]
  step say(a: Broker, b: Broker, s: Status) budget limit {{ require a != b  send mail[a][b] s }}
  step hear(a: Broker, b: Broker) {{ receive m from mail[a][b]  got[b]' = got[b] | {{m}} }}
}}
witness w of post: some b in Broker: got'[b] != {{}}
instance tiny of post {{ Broker = {{a, b}}  limit = 2 }}
"""


def key(state: State) -> tuple[object, ...]:
    return tuple(state[name] for name in sorted(state))


def explore(kind: str) -> tuple[Machine, list[State], set[str]]:
    """All states that can be reached, and the steps that were taken."""
    model = load(POST.format(kind=kind))
    machine = Machine.of(model, model.instances[0])
    waiting = [machine.initial()]
    seen = {key(waiting[0])}
    states: list[State] = []
    taken: set[str] = set()
    while waiting:
        state = waiting.pop()
        states.append(state)
        for name, step in machine.operations.items():
            domains = [machine.universe.domain(param.type) for param in step.params]
            for args in product(*domains):
                for outcome in machine.outcomes(state, name, args):
                    taken.add(name)
                    if key(outcome.state) not in seen:
                        seen.add(key(outcome.state))
                        waiting.append(outcome.state)
    return machine, states, taken


@pytest.mark.parametrize("kind", ["slot", "set", "fifo", "slot lossy", "set lossy duplicating"])
def test_states_stay_in_their_types_and_the_budget_is_spent(kind: str) -> None:
    machine, states, taken = explore(kind)
    assert all(machine.outside(state) == "" for state in states)
    assert {state["budget.limit"] for state in states} == {0, 1, 2}
    assert taken == {"say", "hear"} | ({"lose_mail"} if "lossy" in kind else set())


STREAM = """system post {{
  channel mail: Broker -> Broker carries Status fifo
  state got: map Broker -> set Status = [b in Broker: {{}}]
  step go(a: Broker, b: Broker, s: Status) budget limit {{
    {line}
  }}
}}
witness w of post: some b in Broker: got'[b] != {{}}
instance tiny of post {{ Broker = {{a, b}}  limit = 1 }}
"""


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("send mail[a][b] s for x in Broker", "type/mismatch", "has to be one key"),
        ("send mail[x][x] s for x in Broker", "type/mismatch", "has to be one key"),
        ("send mail[the y in {x}: true][b] s for x in Broker", "type/mismatch", "one key"),
        ("clear mail[a][b] for x in got[a]", "type/mismatch", "has to be one key"),
        ("send mail[x][b] s for x in a", "type/mismatch", "a domain is a set"),
        ("send mail[x][b] x for x in Broker", "type/mismatch", ""),
        ("send mail[a][b] s if s", "type/mismatch", ""),
        ("clear mail[a]", "type/arity", "2 ends"),
        ("clear letters[a][b]", "name/unknown", "no channel"),
        ("receive m[s] from mail[a][b]", "type/mismatch", ""),
    ],
)
def test_wrong_sets_conditions_and_counts_are_told(line: str, code: str, says: str) -> None:
    errors = check_texts((Source("test", WORDS + STREAM.format(line=line)),)).errors
    assert [error.code for error in errors][:1] == [code]
    assert says in errors[0].message


def test_only_a_fifo_gives_several_messages() -> None:
    text = STREAM.format(line="receive m[2] from mail[a][b]").replace("fifo", "set")
    [error] = check_texts((Source("test", WORDS + text),)).errors
    assert error.message == "`mail` is a set: only a fifo gives several messages"


def most(states: list[State]) -> int:
    """The most messages that were on the way from the first broker to the second."""
    found = 0
    for state in states:
        place = state["mail"][0][1]  # type: ignore[index]
        found = max(found, 0 if place is None else 1 if isinstance(place, str) else len(place))
    return found


def test_slot_holds_one_message_and_fifo_as_many_as_were_sent() -> None:
    assert most(explore("slot")[1]) == 1
    assert most(explore("fifo")[1]) == 2


def test_duplicating_channel_reaches_states_that_a_plain_one_does_not() -> None:
    plain, duplicating = explore("slot")[1], explore("slot duplicating")[1]
    kept = [s for s in duplicating if s["mail"][0][1] is not None and s["got"][1]]  # type: ignore[index]
    assert kept
    assert len(duplicating) > len(plain)
