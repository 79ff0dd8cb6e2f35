"""Explores an instance with the native engine, or with the reference engine and says why."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from charter.core import nodes as n
from charter.core.nodes import ASKED
from charter.core.vacuity import Companion, with_companions
from charter.formats.canonical import Json
from charter.formats.states import Table
from charter.project.cache import cache_folder
from charter.semantics.bounds import bounds_of
from charter.semantics.machine import Machine, Taken
from charter.semantics.values import to_json

if TYPE_CHECKING:
    from charter.explore.native.explore import Exploration, Options, Progress
    from charter.explore.native.reached import Reached
    from charter.explore.native.spark import Session


class Tell(Protocol):
    """Called now and then with distinct states, transitions, the level, and states in the queue;
    `doing` says what is done beside the search itself."""

    def __call__(
        self, distinct: int, generated: int, level: int, queue: int, doing: str = "", /
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to explore: with which engine (`auto`: the native one where it can), up to how many
    states (0: all), with which symmetry, with how many workers (0: one for each core); where to
    write the search down, so that it can be gone on with (None: nowhere); how many bytes of memory
    to use before files (0: most of what is free); which fingerprints to remember states by (None:
    states are kept whole); whether its states are wanted afterwards; how many of those that a
    question asks for are listed. The engine `spark` is the native one on the workers of `session`,
    which have to see the folder of the journal. The model is `mutant` of its charter, which the
    states tell."""

    engine: Literal["auto", "native", "plain", "spark"] = "auto"
    most_states: int = 0
    symmetry: bool = True
    workers: int = 0
    journal: Path | None = None
    memory: int = 0
    fingerprints: int | None = None
    states: bool = False
    limit: int = 20
    session: Session | None = None
    mutant: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found, and its states if they were wanted: they hold so many bytes of
    memory."""

    found: dict[str, Json]
    states: Table | None = None
    held: int = 0


class CannotExplore(Exception):
    """The search that was asked for cannot be done; a sentence for a person."""


def searched(model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell) -> Searched:
    """Counts, verdicts and findings of an instance, what a question in `model` asks for, and the
    states if they are wanted. Raises `CannotExplore`."""
    begun = time.monotonic()
    why = ""
    model, asides = with_companions(model, instance.machine)
    needs = _needs_native(model, wanted)
    if wanted.engine in ("plain", "spark") and needs:
        raise CannotExplore(f"the {wanted.engine} engine cannot do it: {needs} the native one")
    if wanted.engine == "plain" and wanted.journal is not None:
        raise CannotExplore("the plain engine cannot do it: --journal needs the native one")
    if wanted.engine != "plain":
        try:
            found, reached = _natively(model, instance, wanted, progress, asides)
        except Beyond as reason:
            why = str(reason)
            if wanted.engine in ("native", "spark") or needs:
                other = f"{needs} it" if needs else "--engine plain can, slowly"
                raise CannotExplore(
                    f"the native engine cannot explore {instance.name}: {why}; {other}"
                ) from None
        else:
            found["seconds"] = round(time.monotonic() - begun, 3)
            return Searched(found, reached, 0 if reached is None else reached.search.room.used)
    found = _plainly(model, instance, wanted, progress, asides)
    found["why_plain"] = why
    if wanted.journal is not None:
        found["journal"] = f"nothing is kept in {wanted.journal}: only the native engine can"
    return Searched({**found, "seconds": round(time.monotonic() - begun, 3)})


def _needs_native(model: n.Model, wanted: Wanted) -> str:
    """What of a wish only the native engine can do; "" for nothing."""
    if wanted.fingerprints is not None:
        return "fingerprints need"
    if any(prop.name == ASKED for prop in model.properties):
        return "--where needs"
    return "--keep needs" if wanted.states else ""


class Beyond(Exception):
    """Why the native engine cannot do it; a phrase."""


@contextmanager
def loading_native() -> Iterator[None]:
    """Imports of the native engine. Raises Beyond where llvmlite, which it needs, is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "llvmlite":
            raise
        raise Beyond("llvmlite is not installed") from None


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def native_options(wanted: Wanted) -> Options:
    """A wish as the native engine takes it."""
    from charter.explore.native.explore import Choices, Options

    choices = Choices(
        symmetry=wanted.symmetry,
        fingerprints=wanted.fingerprints is not None,
        seed=wanted.fingerprints or 0,
    )
    return Options(
        choices,
        most_states=wanted.most_states,
        workers=wanted.workers or cores(),
        cache=cache_folder("engine"),
        journal=wanted.journal,
        memory=wanted.memory,
    )


