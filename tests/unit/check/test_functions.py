"""Functions of a component or a system: what they read is a parameter in core."""

from __future__ import annotations

import pytest
from tests.support.charters import codes, dump, load

from charter.core import nodes as ir
from charter.core.show import show_model
from charter.diagnostics import Source
from charter.project.pipeline import check_texts

STATE = """component c {
  state holder: option Broker = none
  state known: set Broker = {}
  ghost state seen: bool = false
  operation take(b: Broker) -> bool {
    branch busy when GUARD  reply false
    branch taken { holder' = present(b)  known' = known | {b}  reply CALL }
  }
}
witness w of c: took c/taken
instance tiny of c { Broker = 2 }
""".replace("took c/taken", "took take/taken")


def charter(functions: str, guard: str = "holder != none", call: str = "true") -> str:
    return STATE.replace("GUARD", guard).replace("CALL", call) + functions


def function(text: str, name: str, **selection: str) -> ir.Function:
    return next(f for f in load(text, **selection).functions if f.name == name)


def params(text: str, name: str, **selection: str) -> list[str]:
    return [param.name for param in function(text, name, **selection).params]


def list_messages(text: str) -> list[str]:
    whole = "protocol test\nsort Broker\n" + text
    return [item.show() for item in check_texts((Source("test", whole),)).errors]


SAME = """fun fit(b: Broker) of c -> bool = not b in known and idle()
fun idle() of c -> bool = holder == none
"""
BY_HAND = """fun fit(b: Broker, holder: option Broker, known: set Broker) -> bool =
  not b in known and idle(holder)
fun idle(holder: option Broker) -> bool = holder == none
"""


def test_core_is_that_of_a_charter_that_hands_the_state_on() -> None:
    read = load(charter(SAME, guard="not fit(b)", call="fit(b, known: {})"))
    handed = load(charter(BY_HAND, "not fit(b, holder, known)", "fit(b, holder, {})"))
    assert show_model(read) == show_model(handed)


def test_what_is_read_through_others_is_a_parameter_in_the_order_of_the_component() -> None:
    text = charter(
        "fun one() of c -> bool = two() and known == {}\n"
        "fun two() of c -> bool = three(known: {}) and holder == none\n"
        "fun three() of c -> bool = known == {}\n"
    )
    assert params(text, "one") == ["holder", "known"]
    assert params(text, "two") == ["holder"]
    assert params(text, "three") == ["known"]


def test_a_call_reads_the_state_before_or_what_it_is_given() -> None:
    text = charter(SAME) + (
        "stepwise s of c: forall b in Broker: fit(b) or fit(b, known: known', holder: holder')\n"
    )
    body = " (forall b in Broker: (fit(b, @holder, @known) or fit(b, @holder', @known')))"
    assert f"  :{body}" in dump(text)


def test_a_function_of_a_system_reads_its_own_state_and_that_of_its_parts() -> None:
    text = charter(SAME) + (
        "system s {\n  c: map Broker -> c\n  one: c\n  state held: set Broker = {}\n"
        "  step go(b: Broker) { require may(b, 1)  c[b].take(b)  held' = held | {b} }\n}\n"
        "fun may(b: Broker, one_holder: int 1..1) of s -> bool =\n"
        "  not b in held and one.holder == none\n"
        "    and fit(b, known: c[b].known, holder: c[b].holder)\n"
    )
    model = load(text)
    made = next(f for f in model.functions if f.name == "may")
    names = [param.name for param in made.params]
    assert names == ["b", "one_holder", "held", "c_holder", "c_known", "one_holder_2"]
    (require,) = [x for x in model.systems[0].steps[0].body if isinstance(x, ir.Require)]
    assert isinstance(require.condition, ir.Call)
    read = [arg.name for arg in require.condition.args if isinstance(arg, ir.StateRef)]
    assert read == ["held", "c.holder", "c.known", "one.holder"]


def test_an_edit_keeps_the_parameters_that_other_functions_give() -> None:
    edit = "variant v { replace fun idle with true }"
    before, after = charter(SAME), charter(SAME) + edit
    assert params(after, "idle", variant="v") == params(before, "idle") == ["holder"]
    assert function(after, "fit", variant="v") == function(before, "fit")
    kept = charter(SAME) + "variant v { replace fun idle with replaced or known == {} }"
    assert params(kept, "idle", variant="v") == ["holder", "known"]
    assert params(kept, "replaced_idle", variant="v") == ["holder"]


def test_an_edit_of_a_let_keeps_the_parameters() -> None:
    text = charter("fun idle() of c -> bool = let gone = holder == none in gone or known == {}\n")
    edited = text + "variant v { replace let gone of idle with true }"
    assert params(edited, "idle", variant="v") == ["holder", "known"]


def test_ghost_state_reaches_no_guard_through_a_function() -> None:
    assert codes(charter("fun odd() of c -> bool = seen\n", guard="odd()")) == [
        "effect/ghost-interference"
    ]


READ = "fun f() of c -> bool = known == {}\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fun f() of c -> bool = f()\n", "function/recursive"),
        ("fun f() of d -> bool = true\n", "name/unknown"),
        ("fun f(known: bool) of c -> bool = known\n", "name/shadows"),
        ("fun f() of c -> bool = let known = true in known\n", "name/shadows"),
        ("fun f() of c -> bool = known' == {}\n", "effect/reads-after"),
        (READ + "fun g() -> bool = f()\n", "function/elsewhere"),
        (READ + "fun g(a: bool = f()) -> bool = a\n", "function/elsewhere"),
        (READ + "fun g() -> bool = f(known: {}, known: {})\n", "name/duplicate"),
        (READ + "fun g() of c -> bool = f(holder: none)\n", "name/unknown"),
        (READ + "fun g() of c -> bool = f({})\n", "type/arity"),
        (READ + "fun g() of c -> bool = f(known: none)\n", "type/mismatch"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_an_error(text: str, code: str) -> None:
    assert code in codes(charter(text))


def test_a_function_that_reads_no_state_of_its_component_is_called_everywhere() -> None:
    text = "fun f(b: Broker) of c -> bool = b == b\nfun g(b: Broker) -> bool = f(b)\n"
    assert codes(charter(text)) == []
    assert params(charter(text), "f") == ["b"]


def test_messages_say_what_is_missing_and_how_to_give_it() -> None:
    (text,) = list_messages(charter(SAME + "fun g(b: Broker) -> bool = fit(b)\n"))
    assert "`fit` reads `holder`, `known` of c" in text
    assert "`fit(..., holder: ..., known: ...)`" in text
    (text,) = list_messages(charter("fun g() -> bool = known == {}\n"))
    assert "it is state of c; only functions declared `fun f(...) of c` read it" in text
