"""The formatter loses nothing, and what it wrote it leaves alone."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support import surface
from tests.support.comparing.sampled import few_or_all

from charter.diagnostics import Diagnostics, Source
from charter.syntax import nodes
from charter.syntax.parse import parse
from charter.syntax.show import show

HEAD = nodes.Name("p")
DRAWN = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(*declarations: nodes.Declaration) -> None:
    check_file(nodes.File(HEAD, declarations))


def check_file(tree: nodes.File) -> None:
    text = show(tree)
    diagnostics = Diagnostics()
    again = parse(Source("shown", text), diagnostics)
    assert not diagnostics.items, f"{text}\n{diagnostics.items[0].show()}"
    assert again == tree, text
    assert show(again) == text


def check_operation(operation: nodes.Operation) -> None:
    check(nodes.ComponentDecl(HEAD, (operation,)))


def check_branches(pair: tuple[nodes.Branch, nodes.Branch]) -> None:
    """With their comments."""
    body = (nodes.AnyOrder(pair),)
    check_operation(nodes.Operation(HEAD, (), nodes.NamedType("T"), (), body))


def check_edit(edit: nodes.Edit) -> None:
    check(nodes.VariantDecl(HEAD, (), (), (edit,)))
    check(nodes.MutantDecl(HEAD, HEAD, (edit,), HEAD))


PARTS = {
    "file": (surface.files, check_file),
    "expression": (
        surface.expressions, lambda e: check(nodes.PropertyDecl("always", HEAD, HEAD, (), e)),
    ),
    "operation": (surface.operations, check_operation),
    "branches": (st.tuples(surface.branches, surface.branches), check_branches),
    "step": (surface.steps, lambda step: check(nodes.SystemDecl(HEAD, (step,)))),
    "edit": (surface.edits, check_edit),
}  # fmt: skip


@few_or_all(25, 100)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_charter_comes_back_when_it_is_shown_and_parsed(
    part: str, examples: int
) -> None:
    drawn, check_part = PARTS[part]

    @settings(DRAWN, max_examples=examples)
    @given(drawn)
    def comes_back(tree: nodes.Node) -> None:
        check_part(tree)

    comes_back()
