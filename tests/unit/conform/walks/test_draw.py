"""Arguments of walks are of their types, and refer to what the target showed."""

from collections import Counter
from random import Random
from types import SimpleNamespace

import orjson
import pytest

from charter.formats.types import read_types
from conform.console.errors import BadSuite
from conform.walks.coverage import WalkCoverage
from conform.walks.draw import ArgumentDrawer
from conform.walks.offered import OfferedWorld, choose_worlds, read_offered
from conform.walks.places import SeenValues, ValueFinder

MODEL = SimpleNamespace(
    __name__="charter_models.toy.drawn",
    PARAMS={
        "renew": {"node": "Node", "epoch": "Epoch"},
        "bump": {"version": "Version"},
        "put": {"size": "int 1..most", "log": "list ..most Mode", "order": "list distinct Node",
                "some": "set Node", "entry": "option Entry", "kinds": "map Node -> bool",
                "flags": "map bool -> Mode", "shape": "union round{size: int 0..1}, flat{}"},
    },
    PARAM_TYPES={"Node": "sort", "Epoch": "ordered", "Version": "int", "Mode": "enum FAST, SLOW",
                 "Entry": "{epoch: Epoch, mode: Mode}"},
    INSTANCES={"two": ({"Node": "n1 n2"}, {"most": 3}, ""),
               "same": ({"Node": "n1 n2"}, {"most": 3}, "renew"),
               "one": ({"Node": "n1"}, {"most": 1}, "")},
)  # fmt: skip
TYPES = read_types(
    {"replies": {"renew": "Epoch"}, "observes": {"held": "map Node -> option Epoch",
                                                 "version": "Version"},
     "names": {"Node": "sort", "Epoch": "ordered", "Version": "int"}},
    "types",
)  # fmt: skip


def see(*observations):
    finder, seen = ValueFinder(TYPES), SeenValues()
    for step, observation in enumerate(observations):
        seen.add(step, finder.find_observed(orjson.dumps(observation)))
    return seen


def draw(operation, seen, count=400):
    offered = read_offered(MODEL)
    world = offered.instances["two"]
    return [ArgumentDrawer(offered, world, seen, Random(n)).draw(operation) for n in range(count)]


def test_counter_is_mostly_the_current_one_under_the_key_that_is_named():
    seen = see(
        {"held": {"n1": "#1", "n2": None}, "version": 0},
        {"held": {"n1": "#3", "n2": "#2"}, "version": 1},
    )
    drawn = Counter(
        (args["node"], orjson.dumps(args["epoch"]).decode()) for args in draw("renew", seen)
    )
    own = drawn["n1", '{"ref":[1,"held","n1"]}'] + drawn["n2", '{"ref":[1,"held","n2"]}']
    assert 0.75 * 400 < own < 400
    assert drawn["n1", '{"ref":[1,"held","n2"]}']
    assert drawn["n1", '{"ref":[0,"held","n1"]}']
    assert drawn["n1", '{"never_issued":true}']


def test_plain_counter_is_sometimes_one_more_or_less_and_never_below_zero():
    drawn = [args["version"] for args in draw("bump", see({"held": {}, "version": 1}))]
    assert {value.get("plus", 0) for value in drawn} == {0, 1, -1}
    none = [args["version"] for args in draw("bump", see({"held": {}, "version": 0}))]
    assert {value.get("plus", 0) for value in none} == {0, 1}


def test_counter_that_nobody_showed_is_never_issued_or_a_small_number():
    assert {orjson.dumps(args["epoch"]) for args in draw("renew", SeenValues())} == {
        b'{"never_issued":true}'
    }
    assert {args["version"] for args in draw("bump", SeenValues())} == {0, 1}


def test_values_without_counters_are_of_their_types():
    drawn = draw("put", SeenValues())
    assert {args["size"] for args in drawn} == {1, 2, 3}
    assert {len(args["log"]) for args in drawn} == {0, 1, 2, 3}
    assert all(len(set(args["order"])) == len(args["order"]) for args in drawn)
    assert {tuple(args["some"]) for args in drawn} == {(), ("n1",), ("n2",), ("n1", "n2")}
    assert all(args["kinds"].keys() == {"n1", "n2"} for args in drawn)
    assert all(args["flags"].keys() == {"false", "true"} for args in drawn)
    assert {orjson.dumps(args["shape"]) for args in drawn} == {
        b'{"case":"round","size":0}', b'{"case":"round","size":1}', b'{"case":"flat"}'
    }  # fmt: skip
    assert any(args["entry"] is None for args in drawn)


def test_arguments_depend_on_the_order_of_values_and_not_on_their_numbers():
    one = see({"version": 2, "held": {"n2": "#2", "n1": "#1"}})
    other = see({"held": {"n1": "#1", "n2": "#2"}, "version": 2})
    assert draw("renew", one, 50) == draw("renew", other, 50)


def test_reply_is_a_place_too():
    finder, seen = ValueFinder(TYPES), SeenValues()
    seen.add(0, finder.find_observed(b'{"held":{"n1":null,"n2":null},"version":0}'))
    seen.add(1, (), finder.find_replied("renew", b'"#1"'))
    assert {"ref": [1], "in": "reply"} in [args["epoch"] for args in draw("renew", seen)]


def test_worlds_of_walks_are_those_of_instances_each_once():
    offered = read_offered(MODEL)
    whole = OfferedWorld({"Node": ("n1", "n2")}, {"most": 3})
    assert choose_worlds(offered, "")[0] == whole
    assert len(choose_worlds(offered, "")) == 2
    assert choose_worlds(offered, "same")[0].operations == ("renew",)


def test_model_of_an_earlier_version_is_refused_with_the_remedy():
    with pytest.raises(BadSuite, match=r"does not say what a walk may ask.*conform generate"):
        read_offered(SimpleNamespace(__name__="charter_models.toy.old"))


def test_rare_branches_pairs_and_triples_count_more():
    coverage = WalkCoverage()
    assert coverage.measure(("a", "b"), "c") == 3.0
    coverage.add(("a", "b"), "c")
    assert coverage.measure(("a", "b"), "c") == 1.5
    assert coverage.measure(("b", "a"), "c") == 2.5
    assert coverage.count(2) == 1


def test_limits_are_numbers_constants_or_sums():
    world = OfferedWorld({"Node": ("n1",)}, {"max_v2": 4})
    drawer = ArgumentDrawer(read_offered(MODEL), world, SeenValues(), Random(0))
    limits = ("3", "-2", "max_v2", "max_v2+1", "max_v2-1")
    assert [drawer.world.read_limit(limit) for limit in limits] == [3, -2, 4, 5, 3]
