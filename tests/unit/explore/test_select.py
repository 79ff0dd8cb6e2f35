"""Which engine explores an instance, and what is said where the native one cannot be loaded."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Literal

import pytest

from charter import api, explore
from charter.explore.reference.graph import DefinedGraph
from charter.explore.result import SearchResult
from charter.explore.select import explore as explore_instance
from charter.explore.select import state_graph, step_pairs

LAMP = """protocol lamp
component lamp {
  state lit: bool = false
  operation press() -> bool cites silent { branch pressed { lit' = not lit reply true } }
  observe all { lit }
}
witness shines of lamp: lit
instance tiny of lamp { }
"""
ENGINE = "charter.explore.native"


def explore_by(engine: Literal["auto", "native"]) -> SearchResult:
    model = api.load_text(LAMP)
    options = api.ExploreOptions(engine=engine)
    return explore_instance(model, model.instances[0], options, lambda *_: None)


def forget_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules are imported anew by who needs them, and the old ones are back afterwards."""
    monkeypatch.setattr(explore, "native", importlib.import_module(ENGINE), raising=False)
    for name in [name for name in sys.modules if name.startswith(ENGINE)]:
        monkeypatch.delitem(sys.modules, name)


def test_the_plain_engine_explores_when_llvmlite_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_the_engine(monkeypatch)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    found = explore_by("auto")
    assert (found.engine, found.why_reference) == ("reference", "llvmlite is not installed")
    with pytest.raises(api.CannotExplore, match="llvmlite is not installed"):
        explore_by("native")


def test_the_progress_says_at_once_why_the_plain_engine_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_the_engine(monkeypatch)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    model, said = api.load_text(LAMP), list[str]()

    def tell(_a: int, _b: int, _c: int, _d: int, doing: str = "", /) -> None:
        said.append(doing)

    explore_instance(model, model.instances[0], api.ExploreOptions(), tell)
    assert {*said} == {"on the reference engine, since llvmlite is not installed"}
    assert step_pairs(model, model.instances[0], api.ExploreOptions(), tell).complete


def test_the_plain_engine_says_that_it_keeps_no_journal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forget_the_engine(monkeypatch)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    model = api.load_text(LAMP)
    options = api.ExploreOptions(journal=tmp_path / "j")
    found = explore_instance(model, model.instances[0], options, lambda *_: None)
    assert found.journal == f"nothing is kept in {tmp_path / 'j'}: only the native engine can"


@pytest.mark.parametrize("engine", ["auto", "native"])
def test_an_engine_that_cannot_be_imported_is_an_error_when_llvmlite_is_there(
    monkeypatch: pytest.MonkeyPatch, engine: Literal["auto", "native"]
) -> None:
    forget_the_engine(monkeypatch)
    monkeypatch.setitem(sys.modules, f"{ENGINE}.program.llvm", None)
    with pytest.raises(ModuleNotFoundError, match=f"{ENGINE}.program.llvm"):
        explore_by(engine)


ODD = """protocol odd
sort Node
component c {
  state xs: seq Node max 2 = <>
  operation grow(n: Node) -> bool cites silent {
    branch full when size(xs) >= 2 reply false
    branch grown { xs' = append(xs, n) reply true }
  }
  observe all { xs }
}
stepwise odd of c: took grow implies xs[1] == xs'[1]
witness grows of c: size(xs) == 2
instance tiny of c { Node = 1 }
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_property_of_a_step_that_has_no_value_is_told_with_the_step(
    engine: Literal["native", "reference"],
) -> None:
    model = api.load_text(ODD)
    options = api.ExploreOptions(engine=engine)
    found = explore_instance(model, model.instances[0], options, lambda *_: None)
    (told,) = (one for one in found.failures if one.kind == "undefined")
    assert told.trace is not None
    assert (told.name, [step.operation for step in told.trace]) == ("odd", ["grow"])
    assert told.detail.endswith(": position 1 of a sequence of 0")


def test_a_graph_has_all_states_when_an_operation_has_no_value_in_one() -> None:
    model = api.load_text(
        LAMP.replace("lit: bool = false", "lit: seq bool max 1 = <>")
        .replace("not lit", "append(lit, true)")
        .replace("lamp: lit", "lamp: size(lit) == 1")
    )
    instance = model.instances[0]
    fast, slow = state_graph(model, instance), DefinedGraph.of(model, instance)
    assert list(fast.states) == list(slow.states) == [{"lit": ()}, {"lit": (True,)}]
