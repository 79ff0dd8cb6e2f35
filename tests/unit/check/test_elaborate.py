"""Surface to core: what is resolved, spelled out, and generated."""

from __future__ import annotations

import pytest
from tests.support.charters import WORDS, body, branch, codes, dump, load

from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.show import show_expr
from charter.diagnostics import Source
from charter.project.pipeline import check_texts


@pytest.mark.parametrize(
    ("text", "result", "core"),
    [
        ("{ b in s if b != c }", "set Broker", "set{b for b in s if (b ne c)}"),
        ("{ r for b in s, r in m[b] }", "set Broker",
         "union{set{r for r in m[b] if true} for b in s if true}"),
        ("forall a in s, b in s: a == b", "bool",
         "(forall a in s: (forall b in s: (a eq b)))"),
        ("c not in s", "bool", "not((c in s))"),
        ("[b in Broker: {}]", "map Broker -> set Broker", "[b in Broker: {}]"),
        ("row with { epoch: 7 }", "Row", "(row with {epoch: Epoch#7})"),
        ("Row { isr: s, owner: none, epoch: 0 }", "Row", "Row{none, Epoch#0, s}"),
        ("if none == row.owner then OFF else ON", "Status",
         "(if (none eq row.owner) then OFF else ON)"),
        ("granted(bump(row.epoch))", "Reply", "granted(bump!(row.epoch))"),
        ("match row.owner { present(o) -> {o}, none -> {} }", "set Broker",
         "(match row.owner {present(o) -> {o}, none -> {}})"),
        ("-1 + size(s)", "int -1..limit",
         "(-1 add size!(s))"),
    ],
)  # fmt: skip
def test_expression_becomes_core(text: str, result: str, core: str) -> None:
    params = "s: set Broker, m: map Broker -> set Broker, c: Broker, row: Row"
    if result.startswith("int"):
        text = f"max(-1, min({text}, limit))"
        core = f"max!(-1, min!({core}, limit))"
    assert body(text, result, params) == core


def test_empty_literals_take_the_type_of_the_other_side() -> None:
    function = load("fun f(s: set Broker) -> bool = {} != s").functions[0]
    comparison = function.body
    assert isinstance(comparison.type, ty.Bool)
    assert comparison.left.type == ty.Set(ty.Sort("Broker"))  # type: ignore[union-attr]


def test_shorthand_update_becomes_an_update_of_the_whole_variable() -> None:
    assert branch("row[t].isr' = {b}") == ["@row' = (@row with [t: (@row[t] with {isr: {b}})])"]


def test_updates_of_two_fields_become_one_update() -> None:
    assert branch("row[t].isr' = {b} row[t].epoch' = bump(row[t].epoch)") == [
        "@row' = (@row with [t: (@row[t] with {isr: {b}, epoch: bump!(@row[t].epoch)})])"
    ]


def test_updates_of_two_members_of_an_enum_become_one_update() -> None:
    assert branch("light[ON]' = true light[OFF]' = light[ON]") == [
        "@light' = ((@light with [ON: true]) with [OFF: @light[ON]])"
    ]


def test_updates_of_one_field_at_two_keys_are_refused() -> None:
    text = """component c {
  state row: map Topic -> set Broker = [t in Topic: {}]
  operation go(t: Topic, u: Topic) -> bool { branch only { row[t]' = {} row[u]' = {} reply true } }
}
witness w of c: took go/only"""
    assert codes(text) == ["effect/double-update"]


def test_pick_with_an_index_is_a_map_of_options() -> None:
    lines = branch("pick next for x in Topic in row[x].isr or none row[t].owner' = next[u]")
    assert lines == [
        "pick next: map Topic -> option Broker for x in Topic in @row[x].isr or none",
        "@row' = (@row with [t: (@row[t] with {owner: next[u]})])",
    ]


def test_a_name_has_one_type_within_a_declaration() -> None:
    text = "(let x = true in x) and (let x = ON in x == OFF)"
    assert body(text) == "((let x = true in x) and (let x_2 = ON in (x_2 eq OFF)))"


def test_a_name_that_was_changed_hides_no_other() -> None:
    text = "(let x = ON in x == OFF) and (let x_2 = true in (let x = false in x or x_2))"
    assert body(text) == (
        "((let x = ON in (x eq OFF)) and (let x_2 = true in (let x_3 = false in (x_3 or x_2))))"
    )


def test_underscore_names_what_is_not_read() -> None:
    text = "match o { none -> true, present(_) -> forall _ in Status: true }"
    assert body(text, params="o: option Broker") == (
        "(match o {none -> true, present(_) -> (forall __2 in Status: true)})"
    )
    assert codes("fun f(o: option Broker) -> Broker = match o { present(_) -> _, none -> _ }") == [
        "name/unknown",
    ]


