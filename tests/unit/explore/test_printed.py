"""What the cache knows of the IR of an instance is enough for the same program, and only for it."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
from tests.support import spec

from charter import api
from charter.core import nodes as n
from charter.explore.native.program import compile_instance as compiling
from charter.explore.native.program.compile_instance import Choices, Program, program

LAMP = """
protocol lamp
component lamp {
  state lit: bool = false
  -- Until it breaks.
  state pressed: int 0..most = 0
  operation press() -> bool cites silent {
    branch on when dark: pressed < most { lit' = not lit  pressed' = pressed + 1  reply lit }
    branch off { reply false }
  }
}
const most: int 0..9
always p of lamp cites silent: pressed <= most
always q of lamp cites silent: lit or not lit
witness w of lamp: lit
instance tiny of lamp { most = 3 }
"""


def make(model: n.Model, cache: Path, choices: Choices | None = None) -> Program:
    return program(model, model.instances[0], choices or Choices(), cache, optimized=False)


def refuse(patch: pytest.MonkeyPatch) -> None:
    """From now on nothing can be printed."""

    def fail(*_: object) -> None:
        raise AssertionError("printed")

    patch.setattr(compiling, "_text", fail)


@pytest.mark.parametrize(
    ("charter", "name", "detailed"),
    [
        ("kafka", "tiny_topics", False),
        ("kafka", "tiny_log", True),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ("kafka", "tiny_topics", True),
                ("kafka", "tiny_log", False),
                ("paxos", "tiny", False),
                ("paxos", "tiny", True),
            )
        ),
    ],
)
def test_a_program_is_the_same_when_it_is_not_printed(
    charter: str, name: str, detailed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, choices = spec.model(charter), Choices(detailed=detailed)
    instance = spec.instance(charter, name)
    first = program(model, instance, choices, tmp_path, optimized=False)
    with monkeypatch.context() as patch:
        refuse(patch)
        again = program(model, instance, choices, tmp_path, optimized=False)
    assert (again.digest, again.code) == (first.digest, first.code)
    for field in fields(first.plan):
        if field.name not in ("machine", "layout"):
            assert getattr(again.plan, field.name) == getattr(first.plan, field.name), field.name
    assert first.optimizing_source is not None and again.optimizing_source is not None
    assert (
        again.optimizing_source.optimize_after_seconds
        == first.optimizing_source.optimize_after_seconds
    )
    assert again.optimizing_source.text() == first.optimizing_source.text()


def test_it_is_printed_when_the_cache_has_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch)
    with pytest.raises(AssertionError, match="printed"):
        make(api.load_text(LAMP), tmp_path)


@pytest.mark.parametrize(
    "edit",
    [
        ("pressed < most", "pressed <= most - 1"),
        ("most = 3", "most = 4"),
        ("pressed + 1", "pressed + 0"),
        ("state lit: bool = false", "state lit: bool = true"),
        ("lit or not lit", "lit or pressed == 0"),
    ],
)
def test_it_is_printed_when_core_is_another(
    edit: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(api.load_text(LAMP), tmp_path)
    refuse(monkeypatch)
    assert LAMP.count(edit[0]) == 1
    with pytest.raises(AssertionError, match="printed"):
        make(api.load_text(LAMP.replace(*edit)), tmp_path)


def test_it_is_printed_when_something_else_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = api.load_text(LAMP)
    every = Choices(predicates=model.properties)
    make(model, tmp_path)
    make(model, tmp_path, every)
    refuse(monkeypatch)
    make(model, tmp_path, every)
    for other in (
        Choices(symmetry=False),
        Choices(fingerprints=True),
        Choices(seed=1),
        Choices(detailed=True),
        Choices(predicates=()),
        Choices(predicates=model.properties[:1]),
        Choices(predicates=model.properties[::-1]),
    ):
        with pytest.raises(AssertionError, match="printed"):
            make(model, tmp_path, other)


ORDERS = """
protocol orders
counter Epoch
component gate {
  state epoch: Epoch = 0
  operation renew() -> bool cites silent { branch on { epoch' = bump(epoch) reply true } }
}
witness w of gate: took renew/on
instance tiny of gate { only renew if epoch == bump(0) or true }
instance other of gate { only renew if CONDITION }
"""


def test_it_is_printed_when_the_condition_of_another_instance_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers in the conditions of all instances decide which values are renamed."""
    make(api.load_text(ORDERS.replace("CONDITION", "epoch <= 3")), tmp_path)
    refuse(monkeypatch)
    with pytest.raises(AssertionError, match="printed"):
        make(api.load_text(ORDERS.replace("CONDITION", "epoch <= 9")), tmp_path)
    make(api.load_text(ORDERS.replace("CONDITION", "epoch <= 3")), tmp_path)


def test_a_comment_prints_nothing_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(api.load_text(LAMP), tmp_path)
    refuse(monkeypatch)
    make(api.load_text(LAMP.replace("-- Until it breaks.", "-- Longer than before.\n")), tmp_path)


def test_a_damaged_record_is_printed_anew(tmp_path: Path) -> None:
    model = api.load_text(LAMP)
    first = make(model, tmp_path)
    (record,) = tmp_path.glob("*.json")
    record.write_bytes(record.read_bytes()[:-1])
    assert make(model, tmp_path).digest == first.digest


def test_without_a_cache_nothing_is_kept() -> None:
    model = api.load_text(LAMP)
    one = program(model, model.instances[0], Choices(), None, optimized=False)
    other = program(model, replace(model.instances[0]), Choices(), None, optimized=False)
    assert one.digest == other.digest
