"""Canaries of walks: they show that the walker, and not the suite, sees what is wrong."""

import pytest
from tests.support.toy.vectors import vector, write_toy_vectors

from charter.formats.run_description import WalkSettings
from conform.cli.output.run_output import show
from conform.runs import make_run_context
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


@pytest.fixture
def see_nothing(monkeypatch):
    """Lets walks see no wrong model of some kinds."""
    real = walk_canaries._walk

    def blind(*kinds):
        def walk(wrong, context, block):
            hidden = ("nothing" if wrong.nothing else "mutant") in kinds
            return real(walk_canaries.ModelAdapter(context.model) if hidden else wrong, context,
                        block)  # fmt: skip

        monkeypatch.setattr(walk_canaries, "_walk", walk)

    return blind


def test_walker_that_sees_nothing_is_not_trusted(walk, see_nothing, capsys):
    see_nothing("nothing", "mutant")
    finished = walk()
    assert not of_walks(finished, "nothing")[0]["ok"]
    assert (finished.summary["trusted"], finished.exit_code) == (False, 3)
    show(finished)
    assert "the adapter may keep state" not in capsys.readouterr().out


def test_walker_that_misses_what_the_suite_shows_is_not_trusted(walk, see_nothing, monkeypatch):
    see_nothing("mutant")
    monkeypatch.setattr(make_run_context, "forgetful", lambda suite: {"register": ()})
    finished = walk()
    assert not of_walks(finished, "mutant")[0]["ok"]
    assert (finished.summary["trusted"], finished.exit_code) == (False, 3)


def test_wrong_models_that_nothing_surely_shows_are_skipped(walk, see_nothing):
    see_nothing("mutant")
    finished = walk()
    assert (finished.summary["trusted"], finished.exit_code) == (True, 0)
    assert not of_walks(finished, "mutant")
    assert "models that forget an operation" in str(finished.summary["skipped_canaries"])


def test_changed_observation_is_seen_where_no_walk_conforms(walk, targets_folder, monkeypatch):
    monkeypatch.setattr(bucket, "can_be_canary", lambda _: False)
    targets_folder("keeps_leader")
    finished = walk("fake-keeps_leader", steps=30)
    assert finished.summary["walks"]["verdicts"]["diverges"]
    (changed,) = of_walks(finished, "flipped")
    assert changed["ok"], changed


def test_walks_that_the_charter_leaves_too_open_are_counted_and_said(walk, monkeypatch, capsys):
    real = walker.Walker._has_answer
    monkeypatch.setattr(
        walker.Walker, "_has_answer",
        lambda own, walk, call: len(walk.calls) < 2 and real(own, walk, call),
    )  # fmt: skip
    finished = walk(count=3, steps=6)
    assert finished.summary["walks"]["shortened"] == 3
    show(finished)
    assert "3 walks ended early: the charter leaves more open there" in capsys.readouterr().out
