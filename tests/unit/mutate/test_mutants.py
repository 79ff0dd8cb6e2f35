"""Which mutants a charter has, their names, and that each is what its text says."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest

from charter import api
from charter.core import nodes as n
from charter.core.show import show_model
from charter.core.valid import InvalidCore, validate
from charter.core.walk import nodes
from charter.diagnostics import Refused
from charter.mutate.mutants import MadeMutant, mutants, mutate
from charter.passes.order import lower_instance
from charter.semantics.machine import Machine

EXAMPLES = Path(__file__).resolve().parents[3] / "spec" / "examples"
NOT_WRITTEN = ("read-after", "stale-read", "swap-branches", "one-for-all", "swap-messages")
"""Kinds whose text is for readers; the language cannot write the first two so."""

COUNTER = """\
protocol test.counter

const most: int 1..9

fun is_low(n: int 0..most) -> bool cites silent = n < most

component counter {
  state n: int 0..most = 0
  state last: int 0..most = 0
  ghost state calls: set bool = {}

  operation add(twice: bool) -> bool cites silent {
    branch full when top: n >= most or not is_low(n) reply false
    branch added {
      n' = n + 1
      last' = n
      calls' = calls | {twice}
      reply true
    }
  }
}

always within of counter cites silent: is_low(n) or n == most

witness top of counter: n == most

instance tiny of counter {
  most = 2
}
"""


def of_counter(text: str = COUNTER) -> dict[str, MadeMutant]:
    return {made.id.rpartition(":")[0]: made for made in mutants(api.load_text(text))}


def test_each_rule_of_a_small_charter_has_its_mutants() -> None:
    assert sorted(of_counter()) == [
        "counter.add/added:off-by-one",
        "counter.add/added:other-value",
        "counter.add/added:read-after",
        "counter.add/added:skip-update",
        "counter.add/full:compare",
        "counter.add/full:drop-branch",
        "counter.add/full:drop-conjunct",
        "counter.add/full:drop-disjunct",
        "counter.add/full:negate",
        "counter.add/full:other-value",
        "is_low:compare",
    ]


def test_ghost_state_has_no_mutants() -> None:
    assert not [made for made in of_counter().values() if "calls" in made.says]


BOTH = "fun both(one: bool) -> set bool cites silent = {one, false}\n\n"
ONLY_FOR_A_GHOST = COUNTER.replace("component counter", f"{BOTH}component counter").replace(
    "calls | {twice}", "calls | both(twice)"
)


def test_a_function_that_only_ghost_state_calls_has_no_mutants() -> None:
    assert sorted(of_counter(ONLY_FOR_A_GHOST)) == sorted(of_counter())


def test_a_let_that_only_ghost_state_reads_has_no_mutants() -> None:
    text = COUNTER.replace(
        "calls' = calls | {twice}", "let all = calls | {twice}\n      calls' = all"
    )
    assert sorted(of_counter(text)) == sorted(of_counter())


def test_a_let_that_the_reply_reads_too_has_mutants() -> None:
    text = COUNTER.replace(
        "calls' = calls | {twice}\n      reply true",
        "let both = {twice} | {false}\n      calls' = both\n      reply true in both",
    )
    assert "counter.add/added:set-operation" in of_counter(text)


def test_ghost_state_keeps_its_meaning_when_a_function_is_mutated() -> None:
    shared = COUNTER.replace("calls | {twice}", "calls | {is_low(n)}")
    model = api.load_text(shared)
    (made,) = (one for one in mutants(model) if one.id.startswith("is_low:"))
    (component,) = mutate(model, made).components
    added = component.operations[0].branches[1]
    called = {
        line.variable: {e.function for e in nodes(line.value) if isinstance(e, n.Call)}
        for line in added.body if isinstance(line, n.Assign)
    }  # fmt: skip
    assert called["calls"] == {"is_low.charter"}


def test_a_mutant_shows_its_lines_as_they_are_and_as_they_would_be() -> None:
    made = of_counter()["is_low:compare"]
    assert made.says == "`<` becomes `<=`"
    assert made.before == "fun is_low(n: int 0..most) -> bool cites silent = n < most"
    assert made.after == "fun is_low(n: int 0..most) -> bool cites silent = n <= most"


def test_a_mutant_that_a_charter_writes_otherwise_says_how() -> None:
    made = of_counter()["counter.add/added:read-after"]
    assert made.says == (
        "`n` is read after it is updated; a charter gives the updated value a name, with `let`"
    )
    assert made.after == "last' = n'"


def test_a_mutant_reads_the_state_after_of_a_part_as_a_charter_does() -> None:
    text = (
        COUNTER
        + """
