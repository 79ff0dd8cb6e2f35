"""The rows of the ledger, and what the definition says meets them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.support.switch import machine, switch

from charter import api
from charter.analysis.coverage import Coverage
from charter.core.obligations import SEEN, bound, obligations
from charter.explore.reference.graph import DefinedGraph
from charter.explore.select import state_graph
from charter.prove import SingleStep, StepQuestion, single_step
from charter.semantics.evaluate import Outcome
from charter.semantics.machine import Machine


def names() -> list[str]:
    model = switch()
    return [o.name for o in obligations(model, model.components[0])]


def test_names_are_unique_when_obligations_are_listed() -> None:
    assert [name for name, count in Counter(names()).items() if count > 1] == []


@pytest.mark.parametrize(
    "name",
    [
        "branch befriend/full",
        "reply befriend/full FULL",
        "reply switch/unsure UNSURE",
        "reply switch/unsure FULL",
        "mcdc switch/stranger unknown[1] true",
        "mcdc switch/stranger unknown[2] false",
        "mcdc befriend/full new true",
        "boundary befriend crowded size(people) >= most below",
        "boundary befriend crowded size(people) >= most equal",
        "boundary switch/stale turn_seen < turn below",
        "boundary switch/lights uses < 9 equal",
    ],
)
def test_an_obligation_is_listed_when_the_text_calls_for_it(name: str) -> None:
    assert name in names()


def test_each_condition_is_asked_for_by_its_label_when_a_label_covers_several() -> None:
    text = """protocol p component c { state on: bool = true
      operation go(a: bool, b: bool) -> bool {
        branch yes when a and l: b and on and k: a or b  reply true
        branch no reply false } }
    witness w of c: took go/yes"""
    model = api.load_text(text)
    found = obligations(model, model.components[0])
    asked = [o.name for o in found if o.kind == "mcdc" and o.want == "true"]
    assert asked == [f"mcdc go/yes {part} true" for part in ("1", "l[1]", "l[2]", "k[1]", "k[2]")]


def test_comparisons_that_a_flush_stands_for_are_not_asked_for() -> None:
    text = """protocol p const most: int 1..9 component disk {
      cached state log: seq bool max most = <> on disk end
      state end: int 0..most = 0
      operation write(n: int 0..most) -> bool {
        branch full when size(log) >= most  reply false
        branch cut { log' = take(log, n)  flush log to n  reply true } } }
    witness w of disk: took write/cut"""
    model = api.load_text(text)
    found = obligations(model, model.components[0])
    asked = {o.name.rpartition(" ")[0] for o in found if o.kind == "boundary"}
    assert asked == {"boundary write/full size(log) >= most"}


def test_nothing_is_asked_for_when_it_cannot_decide() -> None:
    assert not [name for name in names() if name.startswith("mcdc befriend/added")]
    assert not [name for name in names() if "reply befriend/added" in name]


def list_met(
    state: dict[str, object], operation: str, args: tuple[object, ...], branch: str
) -> set[str]:
    model = switch()
    there = machine(model)
    coverage = Coverage.of(there, obligations(model, model.components[0]))
    before = {**there.initial(), **state}
    outcome = next(o for o in there.outcomes(before, operation, args) if o.branch == branch)
    return set(coverage.list_met(before, operation, args, outcome))


def test_a_full_lamp_meets_its_obligations_when_a_stranger_comes() -> None:
    assert list_met({"friends": frozenset({0, 1})}, "befriend", (2,), "befriend/full") == {
        "branch befriend/full",
        "reply befriend/full FULL",
        "mcdc befriend/full no_room true",
        "mcdc befriend/full new true",
        "boundary befriend crowded size(people) >= most equal",
    }


def test_only_the_condition_that_decides_is_met_when_another_is_false_too() -> None:
    found = list_met({"friends": frozenset({0})}, "befriend", (0,), "befriend/added")
    assert found == {
        "branch befriend/added",
        "boundary befriend crowded size(people) >= most below",
    }
    found = list_met({"friends": frozenset({0})}, "befriend", (1,), "befriend/added")
    assert "mcdc befriend/full no_room false" in found


def test_a_group_is_looked_at_whole_when_one_of_its_branches_is_taken() -> None:
    found = list_met({"turn": 1}, "switch", (0, 0, False), "switch/stranger")
    assert found == {
        "branch switch/stranger",
        "reply switch/stranger STRANGER",
        "mcdc switch/stale old true",
        "mcdc switch/stranger unknown[1] false",
        "mcdc switch/stranger unknown[2] false",
        "boundary switch/stale turn_seen < turn below",
    }


def test_obligations_are_found_again_when_the_text_is_read_twice() -> None:
    first, second = switch(), switch()
    wanted = obligations(first, first.components[0])
    again = bound(second, second.components[0], wanted)
    assert again == wanted
    assert {id(o.expr) for o in again if o.expr} & {id(o.expr) for o in wanted if o.expr} == set()
    with pytest.raises(ValueError, match="no obligation"):
        bound(second, second.components[0], [replace(wanted[0], name="branch nowhere")])


SHARED = """protocol p
sort Person
fun may(of: Person, owner: option Person, open: bool) -> bool =
  owner == present(of) and not barred(open)
fun barred(open: bool) -> bool = not open
component c {
  state owner: option Person = none
  state open: bool = true
  operation enter(who: Person) -> bool {
    branch no when known: not may(who, owner, open) reply false
    branch yes reply true
  }
  operation leave(who: Person) -> bool {
    branch yes when may(who, owner, open) and owner != none reply true
    branch no reply false
  }
  operation take(who: Person) -> bool { branch done { owner' = present(who) reply true } }
  operation shut() -> bool { branch done { open' = false reply true } }
}
witness w of c: took enter/yes
instance tiny of c { Person = 2 }
"""


def test_conditions_of_a_function_are_asked_for_in_each_guard_that_calls_it() -> None:
    model = api.load_text(SHARED)
    found = obligations(model, model.components[0])
    asked = [o.name for o in found if o.kind == "mcdc" and o.want == "true"]
    assert asked == [
        "mcdc enter/no known may[1] true",
        "mcdc enter/no known may[2] true",
        "mcdc leave/yes 1 may[1] true",
        "mcdc leave/yes 1 may[2] true",
        "mcdc leave/yes 2 true",
    ]
    sides = [o.name for o in found if o.kind == "boundary" and o.want == "equal"]
    assert sides == [
        "boundary enter may owner == present(of) equal",
        "boundary leave may owner == present(of) equal",
    ]


def test_only_the_operation_that_calls_a_function_meets_its_conditions() -> None:
    model = api.load_text(SHARED)
    there = Machine.of(model, model.instances[0])
    coverage = Coverage.of(there, obligations(model, model.components[0]))
    state = {"owner": 0, "open": True}
    found = coverage.list_met(state, "leave", (1,), Outcome("leave/no", False, state))
    assert found == {
        "branch leave/no",
        "mcdc leave/yes 1 may[1] false another",
        "boundary leave may owner == present(of) another",
    }
    state = {"owner": 0, "open": False}
    found = coverage.list_met(state, "enter", (0,), Outcome("enter/no", False, state))
    assert "mcdc enter/no known may[2] false" in found
    assert not [name for name in found if "leave" in name]


def test_the_solver_meets_the_same_conditions_of_functions() -> None:
    """Every step is replayed on the definition."""
    model = api.load_text(SHARED)
    wanted = obligations(model, model.components[0])
    found = single_step(Machine.of(model, model.instances[0]), StepQuestion(wanted, ()))
    assert [a.obligation for a in found if not isinstance(a, SingleStep)] == [
        "mcdc leave/yes 1 may[1] false none",  # the other condition is false, too
        "mcdc leave/yes 2 false",
    ]


def test_classes_of_transitions_tell_the_conditions_of_functions_apart() -> None:
    model = api.load_text(SHARED)
    instance = model.instances[0]
    fast, slow = state_graph(model, instance), DefinedGraph.of(model, instance)
    assert [*fast.cases()] == [*slow.cases()]
    refused = Counter(case.source for case in slow.cases() if case.step.branch == "leave/no")
    states = {number for number, count in refused.items() if count == 2}
    assert states == {
        i for i, s in enumerate(slow.states) if s["owner"] is not None and not s["open"]
    }


WRITTEN = """protocol p
sort Job
enum Tube { ONE, OTHER }
component c {
  state line: map Tube -> ranking Job = [t in Tube: <>]
  state late: map Tube -> bool = [t in Tube: false]
  state most: map Tube -> int 0..2 = [t in Tube: 0]
  state rows: map bool -> map Tube -> bool = [b in bool: [t in Tube: false]]
  operation add(t: Tube, job: Job) -> bool { branch done {
    line[t]' = append(line[t], job)  reply true } }
  operation cut(t: Tube, job: Job) -> bool { branch done {
    line[t]' = keep(line[t], {job})  reply true } }
  operation move(t: Tube, a: int 0..2, b: int 0..2) -> bool { branch done {
    late[t]' = a < b  most[t]' = min(a, b)  rows[a == b][t]' = true  reply true } }
  operation ask(a: seq Job max 2, job: Job) -> bool { branch done {
    reply starts_with(a, <job, job>) } }
}
witness w of c: took add/done
instance tiny of c { Job = 2 }
"""


def test_the_solver_sees_what_is_written_when_the_compiler_writes_more_beside_it() -> None:
    """An update of a map compares keys and copies the other entries, and `starts_with` takes a
    part: none of these is what the text compares or orders."""
    model = api.load_text(WRITTEN)
    wanted = [o for o in obligations(model, model.components[0]) if o.kind in SEEN]
    there = Machine.of(model, model.instances[0])
    # Each alone: a step that is found for one of them answers others.
    found = [single_step(there, StepQuestion((o,)))[0] for o in wanted]
    assert [a.obligation for a in found if not isinstance(a, SingleStep)] == [
        "order cut/done keep(line[t], {job})",
        "order ask/done <job, job>",
    ]
