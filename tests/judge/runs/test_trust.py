"""When a run is trusted: each kind of canary has come as it must, and none has misbehaved."""

import json
from dataclasses import replace

import pytest
from tests.support.suites import write_suite
from tests.support.toy.vectors import killers, vector

from charter.formats.suite import Manifest, Models
from conform.runs.canaries.forgetful_canaries import (
    explain_unobserved,
    has_mutants,
    left_open,
    outlook,
    telling,
)
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.suites.importing import item_of


def judge(target, suite, out, **options):
    chosen = RunOptions(target, suite=str(suite), engine="inline", out=str(out), **options)
    return run_target(chosen, lambda _: None)


def canary(kind, ok=True, where="bucket 0", detail=""):
    return {"kind": kind, "where": where, "vector": "", "expected": "", "got": "", "ok": ok,
            "detail": detail}  # fmt: skip


def test_run_in_which_no_expectation_could_be_flipped_is_not_trusted(
    tiny_toy_suite, targets_folder, tmp_path
):
    """Nothing conforms, so in no bucket is there anything to flip."""
    finished = judge(targets_folder("wrong"), tiny_toy_suite, tmp_path / "run")
    assert finished.summary["verdicts"]["conforms"] == 0
    assert finished.summary["trusted"] is False
    assert finished.exit_code == 3
    assert any("no flipped canary" in reason for reason in finished.summary["reasons"])
    shown = json.loads((tmp_path / "run" / "canaries.json").read_text())
    assert shown["trusted"] is False
    assert "no vector of this bucket conforms" in finished.summary["skipped_canaries"][0]["why"]


def test_what_was_found_comes_before_canaries_that_could_not_be_had(
    conform, tiny_toy_suite, targets_folder
):
    target = targets_folder("wrong")
    given = ("--target", target, "--suite", tiny_toy_suite, "--engine", "inline")
    out = conform("run", *given, "--out", "run")[1]
    assert "no canary in" not in out
    first, second, *_ = out.splitlines()[-1].removeprefix("exit 3: ").split("; ")
    assert "finding that no overlay entry explains" in first
    assert second == (
        "no flipped canary diverged as it must and no nonce came back (no vector of this bucket"
        " conforms, so there is none to change), so the run cannot be trusted"
    )


def test_bucket_whose_canaries_cannot_be_had_makes_the_run_untrusted(
    tiny_toy_suite, targets_folder, tmp_path
):
    """The target breaks on each question that it has seen before: only canaries are."""
    finished = judge(
        targets_folder("once", str(tmp_path / "log")), tiny_toy_suite, tmp_path / "run"
    )
    assert finished.summary["verdicts"]["conforms"] == 5
    wrong = {item["kind"]: item["got"] for item in finished.canaries if not item["ok"]}
    assert wrong == {"flipped": "crashed"}
    assert finished.exit_code == 3


WITHOUT = Manifest("", "toy.lease", "", "keeper", "5eed", 0, Models("charter_models.toy.charter"))


def test_suite_without_a_mutant_in_which_nothing_changes_is_not_trusted(targets_folder, tmp_path):
    write_suite(tmp_path / "suite", [vector(("expire", {"node": "n1"}))], WITHOUT)
    chosen = RunOptions("reference", suite=str(tmp_path / "suite"), out=str(tmp_path / "run"))
    said = []
    finished = run_target(chosen, said.append)
    assert finished.exit_code == 3
    (reason,) = finished.summary["reasons"]
    assert reason == "no mutant canary was caught (no vector surely tells a mutant from the charter), so the run cannot be trusted"  # noqa: E501 # fmt: skip
    rule = "the charter has no mutant of a rule of the component keeper, and no operation in"
    assert said[0].startswith(rule), "a system of the charter may have some"


def test_suite_without_a_mutant_is_trusted_by_operations_that_are_forgotten(
    targets_folder, tmp_path
):
    write_suite(tmp_path / "suite", [vector(("register", {"node": "n1"}))], WITHOUT)
    finished = judge("reference", tmp_path / "suite", tmp_path / "run")
    assert finished.exit_code == 0
    (mutant,) = [one for one in finished.canaries if one["kind"] == "mutant"]
    assert mutant["where"] == "charter_models.toy.charter without the effect of register"
    assert (mutant["got"], mutant["ok"]) == ("diverges", True)


