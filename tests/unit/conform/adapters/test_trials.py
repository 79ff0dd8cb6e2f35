"""What `conform doctor` tries with the questions of a suite: hello, operations, types."""

import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from tests.support.fakes import fake
from tests.support.judging import fake_start
from tests.support.toy import charter
from tests.support.toy.vectors import NODES, TYPES, random_vectors, vector

from charter.formats.status import Status
from charter.formats.suite import Manifest, Models
from charter.formats.target import Target
from charter.formats.types import read_types
from conform import sdk
from conform.adapters.base import SentQuestion
from conform.adapters.direct import DirectConnection
from conform.adapters.doctor import Check, Probes, check_adapter
from conform.adapters.hello import disagreement
from conform.adapters.operation_trials import MOST, Trials, trials_of
from conform.suites.importing import item_of


@pytest.fixture(scope="module")
def trials():
    return trials_of(map(item_of, random_vectors(60)))


def try_all(made, trials):
    types = read_types(TYPES, "types")
    return Trials(DirectConnection(made), 1.0, types).results(trials)


class Throws(fake.Fake):
    """`elect` throws, always."""

    def perform(self, operation, args):
        if operation == "elect":
            raise sdk.Fault("java.lang.IllegalStateException", "no quorum")
        return super().perform(operation, args)


class ThrowsOnce(fake.Fake):
    """`elect` throws if nobody is registered."""

    def perform(self, operation, args):
        if operation == "elect" and not self.state.session:
            raise sdk.Fault("java.lang.IllegalStateException", "no quorum")
        return super().perform(operation, args)


def test_trials_are_the_shortest_questions_of_each_operation(trials):
    assert set(trials) == set(charter.OPERATIONS)
    assert all({one.operations[-1] for one in some} == {name} for name, some in trials.items())
    assert trials["register"][0].operations == ("register",)


def test_each_branch_of_an_operation_is_tried_also_where_many_questions_are_shorter():
    """The short ones find nobody to expire."""
    idle = [vector(*[("failover", {})] * n, ("expire", {"node": "n1"})) for n in range(2 * MOST)]
    late = [("failover", {})] * 20 + [(name, {"node": "n1"}) for name in ("register", "expire")]
    found = trials_of(map(item_of, [*idle, vector(*late, ("elect", {}))]))["expire"]
    assert len(found) == MOST + 1
    assert found[-1].operations == tuple(name for name, _ in late)


def test_a_reply_of_a_wrong_type_is_blamed_on_the_operation_that_gave_it(trials):
    """Questions for other operations begin with `register`."""
    assert list(try_all(fake.Mistyped, trials).mistyped) == ["register"]
    only = {"write": trials["write"]}
    assert list(try_all(fake.Mistyped, only).mistyped) == ["register"]


def test_a_sound_adapter_performs_everything(trials):
    found = try_all(fake.Fake, trials)
    assert (found.failing, found.mistyped, found.unwritten) == ({}, {}, [])


def test_an_operation_that_always_throws_is_told(trials):
    found = try_all(Throws, trials)
    assert list(found.failing) == ["elect"]
    assert found.failing["elect"].startswith("it ends in a fault in each of ")
    assert found.failing["elect"].endswith("java.lang.IllegalStateException: no quorum")
    assert not try_all(ThrowsOnce, trials).failing


def test_an_operation_that_fails_in_the_adapter_is_told_and_no_other(trials, capsys):
    found = try_all(fake.Errs, trials)
    assert list(found.failing) == ["failover"]
    told = (
        r"the adapter fails: KeyError: 'failover' \(fake\.py:\d+\); if the implementation threw it,"
        r" report a `Fault`: conform help adapters"
    )
    assert re.fullmatch(told, found.failing["failover"])


def test_an_operation_that_is_not_written_yet_is_no_failure(trials):
    found = try_all(fake.ClaimsAndRefuses, trials)
    assert (found.failing, found.unwritten) == ({}, ["failover"])


def test_an_exception_that_breaks_several_rules_is_told_once():
    items = [item_of(vector) for vector in random_vectors(60)]
    about = Manifest("", "toy.lease", "", "keeper", "", 0, Models("", {}, {}), {}, types=TYPES)
    probes = Probes({"sorts": {"Node": NODES}}, {}, trials_of(items), about)
    checks = [*check_adapter(fake_start("cannot_begin"), probes)]
    (failing,) = [check for check in checks if not check.ok]
    assert failing.rule == "answers a question without operations"
    assert failing.detail.startswith("status error, 0 steps: KeyError: 'worker' (fake.py:")
    behind = "not checked: it fails as `answers a question without operations` does, see above"
    again = [check.rule for check in checks if check.detail == behind]
    assert "performs register" in again


