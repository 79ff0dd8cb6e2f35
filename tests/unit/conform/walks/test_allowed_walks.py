"""A walk that the charter allows has the verdict that its whole answer would give."""

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.conform.judging.test_answer import Coin

from charter.formats.adapter import Result, Results
from charter.formats.opaque import OpaqueTypes
from charter.formats.run_description import WalkSettings
from charter.formats.status import Status
from charter.formats.target import DEADLINES
from charter.formats.types import read_types
from conform.adapters.direct import DirectConnection
from conform.adapters.reference import Reference
from conform.adapters.session import Session
from conform.judging import model
from conform.judging.answer import GrowingAnswer, answer_of
from conform.judging.automaton import Judge
from conform.judging.candidates import Judged
from conform.judging.follow import Follower
from conform.judging.read_result import BatchTexts
from conform.judging.siblings import ObservedStep, Siblings
from conform.judging.verdict import assess
from conform.walks import block, walker
from conform.walks.block import WALKS_OF_GROUP, BlockLimits, WalkTarget, find_answer, walk_block
from conform.walks.hidden_state import HiddenEffect, HiddenStateSearch
from conform.walks.traced import WalkTraces
from conform.walks.walker import find_branches

CONTROLLER = "charter_models.kafka_replication.controller"
SUITE = Path(__file__).parents[4] / "generated" / "suites" / "kafka_replication" / "controller"


@pytest.fixture
def walked():
    """Walks on a model of Kafka's controller, and the session that judged them."""

    def make(name=CONTROLLER, sessions=8, count=5, hidden=(), first=False):
        manifest = json.loads((SUITE / "manifest.json").read_text(encoding="utf-8"))
        types = read_types(manifest["types"], "types")
        start = name
        if not isinstance(name, partial):
            start = partial(Reference, model.load(name) if isinstance(name, str) else name)
        connection = DirectConnection(start, sessions=sessions, quiet=True)
        charter = model.load("charter_models.kafka_replication.controller")
        session = Session(connection, None, DEADLINES, "test", charter.OBSERVES)
        session.judge.set_types(types)
        siblings = Siblings(charter, opaque=session.judge.opaque)
        about = {"format": 1, "protocol": "kafka.replication", "component": "controller"}
        target = WalkTarget(session, siblings, types, frozenset(), about, hidden=hidden)
        plan, limits = WalkSettings(count, 12), BlockLimits(first=first)
        return walk_block(target, plan, range(1, 1 + count), limits).walks, session

    return make


@pytest.mark.parametrize("sessions", [0, 8])
def test_an_allowed_walk_has_the_verdict_of_its_whole_answer(walked, sessions):
    walks, session = walked(sessions=sessions)
    charter = model.load("charter_models.kafka_replication.controller")
    judged = 0
    for walk in walks:
        assert walk.item.answer == b""
        item = find_answer(walk.item, charter, session.judge)
        if item is not None:
            batch = session_batch(walk, session)
            whole = assess(item, walk.result.result, batch, session.judge, None)
            assert whole == walk.assessment
            judged += whole.verdict.judged
    assert judged >= 40


def test_walks_stop_inside_a_group_at_the_first_that_deviates(walked):
    wrong, count = (
        partial(Reference, model.load(CONTROLLER), forgets="unregister"),
        3 * WALKS_OF_GROUP,
    )
    every = walked(wrong, count=count)[0]
    deviating = [walk.number for walk in every if walk.assessment.verdict.kind == "diverges"]
    first = deviating[0]
    assert first % WALKS_OF_GROUP not in (0, 1), "the first is at an end of its group"
    stopped = walked(wrong, count=count, first=True)[0]
    assert [walk.number for walk in stopped] == [*range(1, first + 1)]
    assert [walk.item.id for walk in stopped] == [walk.item.id for walk in every[:first]]


def session_batch(walk, session):
    return BatchTexts.of(walk.result.results, session.judge.observes)


def test_a_step_is_judged_by_what_the_charter_was_asked_to_choose_it(walked, monkeypatch):
    monkeypatch.setattr(walker, "Follower", lambda *_: pytest.fail("the charter was asked"))
    assert all(walk.assessment.verdict.kind == "conforms" for walk in walked()[0])


