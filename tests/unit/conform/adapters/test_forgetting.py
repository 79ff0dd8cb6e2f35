"""What `conform doctor` finds of state that is kept from one question to the next."""

import itertools
import random
from dataclasses import replace

import orjson
import pytest
from tests.support.fakes import fake
from tests.support.toy.vectors import random_vectors, vector

from conform import sdk
from conform.adapters.direct import DirectConnection
from conform.adapters.leftover_state import ALIKE, OrderComparison, sample_of
from conform.adapters.operation_trials import Trial
from conform.suites.importing import item_of

OPERATIONS = ("hold", "confirm")


class Seats(sdk.Adapter):
    """A small box office: up to `limit` holds, each with a token that is confirmed. Its tokens
    begin at a number of the process, so that only their order is equal in all of them."""

    about = sdk.About("seats", "1.0", "office", OPERATIONS, ("held", "sold"), (), ("limit",))

    def __init__(self):
        self.tokens = itertools.count(random.randrange(1000))

    def start(self, question):
        self.limit = question.consts["limit"]
        self.held, self.sold = {}, []

    def perform(self, operation, args):
        return getattr(self, operation)(**args)

    def hold(self):
        if len(self.held) >= self.limit:
            return {"case": "too_many"}
        self.held["c"] = f"@{next(self.tokens)}"
        return {"case": "granted", "token": self.held["c"]}

    def confirm(self):
        if not self.held:
            return {"case": "no_such"}
        _, token = self.held.popitem()
        self.sold.append(token)
        return {"case": "confirmed"}

    def observe(self):
        return {"held": len(self.held), "sold": list(self.sold)}


class KeepsAnswers(Seats):
    """Repeats the answer to a confirmation that it gave in an earlier question."""

    def __init__(self):
        super().__init__()
        self.answers = {}

    def confirm(self):
        if not self.held:
            return super().confirm()
        if "c" not in self.answers:
            self.answers["c"] = super().confirm()
        return self.answers["c"]


class KeepsHoldings(Seats):
    """Counts the holds of earlier questions."""

    def __init__(self):
        super().__init__()
        self.held = {}

    def start(self, question):
        held = self.held
        super().start(question)
        self.held = held


class KeepsLimit(Seats):
    """Takes the constant of its first question for all."""

    kept = None

    def start(self, question):
        super().start(question)
        self.kept = self.kept if self.kept is not None else self.limit
        self.limit = self.kept


def trial(limit, *operations):
    calls = [{"operation": name, "args": {}} for name in operations]
    world = {"sorts": {}, "consts": {"limit": limit}}
    question = {**world, "given": None, "operations": calls, "delta": "each"}
    return Trial(operations, question, frozenset(operations))


SAMPLE = [
    trial(1, "hold"),
    trial(1, "hold", "confirm"),
    trial(0, "hold"),
    trial(1, "hold", "confirm", "hold"),
]


def compare(made, sample=SAMPLE, **more):
    return OrderComparison(DirectConnection(made), 1.0, **more).compare(sample)


def test_an_adapter_that_forgets_may_choose_other_counters_each_time():
    found = compare(Seats)
    assert (found.compared, found.told) == (len(SAMPLE), "")


@pytest.mark.parametrize(
    "kept, told",
    [
        (KeepsAnswers, "step 2, confirm: held is 1 after other questions, and 0 if asked alone"),
        (KeepsHoldings, "the first state: held is 1 after other questions, and 0 if asked alone"),
        (KeepsLimit, 'step 1, hold: reply is {"case":"too_many"} after other questions, and'
                     ' {"case":"granted","token":"#1"} if asked alone'),
    ],
)  # fmt: skip
def test_state_of_earlier_questions_is_told_with_the_operation(kept, told):
    assert compare(kept).told == told


def test_a_choice_by_chance_is_no_state():
    rng = random.Random(5)

    class Chooses(Seats):
        def hold(self):
            return super().hold() if rng.random() < 0.5 else {"case": "too_many"}

    assert not compare(Chooses).told


def test_few_questions_are_compared_when_the_time_is_up():
    clock = itertools.count(0.0, 4.0)
    assert compare(Seats, clock=lambda: next(clock)).compared < len(SAMPLE)


def test_an_adapter_that_breaks_is_not_taken_for_one_that_keeps_state():
    class Breaks(Seats):
        def confirm(self):
            raise KeyError("confirm")

    assert not compare(Breaks).told


@pytest.fixture(scope="module")
def sample():
    return sample_of(map(item_of, random_vectors(120)))


def test_the_sample_has_each_last_operation_and_neighbours_share_it(sample):
    last = [trial.operations[-1] for trial in sample]
    assert last == sorted(last)
    assert set(last) == set(fake.Fake.model_module.OPERATIONS)
    assert max(map(last.count, last)) == ALIKE


def test_a_constant_with_one_value_gets_another_one():
    asked = item_of(vector(("register", {"node": "n1"})))
    question = {**orjson.loads(asked.question), "consts": {"ttl": 2, "strict": True}}
    sample = sample_of([replace(asked, question=orjson.dumps(question))])
    assert [trial.question["consts"] for trial in sample] == [
        {"ttl": 2, "strict": True}, {"ttl": 3, "strict": True},
    ]  # fmt: skip


def test_an_election_that_an_earlier_failover_spoils_is_told(sample):
    assert not compare(fake.Fake, sample).told
    told = compare(fake.Leaks, sample).told
    assert ", elect: reply is " in told and "NOT_LEADER" in told and "if asked alone" in told


class Skeleton(Seats):
    """Performs nothing."""

    def perform(self, operation, args):
        raise sdk.Unsupported(operation)


def test_questions_of_which_nothing_was_performed_are_not_counted():
    assert compare(Skeleton).compared == 0
