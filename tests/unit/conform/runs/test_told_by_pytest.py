"""What a failing test of pytest says is enough to follow the vector by hand."""

from dataclasses import replace

import orjson
from tests.support.fakes.planted import BUGS, implementation
from tests.support.judging import QUICK
from tests.support.toy import charter
from tests.support.toy.vectors import random_vectors

from conform.adapters.direct import DirectConnection
from conform.adapters.session import Session
from conform.judging.siblings import Siblings
from conform.suites.importing import item_of
from conform.testing.failure_text import diverges, findings_of


def test_a_failing_vector_shows_its_constants_and_its_given_state():
    connection = DirectConnection(lambda: implementation(BUGS[0]))
    asked = Session(connection, Siblings(charter), QUICK, "test", charter.OBSERVES)
    items = [item_of(made) for made in random_vectors(150, seed=5, length=9)]
    judged = (j for one in items for j in asked.run([one]))
    judgement = next(j for j in judged if j.assessments[0].verdict.deviations)
    (item,) = judgement.items
    finding = findings_of(item, judgement.assessments[0].verdict)[0]
    question = {**orjson.loads(item.question), "consts": {"cap": 2}, "given": {"waiting": ["a"]}}
    why = {**orjson.loads(item.why), "source": "solver"}
    other = replace(item, question=orjson.dumps(question), why=orjson.dumps(why))
    lines = diverges(other, finding, "again").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("vector "))
    assert lines[at + 1 : at + 3] == ["  with cap = 2", "  given {waiting: [a]}"]
    assert "chose" in lines[at + 3] and lines[at + 4].startswith("  1 ")
    plain = diverges(item, finding, "again").splitlines()
    assert plain[plain.index(lines[0]) + 3].startswith("  1 ")