def test_nothing_is_said_of_types_where_no_value_came():
    items = [item_of(vector) for vector in random_vectors(60)]
    about = Manifest("", "toy.lease", "", "keeper", "", 0, Models("", {}, {}), {}, types=TYPES)
    world = {"sorts": {"Node": NODES}}

    def tell(mode):
        start, probes = fake_start(mode), Probes(world, {}, trials_of(items), about)
        checks = {check.rule: check for check in check_adapter(start, probes)}
        return checks["values are of the types of the charter"]

    assert tell("faithful") == Check("values are of the types of the charter", True)
    assert tell("nonsense").detail.startswith("not checked: no question ")


@pytest.mark.parametrize(
    "names, untried",
    [
        ((), "no question performed an operation; `conform test` looks for questions"),
        (("register",), "no question performed elect, expire, failover, write; `conform test` "),
    ],
)
def test_an_operation_that_no_question_performs_is_not_checked(names, untried):
    items = [item_of(vector((name, {"node": "n1"}))) for name in names]
    about = Manifest("", "toy.lease", "", "keeper", "", 0, Models("", {}, {}), {}, types=TYPES)
    probes = Probes({"sorts": {"Node": NODES}}, {}, trials_of(items), about)
    checks = {check.rule: check for check in check_adapter(fake_start("faithful"), probes)}
    for rule in (
        "performs the operations of the charter",
        "values are of the types of the charter",
    ):
        assert checks[rule].ok and checks[rule].detail.startswith(f"not checked: {untried}")


def test_a_variable_that_hello_claims_and_no_observation_has_is_told(trials):
    told = try_all(fake.Lacking, trials).mistyped["register"]
    assert told.startswith("step 0: the observation lacks version, which the adapter's hello ")


def test_a_value_of_another_type_is_told(trials):
    found = try_all(fake.Mistyped, trials)
    told = 'step 1: reply.epoch is 0, not an opaque counter such as "@17"'
    assert found.mistyped["register"] == told
    assert not found.failing


TARGET = Target("lease", "Lease", Path(), ("x",))


@pytest.mark.parametrize(
    "listed, claimed, told",
    [
        (None, {"load"}, ""),
        (("load", "elr"), {"load", "elr"}, ""),
        (None, {"lod"}, "hello claims the capability 'lod', which is not one of image, load; "),
        ((), {"load"}, "hello claims the capability 'load', but adapter.toml does not list it"),
        (
            ("laod",),
            {"laod"},
            "hello and adapter.toml have the capability 'laod'; did you mean load?",
        ),
        (("laod",), set(), "adapter.toml lists the capability 'laod'; did you mean load?"),
        (("load",), set(), "adapter.toml lists the capability 'load', but hello does not claim it"),
    ],
)
def test_capabilities_that_disagree_are_told(listed, claimed, told):
    welcome = replace(DirectConnection(fake.Fake).welcome, capabilities=frozenset(claimed))
    found = disagreement(welcome, replace(TARGET, capabilities=listed))
    assert found.startswith(told) and bool(found) == bool(told)


def test_a_release_may_lack_a_capability():
    welcome = replace(DirectConnection(fake.Fake).welcome, capabilities=frozenset())
    assert not disagreement(welcome, replace(TARGET, capabilities=("load",), releases=("1", "2")))


def test_a_component_that_disagrees_is_told():
    told = disagreement(DirectConnection(fake.Fake).welcome, replace(TARGET, component="keper"))
    assert told.startswith("hello says that the adapter drives the component 'keeper', but adapter")


@pytest.mark.parametrize("method", ["start", "observe"])
def test_a_fault_where_no_operation_runs_is_told_in_a_sentence(method, monkeypatch):
    def fails(*_):
        raise sdk.Fault("redis.Error", "unknown XINFO")

    made = fake.Fake()
    monkeypatch.setattr(type(made), method, fails)
    sent = SentQuestion("q", "n-1", item_of(random_vectors(1)[0]).question).message()
    answer = sdk.answer_message(made, {"run": 0, "questions": [orjson.loads(sent)]})
    (result,) = answer["results"]
    assert result["status"] == Status.ERROR
    assert result["detail"].startswith(f"{sdk.MISPLACED_FAULT}: redis.Error: unknown XINFO (test_")
