"""What must happen in the end, beside what an engine found of the rest."""

from __future__ import annotations

from dataclasses import replace

from charter.backends.explorer.explore import Options, explore
from charter.backends.explorer.liveness import check_liveness
from charter.formats.canonical import Json
from charter.ir import nodes as n
from charter.semantics.fairness import Verdict
from charter.semantics.machine import Machine

MOST = 300_000
"""States up to which `eventually` is looked at, where nobody says how many: the graph is kept."""

WORDS = {"holds": "holds", "fails": "violated", "unknown": "unknown"}


def with_liveness(
    model: n.Model, instance: n.Instance, most_states: int, found: dict[str, Json]
) -> dict[str, Json]:
    """An exploration together with a verdict and a finding for each `eventually`."""
    mine = [live for live in model.liveness if live.machine == instance.machine]
    findings, verdicts = found["findings"], found["verdicts"]
    if not mine:
        return found
    assert isinstance(findings, list) and isinstance(verdicts, dict)
    answers = _verdicts(model, instance, most_states)
    machine = Machine.of(model, instance)
    is_known = all(one.answer != "unknown" for one in answers)
    return {
        **found,
        "complete": bool(found["complete"]) and is_known,
        "fine": bool(found["fine"]) and all(one.answer == "holds" for one in answers),
        "verdicts": {**verdicts, **{one.name: WORDS[one.answer] for one in answers}},
        "findings": [*findings, *(_finding(machine, one) for one in answers)],
    }


def _verdicts(model: n.Model, instance: n.Instance, most_states: int) -> tuple[Verdict, ...]:
    """On the graph of the plain engine, whatever engine has searched the rest."""
    options = Options(most_states=most_states or MOST)
    bare = replace(model, properties=())
    return check_liveness(model, instance, explore(bare, instance, options), options)


def _finding(machine: Machine, one: Verdict) -> Json:
    """A verdict as a finding: the `binding` of its variables, and `loop`, the number of steps after
    which the rest of the trace repeats for ever (all of them: nothing happens)."""
    fails = one.answer == "fails"
    return {
        "name": one.name,
        "kind": "eventually",
        "seen": int(fails),
        "answer": WORDS[one.answer],
        "binding": one.binding_json(machine.universe),
        "trace": machine.trace_json((*one.stem, *one.cycle)),
        "loop": len(one.stem) if fails else None,
        "detail": one.detail,
    }
