"""Storage: a flush and a crash do what properties of transitions say of them, with drawn updates of
cached state, on both engines, in TLC, the generated model and the definition."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.support.comparing.agreement import import_model
from tests.support.comparing.exhaustive import compare
from tests.support.comparing.modelled import Compared
from tests.support.comparing.sampled import sample
from tests.support.comparing.solved import Agreement, random_args, random_state
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

from charter import api
from charter.core import nodes as n
from charter.semantics.machine import Machine

DISK = """protocol test.storage
const most: int 1..9
enum Mark {{ OLD, NEW }}

component disk {{
  volatile state warm: bool = true
  cached state log: seq Mark max most = <> on disk end
  state end: int 0..most = 0
  cached state mark: Mark = OLD on disk old
  state old: Mark = OLD
  operation write(m: Mark, n: int 0..most) -> bool cites silent {{
    branch full when size(log) >= most reply false
    branch written {{ log' = {update}  warm' = false  reply true }}
  }}
  operation set(m: Mark, n: int 0..most) -> bool cites silent {{
    branch done {{ mark' = m  log' = take(log, n)  flush log to n if {flushed}  reply warm }}
  }}
  operation sync(n: int 0..most) -> bool cites silent {{
    branch done {{ flush log to n  flush mark if {flushed}  reply true }}
  }}
  operation stop() -> bool cites silent {{ branch done {{ crash process  reply true }} }}
  operation lose() -> bool cites silent {{ branch done {{ crash machine  reply true }} }}
  operation lose_to(n: int 0..most) -> bool cites silent {{
    branch done {{ crash machine keeping log to n  reply true }}
  }}
}}
always inside of disk cites silent: end <= size(log)
stepwise on_disk_stays of disk cites silent:
  end' <= size(log') and (took write or took set implies
    (end' >= end or at(log, end') != at(log', end') or end' == size(log'))
      and take(log, min(end, end')) == take(log', min(end, end')))
stepwise a_process_loses_memory of disk cites silent:
  took stop implies warm' and log' == log and end' == end and mark' == mark and old' == old
stepwise a_machine_keeps_a_prefix of disk cites silent:
  took lose implies warm' and log' == take(log, size(log')) and size(log') >= end
    and end' == size(log') and mark' == old' and (mark' == mark or mark' == old)
stepwise a_machine_keeps_so_many of disk cites silent:
  took lose_to implies warm' and log' == take(log, end') and end' == size(log') and end' >= end
    and (took lose_to(n: end) implies end' == end) and (took lose_to(n: most) implies log' == log)
stepwise a_flush_is_on_disk of disk cites silent:
  (took sync(n: most) implies end' == size(log')) and (took sync implies end' >= end)
witness loses_all of disk cites silent: took lose and size(log) == most and log' == <>
witness loses_one of disk cites silent: took lose and size(log) == most and size(log') == most - 1
witness loses_none of disk cites silent: took lose and end == 0 and size(log') == most
witness keeps_flushed of disk cites silent: took lose and end == 1 and end' == 1 and size(log) > 1
witness loses_mark of disk cites silent: took lose and mark' != mark
witness replaced of disk cites silent: took write and end' < end
instance tiny of disk {{ most = 2 }}
"""
UPDATES = (
    "append(log, m)",
    "append(take(log, n), m)",
    "concat(take(log, n), <m>)",
    "if n == 0 then <m> else append(log, m)",
    "append(take(log, if warm then n else end), m)",
)
CONDITIONS = ("warm", "m == NEW", "n > end", "end < size(log)", "true")


def draw(seed: int) -> n.Model:
    """The charter with a drawn update and a drawn condition that its operations can read."""
    rng = Random(seed)
    flushed = rng.choice([x for x in CONDITIONS if "m ==" not in x])
    return api.load_text(DISK.format(update=rng.choice(UPDATES), flushed=flushed))


@pytest.mark.parametrize("seed", sample(range(6), 3))
def test_storage_does_what_properties_say_when_it_is_drawn(seed: int) -> None:
    model = draw(seed)
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    told = {f.name: f.seen for f in fast.properties}
    steps = ("on_disk_stays", "a_process_loses_memory", "a_machine_keeps_a_prefix")
    steps = (*steps, "a_machine_keeps_so_many")
    assert [told[name] for name in ("inside", *steps, "a_flush_is_on_disk")] == [0] * 6
    assert all(told[name] for name in ("loses_all", "loses_one", "loses_none", "keeps_flushed"))
    assert told["loses_mark"]


def test_every_transition_agrees_with_the_definition_when_a_machine_crashes(
    tmp_path: Path,
) -> None:
    model = api.load_text(DISK.format(update=UPDATES[1], flushed="n > end"))
    found = natively(model, model.instances[0])
    module = import_model(model, model.components[0], tmp_path, "disk")
    beside = Compared.beside(found.search.program.plan.machine, {"disk": module})
    tally = compare(found, beside, 1)
    assert tally.states > 30
    assert isinstance(beside.evaluator, Compared) and beside.evaluator.compared
    assert {f.name: f.seen for f in found.properties}["replaced"]


def test_tlc_agrees_when_storage_crashes(jar: Path, tmp_path: Path) -> None:
    model = draw(1)
    found = natively(model, model.instances[0], symmetry=False).counts
    asked = ["inside", "a_machine_keeps_a_prefix"]
    said = tlc.check(jar, model, model.instances[0], tmp_path, asked)
    assert (said.error, said.distinct, said.depth) == ("", found.distinct, len(found.levels))


def test_z3_crashes_as_the_definition_does() -> None:
    model = draw(2)
    machine = Machine.of(model, model.instances[0])
    agreement, rng = Agreement.of(machine), Random(1)
    for operation in 8 * sorted(machine.operations):
        state = random_state(machine, rng)
        agreement.compare(state, operation, random_args(machine, operation, rng, state))
