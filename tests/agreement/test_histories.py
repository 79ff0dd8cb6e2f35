"""A history becomes by every transition what a property of transitions would say: drawn charters
with drawn histories, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.support.comparing.exhaustive import compare
from tests.support.drawn.drawn_charters import CLIENT, SERVER, Writer, component_text, system_text
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

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


def draw(write: Callable[[Random], str], seed: int) -> n.Model:
    """The first charter from a seed on that the checker does not refuse."""
    rng = Random(seed)
    while True:
        try:
            return api.load_text(with_histories(write(rng), rng))
        except Refused:
            continue


@pytest.mark.parametrize(
    ("write", "seed"),
    [*DRAWN[1:3], *(pytest.param(*each, marks=pytest.mark.slow) for each in (DRAWN[0], DRAWN[3]))],
)
def test_a_history_becomes_what_a_property_says_when_it_is_drawn(
    write: Callable[[Random], str], seed: int
) -> None:
    model = draw(write, seed)
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    told = {f.name: f.seen for f in fast.properties}
    assert (told["tells"], told["tells_again"]) == (0, 0)
    assert told["is_told"]


@pytest.mark.slow  # histories become updates before TLA+ is written
@pytest.mark.parametrize(("write", "seed"), [DRAWN[0], DRAWN[2]])
def test_tlc_agrees_when_histories_are_drawn(
    write: Callable[[Random], str], seed: int, jar: Path, tmp_path: Path
) -> None:
    model = draw(write, seed)
    found = natively(model, model.instances[0], symmetry=False).counts
    asked = ["tells", "tells_again"]
    said = tlc.check(jar, model, model.instances[0], tmp_path, asked)
    assert found.complete and found.distinct > 20
    assert (said.error, said.distinct, said.depth) == ("", found.distinct, len(found.levels))


def test_every_transition_is_as_defined_when_there_are_histories() -> None:
    model = draw(*DRAWN[-1])
    found = natively(model, model.instances[0])
    tally = compare(found, found.search.program.plan.machine)
    assert tally.states >= 20 and tally.moves > tally.states


BECOMES = {
    "lay": "post'",
    "twice": "twice | { a in Node if post'[a] != none and post[a] != none }",
    "spread": "[a in Node: { b in Node if bag'[a][b] != {} and lay'[b] != none }]",
    "long": "{ a in Node if size(line'[a]) == 2 or (took turn(a) and line'[a] != line[a]) }",
}
"""Histories of a system with channels of every kind: what they become."""
MAIL = f"""protocol test.mail
sort Node
const tries: int 0..3
system house {{
  channel post: Node carries Node slot lossy
  channel bag: Node -> Node carries Node set lossy duplicating
  channel line: Node carries Node fifo
  history lay: map Node -> option Node = [a in Node: none] then {BECOMES["lay"]}
  history twice: set Node = {{}} then {BECOMES["twice"]}
  history spread: map Node -> set Node = [a in Node: {{}}] then {BECOMES["spread"]}
  history long: set Node = {{}} then {BECOMES["long"]}
  step begin(a: Node, b: Node) budget tries {{ send post[a] b  send line[b] a  send line[a] b }}
  step turn(a: Node) {{ receive m from line[a]  send line[a] a  send bag[m][a] m }}
  step pass(a: Node, b: Node) {{ receive m from bag[a][b]  send bag[b][a] m  send bag[a][b] b }}
  step end(a: Node) {{ receive m from post[a]  require m != a }}
}}
{"".join(f"stepwise {x}_becomes of house: {x}' == {BECOMES[x]}{chr(10)}" for x in BECOMES)}
{"".join(f"witness {x}_changes of house: {x}' != {x}{chr(10)}" for x in BECOMES)}
instance tiny of house {{ Node = 2  tries = 1 }}
"""


def test_a_history_of_channels_becomes_what_a_property_says() -> None:
    model = api.load_text(MAIL)
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    seen = {f.name: f.seen for f in fast.properties}
    assert not any(seen[f"{x}_becomes"] for x in BECOMES)
    assert all(seen[f"{x}_changes"] for x in BECOMES)
    tally = compare(fast, fast.search.program.plan.machine)
    assert tally.noted and tally.moves > tally.states >= 100


@pytest.mark.slow
def test_tlc_agrees_when_histories_read_channels(jar: Path, tmp_path: Path) -> None:
    model = api.load_text(MAIL)
    tiny = model.instances[0]
    found = natively(model, tiny, symmetry=False).counts
    said = tlc.check(jar, model, tiny, tmp_path, [f"{x}_becomes" for x in BECOMES])
    assert (said.error, said.distinct, said.depth) == ("", found.distinct, len(found.levels))
