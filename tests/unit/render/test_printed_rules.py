"""The page of an edited charter is the same when it shares functions and operations with the page
of the charter as when it is printed alone."""

from __future__ import annotations

from functools import cache

import pytest

from charter import api
from charter.core import nodes as n
from charter.render.python_model.delta import Parts
from charter.render.python_model.emit import Page, Texts, texts

LAMP = """protocol test.lamp
sort Lamp
sort Shade
const most: int 0..3
const shades: int 0..3
enum Colour { RED, GREEN }
-- The colour of a lamp.
fun colour(lamp: Lamp, warm: set Lamp) -> Colour = if lamp in warm then RED else GREEN
fun all_red(warm: set Lamp) -> bool = forall lamp in Lamp: colour(lamp, warm) == RED
fun near(lamp: Lamp) -> set Lamp = if nobody({}) then alone(lamp) else {lamp}
fun nobody(of: set Lamp) -> bool = of == {}
fun alone(lamp: Lamp) -> set Lamp = {lamp}
fun cold(warm: set Lamp) -> set Lamp = {b for b in Lamp if b not in warm}
component house {
  state warm: set Lamp = {}
  state count: int 0..most = 0
  -- Somebody presses a switch.
  operation press(lamp: Lamp) -> Colour {
    -- It was off.
    branch on when dark: lamp not in warm {
      warm' = warm | {lamp}
      count' = min(count + 1, most)
      reply colour(lamp, warm | {lamp})
    }
    branch off { let left = warm - {lamp} warm' = left  reply colour(lamp, left) }
  }
  operation choose(lamp: Lamp) -> option Lamp {
    branch chosen { pick chosen in near(lamp) or none  reply chosen }
  }
  operation look() -> bool {
    branch looked { let left = cold(warm)  reply left == {} and shades > 0 }
  }
  observe all { warm }
}
witness reds of house: all_red(warm)
"""
EDITS = {
    "nothing": ("RED", "RED"),
    "a function": ("then RED else GREEN", "then GREEN else RED"),
    "a branch": ("warm' = warm | {lamp}", "warm' = {lamp}"),
    "the comment on a function": ("The colour", "The one colour"),
    "the comment on a branch": ("It was off.", "It was dark."),
    "its place": ("fun all_red", "\n\nfun all_red"),
    "a function of the name of a local": ("nobody", "left"),
    "another name for a constant": ("= of == {}", "= of == {} or forall s in Shade: s != s"),
    "whether a choice can be empty": ("= {lamp}\n", "= {one for one in Lamp if one == lamp}\n"),
    "whether a function reads the sizes": ("= {b for b in Lamp if b not in warm}", "= warm"),
    "what is a ghost": ("state count", "ghost state count"),
    "a function that is called no longer": ("reply colour(lamp, left)", "reply RED"),
}
PAGE = Page("lamp.charter", "5" * 20, "house")


@cache
def model(edit: str) -> n.Model:
    before, after = EDITS[edit]
    assert before in LAMP
    return api.load_text(LAMP.replace(before, after), name="lamp.charter")


def page(edit: str, like: Texts | None = None) -> Texts:
    found = model(edit)
    shared = None if like is None else like.printed
    return texts(found, found.components[0], PAGE, shared)


@pytest.mark.parametrize("edit", EDITS)
def test_a_page_is_the_same_when_it_shares_texts_with_another(edit: str) -> None:
    assert page(edit, page("nothing")) == page(edit)
    assert page("nothing", page(edit)) == page("nothing")


def test_most_is_shared_when_one_branch_was_edited() -> None:
    first = page("nothing")
    before, after = first.printed.texts, page("a branch", first).printed.texts
    anew = {key for key, text in after.items() if text is not before[key]}
    assert anew == {("house", "press")} and len(after) == 8


def test_the_outline_has_the_names_of_all_functions_and_methods() -> None:
    found = page("nothing")
    body, outline = found.bodies[0], found.outlines[0]
    kept = [line.partition("(")[0] for line in body.splitlines() if line.strip()[:4] == "def "]
    named = [line.partition("(")[0] for line in outline.splitlines() if line.strip()[:4] == "def "]
    assert named == kept and len(outline) < len(body)


def test_parts_are_found_when_comments_have_line_separators_of_other_kinds() -> None:
    text = LAMP.replace("It was off.", "It was\u2028off.").replace("The colour", "The\x0ccolour")
    text = text.replace("enum", "-- Two\x85colours.\nenum")
    of = api.load_text(text, name="lamp.charter")
    parts = Parts.of(texts(of, of.components[0], PAGE), "House")
    assert parts.types["Colour"].startswith("class Colour(Enum):")
    assert parts.functions["colour"].startswith("def colour(")
    assert parts.functions["cold"].startswith("def cold(")
    assert parts.methods["press"].startswith("    def press(")
