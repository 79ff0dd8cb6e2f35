"""Questions that a system of the charter can ask, and questions that it cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from charter import api
from charter.api.system_searches import NO_STATE, RENAMINGS_MAX
from charter.api.whole_system import (
    FoundInSystem,
    NotFoundInSystem,
    SystemLimits,
    _Climb,
    find_in_system,
    has_system,
)
from charter.core import nodes as n
from charter.explore.model_checker import EngineUnsupported
from charter.explore.native import checker
from charter.formats.canonical import Json
from charter.formats.vector import OperationCall, Question

LEASES = """protocol test.leases
sort Client
opaque counter Token
const crashes: int 0..9

union Reply { granted(token: Token), refused, done }

fun token_of(reply: Reply) -> option Token cites silent =
  match reply { granted(token) -> present(token), refused -> none, done -> none }

component leases {
  state holder: option Client = none
  state token: Token = 0
  ghost state granted: int 0..9 = 0

  operation grant(client: Client, again: bool) -> Reply cites silent {
    branch taken when held: holder != none and other: not again reply refused
    branch kept when mine: holder == present(client) reply granted(token)
    branch lost when held: holder != none reply refused
    branch given {
      let next = bump(token)
      holder' = present(client)
      token' = next
      granted' = min(granted + 1, 9)
      reply granted(next)
    }
  }

  operation release(token_given: Token) -> Reply cites silent {
    branch stale when other: token_given != token reply refused
    branch released { holder' = none reply done }
  }

  operation tick() -> Reply cites silent { branch ticked reply done }

  observe all { holder token }
}

-- A client asks once, and releases what it was given; one that has crashed knows no token any more.
system office {
  leases: leases
  state waits: map Client -> bool = [c in Client: false]
  state knows: map Client -> option Token = [c in Client: none]

  step arrive(c: Client) cites silent {
    require not waits[c] and knows[c] == none
    waits' = waits with [c: true]
  }

  step ask(c: Client) cites silent {
    require waits[c]
    let reply = leases.grant(c, true)
    waits' = waits with [c: false]
    knows' = knows with [c: token_of(reply)]
  }

  step leave(c: Client) cites silent {
    require knows[c] is present(token)
    leases.release(token)
    knows' = knows with [c: none]
  }

  -- Two steps of a client at once.
  step hurry(c: Client) cites silent {
    require waits[c]
    let reply = leases.grant(c, false)
    require token_of(reply) != none
    leases.release(value(token_of(reply)))
    waits' = waits with [c: false]
  }

  step crash(c: Client) cites silent budget crashes {
    require knows[c] != none
    knows' = knows with [c: none]
  }
}

witness held of office: leases.holder != none
instance tiny of office { Client = {c1, c2} crashes = 0 }
"""

LIMITS = SystemLimits(states=5_000, budget=1)


def quiet(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
    pass


LATER = """
instance later of office {
  Client = {c1, c2}
  crashes = 0
  start leases.holder = present(c2)
  start leases.token = 1
  start leases.granted = 1
  start knows = [c in Client: if c == c2 then present(1) else none]
  prelude {
    do arrive(c2)
    do ask(c2)
    expect leases.granted == 1
  }
}
"""


def ask(*calls: tuple[str, dict[str, Json]]) -> Question:
    return Question(
        "test.leases", "", "leases", {"Client": {"a": 1, "b": 2}}, None,
        tuple(OperationCall(name, args) for name, args in calls),
    )  # fmt: skip


def grant(client: str, again: bool = True) -> tuple[str, dict[str, Json]]:
    return "grant", {"client": client, "again": again}


def release(step: int) -> tuple[str, dict[str, Json]]:
    return "release", {"token_given": {"ref": [step, "token"]}}


def search(question: Question, limits: SystemLimits = LIMITS) -> FoundInSystem | NotFoundInSystem:
    return find_in_system(api.load_text(LEASES), question, limits, quiet)


def steps(found: FoundInSystem | NotFoundInSystem) -> list[str]:
    assert isinstance(found, FoundInSystem)
    return [
        f"{step.operation} {' '.join(value for _, value in step.args)}".strip()
        for step in found.story.steps
    ]


def test_question_is_found_with_a_shortest_trace_when_the_system_can_ask_it():
    found = search(ask(grant("b"), release(1)))
    assert steps(found) == ["arrive b", "ask b", "leave b"]
    assert isinstance(found, FoundInSystem)
    assert (found.system, found.instance, found.begins) == ("office", "tiny", 0)
    assert found.states > 0


def test_several_calls_of_one_step_are_asked_one_after_another():
    assert steps(search(ask(grant("a", again=False), release(1)))) in (
        ["arrive a", "hurry a"],
        ["arrive a", "ask a", "leave a"],
    )


def test_argument_that_makes_no_difference_may_be_another_one():
    # In the first state `again` does not matter, where it is taken it does.
    text = LEASES.replace("grant(c, false)", "grant(c, true)")
    text = text.replace("step crash", "step other() cites silent { leases.tick() }\n  step crash")
    found = find_in_system(
        api.load_text(text), ask(grant("a", again=False), ("tick", {})), LIMITS, quiet
    )
    assert steps(found) == ["arrive a", "ask a", "other"]
    found = search(ask(grant("a"), grant("b", again=False)))
    assert isinstance(found, NotFoundInSystem)


def test_arguments_of_the_last_call_are_those_of_the_question():
    # It is the one that deviates, so the rules do not say which arguments make a difference.
    text = LEASES.replace("grant(c, false)", "grant(c, true)")
    found = find_in_system(api.load_text(text), ask(grant("a", again=False)), LIMITS, quiet)
    assert found == NotFoundInSystem(
        (), "no step of office calls grant with again: false", impossible=True
    )


def test_ghost_state_that_an_assumption_reads_is_kept():
    text = LEASES.replace(
        "    branch taken", "    assume few cites silent: granted < 9\n    branch taken"
    )
    found = find_in_system(api.load_text(text), ask(grant("b"), release(1)), LIMITS, quiet)
    assert steps(found) == ["arrive b", "ask b", "leave b"]


def test_question_is_not_found_when_the_rules_of_the_system_forbid_it():
    found = search(ask(grant("a"), grant("a"), release(2), release(2)))
    assert isinstance(found, NotFoundInSystem)
    assert [(one.instance, one.complete) for one in found.tried] == [("tiny", True)]
    assert found.states > 0 and found.why == ""


def test_search_of_few_states_is_not_complete():
    limits = SystemLimits(states=2, budget=1)
    found = search(ask(grant("a"), grant("b"), release(1), grant("b"), release(4)), limits)
    assert isinstance(found, NotFoundInSystem)
    assert [one.complete for one in found.tried] == [False]


def test_budget_of_steps_that_call_nothing_is_that_of_the_limits():
    question = ask(grant("a"), grant("a"))
    assert "crash a" in steps(search(question))
    assert isinstance(search(question, SystemLimits(states=5_000, budget=0)), NotFoundInSystem)


def test_operation_that_no_step_calls_is_named_without_a_search():
    found = search(ask(("tick", {})))
    assert found == NotFoundInSystem((), "no step of office calls tick", impossible=True)


def test_call_of_another_system_without_a_search_is_not_impossible():
    other = "system clock {\n  leases: leases\n  step pass() cites silent { leases.tick() }\n}\n"
    model = api.load_text(LEASES + other)
    found = find_in_system(model, ask(("tick", {})), LIMITS, quiet)
    why = "no instance has the sorts and the constants of the question"
    assert found == NotFoundInSystem((), why)


def test_argument_that_every_step_gives_otherwise_is_named_without_a_search():
    text = LEASES.replace("grant(c, false)", "grant(c, true)")
    question = ask(grant("a"), grant("b", again=False))
    found = find_in_system(api.load_text(text), question, LIMITS, quiet)
    why = "no step of office calls grant with again: false"
    assert found == NotFoundInSystem((), why, impossible=True)


def test_value_that_was_never_issued_is_known_to_no_part():
    found = search(ask(("release", {"token_given": {"never_issued": True}})))
    assert isinstance(found, NotFoundInSystem) and "never issued" in found.why


def test_question_from_a_given_state_needs_an_instance_that_begins_there():
    question = Question(
        "test.leases", "", "leases", {"Client": {"a": 1, "b": 2}},
        {"holder": "a", "token": "@1"}, (OperationCall(*release(0)),),
    )  # fmt: skip
    found = find_in_system(api.load_text(LEASES + LATER), question, LIMITS, quiet)
    assert steps(found) == ["leave a"]
    assert isinstance(found, FoundInSystem) and found.instance == "later"
    assert isinstance(search(question), NotFoundInSystem)
    # Nobody has shown that the system reaches a start without a prelude.
    bare = LATER[: LATER.index("  prelude")] + "}\n"
    assert find_in_system(api.load_text(LEASES + bare), question, LIMITS, quiet) == (
        NotFoundInSystem((), NO_STATE)
    )


def test_search_with_some_of_the_renamings_is_not_complete():
    names = "c1, c2, c3, c4, c5"
    later = LATER.replace("c1, c2", names)
    clients = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    question = replace(ask(grant("a"), release(1), release(1)), sorts={"Client": clients})
    found = find_in_system(api.load_text(LEASES + later), question, LIMITS, quiet)
    assert isinstance(found, NotFoundInSystem)
    tried = [(one.instance, one.begins, one.complete) for one in found.tried]
    assert tried == [("tiny", 0, True), *[("later", 1, False)] * RENAMINGS_MAX]


@pytest.mark.parametrize("component, known", [("leases", True), ("office", False)])
def test_charter_has_a_system_when_a_component_is_a_part(component: str, known: bool):
    assert has_system(api.load_text(LEASES), component) is known


def test_system_is_compiled_once_for_all_calls_of_a_question(monkeypatch: pytest.MonkeyPatch):
    real, compiled = checker.program, list[str]()

    def count(model: n.Model, instance: n.Instance, *rest: object, **more: object) -> object:
        compiled.append(instance.name)
        return real(model, instance, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(checker, "program", count)
    found = search(ask(grant("a"), grant("a"), release(2), grant("b")))
    assert "crash a" in steps(found)
    assert compiled == ["tiny"]


def test_reference_engine_searches_what_the_native_one_cannot(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise EngineUnsupported("not this one")

    monkeypatch.setattr(checker, "open_instance", refuse)
    monkeypatch.setattr(checker, "check", refuse)
    assert steps(search(ask(grant("b"), release(1)))) == ["arrive b", "ask b", "leave b"]


def test_native_engine_that_gives_up_is_followed_by_the_reference_one(
    monkeypatch: pytest.MonkeyPatch,
):
    def refuse(*_: object) -> None:
        raise EngineUnsupported("not any more")

    monkeypatch.setattr(checker.OpenedInstance, "explore", refuse)
    assert steps(search(ask(grant("b"), release(1)))) == ["arrive b", "ask b", "leave b"]


def test_steps_that_call_nothing_have_a_budget_only_where_calls_need_it(
    monkeypatch: pytest.MonkeyPatch,
):
    question = ask(grant("a"), grant("b"), release(1))
    first = search(question)
    monkeypatch.setattr(_Climb, "_list_tries", lambda *_: (False,))
    whole = search(question)
    assert isinstance(first, FoundInSystem) and isinstance(whole, FoundInSystem)
    assert steps(first) == steps(whole)
    assert first.states < whole.states
