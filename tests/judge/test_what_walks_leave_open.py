"""What `conform simulate` says of mutants that it did not catch, and of what it cannot see."""

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "spec" / "examples"
TABLE = EXAMPLES / "dining_philosophers.charter"
COMMIT = EXAMPLES / "two_phase_commit.charter"
RING = EXAMPLES / "ring_election.charter"
PAXOS = EXAMPLES / "paxos.charter"


def test_simulate_names_what_it_does_not_look_at(conform):
    code, out, _ = conform("simulate", TABLE, "--walks", 20)
    assert code == 0
    told = "not checked: somebody_eats, nobody_starves; `conform explore` checks `eventually`"
    assert out.endswith(f"nothing is violated on these walks\n{told}\n")
    assert "not looked at" not in conform("simulate", PAXOS, "--walks", 20)[1]


@pytest.mark.parametrize("walks", [1, 2])
def test_simulate_says_that_a_mutant_was_not_caught(conform, walks):
    words = ("simulate", PAXOS, "--mutant", "proposes_what_it_wants", "--walks", walks)
    code, out, _ = conform(*words)
    assert code == 0
    assert out.endswith(
        "mutant proposes_what_it_wants was not caught by agreement on these walks;"
        " `conform explore` searches all states\n"
    )
    mutant = json.loads(conform(*words, "--json")[1])["mutant"]
    assert (mutant["caught_by"], mutant["answer"]) == ("agreement", "unknown")


def test_simulate_says_that_a_mutant_is_caught(conform):
    code, out, _ = conform("simulate", RING, "--mutant", "wins_at_once", "--walks", 20)
    assert code == 1
    assert out.endswith("mutant wins_at_once is caught by one_leader\n")


def test_simulate_says_that_walks_cannot_catch_a_mutant_of_an_eventually(conform):
    _, out, _ = conform("simulate", COMMIT, "--mutant", "waits_for_ever", "--walks", 5)
    assert out.endswith(
        "mutant waits_for_ever is meant for decision, which walks do not check;"
        " `conform explore` does\n"
    )


def test_simulate_does_not_speak_of_mutants_without_one(conform):
    _, out, _ = conform("simulate", PAXOS, "--walks", 5)
    assert "mutant" not in out
    assert json.loads(conform("simulate", PAXOS, "--walks", 5, "--json")[1])["mutant"] is None
