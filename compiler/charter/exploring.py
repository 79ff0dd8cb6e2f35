"""Exploring an instance with the engine that fits: the native one, or the plain one and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from charter.check.asked import ASKED
from charter.formats.canonical import Json
from charter.formats.states import Table
from charter.ir import nodes as n
from charter.semantics.bounds import bounds_of
from charter.semantics.values import to_json

if TYPE_CHECKING:
    from charter.backends.engine.reached import Reached

Tell = Callable[[int, int, int, int], None]
"""Called now and then with distinct states, transitions, the level, and states in the queue."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to explore: with which engine (`auto`: the native one where it can), up to how many
    states (0: all), with which symmetry, on how many cores; where to write the search down, so
    that it can be gone on with (None: nowhere); how many bytes of memory to use before files
    (0: most of what is free); which fingerprints to remember states by (None: states are kept
    whole); whether its states are wanted afterwards; how many of those that a question asks for
    are listed."""

    engine: Literal["auto", "native", "plain"] = "auto"
    most_states: int = 0
    symmetry: bool = True
    workers: int = 2
    journal: Path | None = None
    memory: int = 0
    fingerprints: int | None = None
    states: bool = False
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found, and its states if they were wanted."""

    found: dict[str, Json]
    states: Table | None = None


class CannotExplore(Exception):
    """The search that was asked for cannot be done; a sentence for a person."""


def searched(model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell) -> Searched:
    """Counts, verdicts and findings of an instance, what a question in `model` asks for, and the
    states if they are wanted. Raises `CannotExplore`."""
    begun = time.monotonic()
    why = ""
    needs = _needs_native(model, wanted)
    if wanted.engine == "plain" and needs:
        raise CannotExplore(f"the plain engine cannot do it: {needs} the native one")
    if wanted.engine != "plain":
        try:
            found, states = _natively(model, instance, wanted, progress)
        except _Beyond as reason:
            why = str(reason)
            if wanted.engine == "native" or needs:
                other = f"{needs} it" if needs else "--engine plain can, slowly"
                raise CannotExplore(
                    f"the native engine cannot explore {instance.name}: {why}; {other}"
                ) from None
        else:
            found["seconds"] = round(time.monotonic() - begun, 3)
            return Searched(found, states)
    found = _plainly(model, instance, wanted, progress)
    found["why_plain"] = why
    return Searched({**found, "seconds": round(time.monotonic() - begun, 3)})


def _needs_native(model: n.Model, wanted: Wanted) -> str:
    """What of a wish only the native engine can do; "" for nothing."""
    if wanted.fingerprints is not None:
        return "fingerprints need"
    if any(prop.name == ASKED for prop in model.properties):
        return "--where needs"
    return "--keep needs" if wanted.states else ""


class _Beyond(Exception):
    """Why the native engine cannot do it; a phrase."""


def _natively(
    model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell
) -> tuple[dict[str, Json], Table | None]:
    try:
        from charter.backends.engine import explore as native
        from charter.backends.engine.native import cache_folder
        from charter.backends.engine.reached import Reached
    except ModuleNotFoundError as error:
        if error.name != "llvmlite":
            raise
        raise _Beyond("llvmlite is not installed") from None
    options = native.Options(
        native.Choices(
            symmetry=wanted.symmetry,
            fingerprints=wanted.fingerprints is not None,
            seed=wanted.fingerprints or 0,
        ),
        most_states=wanted.most_states,
        workers=wanted.workers,
        cache=cache_folder(),
        journal=wanted.journal,
        memory=wanted.memory,
    )

    def tell(now: native.Progress) -> None:
        progress(now.distinct, now.generated, now.depth, now.queue)

    try:
        found = native.explore(model, instance, options, tell)
    except (native.Unsupported, native.GaveUp) as reason:
        raise _Beyond(str(reason)) from None
    except native.OtherSearch as reason:
        raise CannotExplore(str(reason)) from None
    machine = found.search.program.plan.machine
    question = next((p for p in model.properties if p.name == ASKED), None)
    properties = tuple(one for one in found.properties if one.name != ASKED)
    findings: list[Json] = [
        _finding(one, machine.trace_json(one.trace or ()))
        for one in (*properties, *found.branches, *found.failures)
    ]
    head: dict[str, Json] = {
        "engine": "native",
        "instance": instance.name,
        "machine": instance.machine,
        "bounds": {**bounds_of(instance)},
        "distinct": found.distinct,
        "generated": found.generated,
        "outside": found.outside,
        "depth": len(found.levels),
        "levels": list(found.levels),
        "bits": found.bits,
        "fingerprints": wanted.fingerprints,
        "lossy": found.lossy,
        "permuted": list(found.search.program.plan.quotient.sorts),
        "not_permuted": {**found.search.program.plan.quotient.apart},
        "stopped": found.stopped,
        "journal": found.message,
        "complete": found.complete,
        "fine": found.fine,
    }
    head |= {**_judged(properties, found.complete), "findings": findings}
    reached = Reached.of(found, question)
    if question is not None:
        head["where"] = _matches(reached, question, wanted.limit)
    return head, reached


