"""Holds a charter whose operations assume something of their environment."""

from __future__ import annotations

from pathlib import Path

from charter import api
from charter.core import nodes as n

FOLLOWER = Path(__file__).parent / "follower.charter"
REQUIRED = "require of not in terms_led and of > 0"
"""What the network of the charter requires, so that it keeps to the assumptions of a follower."""


def load_follower() -> n.Model:
    """The charter as it is."""
    return api.load(FOLLOWER)


def break_network(requires: str) -> n.Model:
    """The charter whose network requires something else of an election."""
    text = FOLLOWER.read_text(encoding="utf-8")
    assert REQUIRED in text
    return api.load_text(text.replace(REQUIRED, requires))


def drop_assumptions(text: str) -> str:
    """The text of a charter whose assumptions take a line each, without them."""
    return "\n".join(x for x in text.split("\n") if not x.lstrip().startswith("assume "))
