"""A target that hides a variable is asked with references to other places that show the value."""

from dataclasses import replace
from functools import cache

import orjson
import pytest
from tests.support.fakes.fake import Fake
from tests.support.judging import QUICK
from tests.support.toy import charter, no_epoch_check
from tests.support.toy.vectors import TYPES, answer, question, random_vectors, vector

from charter.formats.types import read_types
from charter.formats.vector import Vector, Why
from charter.formats.verdict import Kind
from conform.adapters.direct import DirectConnection
from conform.adapters.session import Session
from conform.judging.automaton import Judge
from conform.judging.siblings import Siblings
from conform.judging.visible_references import visible
from conform.suites.importing import item_of

KINDS = read_types(TYPES, "types")
HIDDEN = b'"registration"'


@cache
def draw_items():
    return [item_of(made) for made in random_vectors(150, seed=3, length=7)]


def hiding(name, model):
    """A session with an adapter of the toy protocol that does not show a variable."""
    shown = tuple(variable for variable in charter.OBSERVES if variable != name)

    class Hides(Fake):
        model_module = model

        def __init__(self):
            super().__init__()
            self.about = self.about._replace(observes=shown, capabilities=("load",))

        def observe(self):
            return {name: value for name, value in super().observe().items() if name in shown}

    connection = DirectConnection(Hides)
    session = Session(connection, Siblings(charter), QUICK, "test", charter.OBSERVES)
    session.judge.types = KINDS
    return session


def verdicts(session):
    found = [a.verdict for one in session.run(draw_items()) for a in one.assessments]
    return {verdict.id: verdict.kind for verdict in found}


def test_a_hidden_epoch_is_taken_from_the_reply_that_allotted_it():
    assert sum(HIDDEN in item.question for item in draw_items()) > 50
    assert set(verdicts(hiding("registration", charter)).values()) == {Kind.CONFORMS}


def test_a_bug_behind_a_hidden_epoch_is_found():
    assert Kind.DIVERGES in verdicts(hiding("registration", no_epoch_check)).values()


def test_what_no_other_place_shows_stays_unresolved():
    kinds = verdicts(hiding("version", charter))
    assert set(kinds.values()) == {Kind.CONFORMS, Kind.UNRESOLVED}
    writes = {item.id for item in draw_items() if b'"write"' in item.question}
    assert {name for name, kind in kinds.items() if kind is Kind.UNRESOLVED} <= writes


@pytest.mark.parametrize(
    ("step", "wanted"),
    [(1, {"ref": [1, "epoch"], "in": "reply"}), (2, {"ref": [2, "epoch"], "in": "reply"})],
)
def test_the_reply_that_shows_the_value_is_named(step, wanted):
    epoch = {"ref": [step, "registration", "n1", "epoch"], "plus": 0}
    write = ("write", {"node": "n1", "epoch": epoch, "version": 0})
    register = ("register", {"node": "n1"})
    item = item_of(vector(register, register, write))
    seen = visible(item, Judge(("leader", "version"), (), KINDS), Siblings(charter))
    assert orjson.loads(seen.question)["operations"][2]["args"]["epoch"] == {**wanted, "plus": 0}
    assert (seen.id, seen.answer) == (item.id, item.answer)


def test_a_question_is_left_as_it_is_without_need_or_without_the_model():
    (item,) = [item for item in draw_items() if HIDDEN in item.question][:1]
    other = Siblings(charter, same_state=False)
    judge = Judge(("leader", "version"), (), KINDS)
    for judged, siblings in [
        (Judge(None, (), KINDS), Siblings(charter)),
        (Judge(charter.OBSERVES, (), KINDS), Siblings(charter)),
        (Judge(("leader",), (), None), Siblings(charter)),
        (judge, None),
        (judge, other),
    ]:
        assert visible(item, judged, siblings) is item
    assert visible(item, judge, Siblings(charter)) is not item


def test_a_value_that_was_loaded_is_named_itself():
    given = {"registration": {"n1": {"epoch": "@4"}, "n2": None}, "leader": "n1", "version": 3,
             "issued": "@4"}  # fmt: skip
    epoch = {"ref": [0, "registration", "n1", "epoch"]}
    version = {"ref": [0, "version"], "plus": 1}
    write = ("write", {"node": "n1", "epoch": epoch, "version": version})
    asked = replace(question(write), given=given)
    item = item_of(Vector(asked, answer(asked), Why()))
    seen = visible(item, Judge(("leader",), (), KINDS), Siblings(charter))
    args = orjson.loads(seen.question)["operations"][0]["args"]
    assert args == {"node": "n1", "epoch": "@4", "version": 4}
