"""What a run says about the bounds of its questions."""

import json

from charter.formats.canonical import Json
from conform.runs.bounds import JudgedBounds, bounds_rows


def bounds_told(bounds: Json) -> str:
    return "; ".join(": ".join(filter(None, row)) for row in bounds_rows(bounds))


def ask(consts: str, jobs: int) -> str:
    ids = ",".join(f'"j{i}":{i}' for i in range(jobs))
    return f'{{"consts":{{{consts}}},"sorts":{{"Job":{{{ids}}},"Worker":{{"w":7}}}}}}'


def test_the_combinations_of_constants_and_the_most_elements_are_told() -> None:
    bounds = JudgedBounds()
    bounds.add(ask('"tries":0,"room":3', 1))
    bounds.add(ask('"room":2,"tries":1', 3))
    bounds.add(ask('"room":3,"tries":0', 2))
    assert bounds.json() == {
        "within": [
            {"constants": {"room": 2, "tries": 1}, "elements": [{"Job": 3, "Worker": 1}]},
            {"constants": {"room": 3, "tries": 0}, "elements": [{"Job": 2, "Worker": 1}]},
        ],
        "elements": {"Job": 3, "Worker": 1},
        "arguments": {},
    }
    assert bounds_told(bounds.json()) == (
        "(room, tries) = (2, 1): at most 3 Job, 1 Worker;"
        " (room, tries) = (3, 0): at most 2 Job, 1 Worker"
    )
    bounds.add(ask('"tries":0,"room":3', 3))
    told = "(room, tries) = (2, 1), (3, 0): at most 3 Job, 1 Worker"
    assert bounds_told(bounds.json()) == told


def test_constants_and_elements_that_no_question_had_together_are_not_told_as_one() -> None:
    one, other, both = JudgedBounds(), JudgedBounds(), JudgedBounds()
    one.add(ask('"largest":0', 2))
    for largest in (1, 2):
        other.add(ask(f'"largest":{largest}', 1))
    for bounds in (one, other):
        both.join(bounds.json())
    assert bounds_told(both.json()) == (
        "largest = 0: at most 2 Job, 1 Worker; largest = 1, 2: at most 1 Job, 1 Worker"
    )


def test_what_one_scenario_had_is_not_told_as_if_it_had_been_searched() -> None:
    one, both = JudgedBounds(), JudgedBounds()
    one.add(ask('"patience":2', 2), scenario=True)
    both.join(one.json())
    assert bounds_told(both.json()) == "patience = 2: at most 2 Job, 1 Worker"  # there is no other
    both.add(ask('"patience":1', 2))
    both.add(ask('"patience":2', 1))
    assert bounds_told(both.json()) == (
        "patience = 1: at most 2 Job, 1 Worker; patience = 2: at most 1 Job, 1 Worker;"
        " patience = 2, in scenarios alone: at most 2 Job, 1 Worker"
    )
    both.add(ask('"patience":2', 3))
    assert "in scenarios" not in bounds_told(both.json())


def test_runs_of_earlier_versions_list_constants_and_elements_apart() -> None:
    old = {
        "constants": [{"room": 1}, {"room": 2}], "elements": {"Job": 2, "Worker": 2},
        "together": [{"Job": 1, "Worker": 2}, {"Job": 2, "Worker": 1}],
    }  # fmt: skip
    told = "room = 1, 2: at most 1 Job with 2 Worker, or 2 Job with 1 Worker"
    assert bounds_told(old) == told


def test_buckets_are_joined_and_old_ones_have_no_bounds() -> None:
    one, other, both = JudgedBounds(), JudgedBounds(), JudgedBounds()
    one.add(ask('"loud":false', 4))
    other.add(ask('"loud":true', 4))
    for bounds in (other.json(), None, one.json()):
        both.join(bounds)
    assert bounds_told(both.json()) == "loud = false, true: at most 4 Job, 1 Worker"
    assert bounds_told(JudgedBounds().json()) == bounds_told(None) == ""


def test_of_many_combinations_the_first_are_told() -> None:
    bounds = JudgedBounds()
    for room in range(20):
        bounds.add(f'{{"consts":{{"room":{room}}},"sorts":{{}}}}')
    assert bounds_told(bounds.json()) == "room = 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"


