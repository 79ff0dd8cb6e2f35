"""Built-in functions become primitives."""

from __future__ import annotations

import pytest

from charter.core import nodes as n
from charter.core import types as t
from charter.core.show import show_expr
from charter.passes.builtins import Builtins

S, INT, COUNTER = t.Sort("S"), t.Int(), t.Counter("C")
ROW, LINE = t.Ranking(S), t.Seq(INT, t.Limit("", 3))
INTS = t.Set(INT)
NAMES: dict[str, t.Type] = {
    "o": t.Option(INT), "i": INT, "j": INT, "c": COUNTER, "s": S, "r": ROW, "q": LINE, "z": INTS,
}  # fmt: skip


def local(name: str) -> n.Expr:
    """A local by its name."""
    return n.Local(name, type=NAMES[name])


@pytest.mark.parametrize(
    ("name", "args", "kind", "made"),
    [
        ("size", "z", INT, "size!(z)"),
        ("value", "o", INT, "(o.present.0 checked (o is present))"),
        ("default", "oi", INT, "(if (o is present) then o.present.0 else i)"),
        ("bump", "c", COUNTER, "(c add C#1)"),
        ("first", "q", t.Option(INT), "(if (0 lt size!(q)) then present(nth!(q, 0)) else none)"),
        ("last", "q", t.Option(INT),
         "(if (0 lt size!(q)) then present(nth!(q, (size!(q) sub 1))) else none)"),
        ("at", "qi", t.Option(INT),
         "(if ((0 le i) and (i lt size!(q))) then present(nth!(q, i)) else none)"),
        ("item", "qi", INT, "(nth!(q, i) checked ((0 le i) and (i lt size!(q))))"),
        ("starts_with", "qq", t.Bool(), "(take!(q, size!(q)) eq q)"),
        ("append", "qi", LINE, "join!(q, <i>)"),
        ("append", "rs", ROW, "join!(keep!(r, (set!(r) difference {s})), <s>)"),
        ("remove", "rs", ROW, "keep!(r, (set!(r) difference {s}))"),
        ("concat", "qq", LINE, "join!(q, q)"),
        ("concat", "rr", ROW, "join!(r, keep!(r, (set!(r) difference set!(r))))"),
        ("min", "ij", INT, "(if (j lt i) then j else i)"),
        ("max", "ij", INT, "(if (i lt j) then j else i)"),
        ("min", "z", INT, "(least!(z) checked (z ne {}))"),
        ("max", "z", INT, "(greatest!(z) checked (z ne {}))"),
    ],
)  # fmt: skip
def test_a_builtin_is_made_of_primitives(
    name: n.BuiltinName, args: str, kind: t.Type, made: str
) -> None:
    call = n.Builtin(name, tuple(local(arg) for arg in args), type=kind)
    assert show_expr(Builtins()(call)) == made


def test_an_argument_that_is_repeated_is_evaluated_once() -> None:
    call = n.Call("f", (), type=NAMES["o"])
    value = n.Builtin("value", (call,), type=INT)
    assert show_expr(Builtins()(value)) == (
        "(let held#1 = f() in (held#1.present.0 checked (held#1 is present)))"
    )


def test_what_a_default_falls_back_on_is_evaluated_always() -> None:
    partial = n.Builtin("value", (local("o"),), type=INT)
    rule = Builtins()
    call = n.Builtin("default", (local("o"), rule(partial)), type=INT)
    assert show_expr(rule(call)) == (
        "(let held#1 = (o.present.0 checked (o is present)) in"
        " (if (o is present) then o.present.0 else held#1))"
    )
