"""Edits that call what they replace."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.charters import WORDS, codes, load

from charter import api
from charter.core import nodes as ir
from charter.core.show import show_expr, show_model
from charter.project.compile import check_overlay_files
from charter.project.pipeline import check_texts
from charter.semantics.machine import Machine

BASE = """fun free(r: Row) -> bool = r.owner == none
fun grown(r: Row, by: set Broker) -> Row =
  let more = r.isr | by in r with { isr: if by == {} then r.isr else more }
component c {
  state row: map Topic -> Row = [t in Topic: Row { owner: none, epoch: 0, isr: {} }]
  state count: int 0..limit = 0
  operation go(t: Topic, b: Broker) -> Reply {
    let many = count == limit
    branch full when many  reply rejected(OFF)
    branch on when empty: row[t].isr == {} and free(row[t]) and new: not b in row[t].isr
    {
      pick who in {b, b} or none
      let mine = b
      row[t].owner' = who
      row[t].epoch' = bump(row[t].epoch)
      count' = count
      reply granted(row[t].epoch)
    }
    branch done { row' = row with [t: grown(row[t], {b})]  reply nothing }
  }
}
system s {
  c: c
  state far: bool = false
  step act(t: Topic, b: Broker) {
    require near: not far
    pick other in Broker
    let one = b
    c.go(t, other)
    far' = one == b
  }
}
witness w of c: took go/done
instance tiny of c { Broker = 2 Topic = 1 limit = 1 }
always fine of c: true
"""


def with_edits(edits: str) -> ir.Model:
    return load(BASE + f"variant v {{ {edits} }}", variant="v")


def functions(model: ir.Model) -> dict[str, str]:
    return {f.name: show_expr(f.body) for f in model.functions}


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ("replace fun free with true", {"free": "true"}),
        ("replace fun free with not replaced",
         {"replaced_free": "(r.owner eq none)", "free": "not(replaced_free(r))"}),
        ("replace fun free with replaced(r with { owner: none }) and replaced",
         {"replaced_free": "(r.owner eq none)",
          "free": "(replaced_free((r with {owner: none})) and replaced_free(r))"}),
        ("replace fun free(x: Row) -> bool = replaced(x)",
         {"replaced_free": "(r.owner eq none)", "free": "replaced_free(x)"}),
        ("replace fun free with not replaced  add fun f(r: Row) -> bool = free(r)",
         {"replaced_free": "(r.owner eq none)", "free": "not(replaced_free(r))", "f": "free(r)"}),
        ("add fun replaced_free() -> bool = true  replace fun free with replaced",
         {"replaced_free_2": "(r.owner eq none)", "free": "replaced_free_2(r)",
          "replaced_free": "true"}),
        ("replace let more of grown with replaced - r.isr",
         {"grown": "(let more = ((r.isr union by) difference r.isr) in "
          "(r with {isr: (if (by eq {}) then r.isr else more)}))"}),
    ],
)  # fmt: skip
def test_a_function_calls_the_one_that_it_replaces(edit: str, found: dict[str, str]) -> None:
    made = functions(with_edits(edit))
    assert made == {"grown": functions(load(BASE))["grown"], "free": made["free"], **found}


def test_an_edit_of_an_edit_calls_what_the_first_one_made(tmp_path: Path) -> None:
    head = "protocol test.words\noverlay o of c {"
    first = "entry one known_defect { replace fun free with not replaced }"
    second = "entry two known_defect { replace fun free with replaced or r.isr == {} }"
    charter, overlay = tmp_path / "a.charter", tmp_path / "o.charter"
    charter.write_text(WORDS + BASE, encoding="utf-8")
    overlay.write_text(f"{head} {first} {second} }}", encoding="utf-8")
    both = api.load(
        charter, api.Selection(overlay=api.read_sources(overlay), entries=("one", "two"))
    )
    assert {k: v for k, v in functions(both).items() if k != "grown"} == {
        "replaced_free": "(r.owner eq none)",
        "replaced_free_2": "not(replaced_free(r))",
        "free": "(replaced_free_2(r) or (r.isr eq {}))",
    }


def branch_of(edits: str, name: str = "on") -> list[str]:
    """The guard, body and reply of a branch of `go`, as the dump shows them."""
    lines = [line.strip() for line in show_model(with_edits(edits)).splitlines()]
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["branch", name])
    end = next(i for i, line in enumerate(lines) if i > start and line.startswith("reply"))
    return lines[start + 1 : end + 1]


ON = [
    "before: let many: bool = (@count eq limit)",
    "when empty: ((@row[t].isr eq {}) and free(@row[t]))",
    "when new: not((b in @row[t].isr))",
    "pick who: option Broker in {b, b} or none",
    "let mine: Broker = b",
    "@row' = (@row with [t: (@row[t] with {owner: who, epoch: bump!(@row[t].epoch)})])",
    "@count' = @count",
    "reply granted(@row[t].epoch)",
]


def change(line: int, text: str) -> list[str]:
    return [*ON[:line], text, *ON[line + 1 :]]


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ("", ON),
        ("replace conjunct new of c.go/on with replaced or many",
         change(2, "when new: (not((b in @row[t].isr)) or many)")),
        ("replace conjunct empty of c.go/on with not replaced",
         change(1, "when empty: not(((@row[t].isr eq {}) and free(@row[t])))")),
        ("replace pick who of c.go/on with replaced - {b}",
         change(3, "pick who: option Broker in ({b, b} difference {b}) or none")),
        ("replace let mine of c.go/on with replaced", ON),
        ("replace let many of c.go with not replaced",
         change(0, "before: let many: bool = not((@count eq limit))")),
        ("replace update count of c.go/on with max(replaced, 0)",
         change(6, "@count' = max!(@count, 0)")),
        ("replace in c.go branch on when replaced { pick who in replaced or none"
         " let mine = replaced row' = replaced count' = replaced reply replaced }",
         [*ON[:5], "@row' = ((@row with [t: (@row[t] with {owner: who})]) with [t: ((@row with "
                "[t: (@row[t] with {owner: who})])[t] with {epoch: bump!(@row[t].epoch)})])",
                *ON[6:]]),
        ("replace in c.go branch on when replaced and low: not replaced reply replaced",
         [*ON[:3], "when low: not((((@row[t].isr eq {}) and free(@row[t])) and "
          "not((b in @row[t].isr))))", ON[7]]),
    ],
)  # fmt: skip
def test_a_part_of_a_branch_calls_the_one_that_it_replaces(edit: str, found: list[str]) -> None:
    assert branch_of(edit) == found


def test_an_update_of_several_paths_is_one_value_when_it_is_replaced() -> None:
    edit = "replace update row of c.go/on with replaced"
    plain, edited = load(BASE), with_edits(edit)
    machines = [Machine.of(model, model.instances[0]) for model in (plain, edited)]
    state = machines[0].initial()
    after = [[o.state for o in machine.outcomes(state, "go", (0, 1))] for machine in machines]
    assert after[0] == after[1] and after[0][0] != state


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        ("replace conjunct near of s.act with not replaced", "require near: not(not(@far))"),
        ("replace pick other of s.act with replaced - {b}",
         "pick other: Broker in (Broker difference {b})"),
        ("replace let one of s.act with replaced", "let one: Broker = b"),
        ("replace update far of s.act with not replaced", "@far' = not((one eq b))"),
        ("replace in s step act(t: Topic, b: Broker) { let one = b far' = not replaced }",
         "@far' = not((one eq b))"),
    ],
)  # fmt: skip
def test_a_part_of_a_step_calls_the_one_that_it_replaces(edit: str, line: str) -> None:
    text = BASE + f"mutant m in tiny {{ {edit} }} caught by fine"
    shown = [row.strip() for row in show_model(load(text, mutant="m")).splitlines()]
    assert line in shown


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ("replace fun fre with true", ["edit/unknown-target"]),
        ("replace fun free with replaced()", ["type/arity"]),
        ("replace fun free with replaced.owner == none", ["type/mismatch"]),
        ("replace let less of grown with r.isr", ["edit/unknown-target"]),
        ("replace let more of grow with r.isr", ["edit/unknown-target"]),
        ("replace let mine of c.go with b", ["edit/unknown-target"]),
        ("replace let many of c.go/on with true", ["edit/unknown-target"]),
        ("replace pick whom of c.go/on with {b}", ["edit/unknown-target"]),
        ("replace pick one of s.act with {b}", ["edit/unknown-target"]),
        ("replace pick who of c.go with {b}", ["edit/unknown-target"]),
        ("add fun f() -> bool = replaced", ["name/unknown"]),
        ("add fun f() -> bool = replaced()", ["name/unknown"]),
        ("replace in c.go branch done { let new = replaced reply nothing }", ["name/unknown"]),
        ("replace in c operation go(t: Topic, b: Broker) -> Reply { branch done reply replaced }",
         ["name/unknown"]),
    ],
)  # fmt: skip
def test_a_wrong_use_of_what_is_replaced_is_reported(edit: str, found: list[str]) -> None:
    assert codes(BASE + f"mutant m in tiny {{ {edit} }} caught by fine") == found


def test_a_let_that_stands_twice_in_a_function_is_not_guessed() -> None:
    twice = "fun two(b: bool) -> bool = if b then let x = b in x else let x = not b in x\n"
    text = BASE + twice + "mutant m in tiny { replace let x of two with true } caught by fine"
    (found,) = check_texts((api.Source("t", WORDS + text),))
    assert found.code == "edit/unknown-target" and "there are 2" in found.message


SHARED = """protocol test.words
overlay o of c {
  -- What both entries need.
  fun taken(r: Row) -> bool = not free(r)
  entry one known_defect { replace fun grown with if taken(r) then r else replaced }
  entry two known_defect { replace conjunct new of c.go/on with taken(row[t]) }
  entry three known_defect { drop branch c.go/full }
}
"""


def test_entries_share_the_functions_of_their_overlay(tmp_path: Path) -> None:
    charter, overlay = tmp_path / "a.charter", tmp_path / "o.charter"
    charter.write_text(WORDS + BASE, encoding="utf-8")
    overlay.write_text(SHARED, encoding="utf-8")
    assert not check_overlay_files(charter, overlay).errors
    both = api.load(
        charter, api.Selection(overlay=api.read_sources(overlay), entries=("one", "two"))
    )
    assert functions(both)["taken"] == "not(free(r))"
    assert functions(both)["grown"] == "(if taken(r) then r else replaced_grown(r, by))"
    assert "taken" not in functions(api.load(charter))


def test_an_error_of_a_shared_function_is_reported_once(tmp_path: Path) -> None:
    charter, overlay = tmp_path / "a.charter", tmp_path / "o.charter"
    charter.write_text(WORDS + BASE, encoding="utf-8")
    overlay.write_text(SHARED.replace("not free(r)", "not fre(r)"), encoding="utf-8")
    assert [e.code for e in check_overlay_files(charter, overlay).errors] == ["name/unknown"]
