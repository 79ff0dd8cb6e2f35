"""The quick way into the engine's form refuses whatever the strict way refuses."""

import copy
import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.toy.vectors import random_vectors
from tests.unit.formats.test_vector import all_places, anything

from charter.formats import canonical
from charter.formats.reading import BadVector
from charter.formats.vector import read_vector
from conform.suites.importing import _quick, import_line, import_value, import_vector

VECTORS = random_vectors(10, seed=31)
ONE = VECTORS[0].json()


def test_quick_and_strict_agree():
    for one in VECTORS:
        assert _quick(one.json()) == import_vector(one)
        assert import_line(one.line().encode(), "x") == import_vector(one)


@given(st.data())
def test_any_change_is_refused_as_by_the_strict_reader(data):
    changed = copy.deepcopy(ONE)
    *path, last = data.draw(st.sampled_from(all_places(ONE)))
    at = changed
    for part in path:
        at = at[part]
    at[last] = data.draw(anything)
    try:
        expected = import_vector(read_vector(changed))
    except BadVector as error:
        with pytest.raises(BadVector) as refused:
            import_value(changed, "vector")
        assert str(refused.value) == str(error)
    else:
        assert import_value(changed, "vector") == expected


@given(st.binary(max_size=100))
def test_any_bytes_are_refused(content):
    with pytest.raises(BadVector):
        import_line(content, "x")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["steps", 1, 0, "reply"], -2),
        (["steps", 1, 0, "observation"], 10_000),
        (["steps", 1, 0, "from"], [3]),
        (["steps", 1, 0, "from"], [True]),
        (["steps", 2], []),
    ],
)
def test_automaton_that_is_not_in_order_is_refused_even_with_the_right_digest(path, value):
    changed = copy.deepcopy(ONE)
    answer = at = changed["answer"]
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value

    content = {name: answer[name] for name in ("observations", "replies", "steps")}
    answer["digest"] = canonical.digest(content)
    with pytest.raises(BadVector):
        import_line(orjson.dumps(changed), "x")


def test_numbers_that_json_does_not_have_are_refused():
    line = json.dumps({**ONE, "why": {**ONE["why"], "title": float("inf")}})
    with pytest.raises(BadVector):
        import_line(line.encode(), "x")


def test_half_a_surrogate_pair_is_refused():
    line = json.dumps({**ONE, "why": {**ONE["why"], "title": "\ud800"}})
    with pytest.raises(BadVector, match="surrogates"):
        import_line(line.encode(), "x")
