"""Values from JSON."""

from __future__ import annotations

import pytest

from charter.core import types as t
from charter.formats.canonical import Json
from charter.semantics.values import Universe, from_json

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
