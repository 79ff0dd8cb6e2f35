"""What a judge may ask is in the generated model, so that a judge can draw it."""

import ast
import json

from charter import api
from charter.formats.types import parse_type
from charter.render.python_model.offered import print_offered
from charter.suites.planning.asked_preludes import list_preludes

TEXT = """protocol test.offered
sort Node
counter Epoch
enum Mode { FAST, SLOW }
const most: int 1..9
record Entry { epoch: Epoch, size: int 0..most }
component keeper {
  state epoch: Epoch = 0
  operation put(node: Node, entry: option Entry, mode: Mode) -> bool {
    branch done { reply true }
  }
  operation rank(order: ranking Node, log: seq Epoch max most) -> bool {
    branch done { reply true }
  }
  observe all { epoch }
}
witness idle of keeper: took rank
instance two of keeper {
  Node = 2
  most = 3
  offers put
  misses rank/done, idle
}
"""


def test_tables_have_parameters_types_and_instances():
    model = api.load_text(TEXT)
    text = print_offered(model, model.components[0])
    for line in text.replace(": Mapping[str, Mapping[str, str]]", "").split("\n"):
        assert len(line) <= 100
    for name in ("PARAMS", "PARAM_TYPES", "INSTANCES", "PRELUDES", "PRELUDE_CALLS"):
        assert text.count(f"{name}: ") == 1
    assert '"entry": "option Entry"' in text
    assert '"order": "list distinct Node"' in text
    assert '"log": "list ..most Epoch"' in text
    assert '"Entry": "{epoch: Epoch, size: int 0..most}"' in text
    assert '"two": ({"Node": "n1 n2"}, {"most": 3}, "put")' in text


def test_many_offered_operations_are_of_several_parts():
    names = [f"operation_with_a_long_name_{number}" for number in range(9)]
    added = "".join(
        f"  operation {one}() -> bool {{ branch done {{ reply true }} }}\n" for one in names
    )
    longer = TEXT.replace("  observe all", f"{added}  observe all")
    model = api.load_text(longer.replace("offers put", f"offers put, {', '.join(names)}"))
    text = print_offered(model, model.components[0])
    assert all(len(line) <= 100 for line in text.split("\n"))
    table = text.partition("int], str]] = ")[2].partition("\nPRELUDES")[0]
    assert ast.literal_eval(table)["two"][2] == " ".join(["put", *names])


def test_preludes_are_operations_with_references():
    led = TEXT.replace("instance two of keeper {", """instance two of keeper {
      start epoch = 1
      prelude { do put(n1, present(Entry { epoch: epoch, size: 1 }), FAST) }""").replace(
        "branch done { reply true }", "branch done { epoch' = bump(epoch) reply true }", 1
    )  # fmt: skip
    model = api.load_text(led)
    preludes = list_preludes(model, "keeper")
    assert [json.loads(call) for call in preludes["two"]] == [
        {"operation": "put",
         "args": {"node": "n1", "entry": {"epoch": {"ref": [0, "epoch"]}, "size": 1},
                  "mode": "FAST"}}
    ]  # fmt: skip
    text = print_offered(model, model.components[0], preludes)
    assert all(len(line) <= 100 for line in text.split("\n"))
    assert 'PRELUDES: Mapping[str, str] = {"two": "0"}' in text
    calls = ast.literal_eval(text.partition("PRELUDE_CALLS: Mapping[str, str] = ")[2])
    assert [*calls.values()] == preludes["two"]


def test_types_of_parameters_are_read_with_their_limits():
    assert parse_type("int 0..ttl+1", "x").names == ("0", "ttl+1")
    assert parse_type("list ..most int 1..2", "x").names == ("most",)
    assert parse_type("list distinct Node", "x").names == ("distinct",)
    assert parse_type("map int -> int -1..2", "x").parts[1][1].names == ("-1", "2")
    assert parse_type("{a: int, b: int 0..9}", "x").parts[0][1].names == ()
