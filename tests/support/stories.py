"""Stories of findings by name, and of traces that a test lists."""

from __future__ import annotations

from collections.abc import Sequence

from charter import api
from charter.core import nodes as n
from charter.explore.result import CheckResult, SearchResult, TraceStep
from charter.formats.canonical import Json
from charter.render.story.tell import Story
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Machine
from charter.semantics.values import from_json


def find_named(found: SearchResult, name: str) -> CheckResult | LivenessResult:
    """The result that a search has for a name."""
    return next(one for one in found.everything if one.name == name)


def story_of_finding(model: n.Model, instance: str, name: str) -> Story:
    """The story of the result that a search of an instance has for a name."""
    found = api.explore(model, instance, api.ExploreOptions(), lambda *_: None)
    return api.tell(model, instance, find_named(found, name))


def story_of_steps(
    model: n.Model, steps: Sequence[tuple[str, dict[str, Json]]], *, violated: str = ""
) -> Story:
    """The story of these steps, with arguments as JSON, of the instance `tiny`; they are a walk,
    or lead to where an `always` property is `violated`."""
    machine = Machine.of(model, next(i for i in model.instances if i.name == "tiny"))

    def values(operation: str, args: dict[str, Json]) -> tuple[n.Value, ...]:
        params = machine.operations[operation].params
        return tuple(from_json(p.type, args[p.name], machine.universe) for p in params)

    trace = tuple(TraceStep(name, values(name, args), name) for name, args in steps)
    called = ("always", violated) if violated else ("walk", "")
    return api.tell_trace(model, "tiny", called, trace)
