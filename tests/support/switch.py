"""A small protocol for the tests of the solver: a lamp, who may switch it and how often."""

from __future__ import annotations

from charter import api
from charter.core import nodes as n
from charter.semantics.machine import Machine

SWITCH = """protocol test.switch
sort Person
counter Turn
enum Error { STRANGER, STALE, FULL, UNSURE }
union Reply { switched(by: Person, turn: Turn), rejected(error: Error) }
const most: int 1..5

fun crowded(people: set Person) -> bool = size(people) >= most

component lamp {
  state lit: bool = false
  state owner: option Person = none
  state friends: set Person = {}
  state turn: Turn = 0
  state uses: int 0..9 = 0
  volatile state asked: set Person = {}
  ghost state ever: bool = false

  operation befriend(p: Person) -> Reply {
    branch full when no_room: crowded(friends) and new: not (p in friends) reply rejected(FULL)
    branch added {
      friends' = friends | {p}
      reply switched(p, turn)
    }
  }
  operation switch(p: Person, turn_seen: Turn, force: bool) -> Reply {
    in any order {
      branch stale when old: turn_seen < turn reply rejected(STALE)
      branch stranger when unknown: not (p in friends or force) reply rejected(STRANGER)
    }
    branch lights when dark: not lit and fits: uses < 9 {
      pick heir in friends or none
      lit' = true
      owner' = heir
      uses' = uses + 1
      turn' = bump(turn)
      ever' = true
      reply switched(p, bump(turn))
    }
    branch darkens when bright: lit and gentle: not force {
      lit' = false
      owner' = none
      reply switched(p, turn)
    }
    branch unsure {
      pick error in {UNSURE, FULL}
      asked' = asked | {p}
      reply rejected(error)
    }
  }
  operation reset(p: Person) -> bool {
    branch never when lit_and_dark: lit and dark: not lit reply false
    branch done { reply true }
  }
  operation failover() -> bool { branch done { asked' = {}  reply true } }
  observe all { lit, owner, friends, turn }
}

always owner_is_friend of lamp: owner == none or value(owner) in friends
always dark_has_no_owner of lamp: lit or owner == none
always bounded of lamp: uses <= 9
always few of lamp: size(friends) <= most
stepwise turns_grow of lamp: turn <= turn'
stepwise turns_stay of lamp: turn == turn'
witness two_uses of lamp: uses >= 2 and took switch/darkens

instance small of lamp { Person = 3  most = 2 }
instance timid of lamp { Person = 3  most = 2  only switch if not force and turn_seen == turn }

mutant unlimited in small { drop branch lamp.befriend/full } caught by few
mutant forgets_owner in small {
  drop update owner of lamp.switch/darkens
} caught by dark_has_no_owner
mutant forgets_asked in small { drop update asked of lamp.switch/unsure } caught by few
mutant chooses_less in small { replace update owner of lamp.switch/lights with none } caught by few
"""


def switch(mutant: str = "") -> n.Model:
    """The protocol, or a mutant of it."""
    return api.load_text(SWITCH, api.Selection(mutant=mutant))


def machine(model: n.Model, instance: str = "small") -> Machine:
    """One of its instances."""
    return Machine.of(model, next(i for i in model.instances if i.name == instance))


def prop(model: n.Model, name: str) -> n.Property:
    """A property by its name."""
    return next(p for p in model.properties if p.name == name)
