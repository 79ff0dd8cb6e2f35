"""Orders the members of constant sets, for `pick`."""

from __future__ import annotations

from collections.abc import Mapping

from charter.core import nodes as n
from charter.core import types as t

Functions = Mapping[str, n.Function]
"""The functions of a model, by name."""


def constants(domain: n.Expr) -> tuple[n.Literal, ...]:
    """The members of a set of literals, in the order in which `one_of` of the prelude gives them;
    none for any other set."""
    if not isinstance(domain, n.SetNew):
        return ()
    literals = [item for item in domain.items if isinstance(item, n.Literal)]
    told = all(isinstance(item.type, t.Bool | t.Enum) for item in literals)
    if not told or len(literals) < len(domain.items):
        return ()
    return tuple(sorted(dict.fromkeys(literals), key=lambda literal: str(literal.value)))
