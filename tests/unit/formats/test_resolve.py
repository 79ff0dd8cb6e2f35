"""References into what was observed and replied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.formats.resolve import History, Unresolved, find_references, resolve

SEEN = (
    {"epoch": None, "version": 0, "log": []},
    {"epoch": "@7", "version": 3, "log": [{"at": "~x"}]},
)
REPLIES = (None, {"case": "granted", "token": "@9", "ttl": 5})


def resolve_all(args):
    return resolve(args, History(SEEN, REPLIES), lambda path: f"never at {path}")


def test_reference_in_the_depth_of_the_arguments():
    args = {"request": {"epoch": {"ref": [1, "epoch"]}, "items": [{"ref": [1, "log", 0, "at"]}]}}
    assert resolve_all(args) == {"request": {"epoch": "@7", "items": ["~x"]}}


def test_reference_with_an_addition():
    assert resolve_all({"v": {"ref": [1, "version"], "plus": -4}}) == {"v": -1}


def test_reference_into_a_reply():
    token = {"ref": [1, "token"], "in": "reply"}
    assert resolve_all({"token": token}) == {"token": "@9"}
    assert resolve_all({"ttl": {"ref": [1, "ttl"], "in": "reply", "plus": 1}}) == {"ttl": 6}
    assert [*find_references({"a": [token, {"ref": [0, "version"]}]})] == [(1, True), (0, False)]


def test_what_looks_like_a_reference_and_is_none():
    for value in ({"ref": [1, "epoch"], "in": "state"}, {"ref": 1}, {"ref": [1], "of": "reply"}):
        assert resolve_all({"x": value}) == {"x": value}


def test_never_issued_tells_its_place():
    assert resolve_all({"a": [{"never_issued": True}]}) == {"a": ["never at ('a', 0)"]}


@pytest.mark.parametrize(
    "reference",
    [
        {"ref": [0, "epoch"]},
        {"ref": [2, "epoch"]},
        {"ref": [-1, "epoch"]},
        {"ref": []},
        {"ref": ["epoch"]},
        {"ref": [1, "nothing"]},
        {"ref": [1, "log", 5]},
        {"ref": [1, "version", "deeper"]},
        {"ref": [1, "epoch"], "plus": 1},
        {"ref": [1, "epoch"], "in": "reply"},
        {"ref": [0, "token"], "in": "reply"},
        {"ref": [2, "token"], "in": "reply"},
    ],
)
def test_reference_that_leads_nowhere(reference):
    with pytest.raises(Unresolved):
        resolve_all({"x": reference})


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
)


@given(plain)
def test_arguments_without_references_stay_as_they_are(args):
    assert resolve_all(args) == args
