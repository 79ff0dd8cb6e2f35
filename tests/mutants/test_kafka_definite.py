"""Where a text is definite, the controller's charter allows nothing else. A scenario shows only
that something may happen: here each one claims what must not happen, and fails, beside one that
differs in the claim and comes about."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.core import nodes as n
from charter.diagnostics import Source
from charter.formats.survivors import read_survivors, survivors_file
from charter.mutate.mutants import mutants, mutated
from charter.semantics.scenario import ScenarioFails, follow

SPEC = Path(__file__).resolve().parents[2] / "spec" / "kafka"
STARTS = "do register(r3, true, none) -> {}"
GROWN = """do reassign(t, <r1, r2, r3>) -> begun
  include completes_with({{r1, r2, r3}}, leader: r1, joining: r3)
  expect value(partition[t]).leader_epoch == {}"""
CLEARED = """do session_expires(r2) -> fenced
  do set_min_isr(2) -> same
  expect stands(partition[t], present(r1), {{r1}}, {})"""
THREE = "start partition = [x in Topic: present(fresh_partition(1, <r1, r2, r3>, r1))]\n  "
STOPS = "do heartbeat(r1, 1, true, want_shut_down: true) -> begins_shutdown\n  "
FENCED = "do heartbeat(r3, 3, true, want_fence: true) -> fenced reply alive(true, true, {})"
UNSURE = """do failover() -> replayed
  do heartbeat(r1, 1, true, want_fence: true) -> fenced_unsure reply alive(true, true, {})"""
UNASKED = "do failover() -> replayed\n  do heartbeat(r1, 1, true) -> "
FOLLOWER = "do heartbeat(r3, 3, true, want_shut_down: true) -> {}"
LEADS = (
    THREE + "do session_expires(r3) -> fenced\n  expect value(partition[t]).leader == present({})"
)
STAYS = (
    THREE
    + """do reassign(t, <r1, r2>) -> completed
  expect value(partition[t]).leader == present({})"""
)
ELIGIBLE = """do session_expires(r3) -> fenced
  do session_expires(r2) -> fenced
  do register(r2, true, {}) reply registered(4)
  expect stands(partition[t], present(r1), {{r1}}, {})"""
PREFERRED = (
    THREE
    + """do session_expires(r1) -> fenced
  do heartbeat(r1, 1, true) -> unfenced
  include grows_to({{r1, r2, r3}}, leader: r2, joining: r1)
  do elect_leader(t, false) -> {}"""
)

NEVER = {
    "an expired registration is refused": "do session_expires(r3) -> fenced\n  "
    + STARTS.format("session_lives"),
    "a session that times out later is refused": "do heartbeat(r3, 3, true, want_fence: true) "
    "-> fenced\n  do session_expires(r3) -> idle\n  " + STARTS.format("session_lives"),
    "a completed reassignment keeps its leader epoch": GROWN.format(0),
    "the same minimum keeps the ELR": CLEARED.format("{r2}"),
    "an expired registration is a duplicate": "do session_expires(r3) -> fenced\n  "
    + STARTS.format("duplicate"),
    "a leader in sync is replaced when a follower fails": LEADS.format("r2"),
    "a leader in sync is replaced when a follower is removed": STAYS.format("r2"),
    "an in-sync preferred leader is refused": PREFERRED.format("preferred_unavailable"),
    "a follower that asks to stop has to wait": FOLLOWER.format("waits_unsure"),
    "a broker is told to stop that asks to be fenced": FENCED.format("true"),
    "the same of one in controlled shutdown": STOPS + UNSURE.format("true"),
    "a broker that waits for others is fenced": STOPS
    + "do heartbeat(r1, 1, true, want_fence: true) -> fenced_unsure",
    "a broker in controlled shutdown is fenced that does not ask for it": STOPS
    + UNASKED
    + "fenced_unsure",
    "a broker that is not fenced is registered again": "do register(r3, true, present(3)) -> clean",
    "a broker that lost its records stays eligible": ELIGIBLE.format("none", "{r2}"),
    "a broker that stopped cleanly is no longer eligible": ELIGIBLE.format("present(2)", "{}"),
}
MAYBE = {
    "an expired registration is renewed": "do session_expires(r3) -> fenced\n  "
    + STARTS.format("unclean"),
    "a broker that asked to be fenced is refused": "do heartbeat(r3, 3, true, want_fence: true) "
    "-> fenced\n  " + STARTS.format("session_lives"),
    "a fenced broker that was heard from is refused": "do session_expires(r3) -> fenced\n  "
    "do heartbeat(r3, 3, false) -> stays_fenced\n  " + STARTS.format("session_lives"),
    "a new controller does not know what has expired": "do session_expires(r3) -> fenced\n  "
    "do failover() -> replayed\n  " + STARTS.format("session_lives"),
    "a completed reassignment starts a leader epoch": GROWN.format(1),
    "the same minimum clears the ELR": CLEARED.format("{}"),
    "a leader in sync stays when a follower fails": LEADS.format("r1"),
    "a leader in sync stays when a follower is removed": STAYS.format("r1"),
    "an in-sync preferred leader is elected": PREFERRED.format("preferred"),
    "a follower that asks to stop may stop": FOLLOWER.format("shuts_down"),
    "a broker that asks to be fenced goes on": FENCED.format("false"),
    "one in controlled shutdown goes on": STOPS + UNSURE.format("false"),
    "a broker that waits for others goes on": STOPS
    + "do heartbeat(r1, 1, true, want_fence: true) -> waits",
    "a broker in controlled shutdown waits that does not ask to be fenced": STOPS
    + UNASKED
    + "waits_unsure",
    "another process of a broker that is not fenced is refused": "do register(r3, true, present(3))"
    " -> duplicate",
    "a broker that lost its records is no longer eligible": ELIGIBLE.format("none", "{}"),
    "a broker that stopped cleanly stays eligible": ELIGIBLE.format("present(2)", "{r2}"),
}


def scenario(title: str, lines: str) -> str:
    replicas = "<r1, r2, r3>" if "register" in lines else "<r1, r2>"
    head = f'scenario "{title}" of controller like three_brokers({replicas}) cites silent {{'
    return f"{head}\n  {lines}\n}}\n"


@cache
def model() -> n.Model:
    told = "\n".join(scenario(title, lines) for title, lines in (NEVER | MAYBE).items())
    extra = Source("more.charter", "protocol kafka.replication\n\n" + told)
    return api.Charter([*api.read_sources(SPEC), extra]).model()


def named(title: str) -> n.Scenario:
    return next(s for s in model().scenarios if s.title == title)


@pytest.mark.parametrize("title", NEVER)
def test_nothing_else_is_allowed_where_a_text_is_definite(title: str) -> None:
    with pytest.raises(ScenarioFails):
        follow(model(), named(title))


@pytest.mark.parametrize("title", MAYBE)
def test_what_the_texts_say_or_leave_open_is_allowed(title: str) -> None:
    assert follow(model(), named(title))


def test_a_survivor_that_a_text_forbids_allows_what_is_claimed_here() -> None:
    """`conform mutate` follows no scenario that must fail: such a survivor is reviewed with the
    title of what it allows."""
    made = {one.id: one for one in mutants(model())}
    told = [
        (one.id, title) for one in read_survivors(survivors_file(SPEC)) for title in NEVER
        if f"does: '{title}'" in one.reason
    ]  # fmt: skip
    assert told
    assert all(follow(mutated(model(), made[name]), named(title)) for name, title in told)
    about = [
        one for one in read_survivors(survivors_file(SPEC)) if Path(__file__).name in one.reason
    ]
    assert len(about) == len(told)
