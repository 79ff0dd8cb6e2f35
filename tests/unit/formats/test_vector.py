"""Vectors are read strictly: whatever is not one is refused in one sentence."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.suites import seal, write_suite
from tests.support.toy.vectors import random_vectors, vector

import charter.formats.vector
from charter.formats.reading import BadVector
from charter.formats.suite import Manifest, Models, parse_manifest, read_lines, read_manifest
from charter.formats.vector import Answer, AnswerNode, Vector, Why, read_line, read_vector
from conform.suites.importing import import_line

SCHEMAS = Path(charter.formats.vector.__file__).parent / "schemas"
VECTORS = random_vectors(10, seed=5)
ONE = VECTORS[0].json()


def change(path, value):
    copied = copy.deepcopy(ONE)
    at = copied
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return copied


def test_reading_gives_back_what_was_written():
    for one in VECTORS:
        assert read_line(one.line(), "x") == one


def test_vectors_are_in_the_schema():
    validator = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "vector.json").read_text()))
    for one in VECTORS:
        validator.validate(one.json())
    assert not validator.is_valid(change(["question", "format"], 2))


def test_id_depends_on_the_question_only():
    call = ("register", {"node": "n1"})
    assert vector(call).id == vector(call).id
    assert vector(call).id != vector(call, call).id
    assert len(vector(call).id) == 20


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (["question", "format"], 7, "question: the format is 7, this program reads 1"),
        (["question", "sorts"], [], "question.sorts: not an object"),
        (["question", "given"], 3, "question.given: neither null nor an object"),
        (["question", "sorts", "Node"], {"a": 1, "b": 1}, "two elements have the same concrete"),
        (["question", "delta"], ["x"], r"question.delta\[0\]: not a whole number"),
        (["question", "operations", 0, "args"], None, r"operations\[0\].args: not an object"),
        (["answer", "question"], "0" * 20, "this answer belongs to another question"),
        (["answer", "steps"], [], "answer.steps: 0 steps for 6 operations"),
        (["answer", "digest"], "0" * 20, "answer.digest: the content was changed"),
        (["answer", "steps", 1, 0, "reply"], 99, r"answer.steps\[1\]: there is no reply 99"),
        (["answer", "steps", 1, 0, "from"], [5], r"answer.steps\[1\]: a node comes from"),
        (["answer", "steps", 1, 0, "from"], [], "only the nodes of step 0 come from nowhere"),
        (["answer", "steps", 2], [], r"answer.steps\[2\]: 0 nodes"),
        (["why", "source"], "rumour", "why.source: not one of scenario"),
        (["why", "more"], 1, "why: the field 'more' is not known here"),
        (["extra"], 1, "vector: the field 'extra' is not known here"),
    ],
)
def test_what_is_not_a_vector_is_refused_with_its_place(path, value, sentence):
    with pytest.raises(BadVector, match=sentence):
        read_vector(change(path, value))


def test_missing_field_is_named():
    copied = copy.deepcopy(ONE)
    del copied["answer"]["replies"]
    with pytest.raises(BadVector, match="answer: the field 'replies' is missing"):
        read_vector(copied)


def test_line_that_is_cut_off_is_refused():
    line = VECTORS[0].line()
    with pytest.raises(BadVector, match=r"vectors\.jsonl:3: this line is no JSON"):
        read_line(line[: len(line) // 2], "vectors.jsonl:3")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=10,
)


def all_places(value, path=()):
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += all_places(item, (*path, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            found += all_places(item, (*path, key))
    return found


@given(st.data())
def test_any_change_is_refused_or_changes_the_vector(data):
    """No traceback, whatever stands at whichever place."""
    path = data.draw(st.sampled_from(all_places(ONE)))
    value = data.draw(anything)
    try:
        read = read_vector(change(list(path), value))
    except BadVector:
        return
    assert read.json() == change(list(path), value)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(content):
    with pytest.raises(BadVector):
        read_line(content, "x")


def test_suite_round_trip_and_its_digest(tmp_path):
    about = Manifest("", "toy.lease", "", "keeper", "5eed", 0)
    written = write_suite(tmp_path, reversed(VECTORS), about)
    assert read_manifest(tmp_path) == written
    assert written.vectors == len(VECTORS)
    assert written == seal(written, VECTORS) == seal(written, reversed(VECTORS))
    assert {one.id for one in read_lines(tmp_path / "vectors.jsonl")} == {v.id for v in VECTORS}
    assert seal(written, VECTORS[1:]).digest != written.digest
    other = replace(written, consts={"ttl": "int 1..9"})
    assert seal(other, VECTORS).digest != written.digest


@pytest.mark.parametrize(
    "models",
    [
        Models("os"),
        Models("tests.support.toy.charter"),
        Models("charter_models"),
        Models("charter_models..x"),
        Models("charter_models_of_mine.x"),
        Models("", {"known": {"entry": "antigravity"}}),
        Models("", {}, {"mutant": "charter_models.x/../y"}),
    ],
)
def test_a_manifest_names_only_generated_models(models):
    about = Manifest("d" * 20, "p", "", "c", "s", 0, models)
    with pytest.raises(BadVector, match="which is no generated model; the modules of those begin"):
        parse_manifest(about.json(), "manifest.json")


def test_a_manifest_names_constants_if_there_are_any():
    about = Manifest("d" * 20, "p", "", "c", "s", 0, consts={"ttl": "int 1..9"})
    assert parse_manifest(about.json(), "manifest.json") == about
    assert "consts" not in Manifest("d", "p", "", "c", "s", 0).json()


def test_manifest_with_another_format_is_refused():
    value = {**Manifest("d", "p", "", "c", "s", 0).json(), "format": 9}
    with pytest.raises(BadVector, match="the format is 9"):
        parse_manifest(value, "manifest.json")


OBSERVATIONS = ({"a": 1, "b": {"c": [2], "d": 1}}, {"a": 1, "b": {"c": []}}, {"a": 0, "b": {}})


def of_three(given):
    """A vector with three observations."""
    steps = tuple((AnswerNode((0,) if i else (), "", -1, i),) for i in range(3))
    calls = VECTORS[0].question.operations[:1] * 2
    question = replace(VECTORS[0].question, operations=calls, given=given)
    return Vector(question, Answer(OBSERVATIONS, (), steps), Why())


def test_a_line_has_what_changed_in_each_observation():
    one = of_three(None)
    stored = json.loads(one.line())["answer"]
    assert stored["observations"] == [{"a": 1, "b": {"c": [2], "d": 1}}]
    assert stored["changes"] == [{"b": {"c": [], "d": "-"}}, {"a": 0, "b": {"c": "-"}}]
    assert read_line(one.line(), "x") == one
    assert read_vector(one.json(), "x") == one  # whole observations are read, too


def test_the_first_observation_is_written_as_what_differs_from_the_given_state():
    one = of_three({"a": 1, "b": {"c": [2]}, "hidden": "@3"})
    stored = json.loads(one.line())["answer"]
    assert stored["observations"] == []
    assert stored["changes"][0] == {"b": {"d": 1}, "hidden": "-"}
    assert read_line(one.line(), "x") == one


def test_lines_are_in_the_schema():
    validator = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "vector.json").read_text()))
    for one in (*VECTORS, of_three({"a": 1}), of_three(None)):
        validator.validate(json.loads(one.line()))


def test_a_line_of_an_earlier_version_has_whole_variables_that_changed():
    one = of_three({"a": 1})
    line = one.json()
    line["answer"]["observations"] = [OBSERVATIONS[0], {"b": {"c": []}}, {"a": 0, "b": {}}]
    assert read_vector(line, "x") == one


@pytest.mark.parametrize(
    ("given", "observations", "changes", "sentence"),
    [
        (None, [], [{"a": 1}], r"changes\[0\]: there is no observation and no given state that"),
        (None, [3], [{"a": 1}], r"changes\[0\]: there is no observation and no given state that"),
        ({"a": 1}, [], [{"b": "-"}], r"changes\[0\]: 'b' is gone, but it was not there before"),
        (None, [{"a": {}}], [{"a": {"b": "-"}}], r"changes\[0\].a: 'b' is gone, but it was not"),
        (None, [{"a": 1}], [{}, 7], r"answer.changes\[1\]: not an object"),
        (None, [{"a": 1}], "x", "answer.changes: not an array"),
        (None, [{"a": 1}], [], "there is no observation 1"),
        (None, [{"a": 1}], [{"a": 2}, {"a": 3}], "answer.digest: the content was changed"),
    ],
)
def test_changes_that_do_not_fit_are_refused_with_their_place(
    given, observations, changes, sentence
):
    line = of_three(given).json()
    line["answer"] |= {"observations": observations, "changes": changes}
    with pytest.raises(BadVector, match=sentence):
        read_vector(line, "x")
    with pytest.raises(BadVector, match=sentence):
        import_line(json.dumps(line).encode(), "x")