def test_a_call_that_is_drawn_twice_is_asked_once(walked, monkeypatch):
    original, requests = WalkTraces.ask, []

    def ask(self, operation, args):
        requests.append((len(self.traces[0].history.replies), operation, json.dumps(args)))
        return original(self, operation, args)

    monkeypatch.setattr(WalkTraces, "ask", ask)
    walked(count=1)
    assert len(requests) == len({*requests}) > 12


class TwoCounters:
    """A model of two counters of one type, each of which takes its own next value."""

    def initial(self, *_):
        return {"a": 0, "b": 0}

    def observe(self, state):
        return {name: f"@{number}" for name, number in state.items()}

    def outcomes(self, state, operation, args):
        after = {**state, args["of"]: state[args["of"]] + 1}
        return [SimpleNamespace(branch="bump/done", reply=None, state=after)]


def test_a_value_that_becomes_equal_to_another_one_is_allowed():
    """Values that are made from labels are far from each other: the next one would be between."""
    question = {"sorts": {}, "given": None}
    traces = WalkTraces(Siblings(TwoCounters()), question, None)
    assert traces.begin(b'{"a":"#1","b":"#1"}')
    for name, seen in (("a", b'{"a":"#2","b":"#1"}'), ("b", b'{"a":"#2","b":"#2"}')):
        allowed = traces.ask("bump", {"of": name})
        assert traces.take(allowed, (b"null", seen)).branches == ("bump/done",)
    assert traces.take(traces.ask("bump", {"of": "a"}), (b"null", b'{"a":"#2.5","b":"#2"}')) is None


def test_a_walk_goes_on_with_what_shows_a_wrong_hidden_value(walked, monkeypatch):
    last, searched = {"operation": "balance_leaders", "args": {}}, []

    def look_after(_, question):
        searched.append(question["operations"])
        return HiddenEffect("", ((last,),), frozenset(), frozenset())

    monkeypatch.setattr(HiddenStateSearch, "look_after", look_after)
    walks, _ = walked(hidden=("expired",))
    walked_calls = [json.loads(walk.item.question)["operations"] for walk in walks]
    assert searched and all([*calls, last] in walked_calls for calls in searched)
    assert all(walk.assessment.verdict.kind == "conforms" for walk in walks)
    assert len({json.dumps(calls) for calls in searched}) == len(searched)
    searched.clear()
    walked()
    assert not searched


class Undefined(Exception):
    """What a generated model raises where an assumption is false."""


class Door:
    """A model of a door; whether it is locked is not seen, and nobody enters a locked one."""

    GHOSTS = ()

    def initial(self, *_):
        return {"open": False, "locked": False}

    def observe(self, state):
        return state

    def encode(self, state):
        return state

    def decode(self, state, *_):
        return state

    def outcomes(self, state, operation, args):
        if operation == "enter" and state["locked"]:
            raise Undefined
        after = [state]
        if operation in ("lock", "perhaps"):
            after = [{**state, "locked": True}, *(after if operation == "perhaps" else [])]
        return [SimpleNamespace(branch=f"{operation}/done", reply=None, state=one) for one in after]


@pytest.mark.parametrize("operation", ["lock", "perhaps"])
def test_an_operation_is_not_chosen_if_what_is_hidden_may_break_its_assumption(operation):
    """What the model knows of a hidden variable counts; of several possible values each one."""
    question, siblings = {"sorts": {}, "given": None}, Siblings(Door())
    traces = WalkTraces(siblings, question, ("open",))
    follower = Follower(siblings, question, ("open",), {"open": False})
    assert traces.begin(b'{"open":false}')
    for followed in (traces, follower):
        assert followed.ask("enter", {}) is not None
    allowed = traces.ask(operation, {})
    assert traces.take(allowed, (b"null", b'{"open":false}')).allowed
    assert follower.step(ObservedStep(operation, {}, None, {"open": False})).allowed
    assert len(traces.states) == (2 if operation == "perhaps" else 1)
    for followed in (traces, follower):
        assert followed.ask("enter", {}) is None
        assert followed.ask("lock", {}) is not None


