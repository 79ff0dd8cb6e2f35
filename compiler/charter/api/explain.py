"""Replays findings on the definition and renders them as stories, for any engine's result."""

from __future__ import annotations

from collections.abc import Iterable

from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.explore.result import CheckResult, Trace
from charter.render.story.tell import Story, ToldFinding, sameness, tell
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Machine, Taken


def story_of(model: n.Model, instance: n.Instance, found: ToldFinding) -> Story:
    """The story of a finding, replayed on the definition. Raises NotARun if that is impossible."""
    machine = Machine.of(model, instance)
    return tell(machine, found, sameness(model, instance))


def make_finding(one: CheckResult | LivenessResult) -> ToldFinding:
    """Converts a finding of an engine to one that a story can be told of."""
    if isinstance(one, LivenessResult):
        loop = len(one.stem) if one.has_run else None
        acts = _acts((*one.stem, *one.cycle))
        return ToldFinding(
            "eventually", one.name, acts, loop, binding=one.binding, detail=one.detail
        )
    trace = one.trace or ()
    if one.kind == "undefined" and trace and not trace[-1].branch:
        (fails,) = _acts(trace[-1:])
        return ToldFinding(one.kind, one.name, _acts(trace[:-1]), fails=fails, detail=one.detail)
    return ToldFinding(one.kind, one.name, _acts(trace), detail=one.detail)


def _acts(trace: Iterable[Taken]) -> tuple[Act, ...]:
    return tuple((step.operation, step.args) for step in trace)


def make_trace_finding(called: tuple[str, str], trace: Trace) -> ToldFinding:
    """Converts a trace with a kind and a name to a finding that a story can be told of."""
    return ToldFinding(*called, _acts(trace))
