"""Sessions: one operation at a time, several at once, and what a broken one costs."""

import contextlib
from dataclasses import replace

import orjson
import pytest
from tests.support.fakes.fake import Fake
from tests.support.judging import QUICK, fake_start
from tests.support.toy.vectors import NODES, random_vectors, vector

from charter.formats.opaque import OpaqueTypes
from charter.formats.status import Status
from charter.formats.verdict import Kind
from conform import sdk
from conform.adapters.base import AdapterBroken, SentQuestion
from conform.adapters.direct import DirectConnection
from conform.adapters.open_sessions import NextStep, OpenSessions
from conform.adapters.stdio import StdioConnection
from conform.console.errors import Incomplete
from conform.suites.importing import item_of

REGISTER = ("register", {"node": "n1"})
CALM = [REGISTER, ("elect", {}), ("expire", {"node": "n1"})]
POISONED = [REGISTER, ("failover", {}), ("elect", {})]


class Watched(DirectConnection):
    """Notes what is sent of sessions, and the deadlines."""

    def __init__(self, *, sessions, make=Fake):
        self.sent, self.deadlines = [], []
        super().__init__(make, sessions=sessions)

    def send_steps(self, steps, deadline):
        self.sent.append(steps)
        self.deadlines.append(deadline)
        super().send_steps(steps, deadline)

    def send(self, batch, deadline):
        self.sent.append(batch)
        super().send(batch, deadline)


def texts_of(*questions):
    """For each question its id, how its session begins, and its operations."""
    for made in questions:
        question = orjson.loads(item_of(made).question)
        calls = question.pop("operations")
        yield made.id, orjson.dumps(question), [(call["operation"], call["args"]) for call in calls]


def texts_of_calls(*several):
    begun = orjson.dumps({"sorts": {"Node": NODES}, "given": None, "delta": "each"})
    return [(f"s{number}", begun, calls) for number, calls in enumerate(several)]


def open_on(connection, nonce="test"):
    return OpenSessions(connection, QUICK, nonce, OpaqueTypes())


def walk(sessions, walks):
    """Take all steps of all sessions, one of each at a time; the last answer of each by its id,
    which varies if any did."""
    begun = sessions.begin([(name, text) for name, text, _ in walks])
    answers = dict(zip([name for name, *_ in walks], begun, strict=True))
    for number in range(max(len(calls) for *_, calls in walks)):
        steps = [
            NextStep(name, *calls[number])
            for name, _, calls in walks
            if number < len(calls) and is_open(answers[name])
        ]
        shown = sessions.step(steps)
        for step, answer in zip(steps, shown, strict=True):
            varied = is_open(answer) and answers[step.id].varies
            answers[step.id] = replace(answer, varies=True) if varied else answer
    return answers


def is_open(answer):
    return not isinstance(answer, AdapterBroken) and not answer.over


def read(results, number=0):
    """Status and steps of a result, with the values in place."""
    result = results.results[number]
    steps = [
        [results.values[index] if index >= 0 else None for index in step] for step in result.steps
    ]
    return str(result.status), steps


def ask(connection, made):
    connection.send([SentQuestion(made.id, "whole", item_of(made).question)], QUICK.one)
    return read(connection.receive().results)


@pytest.mark.parametrize("sessions", [0, 1, 3, 40])
def test_a_session_answers_as_the_question_does_with_its_operations(sessions):
    """Also where the adapter holds none, or fewer than are open."""
    vectors = random_vectors(40, seed=7, length=6)
    connection = Watched(sessions=sessions)
    answers = walk(open_on(connection), [*texts_of(*vectors)])
    whole = DirectConnection(Fake)
    assert [read(answers[made.id].results) for made in vectors] == [
        ask(whole, made) for made in vectors
    ]
    assert not any(answer.varies for answer in answers.values())


