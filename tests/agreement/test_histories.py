"""A history becomes by every transition what a property of transitions would say: drawn charters
with drawn histories, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from tests.support.drawn_charters import CLIENT, SERVER, Writer, component_text, system_text
from tests.support.engines import both, counts, natively, verdicts
from tests.support.exhaustive import compare

from charter import api
from charter.core import nodes as n
from charter.diagnostics import Refused

STATE = {**SERVER, **CLIENT}
CLIENTS = {f"client{prime}[a].{name}": kind for name, kind in CLIENT.items() for prime in ("", "'")}
OF_A_SYSTEM = {**CLIENTS, "server'.row": "Row", "known": "set Node", "known'": "set Node"}
OF_A_COMPONENT = {**STATE, **{f"{name}'": kind for name, kind in STATE.items()}}
DRAWN = [(component_text, 0), (component_text, 2), (system_text, 4), (system_text, 7)]
"""With seeds whose histories change."""


def with_histories(text: str, rng: Random) -> str:
    """The charter with two histories, and properties of transitions that say what they become."""
    is_system = "system whole {" in text
    machine, step = ("whole", "listen") if is_system else ("machine", "ask")
    head = f"{'system' if is_system else 'component'} {machine} {{"
    writer = Writer(rng)
    names = {**(OF_A_SYSTEM if is_system else OF_A_COMPONENT), "a": "Node"}
    group = f"{{ a in Node if {writer.expr('bool', names, 3)} }}"
    first = f"if took {step} then told | {group} else told - {group}"
    second = "again != (told' == told)"
    return "\n".join([
        text.replace(
            head,
            f"{head}\n  history told: set Node = {{}} then {first}\n"
            f"  history again: bool = false then {second}",
        ),
        f"stepwise tells of {machine} cites silent: told' == ({first})",
        f"witness is_told of {machine} cites silent: told' != told",
        f"stepwise tells_again of {machine} cites silent: again' == ({second})",
    ])  # fmt: skip


def drawn(write: Callable[[Random], str], seed: int) -> n.Model:
    """The first charter from a seed on that the checker does not refuse."""
    rng = Random(seed)
    while True:
        try:
            return api.load_text(with_histories(write(rng), rng))
        except Refused:
            continue


@pytest.mark.parametrize(("write", "seed"), DRAWN)
def test_a_history_becomes_what_a_property_says_when_it_is_drawn(
    write: Callable[[Random], str], seed: int
) -> None:
    model = drawn(write, seed)
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    told = {f.name: f.seen for f in fast.properties}
    assert (told["tells"], told["tells_again"]) == (0, 0)
    assert told["is_told"]


def test_every_transition_is_as_defined_when_there_are_histories() -> None:
    model = drawn(*DRAWN[-1])
    found = natively(model, model.instances[0])
    tally = compare(found, found.search.program.plan.machine)
    assert tally.states >= 20 and tally.moves > tally.states
