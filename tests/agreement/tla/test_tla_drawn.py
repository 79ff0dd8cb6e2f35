"""The explorer and TLC on components drawn at random: every kind of type and of expression."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.support.drawn.drawn_models import BOOL, STATE, S, draw_model
from tests.support.tla import tlc

from charter.core import nodes as n
from charter.core.walk import fold
from charter.explore.reference.search import ReferenceOptions, explore

ELEMENTS = (("k0", 0), ("k1", 1), ("k2", 2))
WITH_TRUTHS = (*STATE, ("bright", BOOL), ("warm", BOOL))
SEEDS = [51]
SLOW_SEEDS = [176, 2, 32, 39, 55, 82, 91, 148, 193, 237, 268]
"""Of these the explorer comes to an end."""


def name_elements(e: n.Expr) -> n.Expr:
    """Sort elements as constants: charters have no literals of them outside of instances."""

    def change(node: n.Expr) -> n.Expr:
        literal = isinstance(node, n.Literal) and node.type == S and node.value is not None
        return n.ConstRef(f"k{node.value}", type=S) if literal else node

    return fold(e, change)


def statement(line: n.Statement) -> n.Statement:
    match line:
        case n.Pick():
            return replace(line, domain=name_elements(line.domain))
        case n.Bind() | n.Assign():
            return replace(line, value=name_elements(line.value))
        case _:
            raise TypeError(f"{line} is not drawn")


def branch(whole: n.Branch) -> n.Branch:
    lets = tuple(replace(bind, value=name_elements(bind.value)) for bind in whole.lets)
    guard = tuple(replace(c, condition=name_elements(c.condition)) for c in whole.guard)
    body = tuple(statement(line) for line in whole.body)
    return replace(whole, lets=lets, guard=guard, body=body, reply=name_elements(whole.reply))


def draw(seed: int) -> n.Model:
    model = draw_model(Random(seed), state=WITH_TRUTHS)
    component = model.components[0]
    operations = tuple(
        replace(o, branches=tuple(branch(b) for b in o.branches)) for o in component.operations
    )
    functions = tuple(replace(f, body=name_elements(f.body)) for f in model.functions)
    return replace(
        model,
        components=(replace(component, operations=operations),),
        functions=functions,
        consts=tuple((name, S) for name, _ in ELEMENTS),
        instances=(replace(model.instances[0], consts=ELEMENTS),),
    )


def agrees(seed: int, jar: Path, folder: Path) -> None:
    model = draw(seed)
    options = ReferenceOptions(symmetry=False, most_states=600)
    counts = explore(model, model.instances[0], options).counts
    assert counts.complete and counts.distinct > 5
    said = tlc.check(jar, model, model.instances[0], folder)
    assert (said.distinct, said.depth, said.error) == (counts.distinct, len(counts.levels), "")


@pytest.mark.parametrize("seed", SEEDS)
def test_tlc_agrees_when_components_are_drawn(seed: int, jar: Path, tmp_path: Path) -> None:
    agrees(seed, jar, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW_SEEDS)
def test_tlc_agrees_when_more_components_are_drawn(seed: int, jar: Path, tmp_path: Path) -> None:
    agrees(seed, jar, tmp_path)