def test_each_operation_is_performed_once_by_an_adapter_with_room():
    connection = Watched(sessions=2)
    sessions = open_on(connection)
    walk(sessions, texts_of_calls(CALM, CALM))
    sizes = [(len(sent.begin), len(sent.steps)) for sent in connection.sent]
    assert sizes == [(2, 0), (0, 2), (0, 2), (0, 2)]
    sessions.close()
    assert connection.sent[-1].end == ("s0", "s1")
    walk(open_on(connection, "next"), texts_of_calls(CALM, CALM))


def test_each_step_has_a_deadline_and_many_have_that_of_a_batch():
    """Seconds are 1 for one and 2 for a batch of 64, which are begun in the first message."""
    connection = Watched(sessions=65)
    sessions = open_on(connection)
    walk(sessions, texts_of_calls(*[CALM] * 65, POISONED[:1]))
    sessions.end([f"s{number}" for number in range(64)])
    sessions.step([NextStep("s64", "failover", {})])
    assert connection.deadlines[0] == 2 * QUICK.batch  # 65 beginnings
    assert connection.deadlines[1] == QUICK.one  # that of the last session alone
    assert connection.deadlines[-1] == QUICK.one


def test_growing_questions_have_one_id_and_one_nonce():
    connection = Watched(sessions=0)
    walk(open_on(connection), texts_of_calls(CALM))
    assert len(connection.sent) == 4
    assert {(sent.id, sent.nonce) for (sent,) in connection.sent} == {("s0", "test-1")}


def test_a_question_that_was_put_leaves_no_session_open():
    """The question gets nothing of a session that was interrupted, nor does the session go on."""
    connection = Watched(sessions=1)
    sessions = open_on(connection)
    walk(sessions, texts_of_calls(CALM))
    made = vector(("elect", {}))
    assert ask(connection, made) == ask(DirectConnection(Fake), made)
    assert ask(connection, made)[1][1][0] == {"case": "rejected", "error": "NOBODY"}
    connection.send_steps(connection.sent[1], QUICK.one)
    results = connection.receive().results
    assert (results.results[0].status, results.results[0].detail) == (
        Status.ERROR, "no session s0 is open",
    )  # fmt: skip


@contextlib.contextmanager
def start(mode):
    connection = StdioConnection(fake_start(mode))
    try:
        yield connection
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("mode", "kind", "sentence"),
    [
        ("crash", Kind.CRASHED, "it ended with 139"),
        ("hang", Kind.TIMED_OUT, "no answer in"),
        ("garbage", Kind.ADAPTER_ERROR, "no message"),
        ("poisoned_bad_nonce", Kind.ADAPTER_ERROR, "does not bring back the nonce"),
        ("poisoned_too_few", Kind.ADAPTER_ERROR, "there are 0 results instead of 3"),
    ],
)
def test_what_breaks_the_adapter_costs_its_own_session_only(mode, kind, sentence):
    walks = texts_of_calls(CALM, POISONED, CALM, [*CALM, ("elect", {})])
    with start(mode) as connection, start("honest") as honest:
        sessions = open_on(connection)
        answers = walk(sessions, walks)
        unhurt = walk(open_on(honest), walks)
        broken = answers.pop("s1")
        assert (broken.kind, sentence in broken.detail) == (kind, True), broken
        assert {name: read(answer.results) for name, answer in answers.items()} == {
            name: read(answer.results) for name, answer in unhurt.items() if name != "s1"
        }
        assert not any(answer.varies for answer in answers.values())
        assert [(one.culprits, sentence[:9] in one.detail) for one in sessions.take_broken()] == [
            (1, True)
        ]
        sessions.end(["s0"])
        again = walk(sessions, texts_of_calls(CALM))
        assert read(again["s0"].results) == read(unhurt["s0"].results)


def test_a_step_that_lies_ends_its_session_and_not_the_adapter():
    with start("poisoned_no_steps") as connection:
        sessions = open_on(connection)
        lied = walk(sessions, texts_of_calls(POISONED))["s0"]
        assert lied.kind is Kind.ADAPTER_ERROR
        assert lied.detail == "2 steps were answered, and 3 performed"
        assert len(walk(sessions, texts_of_calls(CALM))["s0"].result.steps) == 4
        assert connection.alive and not sessions.take_broken()


