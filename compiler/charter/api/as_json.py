"""Results of searches and walks as JSON: docs/formats/search.md describes it for readers."""

from __future__ import annotations

from charter.explore.result import Finding, Matches, SearchResult, Unmet, of_liveness
from charter.explore.swarm import WalksResult
from charter.formats.canonical import Json
from charter.semantics.bounds import bounds_of
from charter.semantics.fairness import Verdict
from charter.semantics.machine import Machine
from charter.semantics.values import to_json


def search_json(found: SearchResult) -> dict[str, Json]:
    """Everything that a search says but stories."""
    whole: dict[str, Json] = {
        "engine": found.engine,
        "instance": found.instance.name,
        "machine": found.instance.machine,
        "bounds": {**bounds_of(found.instance)},
        "distinct": found.counts.distinct,
        "generated": found.counts.generated,
        "outside": found.counts.outside,
        "depth": len(found.counts.levels),
        "levels": list(found.counts.levels),
        **_native_json(found),
        "complete": found.complete,
        "fine": found.fine,
        "verdicts": {**found.verdicts},
        "never_taken": list(found.never_taken),
        "vacuous": [_unmet_json(one) for one in found.vacuous],
        "not_missed": list(found.not_missed),
        "findings": [finding_json(found.machine, one) for one in found.everything],
    }
    if found.where is not None:
        whole["where"] = _matches_json(found.machine, found.where)
    if found.engine == "plain" or found.why_plain:
        whole["why_plain"] = found.why_plain
    if found.engine == "plain" and found.journal:
        whole["journal"] = found.journal
    whole["seconds"] = round(found.seconds, 3)
    if found.seconds_liveness is not None:
        whole["seconds_eventually"] = round(found.seconds_liveness, 3)
    return whole


def _native_json(found: SearchResult) -> dict[str, Json]:
    """What only compiled code has to say."""
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


def finding_json(machine: Machine, one: Finding | Verdict) -> dict[str, Json]:
    """A finding; of a verdict on liveness the `binding` of its variables, and `loop`, the number of
    steps after which the rest of the trace repeats for ever (all of them: nothing happens); null,
    as the trace, where no run is shown."""
    if isinstance(one, Finding):
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


def _matches_json(machine: Machine, found: Matches) -> dict[str, Json]:
    return {
        "expression": found.expression,
        "count": found.count,
        "undefined": found.undefined,
        "states": [
            {
                "number": one.number,
                "level": len(one.trace),
                "state": {
                    v.name: to_json(v.type, one.state[v.name], machine.universe)
                    for v in machine.variables
                },
                "trace": machine.trace_json(one.trace),
            }
            for one in found.first
        ],
    }


def walks_json(found: WalksResult) -> dict[str, Json]:
    """Everything that walks say but stories."""
    machine = found.machine
    return {
        "instance": machine.instance.name,
        "machine": machine.instance.machine,
        "bounds": {**bounds_of(machine.instance)},
        "seed": found.seed,
        "walks": found.walks,
        "steps": found.steps,
        "branches": {**found.branches},
        "unseen": list(found.unseen),
        "not_looked_at": list(found.unlooked),
        "findings": [
            {**finding_json(machine, one.finding), "seed": one.seed, "batch": one.batch}
            for one in found.findings
        ],
        "walk": None if found.walk is None else machine.trace_json(found.walk),
        "states": found.states,
    }
