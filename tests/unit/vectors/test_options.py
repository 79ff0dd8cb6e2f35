"""The small suite shows both ways in which a stored option differs from what is asked for: nothing
is stored, or something else."""

from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.core.obligations import obligations
from charter.diagnostics import Source
from charter.prove import Infeasible, SingleStep, StepQuestion, single_step
from charter.semantics.machine import Machine
from charter.suites.search import search
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import subject
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

LEASES = """protocol leases

sort Client
sort Lease

component leases {
  state holder: map Lease -> option Client = [l in Lease: none]
  state renewals: map Lease -> int 0..2 = [l in Lease: 0]
  state closed: bool = false

  operation take(client: Client, lease: Lease) -> bool cites silent {
    branch held when held: holder[lease] != none reply false
    branch taken { holder[lease]' = present(client)  renewals[lease]' = 0  reply true }
  }
  operation renew(client: Client, lease: Lease) -> bool cites silent {
    branch refused when may_not: holder[lease] != present(client) or closed reply false
    branch renewed {
      renewals[lease]' = min(2, renewals[lease] + 1)
      reply true
    }
  }
  operation give_back(client: Client) -> set Lease cites silent {
    branch given {
      let mine = leases_of(client)
      holder' = [l in Lease: if l in mine then none else holder[l]]
      reply mine
    }
  }
  operation close() -> bool cites silent { branch closes { closed' = true reply true } }
  observe all { holder, renewals, closed }
}

fun leases_of(client: Client) of leases -> set Lease cites silent =
  { l in Lease if holder[l] == present(client) }

witness renewed of leases: some l in Lease: renewals[l] > 0

instance tiny of leases { Client = 2 Lease = 2 }
"""

FOREIGN = "holder[lease] != present(client)"
MINE = "{ l in Lease if holder[l] == present(client) }"
MISTAKES = {
    "any holder renews": (FOREIGN, "holder[lease] == none"),
    "nobody's lease is renewed": (FOREIGN, f"(holder[lease] != none and {FOREIGN})"),
    "others lose theirs": (MINE, "{ l in Lease if holder[l] != none }"),
    "what is free is told": (MINE, "{ l in Lease if holder[l] in {none, present(client)} }"),
}


@cache
def small() -> Smoke:
    """The small suite, searched without the solver."""
    about = subject((Source("leases.charter", LEASES),), "")
    return smoke(replace(about, found=search(about, lambda *_: None, False)))


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_small_suite_tells_a_mistake_about_a_stored_option(mistake: tuple[str, str]) -> None:
    assert mistake[0] in LEASES
    planted = api.load_text(LEASES.replace(*mistake))
    machine = Machine.of(planted, replace(planted.instances[0], offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    vectors = [entry.vector for entry in small().entries]
    assert any(tells(answers, v.question, v.answer) == "always" for v in vectors)


def test_a_difference_of_options_is_asked_for_in_both_ways() -> None:
    """Where it decides a guard, and where it is only computed; not for what is compared with
    none."""
    rows = {row.name: row.status for row in small().ledger.rows if row.kind in ("mcdc", "boundary")}
    shown = "boundary {} leases_of holder[l] == present(client) {}"
    assert [name for name in rows if name.startswith(("mcdc renew", "boundary"))] == [
        "mcdc renew/refused may_not[1] true none",
        "mcdc renew/refused may_not[1] true another",
        "mcdc renew/refused may_not[1] false",
        "mcdc renew/refused may_not[2] true",
        "mcdc renew/refused may_not[2] false",
        *(f"boundary renew/renewed min(2, renewals[lease] + 1) {w}" for w in ("less", "greater")),
        *(shown.format("give_back", want) for want in ("equal", "none", "another")),
    ]
    assert [name for name in rows if name.startswith("mcdc take")] == [
        "mcdc take/held held true",
        "mcdc take/held held false",
    ]
    assert set(rows.values()) == {"covered"}


def test_the_solver_finds_the_same_differences() -> None:
    """Every step is replayed on the definition. A single client has nobody else's lease."""
    model = api.load_text(LEASES)
    wanted = tuple(
        o
        for o in obligations(model, model.components[0])
        if "renew" in o.name or o.kind == "boundary"
    )
    there = model.instances[0]
    found = single_step(Machine.of(model, there), StepQuestion(wanted, ()))
    assert all(isinstance(answer, SingleStep) for answer in found)
    alone = replace(there, sorts=(("Client", ("c1",)), ("Lease", ("l1",))))
    found = single_step(Machine.of(model, alone), StepQuestion(wanted, ()))
    another = {o.name for o in wanted if o.name.endswith(" another")}
    assert {a.obligation for a in found if isinstance(a, Infeasible)} == another
    assert another


def test_a_negated_condition_is_asked_for_in_both_ways() -> None:
    text = LEASES.replace(FOREIGN, "not (holder[lease] == present(client))")
    model = api.load_text(text)
    names = [o.name for o in obligations(model, model.components[0])]
    assert "mcdc renew/refused may_not[1] true another" in names
    assert "mcdc renew/refused may_not[1] false another" not in names


def test_none_is_not_asked_for_twice_where_a_condition_of_its_own_says_it() -> None:
    """`holder != none and holder != present(client)` decides nothing with nobody."""
    both = LEASES.replace(f"{FOREIGN} or closed", f"holder[lease] != none and {FOREIGN}")
    before = LEASES.replace(
        "branch refused when",
        "branch free when nobody: holder[lease] == none reply false\n    branch refused when",
    )
    for text, number in ((both, 2), (before, 1)):
        assert text != LEASES
        model = api.load_text(text)
        names = [o.name for o in obligations(model, model.components[0])]
        mine = [name for name in names if name.startswith(f"mcdc renew/refused may_not[{number}]")]
        assert [name.partition("] ")[2] for name in mine] == ["true another", "false"]


def test_none_is_asked_for_where_an_earlier_branch_is_taken_for_a_value() -> None:
    text = LEASES.replace(
        "branch refused when",
        "branch used when somebody: holder[lease] != none reply false\n    branch refused when",
    )
    model = api.load_text(text)
    names = [o.name for o in obligations(model, model.components[0])]
    assert "mcdc renew/refused may_not[1] true none" in names
