"""Python names of a generated model."""

from __future__ import annotations

from typing import get_args

from charter import api
from charter.core.nodes import BuiltinName
from charter.render.python_model.names import PRELUDE, Names

PRINTED_OTHERWISE = {
    "size": "len",
    "set": "frozenset",
    "remove": "without",
    "min": "min",
    "max": "max",
}
TOY = """
protocol toy
record Path { steps: int 0..3 }
fun elements(p: Path) -> int 0..3 = p.steps
component box {
  state way: Path = Path { steps: 0 }
  operation go() -> bool { branch done reply elements(way) == 0 }
}
witness still of box: elements(way) == 0
"""


def test_built_in_functions_are_defined_where_python_has_none() -> None:
    builtins = set(get_args(BuiltinName))
    assert builtins - PRELUDE == set(PRINTED_OTHERWISE)
    assert "K" not in PRELUDE  # a type variable is of no use to a model


def test_names_of_the_prelude_are_taken_when_a_charter_has_them() -> None:
    model = api.load_text(TOY)
    names = Names.of(model, model.components[0])
    assert names.types["Path"] == "Path_"
    assert names.functions["elements"] == "elements_"
    assert names.local("text") == "text_"
