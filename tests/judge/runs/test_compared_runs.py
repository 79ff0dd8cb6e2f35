"""What `conform compare` says of two runs, and when it says that they behaved alike."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def judged(conform, targets_folder, tiny_toy_suite):
    """Judges a fake into a folder; `allowed` is its table `not_compared`."""

    def judge(mode, place, *more, allowed=(), suite=tiny_toy_suite):
        path = Path("adapters") / targets_folder(mode) / "adapter.toml"
        if allowed:
            table = [f'"{name}" = "why not"' for name in allowed]
            path.write_text("\n".join([path.read_text(), "[not_compared]", *table]))
        given = ("--suite", suite, "--engine", "inline", "--out", place, *more)
        conform("run", "--target", path.parent, *given)
        return place

    return judge


def test_runs_that_are_not_trusted_are_not_alike(conform, judged):
    """An adapter that ends at every question answers none differently."""
    runs = judged("always_crash", "a"), judged("always_crash", "b")
    code, out, _ = conform("compare", *runs)
    assert code == 3
    assert "0 answered differently" in out
    assert out.splitlines()[-1] == (
        "exit 3: the runs left and right are not to be trusted; 5 of 5 questions were not judged"
        " in one of the runs"
    )
    found = json.loads(conform("compare", *runs, "--json")[1])
    assert (found["trusted"], found["exit"]) == ([False, False], 3)
    assert found["unknown"] == {"crashed / crashed": 5}
    assert json.loads(conform("compare", "a", judged("faithful", "c"), "--json")[1])["trusted"] == [
        False, True,
    ]  # fmt: skip


def test_questions_that_one_run_did_not_judge_are_unknown_and_not_different(conform, judged):
    runs = judged("faithful", "a"), judged("crash", "b")
    code, out, _ = conform("compare", *runs)
    assert code == 3
    assert "2 unknown" in out and "left conforms, right crashed" in out
    assert out.splitlines()[-1] == "exit 3: 2 of 5 questions were not judged in one of the runs"
    found = json.loads(conform("compare", *runs, "--json")[1])
    assert (found["differing"], found["unknown"]) == (0, {"conforms / crashed": 2})
    assert found["trusted"] == [True, True]


def test_a_difference_is_found_although_other_questions_are_unknown(conform, judged):
    code, out, _ = conform("compare", judged("wrong_error", "a"), judged("crash", "b"))
    assert code == 1
    assert "2 unknown" in out and "1 answered differently" in out


def test_what_an_adapter_may_leave_unjudged_is_told_and_allowed(conform, judged):
    needs = [f"unsupported {name}" for name in ("failover", "expire", "load", "write")]
    runs = judged("faithful", "a"), judged("no_load", "b", allowed=needs[:1])
    assert conform("compare", *runs)[0] == 3
    code, out, _ = conform("compare", "a", judged("no_load", "c", allowed=needs))
    assert (code, " unknown, as not judged: " in out) == (0, True)


def test_only_variables_that_both_show_are_compared_and_others_are_named_once(conform, judged):
    """The labels of epochs, which one of them shows in replies only, are those of what both
    show."""
    runs = judged("faithful", "a"), judged("partial", "b")
    code, out, _ = conform("compare", *runs)
    assert "5 questions in both, 0 answered differently" in out
    hidden = "the run right does not show the variable registration"
    assert [line for line in out.splitlines() if "registration" in line] == [f"exit 3: {hidden}"]
    assert code == 3
    found = json.loads(conform("compare", *runs, "--json")[1])
    assert (found["hidden"], found["differing"]) == ([[], ["registration"]], 0)
    allowed = judged("partial", "c", allowed=["variable registration"])
    code, out, _ = conform("compare", "a", allowed)
    assert (code, f"not compared: {hidden}" in out) == (0, True)


def test_a_difference_of_what_both_show_is_found_where_one_shows_less(conform, judged):
    code, out, _ = conform("compare", judged("keeps_leader", "a"), judged("partial", "b"))
    assert code == 1
    assert "5 questions in both, 1 answered differently" in out
    assert "1 x expire: leader" in out


def test_the_same_is_told_when_the_suite_has_left_the_cache(conform, judged, monkeypatch):
    runs = judged("faithful", "a"), judged("keeps_leader", "b")
    before = conform("compare", *runs)
    assert "1 x expire: leader" in before[1]
    monkeypatch.setenv("CHARTER_CACHE", str(Path("empty").resolve()))
    assert conform("compare", *runs) == before
