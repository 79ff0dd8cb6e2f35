"""What Z3 is asked, on a lamp: runs, obligations with data, induction, differences."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.switch import machine, prop, switch

from charter.core.obligations import obligations
from charter.core.reach import always
from charter.prove import (
    CannotEncode,
    Difference,
    EncodingOptions,
    FalseInitially,
    Holds,
    Infeasible,
    Meets,
    NoDifference,
    NotInductive,
    NotProved,
    NotWithinDepth,
    Open,
    PairQuestion,
    Proved,
    ReplayError,
    SingleStep,
    SolverTransition,
    StepQuestion,
    Takes,
    Trace,
    Undecided,
    Violates,
    distinguish,
    find_shadowed,
    induction,
    invariants,
    reach,
    single_step,
)
from charter.prove.replay import replay


def answers(*, loadable: bool = False) -> dict[str, object]:
    model = switch()
    wanted = obligations(model, model.components[0])
    question = StepQuestion(wanted, always(model, "lamp"), loadable)
    return {a.obligation: a for a in single_step(machine(model), question)}


# --- runs ----------------------------------------------------------------------------------------


def test_runs_are_shortest_when_goals_are_reached() -> None:
    model = switch()
    witness = Holds("two uses", prop(model, "two_uses").body)
    goals = (Takes("switch/lights"), Takes("switch/darkens"), witness, Takes("reset/never"))
    found = reach(machine(model), goals, 5)
    lengths = [len(r.steps) if isinstance(r, Trace) else r for r in found]
    assert lengths == [1, 3, 5, NotWithinDepth("takes reset/never", 5)]


def test_a_run_is_found_when_a_mutant_violates_its_property() -> None:
    model = switch("unlimited")
    (found,) = reach(machine(model), (Violates("few"),), 4)
    assert isinstance(found, Trace)
    assert [step.branch for step in found.steps] == ["befriend/added"] * 3
    assert reach(machine(switch()), (Violates("few"),), 4) == (NotWithinDepth("violates few", 4),)


def test_a_run_leads_to_an_obligation_when_it_depends_on_volatile_state() -> None:
    model = switch()
    wanted = {o.name: o for o in obligations(model, model.components[0])}
    (found,) = reach(machine(model), (Meets(wanted["reply switch/unsure UNSURE"]),), 4)
    assert isinstance(found, Trace)
    assert found.steps[-1].reply == ("rejected", "UNSURE")


def test_a_run_keeps_to_what_an_instance_offers_when_it_restricts_arguments() -> None:
    goals = (Takes("switch/stale"), Takes("switch/lights"))
    found = reach(machine(switch(), "timid"), goals, 4)
    assert found[0] == NotWithinDepth("takes switch/stale", 4)
    assert isinstance(found[1], Trace)
    assert [step.branch for step in found[1].steps] == ["befriend/added", "switch/lights"]


def test_a_goal_stays_open_when_the_limit_is_too_small() -> None:
    (found,) = reach(machine(switch()), (Takes("switch/darkens"),), 2, rlimit=1)
    assert isinstance(found, Open)


def test_counters_never_wrap_when_runs_grow_longer_than_their_width() -> None:
    model = switch()
    shrinks = Violates("turns_grow")
    options = EncodingOptions(counter_bits=1)
    assert reach(machine(model), (shrinks,), 6, options) == (
        NotWithinDepth("violates turns_grow", 6),
    )
    lit = Takes("switch/lights")
    (found,) = reach(machine(model), (lit,), 6, options)
    assert isinstance(found, Trace)


# --- obligations ---------------------------------------------------------------------------------


def test_every_obligation_has_data_when_it_is_feasible() -> None:
    found = answers()
    infeasible = {name for name, answer in found.items() if isinstance(answer, Infeasible)}
    assert infeasible == {
        "branch reset/never",
        "mcdc reset/never lit_and_dark true",
        "mcdc reset/never dark true",
    }
    assert not any(isinstance(answer, Undecided) for answer in found.values())


def test_one_condition_decides_when_an_obligation_asks_for_its_pair() -> None:
    found = answers()
    both = [found[f"mcdc switch/stranger unknown[2] {want}"] for want in ("true", "false")]
    steps = [answer.transition for answer in both if isinstance(answer, SingleStep)]
    forced = [step.args[2] for step in steps]
    assert forced == [True, False]
    for step in steps:
        friends = step.before["friends"]
        assert isinstance(friends, frozenset)
        assert step.args[0] not in friends


def test_both_sides_have_data_when_a_boundary_stands_in_a_function() -> None:
    found = answers()
    sizes = {}
    for want in ("below", "equal"):
        answer = found[f"boundary befriend crowded size(people) >= most {want}"]
        assert isinstance(answer, SingleStep)
        friends = answer.transition.before["friends"]
        assert isinstance(friends, frozenset)
        sizes[want] = len(friends)
    assert sizes == {"below": 1, "equal": 2}


def test_the_state_survives_a_failover_when_it_must_be_loadable() -> None:
    for answer in answers(loadable=True).values():
        if isinstance(answer, SingleStep):
            assert answer.transition.before["asked"] == frozenset()
            assert answer.transition.before["ever"] is False


def test_a_branch_is_shadowed_when_its_guard_contradicts_itself() -> None:
    model = switch()
    found = find_shadowed(machine(model), obligations(model, model.components[0]))
    assert [answer.obligation for answer in found] == ["branch reset/never"]


def test_lemmas_are_named_when_an_obligation_is_infeasible_by_them() -> None:
    model = switch()
    wanted = [
        o
        for o in obligations(model, model.components[0])
        if o.name == "boundary switch/lights uses < 9 equal"
    ]
    assert wanted
    fewer = replace(prop(model, "few"), name="uses_stay_below", body=_below_nine(model))
    (answer,) = single_step(machine(model), StepQuestion(tuple(wanted), (fewer,)))
    assert answer == Infeasible(wanted[0].name, ("uses_stay_below",))


def _below_nine(model):
    guard = model.components[0].operations[1].branches[2].guard
    return guard[1].condition


def test_answers_are_the_same_when_they_are_asked_again() -> None:
    assert answers() == answers()


def test_an_obligation_stays_open_when_the_limit_is_too_small() -> None:
    model = switch()
    wanted = obligations(model, model.components[0])
    found = single_step(machine(model), StepQuestion(wanted), rlimit=1)
    assert all(isinstance(answer, Undecided) for answer in found)


# --- induction -----------------------------------------------------------------------------------


def test_a_property_is_proved_when_every_step_keeps_it() -> None:
    model = switch()
    for name in ("owner_is_friend", "dark_has_no_owner", "few", "turns_grow"):
        found = induction(machine(model), prop(model, name))
        assert isinstance(found, Proved), (name, found)


def test_a_step_is_shown_when_a_property_is_not_inductive() -> None:
    model = switch("forgets_owner")
    rule = prop(model, "dark_has_no_owner")
    found = induction(machine(model), rule)
    assert isinstance(found, NotInductive)
    assert found.transition.branch == "switch/darkens"
    assert not machine(model).holds(rule, machine(model).scope(found.transition.after))
    found = induction(machine(model), prop(model, "turns_stay"))
    assert isinstance(found, NotInductive)


def test_invariants_are_those_that_keep_each_other_when_some_are_dropped() -> None:
    model = switch()
    needy = replace(prop(model, "two_uses"), kind="always", name="needy", body=_needy(model))
    found = invariants(machine(model), (*always(model, "lamp"), needy))
    assert "needy" in [answer.rule for answer in found.open]
    assert {"owner_is_friend", "dark_has_no_owner", "few"} <= set(found.proved)
    assert all(isinstance(answer, NotInductive | FalseInitially) for answer in found.open)


def _needy(model):
    """`uses < 9`, which nine switches break."""
    return _below_nine(model)


def test_induction_says_so_when_the_initial_state_is_wrong_or_z3_gives_up() -> None:
    model = switch()
    wrong = replace(prop(model, "few"), body=prop(model, "two_uses").body.left)
    assert induction(machine(model), wrong) == FalseInitially("few")
    assert isinstance(induction(machine(model), prop(model, "few"), rlimit=1), NotProved)
    with pytest.raises(ValueError, match="witness"):
        induction(machine(model), prop(model, "two_uses"))


# --- differences ---------------------------------------------------------------------------------


def compare(mutant: str, question: PairQuestion) -> object:
    return distinguish((machine(switch()), machine(switch(mutant))), question)


def test_the_first_difference_is_found_when_a_mutant_shows() -> None:
    found = compare("unlimited", PairQuestion(depth=6))
    assert isinstance(found, Difference)
    assert len(found.steps) == 2
    assert found.transition.operation == "befriend"
    found = compare("forgets_owner", PairQuestion(depth=6))
    assert isinstance(found, Difference)
    assert [s.branch for s in found.steps][-1] == "switch/lights"
    assert found.transition.branch == "switch/darkens"


def test_the_wider_model_allows_the_step_when_a_mutant_only_chooses_less() -> None:
    found = compare("chooses_less", PairQuestion(depth=6))
    assert isinstance(found, Difference)
    allowed = {"first": lambda owner: owner is not None, "second": lambda owner: owner is None}
    assert allowed[found.by](found.transition.after["owner"])


def test_models_are_alike_when_they_differ_only_where_nothing_shows() -> None:
    assert isinstance(compare("forgets_asked", PairQuestion(depth=4)), NoDifference)
    assert isinstance(compare("forgets_asked", PairQuestion()), NoDifference)
    whole = compare("forgets_asked", PairQuestion(depth=4, whole=True))
    assert isinstance(whole, Difference)
    assert whole.transition.branch == "switch/unsure"
    assert compare("", PairQuestion(depth=3)) == NoDifference(3)


def test_one_step_differs_when_it_starts_from_any_state_that_can_be_loaded() -> None:
    model = switch()
    found = compare("unlimited", PairQuestion(lemmas=always(model, "lamp"), loadable=True))
    assert isinstance(found, Difference)
    assert found.steps == ()
    assert found.transition.before["asked"] == frozenset()


# --- replay --------------------------------------------------------------------------------------


def test_replay_raises_when_the_definition_does_not_allow_the_transition() -> None:
    model = switch()
    start = machine(model).initial()
    (found,) = reach(machine(model), (Takes("befriend/added"),), 1)
    assert isinstance(found, Trace)
    good = found.steps[0]
    replay(machine(model), good)
    for bad in (
        replace(good, branch="befriend/full"),
        replace(good, after=start),
        replace(good, reply=("rejected", "FULL")),
    ):
        with pytest.raises(ReplayError):
            replay(machine(model), bad)
    assert isinstance(good, SolverTransition)


def test_a_system_is_refused_when_it_is_asked_about() -> None:
    model = switch()
    there = machine(model)
    with pytest.raises(CannotEncode):
        reach(replace(there, component=None), (Takes("befriend/added"),), 1)
