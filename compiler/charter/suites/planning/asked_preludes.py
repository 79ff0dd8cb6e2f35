"""Writes the preludes of instances as operations of questions, which a judge asks first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charter.core import nodes as n
from charter.formats import canonical
from charter.formats.vector import Why
from charter.passes.narrow import narrow
from charter.suites.planning.instance_planner import InstancePlanner


def list_preludes(model: n.Model, component: str) -> Mapping[str, Sequence[str]]:
    """For each instance of a component with a prelude the JSON texts of its
    operations; not for one that
    leads elsewhere, or that has no question."""
    alone = narrow(model, component)
    found: dict[str, Sequence[str]] = {}
    for instance in alone.instances:
        if instance.machine == component and instance.prelude is not None:
            planner = InstancePlanner.define_planner(alone, instance).planner
            vector = planner.of_acts((), Why()) if planner.prelude else None
            if vector is not None:
                calls = vector.question.operations
                found[instance.name] = [canonical.text(call.json()) for call in calls]
    return found