def test_lets_of_an_operation_stand_before_the_guards_of_later_branches() -> None:
    model = load("""component c {
  state on: bool = false
  operation go() -> bool {
    let a = on
    branch first when a  reply a
    let b = not a
    in any order { branch second when b  reply b  branch third when not b  reply a }
    branch last reply b
  }
}
witness w of c: took go/last""")
    branches = model.components[0].operations[0].branches
    assert [(b.name, b.group, [let.name for let in b.lets]) for b in branches] == [
        ("first", 0, ["a"]),
        ("second", 1, ["a", "b"]),
        ("third", 1, ["a", "b"]),
        ("last", 0, ["a", "b"]),
    ]


def test_conjuncts_without_a_label_are_called_by_position() -> None:
    model = load("""component c {
  state on: bool = false
  operation go(a: bool) -> bool {
    branch yes when a and not on and known: on and a and all: a or on  reply true
    branch no reply false
  }
}
witness w of c: took go/no""")
    guard = model.components[0].operations[0].branches[0].guard
    assert [(part.label, show_expr(part.condition)) for part in guard] == [
        ("1", "a"),
        ("2", "not(@on)"),
        ("known", "(@on and a)"),
        ("all", "(a or @on)"),
    ]


SYSTEM = """component node {
  state on: bool = true
  operation hear(b: Broker) -> bool { branch heard { on' = b == b reply on } }
}
system ring {
  node: map Broker -> node
  CHANNEL
  STEP
}
witness w of ring: some b in Broker: node'[b].on"""


def ring(channel: str, step: str) -> list[str]:
    lines = dump(SYSTEM.replace("CHANNEL", channel).replace("STEP", step))
    first = lines.index("  part node: map Broker -> node")
    last = next(n for n, line in enumerate(lines) if line.startswith("witness"))
    return [line.strip() for line in lines[first + 1 : last]]


def test_parts_of_a_map_have_maps_as_state() -> None:
    assert ring("", "")[0] == ("state @node.on: map Broker -> bool = [node_index in Broker: true]")


def test_slot_is_an_option_which_steps_send_to_and_receive_from() -> None:
    lines = ring(
        "channel mail: Broker carries Status slot",
        "step say(b: Broker) { send mail[b] ON } step hear(b: Broker) { receive m from mail[b] }",
    )
    assert lines[1:] == [
        "state @mail: map Broker -> option Status = [receiver in Broker: none]",
        "step say(b: Broker)",
        "send @mail[b] ON",
        "step hear(b: Broker)",
        "receive m from @mail[b]",
    ]


def test_lossy_channel_has_a_step_that_loses() -> None:
    lines = ring("channel mail: Broker -> Broker carries Status set lossy", "")
    assert lines[2:] == [
        "step lose_mail(sender: Broker, receiver: Broker)",
        "receive lost from @mail[sender][receiver]",
    ]


@pytest.mark.parametrize("name", ["sender", "receiver", "lost"])
@pytest.mark.parametrize(
    "declared",
    [
        "system s {{ {channel} state {name}: bool = false step go() {{ {name}' = true }} }}",
        "component c {{ state on: bool = false }} system s {{ {channel} {name}: c }}",
        "sort {name} system s {{ {channel} }}",
        "enum Side {{ {name} }} system s {{ {channel} }}",
        "const {name}: int 0..3 system s {{ {channel} }}",
    ],
)
def test_names_in_the_step_that_loses_give_way(name: str, declared: str) -> None:
    channel = "channel mail: Broker -> Broker carries Status fifo lossy"
    witness = " witness w of s: some a in Broker: size(mail[a][a]) == 0"
    model = load(declared.format(channel=channel, name=name) + witness)
    (step,) = (s for s in model.systems[0].steps if s.name == "lose_mail")
    names = [*(param.name for param in step.params)]
    names += [line.name for line in step.body if isinstance(line, ir.Receive)]
    kept = ("sender", "receiver", "lost")
    assert names == [f"{other}_2" if other == name else other for other in kept]


def test_step_that_loses_stands_where_its_channel_does() -> None:
    text = "system s { channel mail: Broker -> Broker carries Status slot lossy }"
    model = load(text + " witness w of s: some a in Broker: mail[a][a] == none")
    span = model.systems[0].steps[0].span
    assert span.source.text[span.start : span.end].startswith("channel mail: Broker")


def test_duplicating_channel_may_keep_what_was_received() -> None:
    lines = ring(
        "channel mail: Broker carries Status fifo duplicating",
        "step hear(b: Broker) { receive m from mail[b] }",
    )
    assert lines[1] == "state @mail: map Broker -> seq Status max 4 = [receiver in Broker: <>]"
    assert lines[3:] == ["receive m from @mail[b] that may stay"]


