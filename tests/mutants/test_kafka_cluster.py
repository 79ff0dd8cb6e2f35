"""What the whole system must catch: its mutants, the time before KIP-966, worked examples."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.support import spec
from tests.support.engines import natively

from charter import api
from charter.core import nodes as n
from charter.diagnostics import Source
from charter.explore.result import CheckResult
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import ScenarioFails, failing, follow

SPEC = Path(__file__).resolve().parents[2] / "spec" / "kafka"
FIRST, MOST = 1_000, 4_000
"""How many states are searched, at most, where a trace is short, and of a mutant at first."""
WHOLE = 200_000
"""More than an instance with an operator has, whose stories are longer. So many states of a mutant
are searched where `MOST` are not enough."""


ENOUGH = {
    "the file stays": "drop update clean_file of replica.begin/begun",
    "any file is a clean one": """
        replace conjunct same_session of controller.register/clean with previous_epoch != none
        replace conjunct other_session of controller.register/unclean with
          known == none or previous_epoch == none""",
}
"""The clean-shutdown file without one of its two rules."""
WARNED = (
    "acknowledges_all_like_one", "acknowledges_as_follower", "acknowledges_what_has_failed",
    "added_for_ever", "asks_again_as_another", "asks_anybody", "balanced_asks_all_replicas",
    "cancelled_in_the_same_epoch",
    "checkpoint_is_the_log_end", "clean_counts_as_unclean", "commits_alone", "compares_ends_alone",
    "completion_is_taken_for_a_refusal", "counts_answers_about_a_deleted_topic",
    "counts_proposed_members", "counts_whoever_was_asked", "deletion_is_overlooked",
    "earlier_answer_is_taken", "eligible_join_with_the_leader", "fails_open_writes_below_min_isr",
    "fenced_never_expire", "fetches_confirm_nothing", "file_is_always_there",
    "file_outlives_the_disk", "flushes_late", "flushes_nothing", "flushes_nothing_in_time",
    "follower_of_the_old_topic_counts", "forgets_open_writes", "high_watermark_ungated",
    "inherits_answers", "joins_below_epoch_start", "joins_below_high_watermark",
    "joins_with_stale_broker_epoch", "joins_with_stale_partition_epoch", "knows_no_epoch_start",
    "last_known_is_lost", "late_heartbeat_counts", "leader_is_not_told", "leader_reads_nothing",
    "leads_after_a_loss_of_power", "leads_on_as_follower", "log_outlives_its_topic",
    "looks_although_forbidden", "never_asks_again", "nobody_is_eligible", "nobody_recovers",
    "nobody_reports", "old_file_counts", "preferred_out_of_sync", "proactive_waits_for_the_elr",
    "proposes_without_maximal_isr", "reassigned_below_min_isr",
    "reassigned_in_the_same_partition_epoch", "records_of_the_old_topic_are_taken",
    "recovers_before_all_answer", "recovers_beside_the_elr", "recovers_the_worst_log",
    "recovery_is_not_marked", "refused_proposal_stays", "refuses_all_below_min_isr",
    "refuses_at_the_minimum", "registered_while_it_lives", "rejoins_empty",
    "removed_replica_is_remembered", "removed_replica_keeps_its_log", "request_counts_as_alive",
    "segment_is_not_flushed", "shows_one_less", "stops_without_waiting", "strangers_follow",
    "takes_back_an_added_replica", "takes_below_min_isr", "tells_end_before_epoch_start",
    "tells_its_log_too_early", "tells_of_a_deleted_topic", "truncates_to_own_end",
    "unclean_without_order", "unfenced_leads_nothing", "unregistered_stays_in_sync",
    "uses_an_answer_of_an_earlier_session", "waits_for_the_minimum_alone",
)  # fmt: skip
"""The mutants of the system. The texts warn of most of these mistakes."""

GIVEN_UP = {
    "S0-E2 v2 proactive": {"enough_candidates"},
    "S0-E2 v3": {
        "leader_candidate_completeness", "consistent_read", "leader_completeness",
        "enough_candidates", "last_copy_survives", "high_watermark_is_true_from_the_epoch_start",
    },
    "S0-E2 the same from": {"leader_candidate_completeness", "leader_completeness"},
    "X-S37": {"leader_candidate_completeness", "leader_completeness"},
    "X-S53": {"leader_candidate_completeness", "leader_completeness"},
    **{title: {"enough_candidates"} for title in ("X-S38", "X-S39", "X-S40", "X-S61", "X-S62")},
    "X-S68": {"enough_candidates"},
    "D-E11": {
        "leader_candidate_completeness", "leader_completeness", "consistent_read", "enough_copies",
        "high_watermark_is_true_from_the_epoch_start", "no_acknowledged_record_lost",
    },
    **{title: {"enough_candidates"} for title in ("T-E7", "T-E8")},
    "D-E6": {"enough_candidates", "clean_election_is_possible"},
    "D-E7": {"enough_candidates", "clean_election_is_possible"},
}  # fmt: skip
"""Scenarios of recovery, of ELR that is turned off or on, of a topic that is created while a broker
is away, and what is broken where they end."""


@cache
def open_charter() -> api.Charter:
    return api.Charter(api.read_sources(SPEC))


@cache
def model(variant: str = "") -> n.Model:
    return open_charter().model(api.Selection(variant=variant)) if variant else spec.model("kafka")


def mutants() -> list[n.Mutant]:
    machines = {i.name: i.machine for i in model().instances}
    return [m for m in model().mutants if machines[m.instance] == "cluster"]


def scenarios(variant: str = "") -> list[n.Scenario]:
    return [s for s in model(variant).scenarios if s.instance.machine == "cluster"]


def findings(of: n.Model, instance: str, states: int) -> dict[str, CheckResult]:
    chosen = next(i for i in of.instances if i.name == instance)
    return {f.name: f for f in natively(of, chosen, most_states=states).properties}


@pytest.mark.slow
@pytest.mark.parametrize("name", WARNED)
def test_the_property_catches_the_mutant_when_its_instance_is_searched(name: str) -> None:
    """As the committed table of verdicts says (tests/counts/test_verdicts.py)."""
    (mutant,) = (m for m in mutants() if m.name == name)
    edited = open_charter().model(api.Selection(mutant=name))
    if mutant.caught_by in {live.name for live in edited.liveness}:
        found = api.explore(edited, mutant.instance, api.ExploreOptions(), lambda *_: None)
        assert found.verdicts[mutant.caught_by] == "violated"
        return
    for states in (MOST, WHOLE):  # to compile takes longer than to search most states
        caught = findings(edited, mutant.instance, states)[mutant.caught_by]
        if caught.seen:
            break
    assert caught.seen and caught.trace


def test_every_mistake_that_the_texts_warn_of_has_a_mutant() -> None:
    assert sorted(m.name for m in mutants()) == sorted(WARNED)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ENOUGH)
@pytest.mark.parametrize("instance", ["pair_failed_start", "pair_clean_then_lost"])
def test_one_of_two_rules_is_enough_for_the_clean_shutdown_file(instance: str, rule: str) -> None:
    """The mutant `old_file_counts` has neither."""
    text = f"protocol kafka.replication\nvariant half {{\n{ENOUGH[rule]}\n}}\n"
    charter = api.Charter([*api.read_sources(SPEC), Source("half.charter", text)])
    found = findings(charter.model(api.Selection(variant="half")), instance, WHOLE)
    assert not [one.name for one in found.values() if one.kind != "witness" and one.seen]


@pytest.mark.slow
def test_the_last_replica_standing_is_elected_empty_when_it_is_before_966() -> None:
    """Which properties fail, and which do not, is what TLC says of the published models."""
    found = findings(model("pre_kip_966"), "last_standing", MOST)
    shortest = {f.name: len(f.trace) for f in found.values() if f.seen and f.trace is not None}
    assert shortest["leader_candidate_completeness"] < shortest["leader_completeness"] == 10
    assert not found["replication_quorum_superset"].seen
    assert not found["metadata_log_matching"].seen
    after = findings(model(), "last_standing", MOST)
    assert not [f.name for f in after.values() if f.kind != "witness" and f.seen]


@pytest.mark.slow
@pytest.mark.parametrize("variant", spec.list_declared("variant"))
def test_the_worked_examples_of_a_variant_come_about(variant: str) -> None:
    """Those of every component, too; `conform check` follows those that the variant affects. Those
    of the charter itself: tests/agreement/test_answers."""
    changed = model(variant)
    assert changed.scenarios and not failing(changed)


def list_broken(of: n.Model, scenario: n.Scenario) -> set[str]:
    """The `always` properties that are false where a scenario ends."""
    machine = Machine.of(of, scenario.instance)
    state: State = follow(of, scenario)[0].state
    mine = (p for p in of.properties if p.machine == "cluster" and p.kind == "always")
    return {p.name for p in mine if not machine.holds(p, machine.scope(state))}


@pytest.mark.slow
def test_an_acknowledged_record_is_lost_when_it_is_before_966() -> None:
    story = next(s for s in scenarios("pre_kip_966") if s.title.startswith("S1-E0"))
    assert list_broken(model("pre_kip_966"), story) >= {
        "leader_completeness", "consistent_read", "no_acknowledged_record_lost",
    }  # fmt: skip
    for other in scenarios():
        if not other.title.startswith(("D-E2", *GIVEN_UP)):
            assert list_broken(model(), other) == set()


@pytest.mark.parametrize("title, properties", GIVEN_UP.items())
def test_a_scenario_breaks_at_its_end_what_is_given_up(title: str, properties: set[str]) -> None:
    (story,) = (s for s in scenarios() if s.title.startswith(title))
    assert list_broken(model(), story) == properties


@pytest.mark.slow
def test_a_leader_fails_a_write_while_it_leads_when_it_is_before_966() -> None:
    """TLC says of the published models: not since KIP-966."""
    found = findings(model("pre_kip_966"), "pair_produced", FIRST)["fails_with_its_leadership"]
    assert found.trace is not None and len(found.trace) == 3
    after = findings(model(), "pair_produced", MOST)["fails_with_its_leadership"]
    assert not after.seen


def test_an_acknowledged_record_is_lost_when_the_minimum_is_raised() -> None:
    """What the story breaks at its end, the instance of the same setting says."""
    story = next(s for s in scenarios() if s.title.startswith("D-E2"))
    raised = next(i for i in model().instances if i.name == "pair_raised")
    assert "no_acknowledged_record_lost" in list_broken(model(), story)
    assert list_broken(model(), story) <= set(raised.fails)


@pytest.mark.slow
def test_the_story_of_before_966_ends_at_its_second_step_when_there_is_an_elr() -> None:
    story = next(s for s in scenarios("pre_kip_966") if s.title.startswith("S1-E0"))
    with pytest.raises(ScenarioFails) as fails:
        follow(model(), story)
    end = next(i for i, step in enumerate(story.steps) if step.span == fails.value.span)
    told = [step.title for step in story.steps[:end] if isinstance(step, n.Moment)]
    assert told[-1].startswith("2 both followers drop out")


@pytest.mark.slow  # `conform check` follows the same story in the charter itself
def test_the_texts_danger_comes_about_when_the_maximal_isr_is_left_out() -> None:
    """S2 §6.5.2: without it the high watermark reaches 10 in the sixth step."""
    edited = open_charter().model(api.Selection(mutant="proposes_without_maximal_isr"))
    story = next(s for s in edited.scenarios if s.title.startswith("S2-E6"))
    with pytest.raises(ScenarioFails):
        follow(edited, story)
