"""The formatter's hand, pinned: one file with every construct, before and after."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

from charter.diagnostics import Diagnostics, Source
from charter.project.pipeline import check_texts
from charter.syntax import nodes
from charter.syntax.parse import parse
from charter.syntax.show import show

HERE = Path(__file__).parent / "surface"


def parse_example(name: str) -> nodes.File:
    diagnostics = Diagnostics()
    tree = parse(Source(name, (HERE / name).read_text(encoding="utf-8")), diagnostics)
    assert tree is not None, [item.show() for item in diagnostics]
    return tree


def test_everything_looks_as_before_when_it_is_formatted() -> None:
    golden = (HERE / "formatted" / "everything.charter").read_text(encoding="utf-8")
    assert show(parse_example("everything.charter")) == golden


def test_a_vocabulary_looks_as_before_when_it_is_formatted() -> None:
    golden = (HERE / "formatted" / "types.charter").read_text(encoding="utf-8")
    assert show(parse_example("vocabulary/types.charter")) == golden


def test_everything_has_no_error_when_it_is_checked_with_all_its_variants() -> None:
    text = (HERE / "everything.charter").read_text(encoding="utf-8")
    diagnostics = check_texts((Source("everything.charter", text),))
    assert not diagnostics.errors
    assert [item.code for item in diagnostics] == ["edit/any-fault"]  # each form of a fault occurs


def test_every_construct_occurs_when_everything_is_parsed() -> None:
    found: set[type[object]] = set()
    waiting: list[object] = [parse_example("everything.charter")]
    while waiting:
        here = waiting.pop()
        if isinstance(here, tuple):
            waiting.extend(here)
        elif dataclasses.is_dataclass(here):
            found.add(type(here))
            waiting.extend(getattr(here, each.name) for each in dataclasses.fields(here))
    declared = {
        kind
        for _, kind in inspect.getmembers(nodes, inspect.isclass)
        if issubclass(kind, nodes.Node) and kind not in {nodes.Node, nodes.Item, nodes.OfStep}
    }
    assert declared - found == set()
