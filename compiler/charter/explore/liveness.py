"""What must happen in the end, beside what an engine found of the rest."""

from __future__ import annotations

import time
from dataclasses import replace

from charter.core import nodes as n
from charter.explore.reference.explore import Options, explore
from charter.explore.reference.liveness import check_liveness
from charter.explore.select import (
    Beyond,
    CannotExplore,
    Searched,
    Tell,
    Wanted,
    loading_native,
    native_options,
)
from charter.formats.canonical import Json
from charter.semantics.fairness import GAVE_UP, Verdict
from charter.semantics.machine import Machine

MOST, MOST_PLAIN = 10_000_000, 300_000
"""States up to which `eventually` is looked at, where nobody says how many: the graph is kept. The
plain engine's is larger, and slower to make."""
STATES, EDGES = "what must happen, states", "what must happen, steps"
"""What the progress calls the two parts of the work."""
PLAINLY = "what must happen, on the plain engine"
"""What it calls both where the native engine was meant to do them."""

WORDS = {"holds": "holds", "fails": "violated", "unknown": "unknown"}


def with_liveness(
    model: n.Model, instance: n.Instance, wanted: Wanted, searched: Searched, progress: Tell
) -> Searched:
    """An exploration of a machine with an `eventually`, together with a verdict and a finding for
    each, and `seconds_eventually`: how many of the `seconds` that took. Of the memory, what the
    states of the exploration do not hold is used. Raises CannotExplore where only the plain engine
    could do it and the native one was asked for."""
    found = searched.found
    if wanted.memory:
        wanted = replace(wanted, memory=max(1, wanted.memory - searched.held))
    findings, verdicts, seconds = found["findings"], found["verdicts"], found["seconds"]
    assert isinstance(findings, list) and isinstance(verdicts, dict)
    assert isinstance(seconds, int | float)
    begun = time.monotonic()
    why, most = "", wanted.most_states or (MOST_PLAIN if wanted.engine == "plain" else MOST)
    try:
        search = _plainly if wanted.engine == "plain" else _natively
        answers = search(model, instance, wanted, progress)
    except Beyond as reason:
        if wanted.engine == "native":
            raise CannotExplore(
                f"the native engine cannot look at what must happen in {instance.name}: {reason}; "
                "--engine plain can, slowly"
            ) from None
        why, most = f"for `eventually`, {reason}", wanted.most_states or MOST_PLAIN
        answers = _plainly(model, instance, wanted, progress)
    machine = Machine.of(model, instance)
    is_known = all(one.answer != "unknown" for one in answers)
    took = time.monotonic() - begun
    more: dict[str, Json] = {
        **found,
        **({"why_plain": found.get("why_plain") or why} if why else {}),
        "seconds": round(seconds + took, 3),
        "seconds_eventually": round(took, 3),
        "complete": bool(found["complete"]) and is_known,
        "fine": bool(found["fine"]) and all(one.answer == "holds" for one in answers),
        "verdicts": {**verdicts, **{one.name: WORDS[one.answer] for one in answers}},
        "findings": [*findings, *(_finding(machine, one, most) for one in answers)],
    }
    return replace(searched, found=more)


def _natively(
    model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell
) -> tuple[Verdict, ...]:
    """On the graph of the native engine. Raises Beyond where it cannot."""
    with loading_native():
        from charter.explore.native import explore as native
        from charter.explore.native.liveness import check_liveness
    options = native_options(replace(wanted, most_states=wanted.most_states or MOST))

    def tell(now: native.Progress, is_graph: bool) -> None:
        doing = EDGES if is_graph else STATES
        progress(now.distinct, now.generated, now.depth, now.queue, doing)

    try:
        return check_liveness(model, instance, options, tell)
    except (native.Unsupported, native.GaveUp) as reason:
        raise Beyond(str(reason)) from None


def _plainly(
    model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell
) -> tuple[Verdict, ...]:
    """On the graph of the plain engine."""
    doing = STATES if wanted.engine == "plain" else PLAINLY

    def tell(distinct: int, generated: int, level: int) -> None:
        progress(distinct, generated, level, 0, doing)

    tell(0, 0, 0)

    options = Options(most_states=wanted.most_states or MOST_PLAIN, symmetry=wanted.symmetry)
    bare = replace(model, properties=())
    return check_liveness(model, instance, explore(bare, instance, options, tell), options)


def _finding(machine: Machine, one: Verdict, most: int) -> Json:
    """A verdict as a finding: the `binding` of its variables, and `loop`, the number of steps after
    which the rest of the trace repeats for ever (all of them: nothing happens); null, as the trace,
    where no run is shown. `most`: states that were looked at if the search for them gave up."""
    fails, detail = one.answer == "fails", one.detail
    untold = fails and not one.has_run
    if detail.endswith(GAVE_UP):
        detail = f"{detail}, at {most:,} states; --most N goes on to N"
    return {
        "name": one.name,
        "kind": "eventually",
        "seen": int(fails),
        "answer": WORDS[one.answer],
        "binding": one.binding_json(machine.universe),
        "trace": None if untold else machine.trace_json((*one.stem, *one.cycle)),
        "loop": len(one.stem) if one.has_run else None,
        "detail": detail,
    }
