"""Which operations and scenarios an edit affects: `check` follows these in a variant, `mutate` in a
mutant."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import api
from charter.core import nodes as n
from charter.core.affected import find_affected, find_changed_operations
from charter.project.pipeline import check_texts
from charter.semantics.scenario import failing

ROOT = Path(__file__).parents[3]
LAMPS = """protocol test.lamps
fun lit(on: bool) -> bool = on
fun never_called() -> bool = true
component lamp {
  state on: bool = false
  operation press() -> bool { branch pressed { on' = not on  reply true } }
  operation look() -> bool { branch looked { reply lit(on) } }
}
system room {
  lamp: lamp
  state steps: int 0..3 = 0
  step enter() { require steps < 3  steps' = steps + 1  lamp.press() }
  step rest() { require steps < 3  steps' = steps + 1 }
}
witness lights of lamp: on
witness enters of room: lamp.on
scenario "press" of lamp { do press() -> pressed reply true }
scenario "look" of lamp { do look() -> looked reply false }
scenario "lit" of lamp { expect not lit(on) }
scenario "enter" of room { do enter() }
scenario "rest" of room { do rest() }
"""
EVERY = ("press", "look", "lit", "enter", "rest")


@pytest.mark.parametrize(
    "before, after, titles",
    [
        ("", "", ()),
        ("= on\n", "= not on\n", ("look", "lit")),
        ("= 0\ncomponent", "= 1\ncomponent", ()),
        ("reply lit(on)", "reply not lit(on)", ("look",)),
        ("on' = not on", "on' = true", ("press", "enter")),
        ("lamp.press()", "", ("enter",)),
        ("on: bool = false", "on: bool = true", EVERY),
        ("steps: int 0..3", "steps: int 0..4", ("enter", "rest")),
        ('"rest" of room {', '"rest" of room { do enter()', ("rest",)),
        ("looked reply false", "looked reply true", ("look",)),
        ('"look"', '"see"', ("see",)),
    ],
)
def test_a_scenario_is_affected_by_what_it_executes(
    before: str, after: str, titles: tuple[str, ...]
) -> None:
    edited = LAMPS.replace(before, after) if before else LAMPS
    found = find_affected(api.load_text(LAMPS), api.load_text(edited))
    assert tuple(scenario.title for scenario in found) == titles


def test_only_the_affected_scenarios_are_followed_in_a_variant() -> None:
    """The others fail in the charter itself, which is told once."""
    edit = "variant bright { replace fun lit with true }\n"
    wrong = LAMPS.replace("pressed reply true", "pressed reply false")
    errors = check_texts((api.Source("lamps", wrong + edit),)).errors
    assert [(item.code, [text for text, _ in item.notes]) for item in errors] == [
        ("scenario/fails", []),
        ("scenario/fails", ["in variant `bright`"]),
        ("scenario/fails", ["in variant `bright`"]),
    ]


@pytest.mark.slow
def test_the_others_come_about_in_each_variant_of_kafka() -> None:
    def core(variant: str) -> n.Model:
        return api.load(ROOT / "spec" / "kafka", api.Selection(variant=variant))

    plain = core("")
    for variant in plain.variants:
        changed = core(variant)
        assert len(find_affected(plain, changed)) < len(changed.scenarios)
        assert not failing(changed)


LAMP = """protocol lamp
component lamp {{
  state lit: bool = {initial}
  state presses: int 0..3 = 0
  operation press() -> bool {{
    branch on when dark: {dark} {{ lit' = true reply true }}
    branch off {{ lit' = false reply false }}
  }}
  operation count() -> int 0..3 {{
    branch full when last: presses >= {limit} {{ reply presses }}
    branch counted {{ presses' = more(presses) reply presses }}
  }}
  observe all {{ lit }}
}}
witness shines of lamp: lit
fun more(n: int 0..3) -> int 0..3 = one_more(n)
fun one_more(n: int 0..3) -> int 0..3 = if n < {most} then n + 1 else n
"""
BEFORE = {"initial": "false", "dark": "not lit", "limit": "3", "most": "3"}


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        ({}, set()),
        ({"dark": "lit"}, {"press"}),
        ({"limit": "2"}, {"count"}),
        ({"most": "2"}, {"count"}),
        ({"initial": "true "}, {"press", "count"}),
    ],
)
def test_operations_that_an_edit_can_change(edit: dict[str, str], changed: set[str]) -> None:
    before, after = (api.load_text(LAMP.format(**BEFORE | more)) for more in ({}, edit))
    assert find_changed_operations(before, after, "lamp") == changed
