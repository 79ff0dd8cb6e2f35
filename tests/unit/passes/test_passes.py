"""The pipeline: what it leaves, and whom it blames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from charter import api
from charter.core import nodes as n
from charter.core import types as t
from charter.core.valid import InvalidCore
from charter.passes import LOWERING, PASSES, Pass, lower, run_checked

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def everything() -> n.Model:
    return api.load(ROOT / "tests" / "golden" / "surface" / "everything.charter")


def test_passes_have_names_of_their_own() -> None:
    assert len({item.name for item in PASSES}) == len(PASSES)


def test_nothing_is_left_that_a_pass_is_done_with(everything: n.Model) -> None:
    assert lower(everything) == run_checked(everything, LOWERING)


def test_scenarios_stay_as_they_are(everything: n.Model) -> None:
    sizes = n.Builtin("size", (n.SetNew((), type=t.Set(t.Bool())),), type=t.Int())
    none = n.Binary("eq", sizes, n.Literal(0, type=t.Int()), type=t.Bool())
    scenario = replace(everything.scenarios[0], steps=(n.Expect(none),))
    model = replace(everything, scenarios=(scenario,))
    assert lower(model).scenarios == (scenario,)
    assert run_checked(model, LOWERING).scenarios == (scenario,)


def test_a_pass_that_breaks_core_is_named(everything: n.Model) -> None:
    wrong = n.Literal(1, type=t.Int())

    def rule(e: n.Expr) -> n.Expr:
        return wrong if isinstance(e, n.Unary) else e

    breaks = Pass("breaks", None, lambda: rule, lambda _: False)
    with pytest.raises(InvalidCore, match="core is broken after pass breaks: "):
        run_checked(everything, (LOWERING[0], breaks))


def lazy(passes: Iterable[Pass]) -> tuple[Pass, ...]:
    """The passes, of which the first does nothing."""
    first, *rest = passes
    return (Pass(first.name, None, None, first.is_done_with), *rest)


def test_a_pass_that_leaves_what_it_should_remove_is_named(everything: n.Model) -> None:
    with pytest.raises(InvalidCore, match="after pass match: match leaves no Match"):
        run_checked(everything, (LOWERING[0], *lazy(LOWERING[1:])))


def test_a_statement_that_a_pass_leaves_is_found_too(everything: n.Model) -> None:
    with pytest.raises(InvalidCore, match=r"after pass channels: .*channels leaves no Send"):
        run_checked(everything, lazy(LOWERING))