def test_a_charter_without_constants_has_elements_only() -> None:
    bounds = JudgedBounds()
    bounds.add('{"sorts":{"Job":{"j":1}}}')
    assert bounds_told(bounds.json()) == "elements: at most 1 Job"


def write_sizes(clients: int, names: int) -> str:
    sorts = {"Client": clients, "Name": names}
    told = ",".join(
        f'"{sort}":{{{",".join(f"{chr(34)}{sort}{i}{chr(34)}:{i}" for i in range(size))}}}'
        for sort, size in sorts.items()
    )
    return f'{{"sorts":{{{told}}}}}'


def test_sizes_that_no_question_had_together_are_not_told_as_one() -> None:
    one, other, both = JudgedBounds(), JudgedBounds(), JudgedBounds()
    for clients, names in ((1, 1), (2, 1)):
        one.add(write_sizes(clients, names))
    other.add(write_sizes(1, 2))
    for bounds in (one, other):
        both.join(bounds.json())
    told = "elements: at most 1 Client with 2 Name, or 2 Client with 1 Name"
    assert bounds_told(both.json()) == told
    both.add(write_sizes(2, 2))
    assert bounds_told(both.json()) == "elements: at most 2 Client, 2 Name"


def test_of_many_sizes_the_first_are_told_and_older_runs_have_none() -> None:
    bounds = JudgedBounds()
    for size in range(1, 12):
        bounds.add(write_sizes(size, 12 - size))
    assert bounds_told(bounds.json()).endswith("8 Client with 4 Name and 3 more")
    old = {"constants": [], "elements": {"Client": 2, "Name": 2}}
    assert bounds_told(old) == "elements: at most 2 Client, 2 Name"


def test_elements_that_no_question_names_are_told() -> None:
    """A question has them, and asks nothing about them: two messages of which one is ever sent."""
    sorts = {"Box": {"b1": 1}, "Message": {"m1": 1, "m2": 2}}
    post = {"operation": "post", "args": {"box": "b1", "message": "m1"}}
    one, both = JudgedBounds(), JudgedBounds()
    one.add(json.dumps({"sorts": sorts, "operations": [post]}))
    one.add(json.dumps({"sorts": sorts, "operations": [{**post, "args": {"message": "m2"}}]}))
    both.join(one.json())
    named = "elements that the operations of one question name: at most 1 Message"
    told = f"elements: at most 1 Box, 2 Message; {named}"
    assert bounds_told(both.json()) == told
    both.add(json.dumps({"sorts": sorts, "given": {"kept": {"m1": None}}, "operations": [
        {**post, "args": {"message": "m2"}}]}))  # fmt: skip
    assert bounds_told(both.json()) == "elements: at most 1 Box, 2 Message"


def call(operation: str, **args: object) -> str:
    return json.dumps({"sorts": {}, "operations": [{"operation": operation, "args": args}]})


def test_the_least_and_the_largest_number_of_each_argument_are_told() -> None:
    """A constant that only bounds a type is in no question, but its values are."""
    one, other, both = JudgedBounds(), JudgedBounds(), JudgedBounds()
    one.add(call("submit", job="j1", priority=1, urgent=True))
    other.add(call("submit", job="j1", priority=0, urgent=False))
    other.add(call("limit", to={"rates": [3, 2], "name": "x"}))
    other.add(call("stop", after=2))
    assert one.json() == {
        "within": [{"constants": {}, "elements": []}], "elements": {},
        "arguments": {"submit priority": [1, 1]},
    }  # fmt: skip
    for bounds in (one.json(), other.json()):
        both.join(bounds)
    told = "rates of to of limit: 2 to 3; after of stop: 2; priority of submit: 0 to 1"
    assert bounds_told(both.json()) == told


def test_an_argument_that_refers_to_what_was_observed_has_no_bounds() -> None:
    refers = call("lead", epoch={"ref": [0, "epoch"], "plus": 1})
    one, other = JudgedBounds(), JudgedBounds()
    for each in (call("lead", epoch=7), refers, call("lead", epoch=9)):
        one.add(each)
    other.add(call("lead", epoch=8))
    other.join(one.json())
    assert bounds_told(one.json()) == bounds_told(other.json()) == ""
