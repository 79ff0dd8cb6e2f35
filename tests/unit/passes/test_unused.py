"""The pass `unused`: what nobody reads goes, unless it may have no value."""

from __future__ import annotations

from charter import api
from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import locals_of
from charter.passes import lower
from charter.passes.unused import without_let

TOY = """
protocol toy
sort Node
component box {
  state held: set Node = {}
  state other: option Node = none
  operation put(node: Node) -> bool {
    let unread = held | {node}
    let chained = unread
    let partial = value(other)
    let late = node in held
    branch first when node in held reply false
    branch second when late {
      let inside = held
      let shown = held
      held' = shown | {node}
      reply true
    }
    branch third reply true
  }
}
system pair {
  box: box
  step put(node: Node) {
    let forgotten = box.held
    let seen = node in box.held
    require seen
    box.put(node)
  }
}
witness some_held of box: held != {}
"""


def names(lines: tuple[n.Statement, ...]) -> list[str]:
    return [line.name for line in lines if isinstance(line, n.Bind)]


def test_bindings_go_when_nobody_reads_them() -> None:
    model = lower(api.load_text(TOY))
    (put,) = model.components[0].operations
    first, second, third = put.branches
    # What may have no value stays, and a let that a later branch reads stays in all branches.
    assert names(first.lets) == names(third.lets) == ["partial", "late"]
    assert names(second.body) == ["shown"]
    assert names(model.systems[0].steps[0].body) == ["seen"]


def test_a_let_of_an_expression_goes_when_its_name_is_not_read() -> None:
    whole = n.Literal(1, type=t.Int())
    body = n.Literal(True, type=t.Bool())
    assert without_let(n.Let("x", whole, body, type=body.type)) == body
    partial = n.Checked(n.Local("c", type=t.Bool()), whole, "why", type=whole.type)
    kept = n.Let("x", partial, body, type=body.type)
    assert without_let(kept) == kept
    read = n.Let("x", whole, n.Local("x", type=whole.type), type=whole.type)
    assert without_let(read) == read and locals_of(read) == {"x"}
