"""Variants, mutants and overlays on the surface tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.charters import WORDS, codes, dump, load

from charter import api
from charter.check.names.edit_names import overlap
from charter.core import nodes as ir
from charter.core.show import show_expr, show_model
from charter.diagnostics import Refused, Source
from charter.project.compile import check_overlay_files, flatten_text
from charter.project.pipeline import check_texts, compile_sources, overlay_entries

BASE = """fun free(r: Row) -> bool = r.owner == none
component c {
  state row: map Topic -> Row = [t in Topic: Row { owner: none, epoch: 0, isr: {} }]
  operation go(t: Topic, b: Broker) -> Reply {
    in any order {
      branch off when row[t].isr == {}  reply rejected(OFF)
      branch on when empty: b in row[t].isr and busy: not free(row[t])  reply rejected(ON)
    }
    branch done { row[t].owner' = present(b)  row[t].epoch' = bump(row[t].epoch)  reply nothing }
  }
}
always safe of c: forall t in Topic: free(row[t]) or row[t].isr != {}
witness w of c: took go/done
instance tiny of c { Broker = 2 Topic = 1 }
"""


def difference(edits: str) -> tuple[set[str], set[str]]:
    """Lines of the dump that a variant with these edits takes away, and those that it adds."""
    text = BASE + f"variant v {{ {edits} }}"
    plain, edited = set(dump(text)), set(dump(text, variant="v"))
    return {line.strip() for line in plain - edited}, {line.strip() for line in edited - plain}


@pytest.mark.parametrize(
    ("edits", "gone", "new"),
    [
        ("replace fun free(r: Row) -> bool = true", {"= (r.owner eq none)"}, {"= true"}),
        ("drop conjunct busy of c.go/on", {"when busy: not(free(@row[t]))"}, set()),
        ("replace conjunct busy of c.go/on with t == t",
         {"when busy: not(free(@row[t]))"}, {"when busy: (t eq t)"}),
        ("drop update row of c.go/done",
         {"@row' = (@row with [t: (@row[t] with {owner: present(b), epoch: "
          "bump!(@row[t].epoch)})])"}, set()),
        ("replace update row of c.go/done with row",
         {"@row' = (@row with [t: (@row[t] with {owner: present(b), epoch: "
          "bump!(@row[t].epoch)})])"}, {"@row' = @row"}),
        ("drop property safe",
         {"always safe of c",
          ": (forall t in Topic: (free(@row[t]) or (@row[t].isr ne {})))"}, set()),
        ("add witness w2 of c: took go/on", set(), {"witness w2 of c", ": took go/on"}),
        ("add in c state more: bool = true", set(), {"state @more: bool = true"}),
    ],
)  # fmt: skip
def test_edit_changes_its_rule_and_nothing_else(edits: str, gone: set[str], new: set[str]) -> None:
    assert difference(edits) == (gone, new)


GROUPED = BASE.replace("busy: not free(row[t])", "busy: not free(row[t]) and t == t")


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        ("replace conjunct busy of c.go/on with b == b", ["(b in @row[t].isr)", "(b eq b)"]),
        ("drop conjunct busy of c.go/on", ["(b in @row[t].isr)"]),
        ("drop conjunct empty of c.go/on", ["(not(free(@row[t])) and (t eq t))"]),
    ],
)
def test_an_edit_of_a_label_changes_all_that_it_covers(edit: str, left: list[str]) -> None:
    model = load(f"{GROUPED} variant v {{ {edit} }}", variant="v")
    guard = model.components[0].operations[0].branches[1].guard
    assert [show_expr(part.condition) for part in guard] == left


SYSTEM = """system s {
  c: c
  state far: bool = false
  channel box: Broker carries Topic set
  step act(t: Topic, b: Broker) {
    require b == b and full: c.row[t].isr != {} and not far
      and near: not far
    c.go(t, b)
    far' = true
    send box[b] t
  }
}
instance small of s { Broker = 2 Topic = 1 }
always calm of s: true
"""


def step_of(edits: str) -> list[str]:
    """The step of the system with edits of a variant, as the dump shows it."""
    lines = dump(BASE + SYSTEM + f"variant v {{ {edits} }}", variant="v")
    start = next(i for i, line in enumerate(lines) if line.startswith("  step "))
    return [line.strip() for line in lines[start:] if line.startswith(("  step ", "    "))]


ACT = [
    "step act(t: Topic, b: Broker)",
    "require (b eq b)",
    "require full: ((@c.row[t].isr ne {}) and not(@far))",
    "require near: not(@far)",
    "c.go(t, b)",
    "@far' = true",
    "send @box[b] t",
]


@pytest.mark.parametrize(
    ("edit", "steps"),
    [
        ("", ACT),
        ("drop conjunct full of s.act", [*ACT[:2], *ACT[3:]]),
        ("replace conjunct near of s.act with t == t",
         [*ACT[:3], "require near: (t eq t)", *ACT[4:]]),
        ("drop update far of s.act", [*ACT[:5], ACT[6]]),
        ("replace update far of s.act with far", [*ACT[:5], "@far' = @far", ACT[6]]),
        ("replace in s step act(t: Topic, b: Broker) { require far }",
         [ACT[0], "require @far"]),
        ("add in s step rest() { require far }", [*ACT, "step rest()", "require @far"]),
        ("add in s state more: bool = far", ACT),
        ("drop step s.act  add in s step rest() { far' = far }", ["step rest()", "@far' = @far"]),
    ],
)  # fmt: skip
def test_a_step_of_a_system_is_edited_by_its_name(edit: str, steps: list[str]) -> None:
    if "more" in edit:
        edit = edit.replace("= far", "= true")
    assert step_of(edit) == steps


@pytest.mark.parametrize(
    "edit", ["drop conjunct full of act", "drop branch s.act", "drop operation s.act",
             "drop operation act", "drop conjunct full of s.act/done", "drop step act",
             "replace in s branch done reply true",
             "replace in s operation act() -> bool { branch done reply true }"],
)  # fmt: skip
def test_a_misplaced_edit_of_a_step_is_told_how_steps_are_edited(edit: str) -> None:
    text = WORDS + BASE + SYSTEM + f"variant v {{ {edit} }}"
    (found,) = check_texts((Source("t", text),)).errors
    assert found.code == "edit/unknown-target"
    assert "system.step" in found.hint


@pytest.mark.parametrize(
    ("edit", "hint"),
    [
        ("drop conjunct ful of s.act", "full"),
        ("drop conjunct mine of c.go/off", "no condition there has a label; write it as `mine:"),
        ("replace update near of s.act with far", ""),
        ("drop step s.acts", "act"),
        ("replace in s step acts() { require far }", "act"),
        ("drop step t.act", ""),
        ("drop step c.go", ""),
        ("add in c step go() { require true }", ""),
    ],
)
def test_an_edit_of_a_part_of_a_step_that_is_not_there_is_reported_once(
    edit: str, hint: str
) -> None:
    text = WORDS + BASE + SYSTEM + f"variant v {{ {edit} }}"
    (found,) = check_texts((Source("t", text),)).errors
    assert found.code == "edit/unknown-target"
    assert hint in found.hint


def test_a_mutant_bends_a_step() -> None:
    mutant = "mutant m in small { drop conjunct near of s.act } caught by calm"
    plain, edited = (load(BASE + SYSTEM + mutant, mutant=name) for name in ("", "m"))
    assert plain.mutants[0].addresses == ("s.act:near",)
    assert len(plain.systems[0].steps[0].body) == len(edited.systems[0].steps[0].body) + 1


def test_two_conditions_of_a_step_with_one_label_are_refused() -> None:
    twice = SYSTEM.replace("far' = true", "require near: far  far' = true")
    assert codes(BASE + twice) == ["name/duplicate"]


GATE = """component d {
  state on: bool = false
  state far: bool = false
  operation go() -> bool {
    in any order {
      branch early when one: on  reply false
      branch late when two: on and three: not on  reply false
    }
    branch last when four: far  reply true
    branch done { on' = true  reply true }
  }
  operation turn() -> bool {
    branch back when five: on { on' = false  reply true }
    in any order {
      branch stays when six: not on  reply true
      branch waits reply false
    }
  }
}
always fine of d: true
witness w of d: took go/done
instance small of d { }
"""


@pytest.mark.parametrize(
    ("edits", "warned"),
    [
        ("drop conjunct one of d.go/early", ["early"]),
        ("drop conjunct four of d.go/last", ["last"]),
        ("drop conjunct five of d.turn/back", ["back"]),
        ("drop conjunct six of d.turn/stays", []),
        ("drop conjunct two of d.go/late", []),
        ("drop conjunct two of d.go/late  drop conjunct three of d.go/late", ["late"]),
        ("replace conjunct four of d.go/last with true", []),
        ("drop branch d.go/last", []),
    ],
)
def test_guard_that_an_edit_leaves_empty_is_warned_of_where_branches_stand_behind_it(
    edits: str, warned: list[str]
) -> None:
    text = WORDS + GATE + f"mutant m in small {{ {edits} }} caught by fine"
    found = list(check_texts((Source("t", text),)))
    assert [(item.code, item.severity) for item in found] == [
        ("edit/guard-gone", "warning") for _ in warned
    ]
    assert all(f"`{name}`" in item.message for name, item in zip(warned, found, strict=True))
    assert load(GATE + f"mutant m in small {{ {edits} }} caught by fine", mutant="m")


def test_guard_that_a_variant_leaves_empty_is_an_error_of_the_branches_behind() -> None:
    text = GATE + "variant v { drop conjunct four of d.go/last }"
    assert codes(text) == ["branch/shadowed"]
    assert len(list(check_texts((Source("t", WORDS + text),)))) == 2


def branches(edits: str) -> list[tuple[str, int]]:
    model = load(BASE + f"variant v {{ {edits} }}", variant="v")
    return [(branch.name, branch.group) for branch in model.components[0].operations[0].branches]


def test_branch_is_dropped_from_its_group() -> None:
    assert branches("drop branch c.go/off") == [("on", 1), ("done", 0)]


def test_branch_is_added_before_another_one() -> None:
    edit = "add in c.go before on branch new when b in row[t].isr and t != t  reply nothing"
    assert branches(edit) == [("off", 1), ("new", 1), ("on", 1), ("done", 0)]


def test_branch_is_replaced_in_its_place() -> None:
    assert branches("replace in c.go branch off when free(row[t]) reply nothing") == [
        ("off", 1),
        ("on", 1),
        ("done", 0),
    ]


def test_operation_is_added_and_dropped() -> None:
    text = (
        BASE
        + """variant v { add in c operation stop() -> bool { branch ok reply true } }
variant u after v { drop operation c.stop }"""
    )
    assert [o.name for o in load(text, variant="v").components[0].operations] == ["go", "stop"]
    assert [o.name for o in load(text, variant="u").components[0].operations] == ["go"]


def test_variant_stands_on_those_that_it_comes_after() -> None:
    text = (
        BASE
        + """variant one { replace fun free(r: Row) -> bool = true }
variant two after one { add in c state more: bool = true }"""
    )
    lines = dump(text, variant="two")
    assert "  = true" in lines
    assert "  state @more: bool = true" in lines


def test_two_variants_that_change_one_rule_need_an_order() -> None:
    text = (
        BASE
        + """variant one { drop branch c.go/on }
variant two { drop conjunct busy of c.go/on }
variant both after one, two { drop property safe }"""
    )
    assert codes(text) == ["variant/conflict", "edit/unknown-target"]
    with pytest.raises(Refused):
        load(text, variant="one+two")


def test_variants_that_change_different_rules_are_joined() -> None:
    text = (
        BASE
        + """variant one { drop branch c.go/off }
variant two { drop conjunct busy of c.go/on }"""
    )
    model = load(text, variant="one+two")
    guards = [len(b.guard) for b in model.components[0].operations[0].branches]
    assert guards == [1, 0]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("c.go/on", "c.go/on:busy", True),
        ("c.go/on:busy", "c.go/on:busy", True),
        ("c.go", "c.go/on", True),
        ("c.go", "c.going", False),
        ("c.go/on:a", "c.go/on:b", False),
        ("free", "freer", False),
    ],
)
def test_addresses_overlap_if_one_is_inside_the_other(
    left: str, right: str, expected: bool
) -> None:
    assert overlap(left, right) is expected
    assert overlap(right, left) is expected


@pytest.mark.parametrize(
    "edit",
    [
        "replace fun fre(r: Row) -> bool = true",
        "replace always w of c: true",
        "replace in d.go branch on reply nothing",
        "replace in c.run branch on reply nothing",
        "drop branch c.go/of",
        "drop operation c.run",
        "drop conjunct bussy of c.go/on",
        "drop update count of c.go/done",
        "drop property w",
        "drop witness safe",
        'drop scenario "none"',
        "add in d state x: bool = true",
        "add in c.go before nobody branch new reply nothing",
    ],
)
def test_edit_without_a_target_is_reported_once(edit: str) -> None:
    found = codes(BASE + f"variant v {{ {edit} }}")
    expected = [] if edit == "replace always w of c: true" else ["edit/unknown-target"]
    assert found == expected


def test_mutant_may_be_a_bad_protocol_but_not_a_wrong_one() -> None:
    shadowed = "mutant m in tiny { drop conjunct empty of c.go/on drop conjunct busy of c.go/on }"
    assert codes(BASE + shadowed + " caught by safe") == []
    wrong = "mutant m in tiny { replace conjunct busy of c.go/on with t } caught by safe"
    assert codes(BASE + wrong) == ["type/mismatch"]


def test_mutant_is_another_model_of_the_same_protocol() -> None:
    text = BASE + "mutant m in tiny { drop conjunct busy of c.go/on } caught by safe"
    plain, edited = load(text), load(text, mutant="m")
    assert plain.mutants[0].addresses == ("c.go/on:busy",)
    assert len(edited.components[0].operations[0].branches[1].guard) == 1
    assert edited.functions == plain.functions


def test_properties_that_name_a_dropped_branch_are_left_out_of_a_mutant() -> None:
    text = BASE + "mutant m in tiny { drop branch c.go/done } caught by safe"
    assert [p.name for p in load(text, mutant="m").properties] == ["safe"]


OVERLAY = """protocol test.words
overlay target of c {
  entry never_on charter_gap for "1.0".."" cites silent because "seen" {
    drop branch c.go/on
  }
  entry always_free suspected_defect { replace fun free(r: Row) -> bool = true }
}
"""


def test_overlay_entries_are_applied_by_name(tmp_path: Path) -> None:
    charter, overlay = tmp_path / "a.charter", tmp_path / "target.charter"
    charter.write_text(WORDS + BASE, encoding="utf-8")
    overlay.write_text(OVERLAY, encoding="utf-8")
    chosen = api.load(
        charter, api.Selection(overlay=api.read_sources(overlay), entries=("never_on",))
    )
    assert [b.name for b in chosen.components[0].operations[0].branches] == ["off", "done"]
    assert "  = (r.owner eq none)" in show_model(chosen)
    entries = overlay_entries(api.read_sources(overlay))
    assert [entry.name for entry in entries] == ["never_on", "always_free"]
    assert entries[0].first_release == "1.0"
    assert not check_overlay_files(charter, overlay).errors
    with pytest.raises(Refused):
        api.load(charter, api.Selection(overlay=api.read_sources(overlay), entries=("nothing",)))


def test_flattened_charter_means_the_same_as_the_variant(tmp_path: Path) -> None:
    charter = tmp_path / "a.charter"
    edits = "drop conjunct busy of c.go/on add in c state more: bool = true"
    charter.write_text(WORDS + BASE + f"variant v {{ {edits} }}", encoding="utf-8")
    text = flatten_text(charter, "v")
    chosen = api.load(charter, api.Selection(variant="v"))
    assert show_model(api.load_text(text)) == show_model(chosen).replace(" variant v", "")


def test_unknown_selection_is_refused() -> None:
    for choice in ({"variant": "x"}, {"mutant": "x"}):
        (kind,) = choice
        with pytest.raises(api.Missing, match=f"there is no {kind} 'x'; there are: none"):
            load(BASE, **choice)
        with pytest.raises(Refused) as refused:
            sources = (api.Source("a", WORDS + BASE),)
            compile_sources(sources, api.Selection(**choice))
        assert [item.code for item in refused.value.diagnostics.errors] == ["variant/unknown"]


def entry(edits: str) -> str:
    return BASE + f"overlay target of c {{ entry one known_defect {{ {edits} }} }}"


def with_entry(tmp_path: Path, edits: str) -> ir.Model:
    """The model of an overlay's only entry with these edits."""
    charter, overlay = tmp_path / "a.charter", tmp_path / "target.charter"
    charter.write_text(WORDS + BASE, encoding="utf-8")
    head = "protocol test.words\noverlay target of c { entry one known_defect {"
    overlay.write_text(f"{head} {edits} }} }}", encoding="utf-8")
    assert not check_overlay_files(charter, overlay).errors
    return api.load(charter, api.Selection(overlay=api.read_sources(overlay), entries=("one",)))


def test_fault_stands_in_the_branch_of_the_core(tmp_path: Path) -> None:
    chosen = with_entry(
        tmp_path,
        'add fault "a.Bad" saying "so \\"it\\" is" to c.go/done when row[t].isr == {} '
        'add fault "a.Worse" to c.go/done',
    )
    (found,) = (b.faults for b in chosen.components[0].operations[0].branches if b.faults)
    assert [(f.exception, f.saying) for f in found] == [("a.Bad", 'so "it" is'), ("a.Worse", "")]
    shown = [line.strip() for line in show_model(chosen).splitlines() if "fault" in line]
    assert shown == [
        'fault "a.Bad" saying "so "it" is" when (@row[t].isr eq {})',
        'fault "a.Worse" when true',
    ]


def test_fault_stays_when_its_branch_is_replaced(tmp_path: Path) -> None:
    edits = 'add fault "a.Bad" to c.go/done replace in c.go branch done reply nothing'
    chosen = with_entry(tmp_path, edits)
    assert [len(b.faults) for b in chosen.components[0].operations[0].branches] == [0, 0, 1]


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ('add fault "a.Bad" to c.go/done when t', ["type/mismatch"]),
        ('add fault "a.Bad" to c.go/done when nobody == b', ["name/unknown"]),
        ('add fault "a.Bad" to c.go/done when row == row\'', ["effect/reads-after"]),
        ('add fault "a.Bad" to c.go/dune', ["edit/unknown-target"]),
        ('add fault "a.Bad" to c.go', ["edit/unknown-target"]),
        ('add fault "a.Bad" to d.go/done', ["edit/unknown-target"]),
        ('add fault "a.Bad" to c.go/done when t == t', []),
    ],
)
def test_errors_of_a_fault(edit: str, found: list[str]) -> None:
    assert codes(entry(edit)) == found


