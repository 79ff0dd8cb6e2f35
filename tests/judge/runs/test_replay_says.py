"""`conform replay`, and what a run says of vectors, about given states and about repeating."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.toy import charter
from tests.support.toy.vectors import NODES, random_vectors, vector, write_toy_vectors

from charter.formats.vector import Why
from conform.reports import write

CHOSEN = "(the solver chose this state, and no run was seen to reach it"


@pytest.fixture
def loaded(tmp_path):
    """Makes a suite in which one vector begins where n1 leads; `source` is who chose that state."""

    def make(source):
        state = charter.initial({"Node": NODES})
        for operation, args in (("register", {"node": "n1"}), ("elect", {})):
            state = charter.outcomes(state, operation, args)[0].state
        begun = vector(("expire", {"node": "n1"}), given=charter.encode(state), why=Why((), source))
        write_toy_vectors(tmp_path / "chosen", [*random_vectors(3), begun])
        return begun.id, tmp_path / "chosen"

    return make


@pytest.fixture
def run(conform, targets_folder, tmp_path):
    """Judges a suite with an adapter that keeps a leader that expired."""

    def judge(suite, *more):
        target = Path("adapters") / targets_folder("keeps_leader")
        file = target / "adapter.toml"
        file.write_text(file.read_text().replace('overlay = "known"\n', ""))
        given = ("--target", target, "--suite", suite, "--engine", "inline", *more)
        return conform("run", *given, "--out", tmp_path / "run")

    return judge


@pytest.mark.parametrize("source", ["solver", "exploration"])
def test_replay_says_who_chose_a_given_state(conform, run, loaded, tmp_path, source):
    vector, suite = loaded(source)
    chosen = source == "solver"
    run(suite)
    code, out, _ = conform("replay", vector, "--run", tmp_path / "run")
    assert code == 1
    assert (f"it starts in a given state {CHOSEN}" in out) is chosen
    code, out, _ = conform("replay", vector, "--run", tmp_path / "run", "--json")
    assert json.loads(out)["chosen"] is chosen
    (finding,) = json.loads((tmp_path / "run" / "summary.json").read_text())["findings"]
    assert finding["chosen"] is finding["shrunk"]["chosen"] is chosen
    out = conform("replay", finding["shrunk"]["vector"], "--run", tmp_path / "run")[1]
    assert (CHOSEN in out) is chosen


@pytest.mark.parametrize("source", ["solver", "exploration"])
def test_finding_that_is_not_shrunk_says_who_chose_its_given_state(run, loaded, tmp_path, source):
    chosen = source == "solver"
    junit = tmp_path / "junit.xml"
    out = run(loaded(source)[1], "--no-shrink", "--junit", junit)[1]
    assert (CHOSEN in out) is chosen
    failure = ElementTree.parse(junit).find("./testcase/failure")
    assert (CHOSEN in failure.text) is chosen
    write([tmp_path / "run"], tmp_path / "report")
    (page,) = (tmp_path / "report").glob("runs/*/findings/f-*.html")
    assert ("The solver chose this state" in page.read_text()) is chosen


def test_replay_says_that_a_vector_diverged_in_the_run(
    conform, called, targets_folder, tiny_toy_suite
):
    target = Path("adapters") / targets_folder("leaks")
    given = ("--target", target, "--suite", tiny_toy_suite, "--engine", "inline", "--json")
    found = json.loads(conform("run", *given, "--out", "run")[1])["summary"]["findings"]
    (finding,) = [one for one in found if not one["entry"]]
    code, out, _ = conform("replay", finding["vector"], "--run", "run")
    assert code == 0
    assert out.splitlines()[-1] == (
        "it diverged in the run, and the adapter's files are the same: if its implementation is,"
        " too, it keeps state of an earlier question, or answers otherwise each time; conform"
        " doctor --adapter fake-leaks asks it"
    )
    file = target / "adapter.toml"
    file.write_text(file.read_text() + "# another one\n")
    out = conform("replay", finding["vector"], "--run", "run")[1]
    assert out.splitlines()[-1].startswith("it diverged in the run, with another adapter or ")
    out = conform("replay", finding["vector"], "--suite", tiny_toy_suite, "--target", target)[1]
    assert "in the run" not in out
