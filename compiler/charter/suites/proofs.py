"""Selects the instances that are searched, and those in which an obligation must be proved
infeasible.

A bound can be too small for what another instance meets. So a proof counts only if it is about
every instance that is searched, or about others that cover them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from charter.core import nodes as n
from charter.core.walk import nodes, operation_expressions

TINY = "tiny"
"""The start of the names of instances that are small enough for a search."""

PROOF_INSTANCE = "standard"
"""The name of the instance in which the solver searches for single steps and proves first; if
missing, the first instance."""

_REASON = re.compile(r"proved in ([^:]+): ")


def list_searched(model: n.Model, component: str) -> tuple[n.Instance, ...]:
    """The instances of a component that are searched for questions."""
    mine = (instance for instance in model.instances if instance.machine == component)
    return tuple(instance for instance in mine if instance.name.startswith(TINY))


def list_unsearched(model: n.Model, component: str) -> tuple[n.Instance, ...]:
    """The other instances of a component, but for the one of the solver's name."""
    mine = (i for i in model.instances if i.machine == component and i.name != PROOF_INSTANCE)
    return tuple(instance for instance in mine if not instance.name.startswith(TINY))


def proof_instances(model: n.Model, component: str) -> tuple[n.Instance, ...]:
    """The instances of a component in which a proof must be made: of those that are searched and
    the one in which the solver begins, those that no other one covers; none without instances."""
    mine = [i for i in model.instances if i.machine == component]
    first = next((i for i in mine if i.name == PROOF_INSTANCE), None)
    tiny = [i for i in list_searched(model, component) if i is not first]
    places = [*([first] if first else mine[:1]), *tiny]
    places = [place for i, place in enumerate(places) if place not in places[:i]]
    read = _constants_read(model, component)
    return tuple(
        place
        for i, place in enumerate(places)
        if not any(
            _covers(other, place, read) and (j < i or not _covers(place, other, read))
            for j, other in enumerate(places)
            if j != i
        )
    )


def _covers(large: n.Instance, small: n.Instance, read: frozenset[str]) -> bool:
    """Whether one instance has at least as many elements of each sort as another, and constants
    that are at least as large; those in `read` must be the same."""
    sorts, consts = dict(large.sorts), dict(large.consts)
    return all(len(names) <= len(sorts.get(sort, ())) for sort, names in small.sorts) and all(
        value == consts.get(name) or (name not in read and value < consts.get(name, value))
        for name, value in small.consts
    )


def _constants_read(model: n.Model, component: str) -> frozenset[str]:
    """The constants that rules and properties read as values; others are only bounds of types."""
    exprs = [f.body for f in model.functions]
    exprs += [p.body for p in model.properties if p.machine == component]
    for one in (c for c in model.components if c.name == component):
        exprs += [e for o in one.operations for e in operation_expressions(o)]
    return frozenset(x.name for e in exprs for x in nodes(e) if isinstance(x, n.ConstRef))


def reason(places: Sequence[n.Instance], lemmas: Sequence[str]) -> str:
    """Why an obligation is infeasible, in the words of proofs.json."""
    names = ", ".join(place.name for place in places)
    return f"proved in {names}: {', '.join(lemmas) or 'the rules alone'}"


def partial(proofs: Mapping[str, str], model: n.Model, component: str) -> dict[str, str]:
    """The proofs that are not about all instances that they must be about, with what they lack."""
    needed = [place.name for place in proof_instances(model, component)] if proofs else []
    found: dict[str, str] = {}
    for row, told in proofs.items():
        named = _REASON.match(told)
        names = named[1].split(", ") if named else needed
        lacking = [name for name in needed if name not in names]
        if lacking:
            found[row] = f"proved in {', '.join(names)} only, not in {', '.join(lacking)}"
    return found