system pair {
  one: counter
  state seen: int 0..most = 0
  step add() {
    one.add(true)
    seen' = one.n
  }
}
"""
    )
    made = of_counter(text)["pair.add:read-after"]
    assert (made.says, made.after) == ("`one.n` is read after it is updated", "seen' = one'.n")


def test_an_id_stays_when_lines_are_added_and_other_rules_change() -> None:
    moved = COUNTER.replace("fun ", "-- A comment.\nfun ", 1).replace("n + 1", "n + 0")
    one, other = of_counter()["is_low:compare"], of_counter(moved)["is_low:compare"]
    assert one.id == other.id
    assert one.span.where() != other.span.where()


def test_ids_are_unique() -> None:
    model = api.load(EXAMPLES / "primary_backup.charter")
    made = mutants(model)
    assert len({one.id for one in made}) == len(made) > 150


def test_properties_keep_the_function_that_a_mutant_changes() -> None:
    model = api.load_text(COUNTER)
    changed = mutate(model, of_counter()["is_low:compare"])
    called = {f.name: f for f in changed.functions}
    (always,) = (p for p in changed.properties if p.kind == "always")
    (kept,) = (e for e in _calls(always.body))
    assert called[kept].body == model.functions[0].body != called["is_low"].body


def _calls(expr: n.Expr) -> list[str]:
    from charter.core.walk import nodes

    return [e.function for e in nodes(expr) if isinstance(e, n.Call)]


@pytest.mark.parametrize("example", ["paxos", "two_phase_commit", "ring_election"])
def test_core_is_valid_with_each_mutant(example: str) -> None:
    model = api.load(EXAMPLES / f"{example}.charter")
    for made in mutants(model):
        validate(mutate(model, made), made.id)


@pytest.mark.parametrize("example", ["paxos", "two_phase_commit", "ring_election"])
def test_a_mutant_is_the_charter_with_its_text(example: str) -> None:
    """Sampled: the text of the mutant, compiled, is the core that the rule made."""
    path = EXAMPLES / f"{example}.charter"
    model, text = api.load(path), path.read_text(encoding="utf-8")
    shown = [one for one in mutants(model) if one.kind not in NOT_WRITTEN and one.text]
    compared = 0
    for made in shown[:: len(shown) // 6]:
        bent = text[: made.span.start] + made.text + text[made.span.end :]
        try:
            written = api.load_text(bent)
        except Refused:
            continue  # a branch that is never reached, a number that leaves its range
        rules = [_rules(one) for one in (mutate(model, made), written)]
        assert rules[0] == rules[1], made.id
        compared += 1
    assert compared >= 3


def _rules(model: n.Model) -> str:
    kept = tuple(f for f in model.functions if "." not in f.name)
    return show_model(
        replace(
            model,
            functions=kept,
            properties=(),
            liveness=(),
            scenarios=(),
            mutants=(),
            instances=(),
        )
    )


NESTED = """\
protocol test.nested

sort Node

component net {
  state sent: map Node -> map Node -> int 0..2 = [a in Node: [b in Node: 0]]

  operation send(to: Node, from: Node) -> bool cites silent {
    branch full when to not in {n in Node if sent[from][n] < 2} reply false
    branch done {
      sent[from][to]' = min(2, sent[from][to] + 1)
      reply true
    }
  }
}

