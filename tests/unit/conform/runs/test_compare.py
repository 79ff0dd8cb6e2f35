"""Where two runs of one question first differ."""

from __future__ import annotations

from dataclasses import replace

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.run_description import RunDescription
from conform.runs.compare import Steps, difference, differs
from conform.storage.observations import rename_steps

KINDS = ("conforms", "diverges")
START: tuple[Json, Json, bool] = (None, {"held": []}, True)


def where(left: Steps, right: Steps) -> tuple[int, tuple[str, ...], str]:
    found = difference("q", KINDS, (left, right), ["put", "put"])
    return found.step, found.where, found.nowhere


def test_the_paths_are_told_when_replies_or_observations_differ() -> None:
    one: Steps = [START, ("done", {"held": ["#1"]}, True)]
    other: Steps = [START, ("full", {"held": []}, True)]
    step, paths, _ = where(one, other)
    assert step == 1
    assert {path.split(".")[0].split("[")[0] for path in paths} == {"reply", "held"}


def test_the_values_of_the_state_are_told_where_they_differ() -> None:
    one: Steps = [START, ("done", {"held": {"l1": "#1", "l2": None}}, True)]
    other: Steps = [START, ("done", {"held": {"l1": "#2", "l2": None}}, True)]
    found = difference("q", KINDS, (one, other), ["put"])
    assert found.states == (("held.l1", "#1", "#2"),)
    assert found.json()["states"] == {"held.l1": ["#1", "#2"]}


def test_the_image_is_told_when_only_one_agrees_with_its_observation() -> None:
    one: Steps = [START, ("done", {"held": ["#1"]}, True)]
    other: Steps = [START, ("done", {"held": ["#1"]}, False)]
    assert where(one, other)[:2] == (1, ("image",))


def test_a_run_observed_nothing_when_it_ends_early() -> None:
    one: Steps = [START, ("done", {"held": ["#1"]}, True)]
    assert where(one, [START]) == (1, (), "one of them observed nothing")
    assert where(one, []) == (0, (), "one of them observed nothing")


def test_nothing_is_made_up_when_both_observed_the_same() -> None:
    assert where([START], [START]) == (-1, (), "both observed the same")
    assert where([], []) == (-1, (), "both observed nothing")


def steps_of(*steps: list[int]) -> list[tuple[Json, Json]]:
    values: list[Json] = [{"held": []}, "done", {"held": ["@7"]}, {"held": ["@seven"]}]
    values.append({"fault": "Taken", "message": "@7 is held"})
    return rename_steps(values, steps, OpaqueTypes(), ["put", "put"])


def test_steps_are_shown_up_to_the_first_that_violates_the_protocol() -> None:
    shown = [(None, {"held": []}), ("done", {"held": ["#1"]})]
    assert steps_of([-1, 0, -1], [1, 2, -1]) == shown
    assert steps_of([-1, 0, -1], [1, 2, -1], [1, 3, -1]) == shown
    assert steps_of([-1, 0, -1], [1, 2, -1], [9, 2, -1]) == shown
    assert steps_of([-1, 0, -1], [1, 2, -1], [1, 2]) == shown


def test_message_of_a_fault_is_shown_as_it_came() -> None:
    fault = {"fault": "Taken", "message": "@7 is held"}
    assert steps_of([-1, 0, -1], [4, -1, -1]) == [(None, {"held": []}), (fault, None)]


def test_charter_is_named_when_verdicts_on_the_same_observations_differ() -> None:
    run = RunDescription(spec_digest="1", entries={"a": "m"}, suite="2")
    assert differs(run, replace(run, spec_digest="3", suite="4")) == "the charter"
    assert differs(run, replace(run, entries={})) == "the overlay"
    assert differs(run, replace(run, suite="4")) == "the suite"
    assert differs(run, run) == "the judge"