def test_a_step_in_which_the_adapter_fails_ends_its_session():
    with start("errs") as connection:
        answers = walk(open_on(connection), texts_of_calls(POISONED, CALM))
    assert answers["s0"].over and read(answers["s0"].results) == ("error", [])
    assert len(answers["s1"].result.steps) == 4


def test_a_fault_ends_its_session():
    with start("faults") as connection:
        answers = walk(open_on(connection), texts_of_calls(POISONED, CALM))
    assert answers["s0"].over and len(answers["s0"].result.steps) == 3
    assert read(answers["s0"].results)[1][-1][0]["fault"] == "java.lang.IllegalStateException"
    assert (answers["s1"].over, len(answers["s1"].result.steps)) == (False, 4)


def test_a_reference_that_leads_nowhere_ends_its_session():
    lost = ("write", {"node": "n1", "epoch": {"ref": [0, "nowhere"]}, "version": 0})
    sessions = open_on(connection := Watched(sessions=2))
    answers = walk(sessions, texts_of_calls([REGISTER, lost, REGISTER], CALM))
    assert answers["s0"].over and answers["s0"].result.status is Status.UNRESOLVED
    assert len(answers["s0"].result.steps) == 2 and len(answers["s1"].result.steps) == 4
    sessions.close()
    assert connection.sent[-1].end == ("s1",)


class Forgetful(Fake):
    """Shows another version from its third question on."""

    begun = 0

    def start(self, question):
        super().start(question)
        self.begun += 1

    def observe(self):
        return {**super().observe(), "version": self.begun > 2}


@pytest.mark.parametrize("sessions", [0, 1])
def test_a_session_that_answers_otherwise_when_it_is_repeated_varies(sessions):
    """Two sessions take turns where the adapter holds one, and each time begin again."""
    answers = walk(open_on(Watched(sessions=sessions, make=Forgetful)), texts_of_calls(CALM, CALM))
    assert answers["s0"].varies
    assert read(answers["s0"].results)[1][0][1]["version"] is True
    alone = walk(open_on(Watched(sessions=2, make=Forgetful)), texts_of_calls(CALM, CALM))
    assert not alone["s0"].varies


def test_tokens_that_differ_when_a_session_is_repeated_do_not_vary():
    class Numbers(Fake):
        issued = 0

        def start(self, question):
            Numbers.issued += 10
            super().start(question)
            self.state = self.state._replace(issued=Numbers.issued)

    connection = Watched(sessions=1, make=Numbers)
    answers = walk(open_on(connection), texts_of_calls(CALM, CALM))
    assert not any(answer.varies for answer in answers.values())
    assert len({str(read(answer.results)) for answer in answers.values()}) == 2


class Breaks(DirectConnection):
    """Breaks at each message."""

    def receive(self):
        self.alive = False
        return AdapterBroken(Kind.CRASHED, "it ended with 3")


def test_an_adapter_that_breaks_on_everything_is_given_up():
    sessions = open_on(Breaks(Fake, sessions=4))
    with pytest.raises(Incomplete, match="broke on 100 questions in a row"):
        sessions.begin([(name, text) for name, text, _ in texts_of_calls(*[CALM] * 101)])


def test_a_begin_beyond_what_is_held_is_an_error():
    server = sdk.Server(Fake, 1)
    server.answer({"hello": 1})
    begun = [
        {"id": name, "nonce": "n", "sorts": {"Node": {"n1": 0}}, "given": None, "delta": []}
        for name in ("a", "b", "a")
    ]
    answer = server.answer({"run": 1, "end": [], "begin": begun, "steps": []})
    statuses = [(result["status"], result["detail"]) for result in answer["results"]]
    assert statuses == [("ok", ""), ("error", "1 sessions are open"), ("ok", "")]
