"""What remains of texts without the scenarios, instances and mutants that have errors."""

from __future__ import annotations

import pytest

from charter.diagnostics import Refused, Source
from charter.project.compile import compile_core
from charter.project.pipeline import check_texts
from charter.project.sources import PLAIN, Selection
from charter.project.without_errors import BrokenDeclaration, Rest, compile_rest, without_errors

HEAD = """protocol test.box
sort Node
component box {
  state held: set Node = {}
  operation put(node: Node) -> bool { branch kept { held' = held | {node} reply true } }
}
witness some_held of box: held != {}
"""
REST = """-- the first
instance tiny of box { Node = 2 }  -- of two
-- not this
-- nor this

instance odd of box {
  -- nor inside
  Nod = 1
}  -- nor behind
-- the last
instance small of box { Node = 1 }
"""


def rest_of(*texts: str) -> Rest | None:
    sources = tuple(Source(f"{number}.charter", text) for number, text in enumerate(texts))
    with pytest.raises(Refused) as refused:
        compile_core(sources, PLAIN)
    return without_errors(sources, refused.value.diagnostics)


def test_a_declaration_is_blank_with_its_comments_when_it_has_errors() -> None:
    rest = rest_of(HEAD + REST)
    assert rest is not None
    assert rest.broken == (BrokenDeclaration("instance", "odd"),)
    assert rest.instances == ("tiny", "odd", "small")
    (source,) = rest.sources
    assert source.name == "0.charter"
    before = (HEAD + REST).splitlines()
    after = source.text.splitlines()
    first, last = before.index("-- not this"), before.index("}  -- nor behind")
    assert [text for text in after if text.strip()] == before[:first] + before[last + 1 :]
    assert len(after) == len(before)
    tiny, small = compile_core(rest.sources, PLAIN).instances
    assert (tiny.doc, small.doc) == ("the first", "the last")


def test_each_kind_is_left_out_when_it_has_errors_in_any_file() -> None:
    scenario = 'protocol test.box\nscenario "a story" of box { Node = {a} do pat(a) }\n'
    mutant = "mutant lazy in tiny { drop update held of box.put/kept } caught by nothing\n"
    rest = rest_of(HEAD + mutant + "instance tiny of box { Node = 2 }\n", scenario)
    assert rest is not None
    assert rest.broken == (
        BrokenDeclaration("mutant", "lazy"),
        BrokenDeclaration("scenario", "a story"),
    )
    model = compile_core(rest.sources, PLAIN)
    assert (len(model.instances), model.mutants, model.scenarios) == (1, (), ())


def test_what_names_an_instance_that_is_left_out_is_left_out_too() -> None:
    mutant = "mutant lazy in odd { drop update held of box.put/kept } caught by nothing\n"
    sources = (Source("0.charter", HEAD + REST + mutant),)
    with pytest.raises(Refused) as refused:
        compile_core(sources, PLAIN)
    found = compile_rest(sources, PLAIN, refused.value.diagnostics)
    assert found is not None
    rest, model = found
    assert [one.told for one in rest.broken] == ["instance odd", "mutant lazy"]
    assert rest.instances == ("tiny", "odd", "small")
    assert [i.name for i in model.instances] == ["tiny", "small"] and not model.mutants


@pytest.mark.parametrize(
    "more",
    [
        "fun f(x: Nod) -> bool = true\n",
        "setup one of box { Nod = 1 }\ninstance with_one of box like one {}\n",
        "fun f(x: Node) -> bool = true +\n",
        "instance second of box { Node = 1\nsystm twin { a: box }\n",
        "nonsense that follows a declaration\n",
    ],
)
def test_nothing_remains_when_an_error_is_elsewhere(more: str) -> None:
    assert rest_of(HEAD + REST + more) is None


def test_what_remains_is_refused_when_it_names_what_is_left_out() -> None:
    rest = rest_of(HEAD + REST + "instance like_odd of box like odd { Node = 1 }\n")
    assert rest is not None
    with pytest.raises(Refused):
        compile_core(rest.sources, PLAIN)
    assert check_texts(rest.sources).errors


def test_what_cannot_be_parsed_is_left_out_as_what_has_another_error_is() -> None:
    told = 'scenario "a \\"story\\"" of box {\n  Node = {a}\n  do put(a) and so on\n}\n'
    untold = "scenario of box { }\n"
    more = told + untold + "-- of three\ninstance last of box { Node = 3 }\ninstance cut of box {\n"
    rest = rest_of(HEAD + REST + more)
    assert rest is not None
    assert [one.told for one in rest.broken] == [
        "instance odd", 'scenario "a "story""', "scenario at 0.charter:23:1", "instance cut",
    ]  # fmt: skip
    assert rest.instances == ("tiny", "odd", "small", "last", "cut")
    model = compile_core(rest.sources, PLAIN)
    assert [(one.name, one.doc) for one in model.instances] == [
        ("tiny", "the first"), ("small", "the last"), ("last", "of three"),
    ]  # fmt: skip
    assert model.scenarios == ()


def test_an_error_that_is_told_behind_its_declaration_is_of_it() -> None:
    """The parser stops where the next declaration begins."""
    text = 'scenario "open" of box { Node = {a}\ninstance tiny of box { Node = 2 }\n'
    rest = rest_of(HEAD + text)
    assert rest is not None
    assert rest.broken == (BrokenDeclaration("scenario", "open"),)
    assert [one.name for one in compile_core(rest.sources, PLAIN).instances] == ["tiny"]


def test_an_edit_that_drops_a_scenario_goes_with_it() -> None:
    more = 'scenario "cut" of box {\n  do put(\n}\n'
    variant = 'variant other {\n  drop scenario "cut"\n  drop witness some_held\n}\n'
    rest = rest_of(HEAD + variant + "instance tiny of box { Node = 1 }\n" + more)
    assert rest is not None
    assert compile_core(rest.sources, Selection("other")).variant == "other"
    found = check_texts((Source("0.charter", HEAD + variant + more),))
    assert [item.code for item in found] == ["syntax/unexpected"]
