"""A small suite has the calls of its component from traces of the charter's systems."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from charter.diagnostics import Source
from charter.formats.vector import Vector
from charter.suites.pairs import pairs_in
from charter.suites.search import search
from charter.suites.search_results import read_found, write_found
from charter.suites.smoke import smoke
from charter.suites.subject import Subject, subject
from charter.vectors.plan import OPEN

LEASES = """protocol leases
sort Client
opaque counter Token
const crashes: int 0..9

union Reply { granted(token: Token), refused, done }

fun token_of(reply: Reply) -> option Token cites silent =
  match reply { granted(token) -> present(token), refused -> none, done -> none }

component leases {
  state holder: option Client = none
  state token: Token = 0
  operation grant(client: Client) -> Reply {
    branch kept when mine: holder == present(client) reply granted(token)
    branch lost when held: holder != none reply refused
    branch given {
      let next = bump(token)
      holder' = present(client)
      token' = next
      reply granted(next)
    }
  }
  operation release(token_given: Token) -> Reply {
    branch stale when other: token_given != token or holder == none reply refused
    branch released { holder' = none reply done }
  }
  observe all { holder token }
}

-- A client asks, and releases what it was given. One that has crashed knows no token any more.
system office {
  leases: leases
  state knows: map Client -> option Token = [c in Client: none]
  history returned: bool = false then returned or some c in Client: took leave(c)
  step ask(c: Client) cites silent {
    let reply = leases.grant(c)
    knows' = knows with [c: token_of(reply)]
  }
  step leave(c: Client) cites silent {
    require knows[c] is present(token)
    leases.release(token)
    knows' = knows with [c: none]
  }
  step crash(c: Client) cites silent budget crashes {
    require knows[c] != none
    knows' = knows with [c: none]
  }
}
witness held of leases: holder != none
witness asked_later of office: returned and some c in Client: took ask(c)
-- No search of the component looks here: it is not called tiny.
instance small of leases { Client = {c1, c2} }
instance two of office { Client = {a, b} crashes = 1 }
scenario "one waits for the other" of office like two {
  do ask(a)
  do ask(b)
  do ask(a)
  do leave(a)
  do ask(b)
  do leave(b)
  do ask(b)
}
"""
HELD = """
instance small of leases {
  Client = {c1, c2}
  start holder = present(c2)
  start token = 7
  prelude { do grant(c2) }
}
instance two of office {
  Client = {a, b}
  crashes = 1
  start leases.holder = present(b)
  start leases.token = 1
  start knows = [c in Client: if c == b then present(1) else none]
  PRELUDE
}
scenario "the lease goes round" of office like two {
  do leave(b)
  do ask(a)
  do leave(a)
  do ask(b)
}
"""


def search_in(text: str) -> Subject:
    about = subject([Source("leases.charter", text)], "")
    return replace(about, found=search(about, lambda *_: None, solver=False))


@cache
def list_from_systems(text: str) -> tuple[Vector, ...]:
    """The vectors from traces of systems in the small suite."""
    vectors = (entry.vector for entry in smoke(search_in(text)).entries)
    return tuple(v for v in vectors if v.why.title.startswith("calls of "))


def make_held(prelude: str) -> str:
    whole = LEASES.partition("-- No search")[0] + HELD
    return whole.replace("PRELUDE", prelude)


def calls(vector: Vector) -> list[str]:
    return [call.operation for call in vector.question.operations]


def test_a_suite_has_the_calls_of_a_scenario_of_a_system() -> None:
    (long,) = (v for v in list_from_systems(LEASES) if "one waits for the other" in v.why.title)
    # The last two calls take no pair that is new.
    assert calls(long) == ["grant", "grant", "grant", "release", "grant"]
    assert long.why.label == "possible in office"
    assert long.why.title == "calls of office: one waits for the other"
    assert long.question.given is None
    assert [*long.question.sorts["Client"]] == ["c1", "c2"]


def test_each_trace_adds_pairs_of_branches_that_no_other_takes() -> None:
    taken = [pairs_in(v.answer) for v in list_from_systems(LEASES)]
    for number, pairs in enumerate(taken):
        others = set[tuple[str, str]]().union(*taken[:number], *taken[number + 1 :])
        assert pairs - others
    assert ("grant/given", "grant/lost") in set().union(*taken)


def test_a_shortest_trace_to_a_witness_of_the_system_counts_too() -> None:
    alone = LEASES.partition("scenario")[0]
    (one,) = list_from_systems(alone)
    assert one.why.title == "calls of office: asked_later in two"
    assert calls(one) == ["grant", "release", "grant"]


def test_a_trace_begins_with_the_prelude_of_its_instance() -> None:
    vectors = list_from_systems(make_held("prelude { do ask(b) }"))
    (one,) = (v for v in vectors if "goes round" in v.why.title)
    assert calls(one) == ["grant", "release", "grant", "release", "grant"][: len(calls(one))]
    assert one.why.label == "possible in office"
    assert one.question.given is None


def test_a_trace_that_begins_where_the_component_is_led_is_of_no_system() -> None:
    """Nobody says how the system comes there."""
    vectors = list_from_systems(make_held(""))
    (one,) = (v for v in vectors if "goes round" in v.why.title)
    assert calls(one)[:2] == ["grant", "release"]
    assert one.why.label == OPEN
    assert one.question.given is None


def test_a_trace_from_a_state_to_which_nothing_leads_makes_no_question() -> None:
    text = make_held("").replace("prelude { do grant(c2) }", "")
    assert not [v for v in list_from_systems(text) if "goes round" in v.why.title]


def test_a_system_that_changed_since_the_search_is_named_by_no_vector(tmp_path: Path) -> None:
    about = search_in(LEASES)
    write_found(tmp_path, about.found)
    found = read_found(tmp_path)
    assert found == about.found
    edited = LEASES.replace("require knows[c] != none", "require knows[c] != none and crashes > 0")
    assert edited != LEASES
    for text, labels in ((LEASES, {"possible in office"}), (edited, {OPEN})):
        later = replace(subject([Source("leases.charter", text)], ""), found=found)
        entries = smoke(later).entries
        mine = [e.vector.why for e in entries if e.vector.why.title.startswith("calls of ")]
        assert {why.label for why in mine} == labels