def _natively(
    model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell, asides: Asides
) -> tuple[dict[str, Json], Reached | None]:
    with loading_native():
        from charter.explore.native import explore as native
        from charter.explore.native.reached import Reached
    untold = frozenset(aside.witness.name for aside in asides)
    options = replace(native_options(wanted), untold=untold)

    def tell(now: native.Progress) -> None:
        progress(now.distinct, now.generated, now.depth, now.queue)

    try:
        if wanted.session is None:
            found = native.explore(model, instance, options, tell)
        else:
            found = _on_spark(wanted.session, model, instance, options, tell)
    except (native.Unsupported, native.GaveUp) as reason:
        raise Beyond(str(reason)) from None
    except native.OtherSearch as reason:
        raise CannotExplore(str(reason)) from None
    except native.NoRoom as reason:
        raise CannotExplore(f"{instance.name} has no room for a search: {reason}") from None
    machine = found.search.program.plan.machine
    question = next((p for p in model.properties if p.name == ASKED), None)
    head: dict[str, Json] = {
        "engine": "native" if wanted.session is None else "spark",
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
        "spilled": found.spilled,
        "bytes_each": found.bytes_each,
        "journal": found.message,
        "complete": found.complete,
    }
    head |= _said(found, machine, asides)
    if wanted.session is not None:
        return head, None
    reached = Reached.of(found, question, wanted.mutant)
    if question is not None:
        head["where"] = _matches(reached, question, wanted.limit)
    return head, reached if wanted.states else None


def _on_spark(
    session: Session,
    model: n.Model,
    instance: n.Instance,
    options: Options,
    tell: Callable[[Progress], None],
) -> Exploration:
    from charter.explore.native import spark

    try:
        return spark.explore(session, model, instance, options, tell)
    except spark.Failed as reason:
        raise CannotExplore(str(reason)) from None


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
    model: n.Model, instance: n.Instance, wanted: Wanted, progress: Tell, asides: Asides
) -> dict[str, Json]:
    from charter.explore.reference.explore import Options, explore

    def tell(distinct: int, generated: int, level: int) -> None:
        progress(distinct, generated, level, 0)

    options = Options(most_states=wanted.most_states, symmetry=wanted.symmetry)
    found = explore(model, instance, options, tell)
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
    }
    return head | _said(found, found.graph.flat.machine, asides)


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
    @property
    def trace(self) -> Sequence[Taken] | None: ...


class Found(Protocol):
    """What both engines say of a search."""

    @property
    def complete(self) -> bool: ...
    @property
    def properties(self) -> Sequence[Seen]: ...
    @property
    def branches(self) -> Sequence[Seen]: ...
    @property
    def failures(self) -> Sequence[Seen]: ...


Asides = Sequence[Companion]
"""The companions that were searched for beside the properties."""

VERDICTS: Mapping[tuple[bool, bool], str] = {
    (True, True): "found",
    (True, False): "not found",
    (False, True): "violated",
    (False, False): "holds",
}


def _said(found: Found, machine: Machine, asides: Asides) -> dict[str, Json]:
    """A verdict for each property and witness, findings, and what was never met. What was not seen
    in a search that gave up is unknown."""
    hidden = {ASKED, *(aside.witness.name for aside in asides)}
    properties = [one for one in found.properties if one.name not in hidden]
    failures = [one for one in found.failures if one.name not in hidden]
    verdicts: dict[str, Json] = {}
    for one in properties:
        settled = found.complete or one.seen
        verdict = VERDICTS[one.kind == "witness", bool(one.seen)]
        verdicts[one.name] = verdict if settled else "unknown"
    findings: list[Json] = [
        {
            "name": one.name,
            "kind": one.kind,
            "seen": one.seen,
            "trace": machine.trace_json(one.trace or ()),
            "detail": one.detail,
        }
        for one in (*properties, *found.branches, *failures)
    ]
    return {
        "fine": found.complete and not failures and "violated" not in verdicts.values(),
        "verdicts": verdicts,
        **_unmet(found, machine.instance.misses if found.complete else None, asides),
        "findings": findings,
    }


def _unmet(found: Found, misses: Sequence[str] | None, asides: Asides) -> dict[str, Json]:
    """Branches that were never taken; what was never met though the instance does not say that it
    `misses` it (None: the search gave up, so nobody knows); what it says that it misses, and
    meets."""
    seen = {one.name: bool(one.seen) for one in found.properties}
    unmet: list[dict[str, Json]] = [
        {"kind": "witness", "name": name}
        for name in (one.name for one in found.properties if one.kind == "witness")
        if not seen[name] and name not in {ASKED, *(aside.witness.name for aside in asides)}
    ]
    unmet += [
        {"kind": "condition", "name": one.of, "condition": one.text, "at": one.span.where()}
        for one in asides
        if not seen[one.witness.name]
    ]
    never: list[Json] = [one.name for one in found.branches if not one.seen]
    unmet += [{"kind": "branch", "name": name} for name in never]
    names = {str(one["name"]) for one in unmet}
    met = {one.name for one in found.branches} | {one.of for one in asides} | {*seen}
    vacuous: list[Json] = [one for one in unmet if misses is not None and one["name"] not in misses]
    stale: list[Json] = [name for name in misses or () if name in met and name not in names]
    return {"never_taken": never, "vacuous": vacuous, "not_missed": stale}
