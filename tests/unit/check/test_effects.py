"""Checks beyond types: choices, totality, shadowed branches, ghost state."""

from __future__ import annotations

import re

import pytest
from tests.support.charters import codes

from charter.check.warnings.effects import check_system
from charter.core import nodes as n
from charter.core import types as t
from charter.core.rewrite import rewrite_step
from charter.core.walk import statement_expressions
from charter.diagnostics import Diagnostics

COMPONENT = """component c {{
  state ready: set Broker = {{}}
  state each: map Topic -> set Broker = [t in Topic: {{}}]
  state on: bool = false
  ghost state ever: bool = false
  operation go(t: Topic, b: Broker) -> bool {{ {branches} }}
}}
witness w of c: ready == ready
"""


def list_codes(branches: str) -> list[str]:
    return codes(COMPONENT.format(branches=branches))


PICK = "{ pick x in ready reply x == b }"
LAST = "branch last reply false"


@pytest.mark.parametrize(
    "branches",
    [
        f"branch go when ready != {{}} {PICK} {LAST}",
        f"branch go when {{}} != ready and on {PICK} {LAST}",
        f"branch go when size(ready) > 0 {PICK} {LAST}",
        f"branch go when size(ready) >= 1 {PICK} {LAST}",
        f"branch go when size(ready) != 0 {PICK} {LAST}",
        f"branch go when b in ready {PICK} {LAST}",
        f"branch go when not (ready == {{}}) {PICK} {LAST}",
        f"branch go when some y in ready: y != b {PICK} {LAST}",
        f"let r = ready branch go when r != {{}} {PICK} {LAST}",
        f"branch no when ready == {{}} reply false branch go {PICK}",
        f"branch no when ready == {{}} or on reply false branch go {PICK}",
        f"branch no when b not in ready reply false branch go {PICK}",
        "branch go { pick x in ready | {b} reply x == b }",
        f"branch go when not size(ready) == 0 {PICK} {LAST}",
        f"branch no when size(ready) <= 0 reply false branch go {PICK}",
        "branch go { pick x in Broker reply x == b }",
        "branch go { pick x in if on then {b} else Broker reply x == b }",
        "branch go when forall k in Topic: each[k] != {} "
        "{ pick x for k in Topic in each[k] reply x[t] == b } " + LAST,
    ],
)
def test_choice_from_what_is_known_to_have_a_member_is_accepted(branches: str) -> None:
    assert list_codes(branches) == []


@pytest.mark.parametrize(
    "branches",
    [
        f"branch go {PICK}",
        f"branch go when on {PICK} {LAST}",
        f"branch go when ready == {{}} {PICK} {LAST}",
        f"branch go when each[t] != {{}} {PICK} {LAST}",
        f"branch go when ready != {{}} or on {PICK} {LAST}",
        f"branch go when size(ready) >= 0 {PICK} {LAST}",
        f"branch go when not size(ready) == 1 {PICK} {LAST}",
        f"branch no when ready == {{}} and on reply false branch go {PICK}",
        "branch go when ready != {} { pick x in ready - {b} reply x == b } " + LAST,
        "branch go when each[t] != {} { pick x for k in Topic in each[k] reply x[t] == b } " + LAST,
    ],
)
def test_choice_that_may_be_empty_is_refused(branches: str) -> None:
    assert list_codes(branches) == ["pick/empty"]


