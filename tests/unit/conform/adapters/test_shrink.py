"""Findings are shrunk with the target in the loop, to the smallest vector that shows them."""

from dataclasses import replace
from functools import cache

import orjson
import pytest
from tests.support.fakes.planted import BUGS, KeepsSessions, implementation
from tests.support.judging import QUICK
from tests.support.toy import charter
from tests.support.toy.vectors import question, random_vectors, vector

from charter.formats.opaque import OpaqueTypes
from conform.adapters.direct import DirectConnection
from conform.adapters.session import Session
from conform.judging.answer import CannotAnswer, answer_of
from conform.judging.siblings import Siblings
from conform.runs.findings.findings import finding_id
from conform.runs.shrink import MOST, Shrinker, _smaller
from conform.storage.tables import cause_of
from conform.suites.importing import item_of


@cache
def long_ones():
    return [item_of(made) for made in random_vectors(150, seed=5, length=9)]


def session(bug):
    connection = DirectConnection(lambda: implementation(bug))
    return Session(connection, Siblings(charter), QUICK, "test", charter.OBSERVES)


def first_finding(asked):
    """A finding that comes first in its vectors, and the vector in which that is latest."""
    last, found = {}, {}
    for judgement in asked.run(long_ones()):
        for item, assessment in zip(judgement.items, judgement.assessments, strict=True):
            for deviation in assessment.verdict.deviations[:1]:
                sorts = orjson.loads(item.question)["sorts"]
                name = finding_id("", cause_of(deviation, sorts))
                if deviation.step > last.get(name, 0):
                    last[name], found[name] = deviation.step, item
    name = max(last, key=lambda one: (last[one], one))
    return name, found[name]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_planted_bug_is_shrunk_to_its_minimum(bug):
    asked = session(bug)
    name, item = first_finding(asked)
    shrinker = Shrinker(asked, charter)
    shrunk = shrinker.shrink(name, item)
    operations = shrunk.question["operations"]
    assert (len(operations), len(shrunk.question["sorts"]["Node"])) == bug.least, operations
    assert shrinker.asked <= MOST
    values = shrunk.sentence.rpartition(" got ")[2].partition("; and")[0]
    assert values.removeprefix("the fault ") in "\n".join(shrunk.shown)
    again = Shrinker(session(bug), charter).shrink(name, item)
    assert again == shrunk


def test_vector_that_shows_nothing_now_is_not_shrunk():
    asked = session(KeepsSessions)
    item = item_of(vector(("register", {"node": "n1"})))
    assert Shrinker(asked, charter).shrink("f-0123456789", item) is None


def test_reference_to_a_step_that_is_left_out_leads_to_the_state_before_it():
    """The epoch that the write names was read in step 3, which needs not be there."""
    epoch = {"ref": [3, "registration", "n1", "epoch"]}
    write = {"node": "n1", "epoch": epoch, "version": {"ref": [3, "version"], "plus": 1}}
    calls = [("register", {"node": "n1"}), ("elect", {}), ("register", {"node": "n2"}),
             ("write", write)]  # fmt: skip
    any_version = next(bug for bug in BUGS if bug.__name__ == "AnyVersion")
    asked, item = session(any_version), item_of(vector(*calls))
    (judgement,) = asked.run([item])
    (deviation,) = judgement.assessments[0].verdict.deviations
    sorts = orjson.loads(item.question)["sorts"]
    shrunk = Shrinker(asked, charter).shrink(finding_id("", cause_of(deviation, sorts)), item)
    assert [call["operation"] for call in shrunk.question["operations"]] == [
        "register", "elect", "write",
    ]  # fmt: skip
    assert shrunk.question["operations"][2]["args"]["epoch"] == {
        "ref": [2, "registration", "n1", "epoch"]
    }


def test_answer_of_a_model_is_that_of_the_suite():
    for made in random_vectors(20, seed=9):
        whole = made.json()
        answer = answer_of(charter, whole["question"], OpaqueTypes())
        wanted = whole["answer"]
        assert answer["observations"] == wanted["observations"]
        assert answer["steps"] == wanted["steps"]


@pytest.mark.parametrize(
    "call",
    [("write", {"node": "n1", "epoch": {"ref": [0, "registration", "n1", "epoch"]}, "version": 0}),
     ("fly", {}), ("register", {"node": "n9", "more": 1})],
)  # fmt: skip
def test_question_that_the_model_cannot_answer_has_no_answer(call):
    with pytest.raises(CannotAnswer):
        answer_of(charter, question(call).json(), OpaqueTypes())


def test_a_constant_stays_as_great_as_the_numbers_of_the_question():
    question = {"operations": [{"operation": "take", "args": {"n": 2}}], "given": None,
                "sorts": {}, "consts": {"cap": 4}}  # fmt: skip
    tried = [found["consts"]["cap"] for found in _smaller(question, {"cap": 1})
             if found["operations"]]  # fmt: skip
    assert tried == [2, 3]


def test_a_constant_stays_as_great_as_the_lists_of_the_question():
    question = {"operations": [{"operation": "fill", "args": {"with": ["a", "b", "c"]}}],
                "given": None, "sorts": {}, "consts": {"cap": 4}}  # fmt: skip
    tried = [found["consts"]["cap"] for found in _smaller(question, {"cap": 1})
             if found["operations"]]  # fmt: skip
    assert tried == [3]


def test_the_constants_of_a_given_state_stay():
    """Its types and the `always` properties may name them: it would be a state that cannot be."""
    question = {"operations": [{"operation": "close", "args": {}}], "given": {"waiting": []},
                "sorts": {}, "consts": {"cap": 4}}  # fmt: skip
    assert all(found["consts"] == {"cap": 4} for found in _smaller(question, {"cap": 1}))


@pytest.mark.parametrize(("source", "chosen"), [("solver", True), ("exploration", False)])
def test_a_shrunk_vector_says_who_chose_its_given_state(source, chosen):
    asked = session(BUGS[0])
    name, item = first_finding(asked)
    why = orjson.dumps({**orjson.loads(item.why), "source": source})
    question = orjson.loads(item.question)
    shrinker = Shrinker(asked, charter)
    assert not shrinker.shrink(name, replace(item, why=why)).chosen
    given = charter.encode(charter.initial(question["sorts"]))
    loaded = orjson.dumps({**question, "given": given}, option=orjson.OPT_SORT_KEYS)
    shrunk = shrinker.shrink(name, replace(item, why=why, question=loaded))
    assert shrunk.question["given"] is not None
    assert shrunk.chosen is shrunk.to_json().json()["chosen"] is chosen