def test_operations_are_forgotten_where_it_surely_shows():
    register, expire = ("register", {"node": "n1"}), ("expire", {"node": "n1"})
    items = [item_of(vector(*calls)) for calls in ([expire], [expire, register], [register])]
    found = telling(items)
    assert {name: len(some) for name, some in found.items()} == {"register": 2}


def test_a_suite_without_state_is_told():
    assert explain_unobserved((), "hall").startswith(
        "the component hall has no `observe` in the charter"
    )
    assert not explain_unobserved(("held",), "hall")


def test_a_suite_that_leaves_most_obligations_open_is_told():
    """As after `conform generate` of a charter that was never searched for questions."""
    told = left_open(replace(WITHOUT, counts={"obligations": 49, "obligations_open": 40}))
    assert told.startswith(
        "the suite leaves 40 of 49 obligations of the rules open: `conform test`"
    )
    assert not left_open(replace(WITHOUT, counts={"obligations": 516, "obligations_open": 11}))
    assert not left_open(WITHOUT)


def test_mutants_that_no_vector_tells_apart_are_not_replaced():
    about = replace(WITHOUT, counts={"mutants": 2, "mutants_killed": 0})
    assert has_mutants(about)
    assert outlook(about, {}).startswith("no vector of the suite surely tells one of the 2 mutants")


@pytest.mark.parametrize(
    ("mutants", "exit_code"),
    [(("gone",), 3), (("gone", "no_epoch_check"), 0)],
)
def test_mutant_of_another_charter_may_be_gone_if_one_is_caught(
    targets_folder, tmp_path, mutants, exit_code
):
    modules = {name: f"charter_models.toy.{name}" for name in mutants}
    told = {name: tuple(v.id for v in killers()) for name in mutants}
    models = Models("charter_models.toy.charter", {}, modules)
    about = Manifest("", "toy.lease", "", "keeper", "another", 0, models, told)
    write_suite(tmp_path / "suite", killers(), about)
    finished = judge("reference", tmp_path / "suite", tmp_path / "run")
    assert finished.exit_code == exit_code
    left = [item["where"] for item in finished.summary["skipped_canaries"]]
    assert "run, mutant charter_models.toy.gone" in left


@pytest.mark.parametrize("kind", ["flipped", "nonce", "mutant", "nothing"])
def test_each_kind_of_canary_must_have_come_once(kind):
    from conform.runs.canaries.trust import why_not

    every = [canary(name) for name in ("flipped", "nonce", "mutant", "nothing")]
    assert why_not(every) == []
    left = [item for item in every if item["kind"] != kind]
    assert len(why_not(left)) == 1
    assert {"nothing": "idle"}.get(kind, kind) in why_not(left)[0]
    assert len(why_not([*every, canary(kind, ok=False)])) == 1


def test_skipped_canaries_are_shown_by_bucket_with_their_reason():
    from conform.runs.canaries.trust import list_skipped, why_not

    every = [canary(name) for name in ("flipped", "nonce", "mutant", "nothing")]
    left = canary("skipped", where="bucket 7", detail="no vector of this bucket conforms")
    assert why_not([*every, left]) == []
    assert list_skipped([*every, left]) == [
        {"where": "bucket 7", "why": "no vector of this bucket conforms"}
    ]


def test_canaries_of_walks_do_not_hide_that_the_suite_has_none():
    from conform.runs.canaries.trust import why_not

    kinds = ("flipped", "nonce", "mutant", "nothing")
    walks = [canary(name, where="walks 0 to 63") for name in kinds]
    assert len(why_not(walks)) == len(kinds)
    suite = [canary(name) for name in kinds]
    assert why_not([*suite, *walks]) == []
    assert "of walks" in why_not([*suite, *walks[1:]])[0]
