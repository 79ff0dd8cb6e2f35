"""Values from JSON."""

from __future__ import annotations

import pytest

from charter.core import types as t
from charter.formats.canonical import Json
from charter.semantics.values import TooManyValues, Universe, from_json

NODE = t.Sort("Node")


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (NODE, "n3"),
        (t.Option(NODE), "n3"),
        (t.Set(NODE), ["n1", "n3"]),
        (t.Counter("Epoch", opaque=True), "@x"),
        (t.Bool(), 1),
    ],
)
def test_json_that_is_no_value_of_a_type_is_refused_with_the_type(kind: t.Type, data: Json) -> None:
    universe = Universe({"Node": ("n1", "n2")}, {})
    with pytest.raises(ValueError, match="is not a value of") as refused:
        from_json(kind, data, universe)
    assert str(kind) in str(refused.value)


def nest(levels: int) -> t.Type:
    kind: t.Type = t.Bool()
    for level in range(levels):
        kind = t.Record(f"R{level}", (("a", kind), ("b", kind)))
    return kind


@pytest.mark.parametrize(
    "kind",
    [
        t.Set(NODE),
        t.Map(NODE, t.Bool()),
        t.Ranking(NODE),
        t.Seq(NODE, t.Limit("", 9)),
        t.Record("R", (("some", t.Set(NODE)), ("number", t.Int(t.Limit("", 0), t.Limit("", 1))))),
        nest(5),
    ],
)
def test_values_that_are_too_many_are_counted_and_not_listed(kind: t.Type) -> None:
    universe = Universe({"Node": tuple(f"n{n}" for n in range(60))}, {})
    with pytest.raises(TooManyValues, match="too many to list; choose smaller bounds"):
        universe.domain(kind)


@pytest.mark.parametrize(
    "kind",
    [
        t.Option(t.Record("R", (("a", NODE), ("b", t.Bool())))),
        t.Union("U", (("a", (("node", NODE),)), ("b", ()))),
        t.Set(NODE),
        t.Map(NODE, t.Bool()),
        t.Seq(NODE, t.Limit("", 3)),
        t.Int(t.Limit("", -2), t.Limit("", 4)),
    ],
)
def test_values_are_as_many_as_are_counted(kind: t.Type) -> None:
    universe = Universe({"Node": ("n1", "n2", "n3")}, {})
    assert universe.cardinality(kind) == len(universe.domain(kind))
