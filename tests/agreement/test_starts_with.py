"""`starts_with`: the engines, the generated model and the solver answer as the definition does."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.support.comparing.agreement import import_model
from tests.support.comparing.exhaustive import compare
from tests.support.comparing.modelled import Compared
from tests.support.comparing.solved import Agreement, random_args, random_state
from tests.support.engines import natively
from tests.support.tla import tlc

from charter import api
from charter.explore.reference.search import ReferenceOptions, explore
from charter.semantics.machine import Machine

COPIES = """protocol test.copies
counter Epoch
sort Broker
component copies {
  state next: Epoch = 1
  state leader: seq Epoch max 3 = <>
  state follower: map Broker -> seq Epoch max 2 = [b in Broker: <>]
  operation write() -> bool cites silent {
    branch full when full: size(leader) == 3 or next == 3 reply starts_with(leader, <1>)
    branch written { leader' = append(leader, next)  next' = bump(next)  reply true }
  }
  operation copy(b: Broker, e: Epoch) -> bool cites silent {
    branch copied when room: size(follower[b]) < 2 and e <= next {
      follower[b]' = append(follower[b], e)
      reply starts_with(leader, append(follower[b], e))
    }
    branch cut { follower[b]' = <>  reply starts_with(follower[b], leader) }
  }
}
witness prefix of copies: some b in Broker: size(leader) > 1 and starts_with(leader, follower[b])
always agree of copies: forall b in Broker: starts_with(leader, follower[b])

instance tiny of copies { Broker = 1  fails agree }
"""


def test_native_engine_and_generated_model_compare_the_first_items_as_the_definition_does(
    tmp_path: Path,
) -> None:
    model = api.load_text(COPIES)
    found = natively(model, model.instances[0])
    module = import_model(model, model.components[0], tmp_path, "copies")
    both = Compared.beside(found.search.program.plan.machine, {"copies": module})
    tally = compare(found, both, 1)
    assert isinstance(both.evaluator, Compared) and both.evaluator.compared
    assert tally.states > 20 and tally.moves > 50
    assert all(f.seen > 0 for f in found.properties)


def test_z3_compares_the_first_items_as_the_definition_does() -> None:
    model = api.load_text(COPIES)
    machine = Machine.of(model, model.instances[0])
    agreement, rng = Agreement.of(machine), Random(1)
    for operation in 12 * sorted(machine.operations):
        state = random_state(machine, rng)
        agreement.compare(state, operation, random_args(machine, operation, rng, state))


def test_tlc_compares_the_first_items_as_the_explorer_does(jar: Path, tmp_path: Path) -> None:
    model = api.load_text(
        COPIES.replace("always agree", "witness agree").replace("fails agree", "")
    )
    counts = explore(model, model.instances[0], ReferenceOptions(symmetry=False)).counts
    said = tlc.check(jar, model, model.instances[0], tmp_path)
    assert (said.distinct, said.depth, said.error) == (counts.distinct, len(counts.levels), "")
