"""Each way of being wrong gets its own verdict, and costs only the vectors that it touches."""

import pytest
from tests.support.fakes.fake import POISON
from tests.support.judging import fake_start, judge, kinds
from tests.support.toy import charter
from tests.support.toy.vectors import random_vectors, vector

from charter.formats.adapter import BadMessage, read_results
from charter.formats.vector import Why
from charter.formats.verdict import Kind, Severity
from conform.adapters.session import HOPELESS
from conform.adapters.stdio import StdioConnection
from conform.console.errors import CannotStart, Incomplete

VECTORS = random_vectors(40, seed=1)
POISONED = {v.id for v in VECTORS if any(c.operation == POISON for c in v.question.operations)}
FEW = [v for v in VECTORS if v.id in POISONED][:2] + [v for v in VECTORS if v.id not in POISONED][
    :6
]
FEW_POISONED = {v.id for v in FEW} & POISONED


def test_vectors_have_both_kinds():
    assert 0 < len(POISONED) < len(VECTORS)
    assert len(FEW_POISONED) == 2


def test_faithful_conforms_everywhere():
    assert kinds(judge("faithful", VECTORS)) == {"conforms": len(VECTORS)}


def test_noise_on_stderr_changes_nothing():
    assert kinds(judge("noisy", VECTORS)) == {"conforms": len(VECTORS)}


def test_flaky_adapter_is_asked_one_by_one():
    assert kinds(judge("flaky", FEW)) == {"conforms": len(FEW)}


def test_always_wrong_diverges_everywhere():
    found = judge("wrong", VECTORS)
    assert kinds(found) == {"diverges": len(VECTORS)}
    assert {v.first.step for v in found.values()} == {0}


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("crash", Kind.CRASHED),
        ("hang", Kind.TIMED_OUT),
        ("garbage", Kind.ADAPTER_ERROR),
        ("errs", Kind.ADAPTER_ERROR),
        ("unresolved", Kind.ADAPTER_ERROR),
        ("claims_and_refuses", Kind.ADAPTER_ERROR),
        ("refuses", Kind.UNSUPPORTED),
    ],
)
def test_one_bad_vector_costs_only_its_own_verdict(mode, kind):
    found = judge(mode, FEW)
    assert {name for name, verdict in found.items() if verdict.kind is kind} == FEW_POISONED
    assert kinds(found)["conforms"] == len(FEW) - len(FEW_POISONED)


def test_crash_tells_what_stderr_said():
    found = judge("crash", FEW)
    details = {v.detail for v in found.values() if v.kind is Kind.CRASHED}
    assert details == {"it ended with 139; stderr: Segmentation fault, says the fake"}


def test_fault_is_a_divergence_that_ends_the_vector():
    found = judge("faults", VECTORS)
    for one in VECTORS:
        verdict = found[one.id]
        if one.id not in POISONED:
            assert verdict.kind is Kind.CONFORMS
            continue
        step = 1 + [c.operation for c in one.question.operations].index(POISON)
        assert verdict.kind is Kind.DIVERGES
        assert (verdict.first.step, verdict.first.severity) == (step, Severity.FAULT)
        assert verdict.judged == step
        assert verdict.judged + verdict.not_judged == len(one.question.operations)


def test_image_that_disagrees_is_found_and_the_run_goes_on():
    elect = vector(("register", {"node": "n1"}), ("elect", {}), ("expire", {"node": "n1"}))
    verdict = judge("wrong_image", [elect])[elect.id]
    assert [(d.step, d.severity) for d in verdict.deviations] == [(2, Severity.IMAGE)]
    assert (verdict.judged, verdict.not_judged) == (3, 0)


def test_not_loadable_when_a_state_is_given():
    given = {**charter.encode(charter.initial({"Node": ["n1", "n2"]})), "version": 3}
    del given["session"]
    one = vector(("register", {"node": "n1"}), given=given)
    assert judge("faithful", [one])[one.id].kind is Kind.CONFORMS
    assert judge("not_loadable", [one])[one.id].kind is Kind.NOT_LOADABLE
    assert judge("no_load", [one])[one.id].detail == "load"


def test_unsupported_names_the_operation_and_is_not_sent():
    found = judge("no_load", VECTORS)
    for one in VECTORS:
        needed = {c.operation for c in one.question.operations} - {"register", "elect"}
        assert (found[one.id].kind is Kind.UNSUPPORTED) == bool(needed)
        assert not needed or found[one.id].detail == min(needed)


def test_partial_observer_is_compared_on_what_it_shows():
    assert kinds(judge("partial", VECTORS))["diverges"] == 0


@pytest.mark.parametrize("mode", ["bad_nonce", "too_few", "bad_index", "too_short"])
def test_answers_outside_the_protocol_are_adapter_errors(mode):
    assert kinds(judge(mode, FEW)) == {"adapter_error": len(FEW)}


def test_purpose_that_is_not_reached_is_inconclusive():
    calls = [("register", {"node": "n1"}), ("register", {"node": "n2"}), ("elect", {}),
             ("expire", {"node": "n1"})]  # fmt: skip
    reached = vector(*calls, why=Why(purpose=("expire/expired",)))
    missed = vector(*calls[:3], why=Why(purpose=("expire/idle",)))
    found = judge("faithful", [reached, missed])
    assert found[reached.id].kind is Kind.CONFORMS
    assert found[missed.id].kind is Kind.INCONCLUSIVE
    assert found[missed.id].detail == "not taken: expire/idle"


@pytest.mark.parametrize("most", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_adapter_that_always_crashes_is_given_up(most, monkeypatch):
    assert HOPELESS == 100
    monkeypatch.setattr("conform.adapters.session.HOPELESS", most)
    with pytest.raises(Incomplete, match=f" {most} questions in a row"):
        judge("always_crash", random_vectors(most + 20, seed=2))


def test_adapter_that_found_another_version_is_refused():
    with pytest.raises(CannotStart, match=r"release 1\.0 was asked for.*0\.9"):
        StdioConnection(fake_start("lies", expect="1.0"))


def test_adapter_that_ends_at_once_is_refused():
    with pytest.raises(CannotStart, match="it ended with 0"):
        StdioConnection(fake_start("mute"))


def test_command_that_does_not_exist_is_refused():
    from conform.adapters.base import AdapterStart

    with pytest.raises(CannotStart, match="could not be started"):
        StdioConnection(AdapterStart(("/there/is/no/such/program",)))


def test_line_that_does_not_end_is_an_error_of_the_adapter():
    """Its vectors are asked alone, each with a limit of its own."""
    (poisoned,) = [v for v in FEW if v.id in FEW_POISONED][:1]
    (verdict,) = judge("endless", [poisoned]).values()
    assert (verdict.kind, verdict.detail) == (Kind.ADAPTER_ERROR, "a line of more than 32 MB")


def test_text_of_an_adapter_is_not_kept_whole():
    asked = [("a", "n")]
    with pytest.raises(BadMessage) as error:
        read_results({"run": 1, "values": [], "results": [{"id": "x" * 10_000}]}, 1, asked)
    assert len(str(error.value)) < 200
    result = {"id": "a", "nonce": "n", "status": "ok", "steps": [], "detail": "x" * 10_000}
    kept = read_results({"run": 1, "values": [], "results": [result]}, 1, asked)
    assert len(kept.results[0].detail) == 2_000
