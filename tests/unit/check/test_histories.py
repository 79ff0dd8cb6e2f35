"""Histories become updates at the end of every branch and every step."""

from __future__ import annotations

from tests.support.charters import WORDS, dump

from charter.diagnostics import Source
from charter.project.pipeline import check_texts

DOOR = """component door {
  state open: bool = false
  state turns: int 0..limit = 0
  history moved: bool = false then open' != open
  history again: bool = false then moved and moved' and took turn/done
  operation turn() -> bool {
    branch done { open' = not open  reply true }
  }
}
"""
HALL = """system hall {
  door: map Broker -> door
  gate: door
  channel post: Broker carries Broker slot lossy
  state last: option Broker = none
  history opened: set Broker = {} then opened | { b in Broker if door'[b].open }
  history shut: bool = false then not gate'.open
  history first: option Broker = none then if opened == {} then last' else first
  step turn(b: Broker) { door[b].turn()  last' = present(b) }
  step tell(b: Broker) { gate.turn()  send post[b] b }
}
witness w of hall: opened != {}
instance tiny of hall { Broker = 2  limit = 1 }
always p of hall: opened == opened
"""


def list_messages(text: str) -> list[str]:
    """All errors: the code, and the message up to its first colon."""
    found = check_texts((Source("test", WORDS + text),)).errors
    return [f"{item.code} {item.message.split(':')[0]}" for item in found]


def body(lines: list[str], head: str) -> list[str]:
    """The lines below a head in the dump of core."""
    start = next(i for i, line in enumerate(lines) if line.strip() == head)
    depth = len(lines[start]) - len(lines[start].lstrip())
    rest = lines[start + 1 :]
    inner = next((i for i, x in enumerate(rest) if len(x) - len(x.lstrip()) <= depth), len(rest))
    return [line.strip() for line in rest[:inner]]


def test_a_branch_updates_histories_at_its_end_when_it_is_read() -> None:
    lines = dump(DOOR + "witness w of door: again")
    assert body(lines, "branch done") == [
        "@open' = not(@open)",
        "let open#after: bool = not(@open)",
        "@moved' = (open#after ne @open)",
        "let moved#after: bool = (open#after ne @open)",
        "@again' = ((@moved and moved#after) and true)",
        "reply true",
    ]


def test_every_step_updates_histories_when_a_system_is_read() -> None:
    lines = dump(DOOR + HALL)
    assert body(lines, "step turn(b: Broker)")[2:] == [
        "@opened' = (@opened union set{b_2 for b_2 in Broker if @door.open'[b_2]})",
        "@shut' = not(@gate.open)",
        "let last#after: option Broker = present(b)",
        "@first' = (if (@opened eq {}) then last#after else @first)",
    ]
    assert "@shut' = not(@gate.open')" in body(lines, "step tell(b: Broker)")
    assert body(lines, "step lose_post(receiver: Broker)")[1:] == [
        "@opened' = (@opened union set{b for b in Broker if @door.open[b]})",
        "@shut' = not(@gate.open)",
        "@first' = (if (@opened eq {}) then @last else @first)",
    ]


def test_a_history_reads_what_a_channel_becomes_where_a_step_changes_it() -> None:
    mail = "history sent: bool = false then post' != post\n  step turn("
    lines = dump(DOOR + HALL.replace("step turn(", mail))
    assert "@sent' = (@post' ne @post)" in body(lines, "step tell(b: Broker)")
    assert "@sent' = (@post' ne @post)" in body(lines, "step lose_post(receiver: Broker)")
    assert "@sent' = (@post ne @post)" in body(lines, "step turn(b: Broker)")


def test_a_history_is_refused_when_it_reads_what_is_not_there_yet() -> None:
    early = (
        "history one: bool = false then two'\n  history two: bool = false then two'\n  step turn("
    )
    assert list_messages(DOOR + HALL.replace("step turn(", early)) == [
        "effect/reads-after `two` is a history that is declared after this one",
        "effect/reads-after `two` is a history that is declared after this one",
    ]


def test_a_history_is_refused_when_its_types_are_wrong_or_something_depends_on_it() -> None:
    wrong = HALL.replace("then not gate'.open", "then gate'.turns")
    assert list_messages(DOOR + wrong) == ["type/mismatch expected bool, found int 0..limit"]
    needed = HALL.replace("step tell(b: Broker) {", "step tell(b: Broker) { require shut")
    assert list_messages(DOOR + needed) == [
        "effect/ghost-interference a choice, a requirement or a call reads ghost state; it is for"
        " properties and assumptions only"
    ]
    unbound = HALL.replace("then not gate'.open", "then door'[b].open")
    assert list_messages(DOOR + unbound) == ["name/unknown `b` is not declared"]


def test_a_step_is_refused_when_it_updates_a_history() -> None:
    text = HALL.replace("last' = present(b)", "opened' = {b}  last' = present(b)")
    assert list_messages(DOOR + text) == ["effect/history-update `opened` is a history"]


def test_an_edit_changes_a_history_when_it_names_one() -> None:
    edit = "variant v { replace history opened of hall with replaced - {value(last')} }"
    lines = dump(DOOR + HALL + edit, variant="v")
    assert body(lines, "step tell(b: Broker)")[2] == (
        "@opened' = ((@opened union set{b_2 for b_2 in Broker if @door.open[b_2]})"
        " difference {value!(@last)})"
    )
    edit = "variant v { replace history moved of door with took turn }"
    lines = dump(DOOR + "witness w of door: again\n" + edit, variant="v")
    assert "@moved' = true" in body(lines, "branch done")
    edit = "variant v { add in door history ever: bool = false then ever or open' }"
    lines = dump(DOOR + "witness w of door: again\n" + edit, variant="v")
    assert "@ever' = (@ever or open#after)" in body(lines, "branch done")


def test_an_edit_is_refused_when_there_is_no_such_history() -> None:
    def list_edit_errors(edit: str) -> list[str]:
        return list_messages(f"{DOOR}{HALL}mutant m in tiny {{ {edit} }} caught by p")

    assert list_edit_errors("replace history last of hall with none") == [
        "edit/unknown-target there is no history `last` of hall"
    ]
    assert list_edit_errors("replace history opened of hall.turn with {}") == [
        "edit/unknown-target there is no history `opened` of hall.turn"
    ]
    assert list_edit_errors("replace update opened of hall.turn with {}") == [
        "edit/unknown-target `opened` is a history, which no update in hall.turn changes"
    ]
    assert list_edit_errors("drop update moved of door.turn/done") == [
        "edit/unknown-target `moved` is a history, which no update in door.turn/done changes"
    ]
    assert list_edit_errors("replace history opened of hall with last'") == [
        "type/mismatch expected set Broker, found option Broker"
    ]


def test_a_history_reads_arguments_when_it_asks_for_them() -> None:
    text = HALL.replace("then not gate'.open", "then took turn(value(last)) or took tell(_)")
    lines = dump(DOOR + text)
    assert "@shut' = ((b eq value!(@last)) or false)" in body(lines, "step turn(b: Broker)")
    assert "@shut' = true" in body(lines, "step tell(b: Broker)")
    assert "@shut' = false" in body(lines, "step lose_post(receiver: Broker)")
