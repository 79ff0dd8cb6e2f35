"""The formatter loses nothing, and what it wrote it leaves alone."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from tests.support import surface

from charter.diagnostics import Diagnostics, Source
from charter.syntax import nodes
from charter.syntax.parse import parse
from charter.syntax.show import show

HEAD = nodes.Name("p")
FEW = settings(
    max_examples=100,
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


@FEW
@given(surface.files)
def test_a_file_comes_back_when_it_is_shown_and_parsed(tree: nodes.File) -> None:
    check_file(tree)


@FEW
@given(surface.expressions)
def test_an_expression_comes_back_when_it_is_shown_and_parsed(body: nodes.Expr) -> None:
    check(nodes.PropertyDecl("always", HEAD, HEAD, (), body))


@FEW
@given(surface.operations)
def test_an_operation_comes_back_when_it_is_shown_and_parsed(operation: nodes.Operation) -> None:
    check(nodes.ComponentDecl(HEAD, (operation,)))


@FEW
@given(surface.branches, surface.branches)
def test_a_branch_with_comments_comes_back_when_it_is_shown_and_parsed(
    first: nodes.Branch, second: nodes.Branch
) -> None:
    body = (nodes.AnyOrder((first, second)),)
    check(nodes.ComponentDecl(HEAD, (nodes.Operation(HEAD, (), nodes.NamedType("T"), (), body),)))


@FEW
@given(surface.steps)
def test_a_step_comes_back_when_it_is_shown_and_parsed(step: nodes.StepDecl) -> None:
    check(nodes.SystemDecl(HEAD, (step,)))


@FEW
@given(surface.edits)
def test_an_edit_comes_back_when_it_is_shown_and_parsed(edit: nodes.Edit) -> None:
    check(nodes.VariantDecl(HEAD, (), (), (edit,)))
    check(nodes.MutantDecl(HEAD, HEAD, (edit,), HEAD))
