"""`eventually` and `leads to`: lassos in small graphs, and verdicts on small charters."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Literal

import pytest

from charter import api
from charter.analysis.lasso import OUTSIDE, FairEdge, LeadsToValues, lasso
from charter.core import nodes as n
from charter.explore.native.liveness.check_liveness import check_liveness as natively
from charter.explore.native.search.explore import Choices, NativeOptions
from charter.explore.reference.liveness import check_liveness
from charter.explore.reference.search import ReferenceOptions, explore
from charter.formats.canonical import Json
from charter.semantics.expressions import State
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Machine

EXAMPLES = Path(__file__).resolve().parents[3] / "spec" / "examples"
NEVER = LeadsToValues([True] * 4, [False] * 4, once=True)


def graph(*edges: tuple[int, int, set[int]], size: int = 3) -> list[list[FairEdge]]:
    """Edges as (source, target, fairness conditions); actions are numbered in this order."""
    return [
        [
            FairEdge(target, frozenset(fair), i)
            for i, (s, target, fair) in enumerate(edges)
            if s == at
        ]
        for at in range(size)
    ]


def find_lasso(
    edges: list[list[FairEdge]], leads_to: LeadsToValues = NEVER
) -> tuple[tuple[int, ...], ...] | None:
    seen = lasso(edges, leads_to)
    return None if seen is None else (seen.stem, seen.cycle)


def test_a_run_stays_where_nothing_can_happen() -> None:
    assert find_lasso(graph((0, 1, set()), size=2)) == ((0,), ())


def test_a_run_does_not_stay_where_something_can_happen() -> None:
    ends = LeadsToValues([True] * 2, [False, True], once=True)
    assert find_lasso(graph((0, 1, set()), size=2), ends) is None


def test_a_run_that_must_leave_the_instance_is_not_looked_at() -> None:
    assert find_lasso(graph((0, OUTSIDE, set()), size=1)) is None


def test_a_cycle_is_unfair_to_what_is_always_possible() -> None:
    edges = graph((0, 0, set()), (0, 1, {7}), (1, 1, set()), size=2)
    ends = LeadsToValues([True] * 2, [False, True], once=True)
    assert find_lasso(edges, ends) is None
    assert find_lasso(graph((0, 0, set()), (0, 1, set()), size=2), ends) == ((), (0,))


def test_a_cycle_is_fair_where_something_is_impossible_now_and_then() -> None:
    edges = graph((0, 1, set()), (1, 0, set()), (0, 2, {7}))
    ends = LeadsToValues([True] * 3, [False, False, True], once=True)
    assert find_lasso(edges, ends) == ((), (0, 1))


def test_a_cycle_goes_through_all_that_it_must_not_neglect() -> None:
    edges = graph(
        (0, 0, {1}), (0, 1, {2}), (1, 0, {1}), (1, 1, {2}), (0, 2, {3}), (1, 2, {3}), (2, 0, set())
    )
    seen = find_lasso(edges)
    assert seen is not None
    taken = {e.action: e.fair for here in edges for e in here}
    assert frozenset[int]().union(*(taken[a] for a in seen[1])) == {1, 2, 3}


def test_what_begins_later_counts_for_leads_to_and_not_for_eventually() -> None:
    edges = graph((0, 1, set()), (1, 2, set()))
    begins = [False, True, False]
    assert find_lasso(edges, LeadsToValues(begins, [True, False, False], once=False)) == (
        (0, 1),
        (),
    )
    assert find_lasso(edges, LeadsToValues(begins, [True, False, False], once=True)) is None


# --- charters ------------------------------------------------------------------------------------

QUEUE = """protocol test.queue
sort Client
counter Epoch
system queue {{
  state waits: map Client -> bool = [c in Client: false]
  state epoch: Epoch = 0
  state served: option Client = none
  step ask(c: Client) {{ require not waits[c]  waits[c]' = true  served' = none }}
  step serve(c: Client) {{ require waits[c]  waits[c]' = false  served' = present(c) }}
  step tick() {{ epoch' = bump(epoch) }}
  step look() {{ require waits == waits }}
}}
witness w of queue: served != none
eventually p of queue {fair}: {body}
instance tiny of queue {{ Client = {size} }}
"""
EACH = "forall c in Client: waits[c] leads to served == present(c)"
SOME = "(some c in Client: waits[c]) leads to served != none"


def verdict(fair: str, body: str, size: int = 2, *, symmetry: bool = True) -> LivenessResult:
    """What the plain explorer says, and the native engine too: with the same trace."""
    model = api.load_text(QUEUE.format(fair=fair, body=body, size=size))
    (instance,) = model.instances
    chosen = ReferenceOptions(symmetry=symmetry)
    (plain,) = check_liveness(model, instance, explore(model, instance, chosen), chosen)
    (native,) = natively(model, instance, NativeOptions(Choices(symmetry=symmetry)))
    assert as_told(native) == as_told(plain)
    return plain


def as_told(one: LivenessResult) -> tuple[object, ...]:
    """A verdict with its steps as they are told."""
    runs = [[(s.operation, s.args, s.branch) for s in steps] for steps in (one.stem, one.cycle)]
    return one.name, one.answer, one.binding, one.detail, runs


@pytest.mark.parametrize(
    ("fair", "body", "answer"),
    [
        ("", EACH, "fails"),
        ("fair serve", EACH, "fails"),
        ("fair serve(c)", EACH, "holds"),
        ("", SOME, "fails"),
        ("fair serve", SOME, "holds"),
        ("", "served != none", "fails"),
        ("fair serve", "served != none", "fails"),
        ("fair ask(c), serve(c)", "served != none", "holds"),
        ("fair look", "served != none", "fails"),
        ("fair ask, serve", "served == none", "holds"),
    ],
)
def test_verdict_follows_from_the_fairness_that_is_stated(
    fair: str, body: str, answer: str
) -> None:
    assert verdict(fair, body).answer == answer
    assert verdict(fair, body, symmetry=False).answer == answer


def test_a_counter_that_grows_for_ever_is_a_run_too() -> None:
    seen = verdict("", "served != none", size=1)
    assert [a.operation for a in seen.cycle] == ["tick"]


TOKEN = """protocol test.token
sort Client
system ring {{
  state holds: option Client = none
  state done: bool = false
  step take(c: Client) {{ require not done and holds != present(c)  holds' = present(c) }}
  step win(c: Client) {{ require holds == present(c)  done' = true }}
}}
witness w of ring: done
eventually p of ring fair {fair}: done
instance tiny of ring {{ Client = 2 }}
"""


@pytest.mark.parametrize(("fair", "answer"), [("win", "holds"), ("win(c)", "fails")])
def test_fairness_for_each_element_does_not_take_one_for_another(fair: str, answer: str) -> None:
    """Somebody can win at any time, but nobody all the time. Up to permutation these are one."""
    model = api.load_text(TOKEN.format(fair=fair))
    (instance,) = model.instances
    (plain,) = check_liveness(model, instance, explore(model, instance), ReferenceOptions())
    (native,) = natively(model, instance)
    assert as_told(native) == as_told(plain) and plain.answer == answer


def test_a_search_that_gave_up_says_unknown() -> None:
    model = api.load_text(QUEUE.format(fair="", body=SOME, size=2))
    options = ReferenceOptions(most_states=2)
    searched = explore(model, model.instances[0], options)
    (only,) = check_liveness(model, model.instances[0], searched, options)
    (native,) = natively(model, model.instances[0], NativeOptions(most_states=2))
    assert only.answer == "unknown" and "gave up" in only.detail
    assert as_told(native) == as_told(only)


# --- a lasso is a fair run of the definition that never gets what it waits for --------------------


def as_list(value: Json) -> list[Json]:
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("dining_philosophers", "no_order"),
        ("dining_philosophers", "steals_forks"),
        ("dining_philosophers", "without_fairness"),
        ("ring_election", "forgets_to_pass_on"),
        pytest.param("two_phase_commit", "waits_for_ever", marks=pytest.mark.slow),
    ],
)
def test_a_lasso_is_a_fair_run_when_it_is_told_on_the_definition(
    name: str, mutant: str, engine: Literal["reference", "native"]
) -> None:
    model = api.load(EXAMPLES / f"{name}.charter", api.Selection(mutant=mutant))
    options = api.ExploreOptions(engine=engine, most_states=2_000)
    result = api.explore(model, "tiny", options, lambda *_: None)
    lives = {live.name: live for live in model.liveness}
    failing = [verdict for verdict in result.liveness if verdict.answer == "fails"]
    assert failing
    for verdict in failing:
        story = api.tell(model, "tiny", verdict)
        loop = story.found.loop
        assert loop is not None
        states = story.states
        assert states[loop] == states[-1]
        live = lives[verdict.name]
        names = {param.name: value for param, value in verdict.binding}
        goal = [
            story.machine.evaluator.truth(live.goal, story.machine.scope(s), names) for s in states
        ]
        assert not any(goal[loop:])
        for fair in live.fairness:
            assert is_fair(story.machine, fair, states[loop:], story.found.acts[loop:])


def is_fair(
    machine: Machine,
    fair: n.Fair,
    states: tuple[State, ...],
    acts: tuple[tuple[str, tuple[n.Value, ...]], ...],
) -> bool:
    """Whether each value of the fair parameters is taken on the cycle, or impossible somewhere."""
    params = machine.operations[fair.step].params
    places = [i for i, p in enumerate(params) if p.name in fair.params]
    lists = list(product(*(machine.universe.domain(p.type) for p in params)))
    for wanted in {tuple(args[i] for i in places) for args in lists}:
        mine = [args for args in lists if tuple(args[i] for i in places) == wanted]
        taken = any(
            name == fair.step and args in mine and before != after
            for (name, args), before, after in zip(acts, states[:-1], states[1:], strict=True)
        )
        impossible = any(
            all(
                outcome.state == state
                for args in mine
                for outcome in machine.outcomes(state, fair.step, args)
            )
            for state in states
        )
        if not taken and not impossible:
            return False
    return True
