"""A given state that an adapter does not load is the adapter's fault, not a finding."""

import json

import pytest
from tests.support.judging import judge
from tests.support.toy import charter
from tests.support.toy.vectors import NODES, vector, write_toy_vectors

from charter.formats.verdict import Kind

TOLD = (
    "the adapter claims `load`, but before the first operation it shows another state than the"
    " given one: load it, or answer `not_loadable`; such as"
)


def in_state_with_a_leader(*calls, node="n1"):
    state = charter.initial({"Node": NODES})
    for operation, args in (("register", {"node": node}), ("elect", {})):
        state = charter.outcomes(state, operation, args)[0].state
    return vector(*calls, given=charter.encode(state))


@pytest.fixture
def suite(tmp_path):
    """A suite with vectors from nothing, and two from a given state."""
    given = [in_state_with_a_leader(("expire", {"node": node}), node=node) for node in NODES]
    rest = [vector(("register", {"node": node}), ("elect", {})) for node in NODES]
    write_toy_vectors(tmp_path / "given", [*rest, *given])
    return tmp_path / "given"


@pytest.mark.parametrize(
    ("mode", "kind"), [("ignores_given", Kind.ADAPTER_ERROR), ("faithful", Kind.CONFORMS)]
)
def test_state_that_was_not_loaded_is_an_error_of_the_adapter(mode, kind):
    asked = in_state_with_a_leader(("expire", {"node": "n1"}))
    (verdict,) = judge(mode, [asked]).values()
    assert verdict.kind is kind
    wanted = f'{TOLD} leader = null, given "n1"' if kind is Kind.ADAPTER_ERROR else ""
    assert verdict.detail == wanted
    assert verdict.deviations == ()


def test_initial_state_that_differs_is_a_finding():
    (verdict,) = judge("wrong", [vector(("elect", {}))]).values()
    assert verdict.kind is Kind.DIVERGES
    assert verdict.deviations[0].step == 0


def test_run_says_once_that_given_states_are_not_loaded(called, targets_folder, suite):
    target = targets_folder("ignores_given")
    given = ("run", "--target", target, "--suite", suite, "--engine", "inline")
    code, out, _ = called(*given)
    assert "adapter error: 2 vectors: the adapter claims `load`, but before" in out
    assert (code, "finding that" in out) == (3, False)
    (trouble,) = json.loads(called(*given, "--json")[1])["summary"]["adapter_trouble"]
    assert trouble["vectors"] == 2


@pytest.fixture
def loading(called, targets_folder, suite, tmp_path):
    """What `conform doctor` says of given states."""
    place = tmp_path / "generated" / "suites" / "toy"
    place.parent.mkdir(parents=True)
    suite.rename(place)

    def ask(mode):
        _, out, _ = called("doctor", "--adapter", targets_folder(mode), "--json")
        checks = [one for one in json.loads(out) if one["rule"] == "loads given states"]
        return [(one["ok"], one["detail"].partition("; such as")[0]) for one in checks]

    return ask


NONE = "not checked: each of 2 given states is answered with not_loadable"


@pytest.mark.parametrize(
    ("mode", "checks"),
    [("ignores_given", [(False, TOLD.removesuffix("; such as"))]),
     ("faithful", [(True, "2 given states")]), ("not_loadable", [(True, NONE)]), ("no_load", [])],
)  # fmt: skip
def test_doctor_loads_a_state_and_compares(loading, mode, checks):
    assert loading(mode) == checks
