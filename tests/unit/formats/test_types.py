"""Values that are not of their declared type are named with path and type."""

import pytest

from charter.formats.reading import BadVector
from charter.formats.types import read_types

SORTS = {"Node": {"n1": 0, "n2": 7}}
TYPES = {
    "replies": {"acquire": "Reply", "expire": "bool", "tick": "map int -> bool"},
    "observes": {"leases": "map Node -> option Lease", "waiting": "set Node", "log": "list int"},
    "names": {
        "Node": "sort", "Token": "ordered", "Id": "opaque", "Term": "int",
        "Error": "enum NOT_HELD, STALE",
        "Lease": "{holder: Node, token: Token, id: Id, term: Term, fair: bool}",
        "Reply": "union granted{token: Token}, refused{error: Error}, ok{}",
    },
}  # fmt: skip
LEASE = {"holder": "n1", "token": "@3", "id": "~x", "term": 1, "fair": True}


@pytest.fixture(scope="module")
def types():
    return read_types(TYPES, "types")


@pytest.mark.parametrize(
    ("operation", "reply", "wrong"),
    [
        ("acquire", {"case": "granted", "token": "@0"}, ""),
        ("acquire", {"case": "ok"}, ""),
        ("acquire", {"case": "granted", "token": 0},
         'reply.token is 0, not an opaque counter such as "@17"'),
        ("acquire", {"case": "granted"}, "reply.token is missing"),
        ("acquire", {"case": "grnted", "token": "@0"},
         'reply.case is "grnted", not one of granted, refused, ok; did you mean granted?'),
        ("acquire", {"case": "refused", "error": "NOT_HLD"},
         'reply.error is "NOT_HLD", not one of NOT_HELD, STALE; did you mean NOT_HELD?'),
        ("acquire", {"case": "ok", "tokn": 1}, "reply.tokn is not known to the charter"),
        ("acquire", None, 'reply is null, not an object with a "case" (granted, refused, ok)'),
        ("expire", 1, "reply is 1, not true or false"),
        ("tick", [[1, True]], ""),
        ("tick", [[1, 2]], "reply.0.1 is 2, not true or false"),
        ("tick", {}, "reply is {}, not an array of pairs"),
        ("tick", [[1, True], [2, True], [1, False]],
         "reply is [[1,true],[2,true],[1,false]], not a map: it has the key 1 twice"),
        ("unknown", 1, ""),
    ],
)  # fmt: skip
def test_reply_that_is_not_of_its_type_is_told(types, operation, reply, wrong):
    assert types.wrong_reply(operation, reply, SORTS) == wrong


@pytest.mark.parametrize(
    ("observation", "wrong"),
    [
        ({"leases": {"n1": LEASE, "n2": None}, "waiting": ["n1"], "log": [1, 1]}, ""),
        ({}, ""),
        ({"leases": {"n1": None}}, "leases.n2 is missing"),
        ({"leases": {"n1": None, "n2": None, "n3": None}},
         "leases.n3 is not known to the charter"),
        ({"leases": {"n1": {**LEASE, "holder": "n9"}, "n2": None}},
         'leases.n1.holder is "n9", not an element of Node: n1, n2'),
        ({"leases": {"n1": {**LEASE, "id": 3}, "n2": None}},
         'leases.n1.id is 3, not an opaque text such as "~a"'),
        ({"leases": {"n1": {**LEASE, "term": "@1"}, "n2": None}},
         'leases.n1.term is "@1", not a whole number'),
        ({"waiting": ["n1", "n2", "n1"]},
         'waiting is ["n1","n2","n1"], not a set: it has "n1" twice'),
        ({"log": {}}, "log is {}, not an array"),
        ({"leses": {}},
         "leses is not a variable that observations show; did you mean leases?"),
        ([], "the observation is [], not an object"),
    ],
)  # fmt: skip
def test_observation_that_is_not_of_its_type_is_told(types, observation, wrong):
    assert types.wrong_observation(observation, SORTS) == wrong


@pytest.mark.parametrize(
    "text", ["", "{", "option", "map Node", "{a Node}", "Node Node", "Unknown", "enum ", "a-b"]
)
def test_text_that_is_no_type_is_refused(text):
    with pytest.raises(BadVector, match="type"):
        read_types({**TYPES, "observes": {"x": text}}, "types")
    with pytest.raises(BadVector, match="not an object"):
        read_types({}, "types")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"A": "{b: B}", "B": "option A"}, "contains itself"),
        ({"A": "A"}, "contains itself"),
        ({"T": "ordered", "L": "ordered"}, "compare values of T with values of L"),
        ({"T": "opaque", "L": "opaque", "M": "opaque"}, "values of T, L with values of M"),
        ({"T": "opaque", "R": "{id: T}", "S": "list set R"}, "the order of opaque values in a set"),
        ({"T": "opaque", "S": "map T -> int"}, "the order of opaque values in a set"),
    ],
)
def test_types_whose_labels_would_be_wrong_or_endless_are_refused(names, said):
    types = {"replies": {}, "observes": {}, "names": names}
    with pytest.raises(BadVector, match=said):
        read_types(types, "types")
    if "itself" not in said:
        assert read_types({**types, "state": {"x": "int"}}, "types").state