def test_budget_counts_down() -> None:
    lines = ring("", "step stop(b: Broker) budget limit { node[b].hear(b) }")
    assert lines[1:] == [
        "state @budget.limit: int 0..limit = limit",
        "step stop(b: Broker)",
        "require (@budget.limit gt 0)",
        "@budget.limit' = (@budget.limit sub 1)",
        "node[b].hear(b)",
    ]


def test_what_is_left_of_a_budget_is_not_read() -> None:
    text = """system s { state n: bool = true step t() budget limit { require n } }
witness w of s: took t
always p of s: budget.limit == 0
"""
    (found,) = check_texts((Source("t", WORDS + text),))
    assert found.code == "name/unknown"
    assert found.hint.startswith("the rest of a budget cannot be read; count in a state")


PLACE = """component c {
  state who: set Broker = {}
  state what: set Topic = {}
  state n: int 0..limit = 0
  operation go(b: Broker) -> bool { branch ok { who' = who | {b} reply true } }
}
witness w of c: took go/ok
"""


def test_elements_without_names_are_called_by_their_sort() -> None:
    model = load(PLACE + "instance tiny of c { Broker = 2 Topic = 1 limit = 3 start n = 2 }")
    assert model.instances[0].sorts == (("Broker", ("b1", "b2")), ("Topic", ("t1",)))
    assert model.instances[0].consts == (("limit", 3),)


def test_elements_of_sorts_that_clash_get_the_whole_name() -> None:
    text = PLACE.replace("set Topic", "set Board") + "sort Board"
    model = load(text + " instance tiny of c { Broker = 1 Board = 1 limit = 0 }")
    assert model.instances[0].sorts == (("Broker", ("broker1",)), ("Board", ("board1",)))


def test_let_of_a_scenario_is_bound_where_it_stands() -> None:
    lines = dump(
        PLACE
        + """scenario "s" of c { Broker = {x, y} Topic = 1 limit = 0
  let all = who
  let unused = n
  do go(x) -> ok
  expect all == {x}
}"""
    )
    assert lines[-4:] == [
        "  let all = @who",
        "  let unused = @n",
        "  do go(Broker#0) -> ok",
        "  expect (all eq {Broker#0})",
    ]


def test_an_element_may_not_mean_something_else() -> None:
    start = PLACE + "instance tiny of c { limit = 0 "
    assert codes(start + "Broker = {who} Topic = 1 }") == ["name/shadows"]
    assert codes(start + "Broker = {a} Topic = {a} }")[0] == "name/duplicate"


def test_observables_compare_by_type() -> None:
    model = load("""component c {
  state session: map Broker -> option Session = [b in Broker: none]
  state row: map Topic -> Row = [t in Topic: Row { owner: none, epoch: 0, isr: {} }]
  observe published { session, row.epoch: difference }
  observe all { row }
}
witness w of c: session == session""")
    seen = model.components[0].observables
    assert [(o.level, o.path, o.mode) for o in seen] == [
        ("published", ("session",), "opaque"),
        ("published", ("row", "epoch"), "difference"),
        ("all", ("row",), "exact"),
    ]


def test_comments_become_documentation() -> None:
    model = load("""-- Who may lead.
fun f(b: Broker) -> bool = true
-- The state of one thing.
record Thing {
  -- whether it is on
  on: bool
}""")
    assert model.functions[0].doc == "Who may lead."
    assert dict(model.docs)["Thing"] == "The state of one thing."
    assert dict(model.docs)["Thing.on"] == "whether it is on"


def test_comment_above_a_blank_line_is_about_more_than_the_next_item() -> None:
    model = load("""-- What this file is about.

-- Who may lead.
fun f(b: Broker) -> bool = true

-- More of it.

fun g(b: Broker) -> bool = true""")
    assert [function.doc for function in model.functions] == ["Who may lead.", ""]


def test_a_comment_that_is_set_apart_opens_a_section_of_a_file_or_of_a_machine() -> None:
    model = load("""-- What this file
-- is about.

-- Who may lead.
fun f(b: Broker) -> bool = true
fun g(b: Broker) -> bool = true

-- The rest.

component c {
  state on: bool = true
  operation first() -> bool { branch done reply on }

  -- Brokers come and go.
  --
  -- They say so.

  -- One comes.
  operation come() -> bool { branch done reply on }
  operation go() -> bool { branch done reply on }
}
fun h(b: Broker) -> bool = true
witness w of c: on""")
    about = "What this file\nis about."
    assert [f.section for f in model.functions] == [about, about, "The rest."]
    (component,) = model.components
    assert [o.section for o in component.operations] == [
        "",
        "Brokers come and go.\n\nThey say so.",
        "Brokers come and go.\n\nThey say so.",
    ]
    assert component.operations[1].doc == "One comes."


