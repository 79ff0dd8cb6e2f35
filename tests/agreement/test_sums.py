"""Sums: the engines, the generated model and the solver answer as the definition does."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.support.comparing.agreement import import_model
from tests.support.comparing.exhaustive import compare
from tests.support.comparing.modelled import Compared
from tests.support.comparing.solved import Agreement, random_args, random_state
from tests.support.engines import natively
from tests.support.tla import tlc

from charter import api
from charter.explore.native.memory.layout import CannotCompile
from charter.explore.native.search.explore import Exploration
from charter.explore.reference.search import ReferenceExploration, ReferenceOptions, explore
from charter.semantics.machine import Machine

BANK = """protocol test.bank
sort Account
enum Side { LEFT, RIGHT }
const most: int 1..9
record Loan { of: int -1..1, ends: set int 0..2 }

component bank {
  state held: map Account -> int 0..most = [a in Account: 0]
  state loan: map Account -> option Loan = [a in Account: none]
  operation put(a: Account, n: int 1..2) -> int 0..4 cites silent {
    branch full when full: (sum b in Account: held[b]) + n > most
      reply sum s in Side: if s == LEFT then n else 1
    branch put { held[a]' = n + held[a]  reply 0 }
  }
  operation lend(a: Account, of: int -1..1) -> bool cites silent {
    branch lent when (sum b, present(l) in loan: l.of) + of <= 0 and loan[a] == none {
      loan[a]' = present(Loan { of: of, ends: { held[b] for b in Account if held[b] <= 2 } })
      reply (sum present(l) in loan[a], n in l.ends: n) > 1
    }
    branch refused reply (sum b in { b in Account if held[b] > 0 }, n in {of, 1}: held[b] * n) == 2
  }
}
always bounded of bank: (sum a in Account: held[a]) <= most
witness empty of bank: (sum b in { b in Account if loan[b] != none }: 5) == 0
witness owes of bank: (sum b, present(l) in loan, n in l.ends - {1}: n - l.of) == 3

instance tiny of bank { Account = 2  most = 2 }
"""


def test_native_engine_and_generated_model_sum_as_the_definition_does(tmp_path: Path) -> None:
    model = api.load_text(BANK)
    (tiny,) = model.instances
    found = natively(model, tiny)
    machine = found.search.program.plan.machine
    module = import_model(model, model.components[0], tmp_path, "bank")
    beside = Compared.beside(machine, {"bank": module})
    tally = compare(found, beside, 1)
    assert isinstance(beside.evaluator, Compared) and beside.evaluator.compared
    assert tally.states > 100 and tally.moves > 1_000
    assert {(f.kind, f.name): f.seen > 0 for f in found.properties} == {
        ("always", "bounded"): False,
        ("witness", "empty"): True,
        ("witness", "owes"): True,
    }


def test_z3_sums_as_the_definition_does() -> None:
    model = api.load_text(BANK)
    machine = Machine.of(model, model.instances[0])
    agreement, rng = Agreement.of(machine), Random(1)
    for operation in 12 * sorted(machine.operations):
        state = random_state(machine, rng)
        agreement.compare(state, operation, random_args(machine, operation, rng, state))


def test_tlc_sums_as_the_explorer_does(jar: Path, tmp_path: Path) -> None:
    model = api.load_text(BANK)
    counts = explore(model, model.instances[0], ReferenceOptions(symmetry=False)).counts
    said = tlc.check(jar, model, model.instances[0], tmp_path)
    assert (said.distinct, said.depth, said.error) == (counts.distinct, len(counts.levels), "")


WIDE = """protocol test.wide
enum Side {{ LEFT, RIGHT }}
component c {{
  state n: int 0..{most} = {most}
  state exceeds: bool = false
  operation add() -> bool cites silent {{
    branch added {{ exceeds' = {text} > 0  reply true }}
  }}
}}
witness exceeded of c: exceeds
instance tiny of c {{}}
"""


def list_exceeding(found: Exploration | ReferenceExploration) -> list[bool]:
    return [prop.seen > 0 for prop in found.properties]


@pytest.mark.parametrize("text", ["(sum s in Side: n * n)", "n * n * 2", "(n * n + n * n)"])
def test_numbers_do_not_wrap_where_they_have_64_bits(text: str) -> None:
    """A word holds twice the square of 2**31 - 1, but not 2**63."""
    words = (WIDE.format(most=most, text=text) for most in (2**31 - 1, 2**31))
    fits, exceeds = (api.load_text(word) for word in words)
    assert list_exceeding(natively(fits, fits.instances[0])) == [True]
    with pytest.raises(CannotCompile, match="more than 64 bits"):
        natively(exceeds, exceeds.instances[0])
    assert list_exceeding(explore(exceeds, exceeds.instances[0], ReferenceOptions())) == [True]
