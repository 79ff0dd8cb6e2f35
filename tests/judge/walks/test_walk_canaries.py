"""Canaries of walks: they show that the walker, and not the suite, sees what is wrong."""

import pytest
from tests.support.toy.vectors import vector, write_toy_vectors

from charter.formats.run_description import WalkSettings
from conform.cli.output.run_output import show
from conform.runs.canaries import walk_canaries
from conform.runs.canaries.canaries import FORGETS
from conform.runs.engines import bucket
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.walks import walker


@pytest.fixture
def walk(targets_folder, tmp_path):
    """Makes a run with walks, of a suite that asks next to nothing."""
    write_toy_vectors(tmp_path / "poor", [vector(("register", {"node": "n1"}))])

    def run(target="reference", count=3, steps=6):
        return run_target(
            RunOptions(target, suite=str(tmp_path / "poor"), engine="inline",
                       out=str(tmp_path / "run"), walks=WalkSettings(count, steps)),
            lambda _: None,
        )  # fmt: skip

    return run


def of_walks(finished, kind):
    return [
        canary for canary in finished.canaries
        if canary["kind"] == kind and str(canary["where"]).startswith("walks")
    ]  # fmt: skip


def test_mutant_is_seen_by_walks_without_questions_of_the_suite(walk, monkeypatch):
    real, made = walk_canaries.walk_block, []

    def spy(target, plan, numbers, limits):
        made.append((target.prefixes, len(numbers)))
        return real(target, plan, numbers, limits)

    monkeypatch.setattr(walk_canaries, "walk_block", spy)
    finished = walk()
    assert finished.summary["trusted"], finished.summary["reasons"]
    for kind in ("nothing", "mutant", "flipped"):
        assert [canary["ok"] for canary in of_walks(finished, kind)] == [True], kind
    assert set(made) == {((), 64)}


def test_mutant_that_escapes_a_block_is_tried_in_the_next_one(walk, monkeypatch):
    real, tried = walk_canaries._walk, []

    def escape(wrong, context, block):
        tried.append(block)
        escapes = not wrong.nothing and not block
        found = real(wrong, context, block)
        return real(walk_canaries.ModelAdapter(context.model), context, 0) if escapes else found

    monkeypatch.setattr(walk_canaries, "_walk", escape)
    finished = walk()
    assert tried == [0, 0, 1]
    assert of_walks(finished, "mutant")[0]["ok"]
    assert not of_walks(finished, "skipped")


def test_mutants_that_no_walk_sees_are_counted_and_a_forgotten_operation_is_seen(walk, monkeypatch):
    real = walk_canaries._walk

    def escape(wrong, context, block):
        if not wrong.nothing and not wrong.forgets:
            wrong = walk_canaries.ModelAdapter(context.model)
        return real(wrong, context, block)

    monkeypatch.setattr(walk_canaries, "_walk", escape)
    finished = walk()
    assert finished.exit_code == 0, finished.summary["reasons"]
    assert FORGETS in of_walks(finished, "mutant")[0]["where"]
    assert "128 walks tell none of 1 mutants" in str(finished.summary["skipped_canaries"])


@pytest.mark.parametrize("kind", ["nothing", "mutant"])
def test_walker_that_sees_nothing_is_not_trusted(walk, monkeypatch, kind):
    real = walk_canaries._walk
    monkeypatch.setattr(walk_canaries, "_walk", lambda wrong, context, block: real(
        wrong if wrong.nothing and kind == "mutant"
        else walk_canaries.ModelAdapter(context.model), context, block,
    ))  # fmt: skip
    finished = walk()
    assert not of_walks(finished, kind)[0]["ok"]
    assert (finished.summary["trusted"], finished.exit_code) == (False, 3)


def test_changed_observation_is_seen_where_no_walk_conforms(walk, targets_folder, monkeypatch):
    monkeypatch.setattr(bucket, "can_be_canary", lambda _: False)
    targets_folder("keeps_leader")
    finished = walk("fake-keeps_leader", steps=30)
    assert finished.summary["walks"]["verdicts"]["diverges"]
    (changed,) = of_walks(finished, "flipped")
    assert changed["ok"], changed


def test_walks_that_the_charter_leaves_too_open_are_counted_and_said(walk, monkeypatch, capsys):
    real = walker._can_add
    monkeypatch.setattr(
        walker, "_can_add", lambda walk, call: len(walk.calls) < 2 and real(walk, call)
    )
    finished = walk(count=3, steps=6)
    assert finished.summary["walks"]["shortened"] == 3
    show(finished)
    assert "3 walks ended early: the charter leaves more open there" in capsys.readouterr().out