witness sent_one of net: some n in Node: sent[n][n] == 1

instance tiny of net { Node = 2 }
"""


@pytest.mark.parametrize(
    "charter",
    [NESTED, *sorted(EXAMPLES.glob("*.charter"))],
    ids=["nested", *(p.stem for p in sorted(EXAMPLES.glob("*.charter")))],
)
def test_both_lines_of_a_mutant_are_shown_and_differ(charter: str | Path) -> None:
    model = api.load(charter) if isinstance(charter, Path) else api.load_text(charter)
    made = mutants(model)
    assert made and not [one.says for one in made if one.before == one.after]


def test_an_update_inside_of_two_maps_is_skipped_once() -> None:
    made = [one for one in mutants(api.load_text(NESTED)) if one.kind == "skip-update"]
    assert [one.before for one in made] == ["sent[from][to]' = min(2, sent[from][to] + 1)"]


@pytest.mark.parametrize(
    ("condition", "kind", "shown"),
    [
        ("n not in seen", "negate", ["n in seen"]),
        ("vote is present(v)", "compare", ["not (vote is present(v))"]),
        ("forall present(v) in {vote}: v == n", "drop-case",
         ["forall present(v) in {vote}: true"]),
    ],
)  # fmt: skip
def test_what_core_has_for_a_word_is_shown_as_the_charter_would_have_it(
    condition: str, kind: str, shown: list[str]
) -> None:
    text = f"""\
protocol test.words
component c {{
  state vote: option bool = none
  state seen: set bool = {{}}
  operation ask(n: bool) -> bool cites silent {{
    branch yes when {condition} reply true
    branch no reply false
  }}
}}
witness any of c: vote == none
instance tiny of c {{}}
"""
    made = [one for one in mutants(api.load_text(text)) if one.kind == kind]
    lines = [f"branch yes when {line} reply true" for line in shown]
    assert [one.after for one in made if one.after in lines] == lines


CALLED = """\
protocol test.called

sort Client
enum Result { OK, STALE }

component sem {
  state held: bool = false
  operation renew(c: Client, d: Client) -> Result cites silent {
    branch stale when not held reply STALE
    branch ok { held' = false  reply OK }
  }
}

system pool {
  sem: sem
  state told: map Client -> option Client = [c in Client: none]
  step renew(c: Client) {
    require told[c] is present(f)
    let r = sem.renew(c, f)
    told[c]' = if r == OK then present(f) else none
  }
  step tell(c: Client) { told[c]' = present(c) }
}

witness told_one of pool: some c in Client: told[c] != none
witness renewed of sem: took renew/ok
instance tiny of pool { Client = 2 }
"""


def test_no_mutant_reads_what_is_bound_later() -> None:
    model = api.load_text(CALLED)
    for made in mutants(model):
        changed = mutate(model, made)
        validate(lower_instance(changed, changed.instances[0])[0], made.id)


def test_an_error_of_a_worker_can_be_sent() -> None:
    """It is made again from its arguments."""
    error = InvalidCore("a pass", ["one", "two"])
    assert str(copy(error)) == "core is broken after a pass: one; two"


ASSUMED = COUNTER.replace(
    "    branch full", "    let low = is_low(n)\n    assume calm: low or n > 0\n    branch full"
)


def test_no_mutant_changes_an_assumption() -> None:
    model = api.load_text(ASSUMED)
    assert of_counter(ASSUMED).keys() == of_counter().keys()
    for made in mutants(model):
        mutant = mutate(model, made)
        validate(mutant, made.id)
        machine = Machine.of(mutant, mutant.instances[0])
        (assumed,) = machine.conditions("add")
        state = machine.initial()
        values = [
            machine.evaluator.truth(assumed, machine.scope({**state, "n": n}), {"twice": True})
            for n in (0, 1, 2)
        ]
        assert values == [True, True, True], made.id
