"""Core itself: walking, validating."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.charters import load

from charter import api
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.valid import InvalidCore, validate
from charter.core.walk import branch_expressions, children, fold, nodes, rebuild, substitute
from charter.passes import run_rich

ROOT = Path(__file__).parents[3]
BOOL = ty.Bool()
TRUE = ir.Literal(True, type=BOOL)
P = ir.Local("p", type=BOOL)


def expressions(model: ir.Model) -> Iterator[ir.Expr]:
    for function in model.functions:
        yield function.body
    for component in model.components:
        for operation in component.operations:
            for branch in operation.branches:
                yield from branch_expressions(branch)
    for prop in model.properties:
        yield prop.body


@pytest.fixture(scope="module")
def everything() -> ir.Model:
    return api.load(ROOT / "tests" / "golden" / "surface" / "everything.charter")


def test_rebuilding_with_the_same_children_changes_nothing(everything: ir.Model) -> None:
    seen: set[type] = set()
    for expr in expressions(everything):
        for node in nodes(expr):
            seen.add(type(node))
            assert rebuild(node, children(node)) == node
    assert len(seen) > 20


def test_fold_visits_every_node_once(everything: ir.Model) -> None:
    for expr in expressions(everything):
        visited: list[ir.Expr] = []

        def visit(node: ir.Expr, visited: list[ir.Expr] = visited) -> ir.Expr:
            visited.append(node)
            return node

        assert fold(expr, visit) is expr
        assert len(visited) == len(list(nodes(expr)))


def test_substitute_replaces_locals_only() -> None:
    expr = ir.Binary("and", P, ir.Local("q", type=BOOL), type=BOOL)
    assert substitute(expr, {"p": TRUE}) == replace(expr, left=TRUE)


def break_body(body: ir.Expr) -> ir.Model:
    model = load("fun f(p: bool) -> bool = p")
    return replace(model, functions=(replace(model.functions[0], body=body),))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (ir.Local("q", type=BOOL), "unknown local q"),
        (ir.StateRef("x", type=BOOL), "unknown state variable x"),
        (ir.ConstRef("x", type=BOOL), "unknown constant x"),
        (ir.Call("g", (), type=BOOL), "call of unknown g/0"),
        (ir.Literal(1, type=ty.Int()), "the body of f has the type"),
        (ir.Unary("not", ir.Literal(1, type=ty.Int()), type=BOOL), "a truth value has the type"),
        (ir.FieldOf(P, "x", type=BOOL), "has no field x"),
        (ir.MapGet(P, P, type=BOOL), "lookup in what is no map"),
        (ir.Quantified("some", "x", P, P, type=BOOL), "a domain is no set"),
        (ir.If(P, P, ir.Literal(1, type=ty.Int()), type=BOOL), "the other side has the type"),
    ],
)
def test_validator_finds_broken_core_and_names_the_pass(body: ir.Expr, problem: str) -> None:
    with pytest.raises(InvalidCore) as found:
        validate(break_body(body), "pass fold_constants")
    assert str(found.value).startswith("core is broken after pass fold_constants: ")
    assert problem in str(found.value)


def test_validator_finds_an_assignment_to_nothing() -> None:
    model = load("""component c { state on: bool = true
  operation go() -> bool { branch ok { on' = false reply true } } }
witness w of c: on""")
    component = model.components[0]
    bad = replace(model, components=(replace(component, state=()),), properties=())
    with pytest.raises(InvalidCore, match="assignment to unknown on"):
        validate(bad, "elaboration")


def test_passes_keep_names_of_branches_and_conjuncts(everything: ir.Model) -> None:
    again = run_rich(everything)
    assert again == everything