FUNCTIONS = """fun two() -> set bool = {true, false}
fun several() -> set bool = (two() & {true}) | if true in two() then two() else {true}
fun none_of() -> set bool = two() - two()
fun loop() -> set bool = loop()
"""


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("two", []),
        ("several", []),
        ("none_of", ["pick/empty"]),
        ("loop", ["pick/empty", "function/recursive"]),
    ],
)
def test_choice_from_a_function_reads_its_text(function: str, expected: list[str]) -> None:
    branches = f"branch go {{ pick x in {function}() reply x }}"
    functions = "".join(
        f"{line}\n" for line in FUNCTIONS.splitlines() if "loop" not in line or function == "loop"
    )
    assert codes(COMPONENT.format(branches=branches) + functions) == expected


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        ("branch a when on reply true", ["operation/not-total"]),
        ("branch a when on reply true branch b when not on reply false", ["operation/not-total"]),
        ("in any order { branch a when on reply true branch b reply false }", []),
        ("branch a when true reply true", []),
        ("branch a reply true branch b reply false", ["branch/shadowed"]),
        ("branch a when on reply true branch b when b in ready and on reply true " + LAST,
         ["branch/shadowed"]),
        ("branch a when on or true reply true " + LAST, ["branch/shadowed"]),
        ("in any order { branch a when on reply true branch b when on reply false } " + LAST, []),
        ("in any order { branch a when on reply true branch b when b in ready reply false } "
         "branch d when on reply true " + LAST, ["branch/shadowed"]),
    ],
)  # fmt: skip
def test_operation_is_total_and_its_branches_can_be_reached(
    branches: str, expected: list[str]
) -> None:
    assert list_codes(branches) == expected


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        ("branch a { ever' = on or ever reply true }", []),
        ("branch a { let e = ever ever' = not e reply true }", []),
        ("branch a { on' = ever reply true }", ["effect/ghost-interference"]),
        ("branch a { let e = ever let f = not e reply f }", ["effect/ghost-interference"]),
        ("branch a { pick x in if ever then {b} else Broker reply x == b }",
         ["effect/ghost-interference"]),
        ("let e = ever branch a when e reply true " + LAST, ["effect/ghost-interference"]),
        ("let e = ever branch a { ever' = not e reply true }", []),
    ],
)  # fmt: skip
def test_ghost_state_decides_nothing(branches: str, expected: list[str]) -> None:
    assert list_codes(branches) == expected


BOOL = t.Bool()
HIDDEN = n.StateRef("hidden", type=BOOL)
FLAGS = n.StateRef("flags", type=t.Set(BOOL))
BOX = t.Map(BOOL, t.Map(BOOL, t.Option(BOOL)))


def position(number: int) -> n.Expr:
    """What stands in a position of a statement, to be replaced by ghost state."""
    return n.Literal(number, type=t.Int())


STATEMENTS: tuple[n.Statement, ...] = (
    n.Bind("name", position(0)),
    n.Pick("name", BOOL, None, position(0), False),
    n.Assign("flags", position(0)),
    n.Require(position(0)),
    n.CallOperation("", "part", position(0), "go", (position(1), position(2))),
    n.Send("box", BOX, (position(0), position(1)), position(2), ("x", position(3)), position(4)),
    n.Receive("name", "box", BOX, (position(0), position(1)), many=position(2)),
    n.Clear("box", BOX, (position(0), position(1)), ("x", position(2)), position(3)),
)


def list_refusals(line: n.Statement, number: int) -> list[str]:
    """The codes for a step that reads ghost state in one position of a statement, and requires
    what the statement names."""

    def hide(node: n.Expr) -> n.Expr:
        return HIDDEN if node == position(number) else node

    state = (
        n.StateVar("hidden", BOOL, n.Literal(False, type=BOOL), "ghost"),
        n.StateVar("flags", FLAGS.type, n.SetNew((), type=FLAGS.type), "durable"),
    )
    step = n.Step("go", (), (line, n.Require(n.Local("name", type=BOOL))), ())
    system = n.System("whole", (), state, (rewrite_step(step, hide),))
    diagnostics = Diagnostics()
    check_system(system, {}, diagnostics)
    return [d.code for d in diagnostics.items if d.code != "pick/empty"]


def test_the_table_has_every_kind_of_statement() -> None:
    aliases = f"{n.Change} {n.Repeated} {n.ChannelUse} {n.Statement}"
    named = set(re.findall(r"[A-Z]\w+", aliases))
    named -= {"Change", "ChannelUse", "Repeated", "Expr", "E_co"}
    assert {type(line).__name__ for line in STATEMENTS} == named


@pytest.mark.parametrize(
    ("line", "number"),
    [(line, at) for line in STATEMENTS for at in range(len(statement_expressions(line)))],
    ids=lambda value: value if isinstance(value, int) else type(value).__name__,
)
def test_ghost_state_is_refused_in_every_position_of_a_statement(
    line: n.Statement, number: int
) -> None:
    assert statement_expressions(line)[number] == position(number)
    assert list_refusals(line, 9) == []
    assert list_refusals(line, number) == ["effect/ghost-interference"]
