"""Symmetry that merges nothing, noticed while searching: what is found does not depend on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.engines import counts, verdicts

from charter import api
from charter.core import nodes as n
from charter.explore.native.program.anchor import Anchor
from charter.explore.native.search import levels
from charter.explore.native.search.explore import Choices, Exploration, NativeOptions, explore
from charter.explore.native.search.levels import Search
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as by_reference

CHARTER = """protocol anchors
sort Node
const calm: int 0..9
component box {
  state first: option Node = none
  state second: option Node = none
  state on: set Node = {}
  state hour: int 0..9 = 0
  operation tick() -> bool cites silent {
    branch ticked {
      hour' = if hour == 9 then 0 else hour + 1
      reply true
    }
  }
  operation flip(n: Node) -> bool cites silent {
    branch off when n in on {
      on' = on - {n}
      reply false
    }
    branch on {
      on' = on | {n}
      reply true
    }
  }
  operation swap() -> bool cites silent {
    branch early when hour < calm reply false
    branch swapped {
      first' = second
      second' = first
      reply true
    }
  }
}
witness all_on of box: on == Node
always never_alone of box: not (hour == 7 and size(on) == 1 and first != none
  and value(first) in on)
instance steady of box {
  Node = {a, b, c}
  calm = 9
  start first = present(a)
  start second = present(b)
  only swap if false
}
instance late of box {
  Node = {a, b, c}
  calm = 6
  start first = present(a)
  start second = present(b)
}
instance soon of box {
  Node = {a, b, c}
  calm = 0
  start first = present(a)
  start second = present(b)
}
instance alike of box {
  Node = {a, b, c}
  calm = 0
}
"""
ANCHOR: Anchor = ((0, 1), (1, 0), (2, 1), (3, 1))
"""`first` is present(a), `second` is present(b)."""
ANCHORS: dict[str, Anchor | None] = {
    "steady": ANCHOR, "late": ANCHOR, "soon": None, "alike": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def model() -> n.Model:
    return api.load_text(CHARTER)


def native(model: n.Model, name: str, options: NativeOptions) -> tuple[Exploration, Anchor | None]:
    """What a search says, and its anchor."""
    instance = next(i for i in model.instances if i.name == name)
    found = explore(model, instance, options)
    assert isinstance(found.search, Search)
    return found, found.search.anchor


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("name", ANCHORS)
def test_what_is_found_is_up_to_symmetry_when_an_anchor_holds_ends_or_is_missing(
    model: n.Model, name: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "SYMMETRY_CHECK_STATES", 8)
    monkeypatch.setattr(levels, "MIN_BLOCK_STATES", 1)
    instance = next(i for i in model.instances if i.name == name)
    plain = by_reference(model, instance, ReferenceOptions())
    apart = by_reference(model, instance, ReferenceOptions(symmetry=False))
    options = NativeOptions(workers=workers, journal=tmp_path)
    for _ in range(2):  # the second one from the journal
        found, anchor = native(model, name, options)
        assert (counts(found), verdicts(found)) == (counts(plain), verdicts(plain))
        assert anchor == ANCHORS[name]
    assert (apart.counts.distinct > plain.counts.distinct) is (name != "steady")


@pytest.mark.parametrize("name", ["steady", "soon"])
def test_a_search_that_gives_up_counts_states_up_to_symmetry(model: n.Model, name: str) -> None:
    found, anchor = native(model, name, NativeOptions(most_states=20))
    assert not found.counts.complete and found.counts.distinct >= 20
    assert anchor == ANCHORS[name]


def test_nothing_is_tried_where_elements_are_not_permuted(model: n.Model) -> None:
    found, anchor = native(model, "steady", NativeOptions(Choices(symmetry=False)))
    assert found.counts.complete and anchor is None


def test_a_journal_with_another_anchor_is_not_used(model: n.Model, tmp_path: Path) -> None:
    """The digest of each row is over what stands in front of it, too."""
    options = NativeOptions(journal=tmp_path)
    right, _ = native(model, "steady", options)
    index = tmp_path / "journal.json"
    text = index.read_text(encoding="utf-8")
    changed = text.replace('"anchor": [[0, 1]', '"anchor": [[0, 0]')
    assert changed != text
    index.write_text(changed, encoding="utf-8")
    again, anchor = native(model, "steady", options)
    assert counts(again) == counts(right) and anchor == ANCHOR
    assert again.message == "level 1 is damaged: the search continues before it"
