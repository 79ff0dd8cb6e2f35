"""What a generated model looks like, and that the type checker and the linter like it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.agreement.test_faults import page_with_faults
from tests.unit.render.test_delta import modules_of_siblings

from charter import api
from charter.render.python_model.emit import Page, Texts, texts

ROOT = Path(__file__).resolve().parents[3]
CHARTER = """
protocol test.lamp

source BOOK "The book of lamps"
-- A wall.
sort Wall
counter Epoch
opaque Serial

enum Color { RED, GREEN }
-- What hangs on a wall.
record Lamp alias "WallLamp" {
  color: Color
  from: option Wall       -- where it hung before
  serial: Serial
}
union Reply { hung(epoch: Epoch), refused }

-- What is asked of walls.

-- The lamps of one colour.
fun of_color(lamps: map Wall -> option Lamp, color: Color) -> set Wall
  alias "findByColor" cites BOOK "2" =
  { w in Wall if match lamps[w] { none -> false, present(lamp) -> lamp.color == color } }

-- A house with lamps.
component house {
  state lamps: map Wall -> option Lamp = [w in Wall: none]
  state epoch: Epoch = 0
  state last: Serial = 0
  volatile state warm: set Wall = {}
  ghost state ever: bool = false

  -- Walls are changed one by one,
  -- by hand.

  -- Hangs a lamp.
  --
  -- Somebody asks for it, and it gets a number.
  operation hang(at: Wall, color: Color) -> Reply alias "mount" cites BOOK "1.2" {
    branch occupied cites BOOK "1.3" when full: lamps[at] != none and same: epoch == 0 reply refused
    branch dim
      when bright: size(of_color(lamps, RED)) > 1 and size(of_color(lamps, GREEN)) > 1
        and dark: size(of_color(lamps, RED)) < 1 and size(of_color(lamps, GREEN)) < 1 and epoch == 0
      reply refused
    branch colorful when many: size(of_color(lamps, color)) > 1 reply refused
    -- Any other wall may be named as the one it hung at before.
    branch hung cites silent {
      let serial = bump(last)
      pick from in Wall - {at} or none
      lamps' = lamps with [at: present(Lamp { color: color, from: from, serial: serial })]
      last' = serial
      epoch' = bump(epoch)
      warm' = warm | {at}
      ever' = true
      reply hung(epoch)
    }
  }
  operation failover() -> bool cites silent { branch cold { warm' = {} reply true } }
  observe seen { lamps }
}

witness two of house: size(of_color(lamps, RED)) == 2
instance tiny of house { Wall = 2 }
"""


def print_texts() -> Texts:
    model = api.load_text(CHARTER, name="spec/lamp.charter")
    page = Page("spec/lamp.charter", "5" * 20, "lamp", "prelude")
    return texts(model, model.components[0], page)


@pytest.fixture(scope="module")
def both() -> Texts:
    return print_texts()


@pytest.fixture(scope="module")
def page(both: Texts) -> str:
    return both.model


def test_branches_keep_their_names_when_a_model_is_printed(page: str) -> None:
    assert "        # hang/occupied  lamp.charter:" in page
    assert "BOOK 1.3" in page
    assert "def _hang_hung(" in page
    assert '"hang/hung"' in page
    assert "# full" in page and "# same" in page


def test_a_label_stands_once_when_it_covers_several_conditions(page: str) -> None:
    assert (
        """
            # bright
            len(of_color(self.world, self.lamps, Color.RED)) > 1
            and len(of_color(self.world, self.lamps, Color.GREEN)) > 1
            # dark
            and len(of_color(self.world, self.lamps, Color.RED)) < 1
            and len(of_color(self.world, self.lamps, Color.GREEN)) < 1
            and self.epoch == Epoch(0)
        ):
"""
        in page
    )


def test_comments_become_docstrings_when_a_model_is_printed(page: str) -> None:
    assert '    """What hangs on a wall. Also called `WallLamp`."""' in page
    assert '"""Hangs a lamp.' in page
    assert '"""The lamps of one colour. Also called `findByColor`.' in page
    assert "Volatile: a failover loses it." in page


def test_sections_become_comments_and_prose_paragraphs_when_a_model_is_printed(page: str) -> None:
    assert "\n\n\n# What is asked of walls.\n\n\ndef of_color(" in page
    assert "\n\n    # Walls are changed one by one, by hand.\n\n    def hang(" in page
    assert page.count("one by one") == 1
    second = "Somebody asks for it, and it gets a number. Also called `mount`.\n"
    assert f'        """Hangs a lamp.\n\n        {second}' in page


def test_ghosts_are_absent_when_a_model_is_printed(page: str) -> None:
    assert "ever" not in {word for line in page.splitlines() for word in line.split('"')}
    assert "ever=" not in page and "ever:" not in page


def test_lines_are_short_when_a_model_is_printed(both: Texts) -> None:
    assert max(map(len, both.model.splitlines() + both.wire.splitlines())) <= 100


def test_printing_is_repeatable(both: Texts) -> None:
    assert print_texts() == both


def test_json_stands_beside_the_model(both: Texts) -> None:
    assert "Json" not in both.model and "never_issued" not in both.model
    assert "from lamp import (" in both.wire and "    Lamp,\n" in both.wire
    assert "class " not in both.wire and "def hang" not in both.wire


@pytest.mark.parametrize(
    "tool",
    [
        ("mypy", "--strict", "--no-incremental", "."),
        ("ruff", "check", "--config", str(ROOT / "pyproject.toml"), "."),
    ],
    ids=lambda tool: str(tool[0]),
)
def test_the_tool_is_content_with_a_model_its_siblings_and_faults(
    both: Texts, tmp_path: Path, tool: tuple[str, ...]
) -> None:
    faulty = page_with_faults(tmp_path)
    pages = {"lamp": both.model, "lamp_wire": both.wire}
    pages |= {"lock": faulty.model, "lock_wire": faulty.wire}
    for name, text in {**modules_of_siblings(), **pages}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", *tool], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


PICKS = """
protocol test.picks
enum Color { RED, GREEN }
fun warm() -> set Color = {RED}
component wall {
  state color: Color = RED
  operation paint(hard: bool) -> option Color cites silent {
    branch painted {
      pick sure in {RED, GREEN} or none
      pick again in (if hard then {true, false} else {false}) or none
      pick called in warm() or none
      pick open in {c in Color if c != color} or none
      color' = default(called, GREEN)
      reply if default(again, false) then sure else open
    }
  }
}
witness green of wall: color == GREEN
instance tiny of wall { }
"""


def test_constant_choices_stand_in_the_loop_when_they_are_printed() -> None:
    model = api.load_text(PICKS, name="spec/picks.charter")
    page = texts(model, model.components[0], Page("spec/picks.charter", "5" * 20, "p", "prelude"))
    for row in (
        "for sure in (Color.GREEN, Color.RED):",
        "for again in (False, True) if hard else (False,):",
        "for called in one_of(warm()):",
        "for open_ in one_or_none(frozenset(c for c in Color if c != self.color)):",
        "after = replace(self, color=called)",
        "sure if again else open_",
    ):
        assert row in page.model
    assert "default(" not in page.model and "silent\n" not in page.model.split('"""')[2]


EACH = """
protocol test.each
sort Wall
sort Color
fun spare() of house -> map Wall -> set Color = [w in Wall: { c in Color if not c in used[w] }]
component house {
  state used: map Wall -> set Color = [w in Wall: {}]
  operation paint(wall: Wall) -> bool cites silent {
    branch painted {
      pick first for w in Wall in spare()[w] or none
      pick second for w in Wall in spare()[wall] or none
      used' = [w in Wall: { c in Color if first[w] == present(c) or second[w] == present(c) }]
      reply true
    }
  }
}
witness used_up of house: some w in Wall: used[w] != {}
instance tiny of house { Wall = {w1}  Color = {c1} }
"""


def test_a_map_of_sets_is_picked_from_when_each_key_has_its_own() -> None:
    model = api.load_text(EACH, name="spec/each.charter")
    page = texts(model, model.components[0], Page("spec/each.charter", "5" * 20, "p", "prelude"))
    assert "for first_ in each_or_none(spare(self.world, self.used)):" in page.model
    assert "w: one_or_none(spare(self.world, self.used)[wall])" in page.model


MISSING = """
protocol test.missing
sort Wall
record Lamp { lit: bool, by: option Wall }
fun holder(lamp: Lamp, walls: set Wall) -> set Wall =
  if some w in walls: lamp.by == present(w) then { w in walls if lamp.by == present(w) } else {}
component house {
  state lamps: map Wall -> option Lamp = [w in Wall: none]
  operation press(one: Wall) -> set Wall cites silent {
    let lit = { w in Wall if lamps[w] != none and value(lamps[w]).lit }
    branch dark when out: lamps[one] == none reply lit
    let lamp = value(lamps[one])
    branch free when nobody: lamp.by == none or not value(lamp.by) in lit reply {}
    branch held reply holder(lamp, Wall)
  }
  operation switch(one: Wall) -> bool cites silent {
    branch off when there: lamps[one] != none and on: value(lamps[one]).lit reply false
    branch on reply true
  }
}
witness lit of house: some w in Wall: lamps[w] == none
instance tiny of house { Wall = 1 }
"""


def test_what_was_tested_for_none_is_printed_without_value() -> None:
    model = api.load_text(MISSING, name="spec/missing.charter")
    where = Page("spec/missing.charter", "5" * 20, "m", "prelude")
    page = texts(model, model.components[0], where).model
    for row in (
        "if lamp.by in walls",
        "frozenset({lamp.by})",
        "if (lamps := self.lamps[w]) is not None and lamps.lit",
        "        lamp = self.lamps[one]\n",
        "if lamp is None:  # out",
        "if lamp.by is None or lamp.by not in lit:  # nobody",
        "(lamps := self.lamps[one]) is not None  # there",
        "and lamps.lit  # on",
    ):
        assert row in page, page
    assert "value(" not in page


ONLY_CASE = """
protocol test.single
sort Wall
union Letter { sent(at: Wall) }
fun letter(at: Wall) -> Letter = sent(at)
component house {
  state open: bool = true
  operation press(one: Wall) -> bool cites silent {
    branch pressed reply open and match letter(one) { sent(at) -> at == one }
  }
}
witness opened of house: open
instance tiny of house { Wall = 1 }
"""


def test_a_subject_has_its_value_when_it_has_one_case_and_is_not_always_reached() -> None:
    model = api.load_text(ONLY_CASE, name="spec/single.charter")
    page = texts(model, model.components[0], Page("spec/single.charter", "5" * 20, "s", "prelude"))
    assert "next(subject.at == one for subject in [letter(one)])" in page.model
