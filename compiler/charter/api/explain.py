"""Replays findings on the definition and renders them as stories, for any engine's result."""

from __future__ import annotations

from collections.abc import Mapping

from charter.core import nodes as n
from charter.explore.reference.load import load
from charter.formats.canonical import Json
from charter.render.story.tell import Story, found_in, tell
from charter.semantics.evaluate import State
from charter.semantics.machine import Machine


def told(model: n.Model, instance: n.Instance, finding: Mapping[str, Json]) -> Story:
    """A finding, told on the definition. Raises NotARun if the definition does not allow it."""
    machine = Machine.of(model, instance)
    found = found_in(machine, finding)
    if found.loop is None or not model.counters:
        return tell(machine, found, lambda one, other: one == other)
    flat = load(model, instance, symmetry=False)

    def same(one: State, other: State) -> bool:
        return flat.key(flat.flatten(one)) == flat.key(flat.flatten(other))

    return tell(machine, found, same)
