"""What a judge may ask is in the generated model, so that a judge can draw it."""

from charter import api
from charter.formats.types import parse_type
from charter.render.python_model.offered import print_offered

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
    for name in ("PARAMS", "PARAM_TYPES", "INSTANCES"):
        assert text.count(f"{name}: Mapping") == 1
    assert '"entry": "option Entry"' in text
    assert '"order": "list distinct Node"' in text
    assert '"log": "list ..most Epoch"' in text
    assert '"Entry": "{epoch: Epoch, size: int 0..most}"' in text
    assert '"two": ({"Node": "n1 n2"}, {"most": 3}, "put")' in text


def test_types_of_parameters_are_read_with_their_limits():
    assert parse_type("int 0..ttl+1", "x").names == ("0", "ttl+1")
    assert parse_type("list ..most int 1..2", "x").names == ("most",)
    assert parse_type("list distinct Node", "x").names == ("distinct",)
    assert parse_type("map int -> int -1..2", "x").parts[1][1].names == ("-1", "2")
    assert parse_type("{a: int, b: int 0..9}", "x").parts[0][1].names == ()