def _matches(reached: Reached, question: n.Property, limit: int) -> Json:
    """What a question asks for: how many states, and the first ones in the order of the search,
    each with a shortest trace and as it is at the end of that."""
    machine = reached.plan.machine
    states: list[Json] = []
    for number in islice(reached.hits(), limit):
        trace, state = reached.reason(number, question)
        values: dict[str, Json] = {
            v.name: to_json(v.type, state[v.name], machine.universe) for v in machine.variables
        }
        steps = machine.trace_json(trace)
        states.append({"number": number, "level": len(trace), "state": values, "trace": steps})
    return {
        "expression": reached.expression,
        "count": reached.found,
        "undefined": reached.undefined,
        "states": states,
    }


def _plainly(
    model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell
) -> dict[str, Json]:
    from charter.backends.explorer.explore import Options, explore

    def tell(distinct: int, generated: int, level: int) -> None:
        progress(distinct, generated, level, 0)

    options = Options(most_states=wanted.most_states, symmetry=wanted.symmetry)
    found = explore(model, instance, options, tell)
    findings: list[Json] = [
        _finding(one, found.trace_json(one.trace or ()))
        for one in (*found.properties, *found.branches, *found.failures)
    ]
    head: dict[str, Json] = {
        "engine": "plain",
        "instance": instance.name,
        "machine": found.machine,
        "bounds": {**bounds_of(instance)},
        "distinct": found.distinct,
        "generated": found.generated,
        "classes": found.classes,
        "outside": found.outside,
        "depth": len(found.levels),
        "levels": list(found.levels),
        "complete": found.complete,
        "fine": found.fine,
    }
    return {**head, **_judged(found.properties, found.complete), "findings": findings}


class Seen(Protocol):
    """What both engines say of a property, a witness, a branch or a failure."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def seen(self) -> int: ...
    @property
    def detail(self) -> str: ...


def _finding(one: Seen, trace: list[Json]) -> dict[str, Json]:
    return {
        "name": one.name, "kind": one.kind, "seen": one.seen, "trace": trace, "detail": one.detail,
    }  # fmt: skip


VERDICTS: Mapping[tuple[bool, bool], str] = {
    (True, True): "found",
    (True, False): "not found",
    (False, True): "violated",
    (False, False): "holds",
}


def _judged(found: Sequence[Seen], complete: bool) -> dict[str, Json]:
    """A verdict for each property and witness, and which witnesses were not found. What was not
    seen in a search that gave up is unknown."""
    verdicts: dict[str, Json] = {}
    unseen: list[Json] = []
    for one in found:
        witness = one.kind == "witness"
        settled = complete or one.seen
        verdicts[one.name] = VERDICTS[witness, bool(one.seen)] if settled else "unknown"
        if witness and not one.seen:
            unseen.append(one.name)
    return {"verdicts": verdicts, "vacuous": unseen}
