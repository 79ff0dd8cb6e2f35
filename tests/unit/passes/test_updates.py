"""The pass `updates`: records and maps that are changed are written out whole."""

from __future__ import annotations

from charter.core import nodes as n
from charter.core import types as t
from charter.core.show import show_expr
from charter.passes.updates import Updates

INT = t.Int()
ROW = t.Record("Row", (("left", INT), ("right", INT)))
NODE = t.Sort("Node")
row = n.Local("row", type=ROW)
one = n.Literal(1, type=INT)


def test_a_record_keeps_what_is_not_changed() -> None:
    made = Updates()(n.RecordWith(row, (("right", one),), type=ROW))
    assert made == n.RecordNew((n.FieldOf(row, "left", type=INT), one), type=ROW)


def test_what_is_changed_is_evaluated_once() -> None:
    call = n.Call("f", (), type=ROW)
    made = Updates()(n.RecordWith(call, (("left", one),), type=ROW))
    assert isinstance(made, n.Let) and made.value == call


def test_later_entries_win_when_a_map_is_changed_twice() -> None:
    kind = t.Map(NODE, INT)
    table, key = n.Local("table", type=kind), n.Local("key", type=NODE)
    two = n.Literal(2, type=INT)
    made = Updates()(n.MapWith(table, ((key, one), (key, two)), type=kind))
    assert show_expr(made) == (
        "(let old#1 = [key#1 in Node: (if (key#1 eq key) then 1 else table[key#1])] in"
        " [key#2 in Node: (if (key#2 eq key) then 2 else old#1[key#2])])"
    )


def test_a_number_that_is_no_key_has_no_value() -> None:
    kind = t.Map(t.Int(t.Limit("", 0), t.Limit("", 3)), INT)
    table, key = n.Local("table", type=kind), n.Local("key", type=INT)
    made = Updates()(n.MapWith(table, ((key, one),), type=kind))
    assert isinstance(made, n.Checked)
    assert show_expr(made.condition).startswith("(key in ")
