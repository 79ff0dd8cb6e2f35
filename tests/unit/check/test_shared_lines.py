"""Set-ups, fragments, names and defaults of arguments: the core is that of the text written out."""

from __future__ import annotations

import pytest

from charter import api
from charter.core.nodes import Model
from charter.core.show import show_model
from charter.diagnostics import Source
from charter.project.pipeline import check_texts
from charter.semantics.scenario import ScenarioFails, follow

LEASE = """protocol test.shared
sort Node
const most: int 1..9
fun twice(n: int 0..9, times: int 0..9 = 2) -> int 0..99 = n * times
component lease {
  state holder: option Node = none
  state count: int 0..most = 0
  operation acquire(n: Node, force: bool = false) -> bool {
    branch held when taken: holder != none and calm: not force  reply false
    branch granted { holder' = present(n)  reply true }
  }
  operation release() -> bool {
    branch released { holder' = none  reply true }
  }
}
witness granted of lease: took acquire/granted
"""


def core(text: str) -> Model:
    return api.load_text(LEASE + text)


def same(short: str, long: str) -> None:
    assert show_model(core(short)) == show_model(core(long))


def errors(text: str) -> list[str]:
    return [item.code for item in check_texts((Source("x", LEASE + text),)).errors]


def test_lines_of_ones_own_stand_in_the_place_of_those_taken_over() -> None:
    short = core(
        "setup base(first: Node) of lease { Node = {a, b} most = 2 start holder = present(first)"
        " only acquire if n == first misses acquire/held }"
        " instance tiny of lease like base(b) { start count = 1 most = 3 misses acquire/granted }"
    )
    long = core(
        "instance tiny of lease { Node = {a, b} most = 3 start holder = present(b) start count = 1"
        " only acquire if n == b misses acquire/held, acquire/granted }"
    )
    assert short.instances == long.instances


def test_an_instance_can_be_like_another_and_the_last_of_several_counts() -> None:
    short = core(
        "instance one of lease { Node = 1 most = 1 }"
        " setup more of lease { most = 5 offers acquire }"
        " instance two of lease like one, more { offers release }"
    )
    assert (
        short.instances[1]
        == core("instance two of lease { Node = 1 most = 5 offers release }").instances[0]
    )


def test_a_set_up_passes_its_parameters_on() -> None:
    short = core(
        "setup inner(n: Node) of lease { start holder = present(n) }"
        " setup outer(n: Node, m: Node) of lease like inner(n: m) { Node = {a, b} most = 1 }"
        " instance tiny of lease like outer(a, b) {}"
    )
    assert (
        short.instances
        == core(
            "instance tiny of lease { start holder = present(b) Node = {a, b} most = 1 }"
        ).instances
    )


def test_a_fragment_is_its_lines_where_its_arguments_are_fixed() -> None:
    same(
        "fragment moves(n: Node) of lease { do release() do acquire(n) -> granted"
        " expect holder == present(n) }"
        ' scenario "s" of lease { Node = {a, b} most = 1 include moves(a) include moves(b) }',
        'scenario "s" of lease { Node = {a, b} most = 1'
        " do release() do acquire(a, false) -> granted expect holder == present(a)"
        " do release() do acquire(b, force: false) -> granted expect holder == present(b) }",
    )


def test_an_argument_of_a_fragment_is_read_once() -> None:
    model = core(
        "fragment kept(n: Node) of lease { do release() do acquire(n) -> granted let n2 = n"
        " expect holder == present(n2) }"
        ' scenario "s" of lease { Node = {a, b} most = 1 do acquire(a) let n2 = b'
        " include kept(value(holder)) expect n2 == b include kept(n2) expect n2 == b }"
    )
    assert len(follow(model, model.scenarios[0])) == 1


def test_a_failing_line_of_a_fragment_is_told_at_the_include() -> None:
    model = core(
        "fragment empty() of lease {\n expect holder == none\n}\n"
        'scenario "s" of lease { Node = {a} most = 1\ndo acquire(a)\ninclude empty() }'
    )
    with pytest.raises(ScenarioFails) as fails:
        follow(model, model.scenarios[0])
    assert fails.value.span.where() == "<text>:22:1"
    assert fails.value.expected == "`holder == none` (<text>:18:9)"


def test_defaults_stand_for_arguments_that_are_not_given() -> None:
    same(
        "always p of lease: twice(count) < 99 and twice(times: 3, n: count) < 99",
        "always p of lease: twice(count, 2) < 99 and twice(count, 3) < 99",
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("instance t of lease like nobody { Node = 1 most = 1 }", "name/unknown"),
        ("instance t of lease like t { Node = 1 most = 1 }", "instance/like"),
        ("fragment f() of lease { include f() }"
         ' scenario "s" of lease { Node = 1 most = 1 include f() }', "instance/like"),
        ("fun bad(n: int 0..9 = true) -> bool = true", "type/mismatch"),
        ("fun bad(n: int 0..9, m: int 0..9 = n) -> bool = true", "name/unknown"),
        ("setup s(n: Node) of lease { Node = {a} most = 1 start holder = present(n) }"
         " instance t of lease like s(true) {}", "type/mismatch"),
        ("always p of lease: size(of: {1}) == 1", "type/arity"),
    ],
)  # fmt: skip
def test_what_cannot_be_shared_is_refused(text: str, code: str) -> None:
    assert set(errors(text)) == {code}


def test_parameter_of_a_set_up_gives_a_constant() -> None:
    setups = (
        "setup many(k: int 0..20, first: Node) of lease {"
        " Node = {a, b} most = k start holder = present(first) }"
        " setup inner(k: int 0..9) of lease like many(k, a) { }"
    )
    same(
        setups + " instance tiny of lease like inner(3) { }",
        "instance tiny of lease { Node = {a, b} most = 3 start holder = present(a) }",
    )
    assert errors(setups + " instance tiny of lease like many(12, b) { }") == ["int/out-of-range"]
    unknown = setups + " instance tiny of lease like many(size({1, 2}), b) { }"
    assert errors(unknown) == ["type/mismatch"]