def test_a_walk_that_is_allowed_makes_no_answer(walked, monkeypatch):
    monkeypatch.setattr(GrowingAnswer, "add", lambda *_: pytest.fail("an answer was made"))
    assert all(walk.assessment.verdict.kind == "conforms" for walk in walked()[0])


def test_branches_that_lead_to_no_last_state_were_not_taken():
    open_ = Judged(True, ("a", "b"), ways=((0, "a", 0), (0, "b", 1)))
    same = Judged(True, ("c",), ways=((0, "c", 0), (1, "c", 1)))
    ended = Judged(True, ("d",), ways=((1, "d", 0),))
    assert find_branches([open_, same]) == ["", "", "c"]
    assert find_branches([open_, same, ended]) == ["", "b", "c", "d"]


def test_what_follows_another_outcome_than_that_of_the_walk_is_inconclusive():
    """The stored answer of a walk goes on only after what was observed."""
    question = {"sorts": {}, "given": None, "operations": [
        {"operation": "flip", "args": {}}, {"operation": "tell", "args": {}}]}  # fmt: skip
    shown = [(b"null", b'{"face":0}'), (b"null", b'{"face":1}')]
    answer = answer_of(Coin(), question, OpaqueTypes(), shown)
    assert [node["observation"] for node in answer["steps"][1]] == [1, 2]
    assert [node["from"] for node in answer["steps"][2]] == [[0]]
    judge = Judge()
    faces = {1: None, 2: "inconclusive"}
    for face, kind in faces.items():
        values = [None, {"face": 0}, {"face": face}]
        result = Result("q", "", Status.OK, "", [[-1, 1, -1], [0, 2, -1], [0, 1, -1]])
        batch = BatchTexts.of(Results(values, [result]), None)
        track = judge.track(answer, result, judge.reader.read(result, batch, ()))
        assert (track.stop, track.kind) == (None, kind)


@pytest.mark.parametrize("sessions", [0, 1, 3])
def test_walks_are_the_same_bytes_however_many_sessions_a_target_holds(walked, sessions):
    expected = [(walk.item.question, walk.assessment) for walk in walked(count=12)[0]]
    walks = walked(sessions=sessions, count=12)[0]
    assert [(walk.item.question, walk.assessment) for walk in walks] == expected


def test_a_walk_that_deviates_is_followed_and_answered_once(walked, monkeypatch):
    """Its verdict is what a follower says that has not seen it, and its answer that of the whole
    question."""
    original, followed, answered = Follower._judge, [], []

    def follow(self, step, *args):
        followed.append(step)
        return original(self, step, *args)

    def answer(*args):
        answered.append(args)
        return answer_of(*args)

    monkeypatch.setattr(Follower, "_judge", follow)
    monkeypatch.setattr(block, "answer_of", answer)
    charter = model.load("charter_models.kafka_replication.controller")

    def forget(state, operation, args):
        """Outcomes that do not keep the least number of replicas."""
        outcomes = charter.outcomes(state, operation, args)
        if operation != "set_min_isr":
            return outcomes
        return [
            SimpleNamespace(branch=one.branch, reply=one.reply, state=state) for one in outcomes
        ]

    walks, session = walked(SimpleNamespace(**{**vars(charter), "outcomes": forget}), count=16)
    deviating = [walk for walk in walks if walk.assessment.verdict.kind == "diverges"]
    assert len(deviating) >= 4
    assert len(followed) <= sum(walk.steps for walk in deviating)
    assert len(answered) < len(deviating)  # where the last step deviates there was none
    shown = list_texts(session, deviating)
    for walk, texts in zip(deviating, shown, strict=True):
        fresh = Siblings(charter, opaque=session.judge.opaque)
        batch = session_batch(walk, session)
        assert assess(walk.item, walk.result.result, batch, session.judge, fresh) == walk.assessment
        question, found = json.loads(walk.item.question), json.loads(walk.item.answer)
        whole = answer_of(charter, question, session.judge.opaque, texts)
        assert {name: found[name] for name in whole} == whole


def list_texts(session, walks):
    """The relabelled texts of the steps of walks."""
    for walk in walks:
        read = session.judge.reader.read(walk.result.result, session_batch(walk, session), ())
        yield list(zip(read.replies, read.states, strict=True))