def test_fault_sees_the_lets_before_its_branch_and_nothing_inside() -> None:
    text = """component c {
  state on: bool = false
  ghost state ever: bool = false
  operation go(now: bool) -> bool {
    let was = on
    branch early when was  reply true
    let both = was and now
    let once = ever
    branch late { let inside = now  on' = inside  reply both }
  }
}
witness w of c: took go/late
overlay target of c { entry one known_defect { add fault "a.Bad" to c.go/BRANCH when SEEN } }
"""
    for branch, seen, found in (
        ("early", "was and now", []), ("late", "both", []),
        ("early", "both", ["name/unknown"]), ("late", "inside", ["name/unknown"]),
        ("late", "ever", ["effect/ghost-interference"]),
        ("late", "once", ["effect/ghost-interference"]),
    ):  # fmt: skip
        assert codes(text.replace("BRANCH", branch).replace("SEEN", seen)) == found


@pytest.mark.parametrize("title", ["variant v", "mutant v in tiny"])
def test_fault_outside_of_an_overlay_is_refused_once(title: str) -> None:
    ending = " caught by safe" if title.startswith("mutant") else ""
    text = BASE + f'{title} {{ add fault "a.Bad" to c.go/done }}{ending}'
    assert codes(text) == ["edit/fault-outside-overlay"]
    with pytest.raises(Refused):
        load(text, **({"variant": "v"} if not ending else {"mutant": "v"}))
