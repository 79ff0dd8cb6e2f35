"""Results of searches and walks as JSON, with stories; docs/formats/search.md is for readers."""

from __future__ import annotations

from collections.abc import Iterable

from charter.explore.result import (
    CheckResult,
    MatchedState,
    MatchedStates,
    SearchResult,
    Unmet,
    is_wrong,
    of_liveness,
)
from charter.explore.swarm import WalksResult
from charter.formats.canonical import Json
from charter.render.story.itf import itf
from charter.render.story.tell import Story
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Machine
from charter.semantics.values import to_json


def search_json(
    found: SearchResult, stories: Iterable[Story] = (), first: Story | None = None
) -> dict[str, Json]:
    """The result of a search as JSON, with the story of each finding in `found.wrong` and of the
    first match of `--where`. A finding without a story has no steps."""
    whole: dict[str, Json] = {
        "engine": found.engine,
        "instance": found.instance.name,
        "machine": found.instance.machine,
        "bounds": {**found.bounds},
        "distinct": found.counts.distinct,
        "generated": found.counts.generated,
        "outside": found.counts.outside,
        "cut": found.counts.cut,
        "depth": len(found.counts.levels),
        "levels": list(found.counts.levels),
        **_native_json(found),
        "complete": found.complete,
        "fine": found.fine,
        "verdicts": {**found.verdicts},
        "never_taken": list(found.never_taken),
        "vacuous": [_unmet_json(one) for one in found.vacuous],
        "not_missed": list(found.not_missed),
        "expected": list(found.expected),
        "not_failed": list(found.not_failed),
        "findings": _findings_json(found, stories),
    }
    if found.where is not None:
        whole["where"] = _matches_json(found.machine, found.where, first)
    if found.engine == "reference" or found.why_reference:
        whole["why_reference"] = found.why_reference
    if found.engine == "reference" and found.journal:
        whole["journal"] = found.journal
    whole["seconds"] = round(found.seconds, 3)
    if found.seconds_liveness is not None:
        whole["seconds_eventually"] = round(found.seconds_liveness, 3)
    return whole


def _findings_json(found: SearchResult, stories: Iterable[Story]) -> list[Json]:
    told = iter(stories)
    rows: list[Json] = []
    for one in found.everything:
        story = next(told, None) if is_wrong(one) else None
        rows.append(finding_json(found.machine, one) | _story_json(story))
    return rows


def _story_json(story: Story | None) -> dict[str, Json]:
    """The fields that a story adds to its finding: steps, trace in ITF, why the property is false,
    and where an evaluation has no value."""
    if story is None:
        return {}
    whole: dict[str, Json] = {"steps": story.steps_json(), "itf": itf(story)}
    if story.why is not None:
        whole["why"] = story.why.json()
    if story.found.kind == "undefined":
        whole["place"] = _place_json(story)
    return whole


def _place_json(story: Story) -> dict[str, Json]:
    """The last state, and the step from it whose evaluation has no value (null: a property has
    none)."""
    state: dict[str, Json] = {**story.last_state()}
    if story.found.fails is None:
        return {"state": state, "step": None}
    operation, args = story.found.fails
    given = story.machine.args_json(operation, args)
    return {"state": state, "step": {"operation": operation, "args": given}}


def _native_json(found: SearchResult) -> dict[str, Json]:
    """The fields that only the native engine has."""
    if found.storage is None or found.symmetry is None:
        return {}
    return {
        "bits": found.storage.bits,
        "fingerprints": found.fingerprints,
        "lossy": found.storage.lossy,
        "permuted": list(found.symmetry.permuted),
        "not_permuted": {**found.symmetry.apart},
        "stopped": found.stopped,
        "spilled": found.storage.spilled,
        "bytes_each": found.storage.bytes_each,
        "journal": found.journal,
    }


def finding_json(machine: Machine, one: CheckResult | LivenessResult) -> dict[str, Json]:
    """A finding. A liveness violation also has the `binding` of its variables, and `loop`: the
    steps behind the first `loop` ones repeat for ever (if there are none, nothing happens any
    more). `loop` and trace are null if no lasso is shown."""
    if isinstance(one, CheckResult):
        return {
            "name": one.name,
            "kind": one.kind,
            "seen": one.seen,
            "trace": machine.trace_json(one.trace or ()),
            "detail": one.detail,
        }
    fails = one.answer == "fails"
    untold = fails and not one.has_run
    return {
        "name": one.name,
        "kind": "eventually",
        "seen": int(fails),
        "answer": of_liveness(one),
        "binding": one.binding_json(machine.universe),
        "trace": None if untold else machine.trace_json((*one.stem, *one.cycle)),
        "loop": len(one.stem) if one.has_run else None,
        "detail": one.detail,
    }


def _unmet_json(one: Unmet) -> dict[str, Json]:
    if one.kind != "condition":
        return {"kind": one.kind, "name": one.name}
    return {"kind": one.kind, "name": one.name, "condition": one.condition, "at": one.where}


def _matches_json(machine: Machine, found: MatchedStates, first: Story | None) -> dict[str, Json]:
    states = [_match_json(machine, one) for one in found.first]
    if states and first is not None:
        states[0]["steps"] = first.steps_json()
    return {
        "expression": found.expression,
        "count": found.count,
        "undefined": found.undefined,
        "states": [*states],
    }


def _match_json(machine: Machine, one: MatchedState) -> dict[str, Json]:
    return {
        "number": one.number,
        "level": len(one.trace),
        "state": {
            v.name: to_json(v.type, one.state[v.name], machine.universe) for v in machine.variables
        },
        "trace": machine.trace_json(one.trace),
    }


def walks_json(
    found: WalksResult, stories: Iterable[Story] = (), walk: Story | None = None
) -> dict[str, Json]:
    """The result of random walks as JSON, with the story of each finding, and of the walk if it is
    only one."""
    machine = found.machine
    findings: list[Json] = []
    told = iter(stories)
    for one in found.findings:
        row = finding_json(machine, one.finding) | {"seed": one.seed, "batch": one.batch}
        findings.append(row | _story_json(next(told, None)))
    steps = None if found.walk is None else machine.trace_json(found.walk)
    return {
        "instance": machine.instance.name,
        "machine": machine.instance.machine,
        "bounds": {**found.bounds},
        "seed": found.seed,
        "walks": found.walks,
        "steps": found.steps,
        "branches": {**found.branches},
        "unseen": list(found.unseen),
        "not_looked_at": list(found.unchecked),
        "findings": findings,
        "walk": steps if walk is None else walk.steps_json(),
        "states": found.states,
    }
