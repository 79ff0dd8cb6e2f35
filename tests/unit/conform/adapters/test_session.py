"""Batches of a session: small at first and after a break."""

import pytest
from tests.support.judging import QUICK, fake_start
from tests.support.toy import charter
from tests.support.toy.vectors import random_vectors, vector

from charter.formats.verdict import Kind
from conform.adapters.base import AdapterBroken
from conform.adapters.direct import DirectConnection
from conform.adapters.reference import Reference
from conform.adapters.session import Session
from conform.adapters.stdio import StdioConnection
from conform.judging.siblings import Siblings
from conform.suites.importing import item_of


class Recorded(DirectConnection):
    """Breaks on questions of one id; keeps the size and the deadline of each batch."""

    def __init__(self, poison):
        super().__init__(lambda: Reference(charter))
        self.poison, self.sent = poison, []

    def send(self, batch, deadline):
        self.sent.append((len(batch), deadline))
        super().send(batch, deadline)

    def receive(self):
        *_, pairs = self._sent[0]
        if any(name == self.poison for name, _ in pairs):
            self._sent.clear()
            return AdapterBroken(Kind.TIMED_OUT, "no answer")
        return super().receive()


def judge(poison=""):
    """What a session sends over 100 vectors, of which one breaks the adapter, and the verdicts."""
    items = [item_of(made) for made in random_vectors(100, seed=3, length=6)]
    connection = Recorded(items[poison].id if poison != "" else "")
    session = Session(connection, Siblings(charter), QUICK, "test", charter.OBSERVES)
    kinds = [a.verdict.kind for j in session.run(items) for a in j.assessments]
    return connection.sent, kinds, session.take_broken()


def test_batches_double_while_the_adapter_answers():
    sent, kinds, broken = judge()
    assert [size for size, _ in sent] == [1, 1, 2, 4, 8, 16, 32, 36]
    assert [seconds for _, seconds in sent[:3]] == [QUICK.one, QUICK.one, QUICK.batch]
    assert (len(kinds), broken) == (100, [])


@pytest.mark.parametrize("poison", [0, 20])
def test_only_the_question_that_breaks_the_adapter_is_not_judged(poison):
    _, kinds, (broken,) = judge(poison)
    assert [number for number, kind in enumerate(kinds) if kind is Kind.TIMED_OUT] == [poison]
    assert len(kinds) == 100 and broken.culprits == 1


@pytest.mark.parametrize(("last", "kind"), [("failover", "crashed"), ("elect", "conforms")])
def test_an_adapter_is_started_again_only_if_there_is_more_to_ask(last, kind, tmp_path):
    """The fake ends at each failover, and notes each start. The second question is asked again
    alone, since another was asked before."""
    log = tmp_path / "log"
    items = [item_of(vector((name, {}))) for name in ("elect", "failover", last)]
    connection = StdioConnection(fake_start("crash", str(log)))
    try:
        session = Session(connection, Siblings(charter), QUICK, "test", charter.OBSERVES)
        kinds = [a.verdict.kind for j in session.run(items, 1) for a in j.assessments]
    finally:
        connection.close()
    assert kinds == ["conforms", "crashed", kind]
    assert len(log.read_text().split()) == 3


def test_first_question_is_not_asked_twice_when_it_breaks_the_adapter():
    sent, *_ = judge(0)
    assert [size for size, _ in sent[:4]] == [1, 1, 1, 1]
    assert sum(size for size, _ in sent) == 101  # the second is lost with the first


def test_deadlines_are_shorter_after_a_question_timed_out():
    sent, *_ = judge(0)
    assert sent[0][1] == QUICK.one
    assert {seconds for _, seconds in sent[2:]} == {QUICK.one / 2, QUICK.batch / 2}