def test_a_comment_without_text_parts_paragraphs() -> None:
    model = load("""-- Who may lead.
--
-- Nobody who is fenced.
fun f(b: Broker) -> bool = true""")
    assert model.functions[0].doc == "Who may lead.\n\nNobody who is fenced."


def test_what_an_edit_adds_stands_in_no_section() -> None:
    model = load(
        """-- All.

fun f(b: Broker) -> bool = true
variant v {
  add fun g(b: Broker) -> bool = true
  replace fun f with not replaced
}""",
        variant="v",
    )
    assert {f.name: f.section for f in model.functions} == {
        "replaced_f": "All.",
        "f": "All.",
        "g": "",
    }


def test_took_of_an_operation_is_one_of_its_branches() -> None:
    text = """component c { state on: bool = true
  operation go() -> bool { branch yes when on reply true branch no reply false } }
witness w of c: took go"""
    assert dump(text)[-1] == "  : (took go/yes or took go/no)"


@pytest.mark.parametrize("name", ["first", "min", "value", "set"])
def test_a_function_may_not_be_called_like_a_built_in(name: str) -> None:
    assert codes(f"fun {name}(x: bool) -> bool = x") == ["name/shadows"]
    called = f"fun {name}(x: bool) -> bool = x\nfun f(x: bool) -> bool = {name}(x)"
    assert codes(called)[0] == "name/shadows"


def test_type_that_is_missing_is_told_once_with_the_number_of_its_places() -> None:
    text = """record R { who: Brooker }
component c {
  state all: set Brooker = {}
  operation go(b: Brooker) -> bool {
    branch ok when all: some x in Brooker: x in all reply true
    branch no reply false
  }
}
witness w of c: nobody
instance tiny of c { Brooker = 2 }
"""
    first, other, *more = check_texts((Source("t", WORDS + text),))
    assert first.message == "there is no type `Brooker`"
    assert first.hint == "did you mean `Broker`?"
    ((places, at),) = first.notes
    assert places == "and 4 more places, the next one"
    assert at.source.position(at.start) == (13, 18)
    assert (other.message, more) == ("`nobody` is not declared", [])


def test_name_that_is_not_declared_is_told_once_with_its_places() -> None:
    text = """component c {
  state on: bool = true
  operation go() -> bool { branch ok { on' = of reply of } }
}
witness w of c: took go/ok
"""
    found = list(check_texts((Source("t", WORDS + text),)))
    assert [item.message for item in found] == ["`of` is not declared"]
    assert [text for text, _ in found[0].notes] == ["and 1 more place"]


def list_messages(text: str) -> list[tuple[str, str]]:
    """The messages and hints of all errors."""
    errors = check_texts((Source("t", WORDS + text),)).errors
    return [(item.message, item.hint) for item in errors]


def test_a_value_where_a_map_is_expected_is_told_how_every_entry_gets_it() -> None:
    text = "fun f() -> map Broker -> bool = false\ncomponent c {}\nwitness w of c: true"
    assert list_messages(text) == [
        (
            "expected map Broker -> bool, found bool",
            "for the same in every entry, write `[b in Broker: ...]`",
        )
    ]


def test_an_underscore_outside_of_a_pattern_is_told() -> None:
    text = "fun f(r: Reply) -> bool = r == granted(_)\ncomponent c {}\nwitness w of c: true"
    assert list_messages(text) == [
        (
            "`_` is not declared",
            "`_` stands in patterns only: in `match`, `some`, `forall` and `the`",
        )
    ]


def test_uses_of_a_case_that_two_unions_declare_are_not_errors() -> None:
    text = """union Other { granted(b: Broker), nothing }
fun f(e: Epoch) -> Reply = granted(e)
fun g(b: Broker) -> Other = granted(b)
fun h() -> Reply = nothing
component c {}
witness w of c: true"""
    assert [message for message, _ in list_messages(text)] == [
        "`granted` is declared twice",
        "`nothing` is declared twice",
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Status", "OFF"), ("set Broker", "{b1}"), ("map Broker -> int 0..3", "[b in Broker: 1]"),
        ("option bool", "none"), ("Broker", "b1"),
    ],
)  # fmt: skip
def test_a_constant_that_no_instance_can_give_is_refused_where_it_is_declared(
    kind: str, value: str
) -> None:
    text = f"""const mode: {kind}
component c {{}}
witness w of c: mode == mode
instance tiny of c {{ Broker = 1 Topic = 1 limit = 1 mode = {value} }}
"""
    message = f"a constant is a number or a bool, so it cannot be of {kind}"
    hint = "declare a state variable that nothing changes; an instance has `start mode = ...`"
    assert list_messages(text) == [(message, hint)]
