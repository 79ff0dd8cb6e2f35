"""Read, check, load, flatten, explore, prove, walk, tell, make suites, generate.

Parser, checks, passes and engines are imported by the function that needs them: core that is in
the cache needs none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from charter.core import nodes as ir
from charter.diagnostics import Diagnostic, Diagnostics, Refused, Source
from charter.explore.checker import ExploreOptions, Progress
from charter.formats.canonical import Json
from charter.project.core_cache import kept
from charter.project.sources import PLAIN, Missing, Selection, read_sources
from charter.semantics.bounds import bounds_of, with_bounds

if TYPE_CHECKING:
    from charter.explore.result import CheckResult, SearchResult, Trace
    from charter.explore.swarm import WalksResult
    from charter.render.story.tell import Story
    from charter.semantics.fairness import LivenessResult
    from charter.semantics.scenario import ScenarioFails


@dataclass(frozen=True, slots=True)
class Opened:
    """A charter that was read, for callers that want several models of it."""

    sources: tuple[Source, ...]

    def model(self, selection: Selection = PLAIN) -> ir.Model:
        """The core with a selection applied. Raises `Refused` with every error, or `Missing`."""

        def make() -> ir.Model:
            from charter.project import compile as compiling

            return compiling.compiled(self.sources, selection)

        return kept(self.sources, selection, make)

    def asked(
        self, model: ir.Model, selection: Selection, instance: str, expression: str
    ) -> ir.Model:
        """`model`, which is this charter's with the selection applied, together with a question
        about the states of an instance, for `searched`. Raises `Refused` with every error of the
        expression, or `Missing`."""
        from charter.project import compile as compiling

        chosen = _instance(model, instance)
        return compiling.asked(self.sources, selection, model, chosen, expression)


def load(path: Path, selection: Selection = PLAIN) -> ir.Model:
    """The core of a protocol. Raises as `load_opened` does."""
    return load_opened(path, selection)[1]


def load_opened(path: Path, selection: Selection = PLAIN) -> tuple[Opened, ir.Model]:
    """A charter, and its core. Raises `Refused` with every error, `Unreadable`, or `Missing`."""
    charter = Opened(read_sources(path))
    try:
        return charter, charter.model(selection)
    except Refused as refused:
        from charter.project import compile as compiling

        compiling.refuse_part(path, refused.diagnostics)
        raise


def load_text(text: str, selection: Selection = PLAIN, name: str = "<text>") -> ir.Model:
    """The core of a protocol in one text, which is not kept. Raises as `Opened.model` does."""
    from charter.project import compile as compiling

    return compiling.compiled((Source(name, text),), selection)


def check(path: Path) -> Diagnostics:
    """Everything that is wrong with a charter, its variants and mutants. Raises `Unreadable`."""
    from charter.project import compile as compiling

    return compiling.check(path)


def check_overlay(path: Path, overlay: Path) -> Diagnostics:
    """Everything that is wrong with an overlay of the charter at `path`. Raises `Unreadable`."""
    from charter.project import compile as compiling

    return compiling.check_overlay(path, overlay)


def overlay_entries(overlay: Path) -> tuple[ir.OverlayEntry, ...]:
    """The entries of an overlay, without applying them. Raises `Refused` or `Unreadable`."""
    from charter.project import pipeline

    return pipeline.overlay_entries(read_sources(overlay))


def check_sources(sources: Sequence[Source]) -> Diagnostics:
    """`check` for texts that were read already."""
    from charter.project import pipeline

    return pipeline.check_sources(sources)


def flattened(path: Path, variant: str) -> str:
    """The text of a charter with a variant applied. Raises `Refused`, `Unreadable` or `Missing`."""
    from charter.project import compile as compiling

    return compiling.flattened(path, variant)


def core_text(path: Path, selection: Selection = PLAIN, after: str = "") -> str:
    """The core of a protocol as text: as the check leaves it, or `after` a pass. Raises `Refused`,
    `Unreadable`, or `Missing` if there is no such pass."""
    from charter.core.show import show_model
    from charter.passes import PASSES, RICH, run_checked

    names = [item.name for item in PASSES]
    if after and after not in names:
        raise Missing(f"there is no pass {after!r}; there are: {', '.join(names)}")
    wanted = PASSES[: names.index(after) + 1] if after else RICH
    return show_model(run_checked(load(path, selection), wanted))


def formatted(source: Source) -> str:
    """The text of one file as the formatter writes it. Raises `Refused` on a syntax error."""
    from charter.project import compile as compiling

    return compiling.formatted(source)


# --- suites --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SuiteRequest:
    """Which suite to make: of a component (the first, if "") in a variant, `smoke` or `full`, into
    the folder `out` (build/suites/... if None). With `search` questions are looked for first."""

    charter: Path
    variant: str = ""
    component: str = ""
    profile: Literal["smoke", "full"] = "smoke"
    search: bool = False
    out: Path | None = None


def make_suite(wanted: SuiteRequest, progress: Callable[[str, int, int], None]) -> dict[str, Json]:
    """Write a suite; its manifest, with `folder`, what was `refused`, the obligations that are
    `open`, each with its bound, and the scenarios that `failed`, each with its place and why.

    Raises `Refused`, `Unreadable` or `Missing`."""
    from charter.project import compile as compiling
    from charter.suites import make, published
    from charter.suites.subject import find_root

    sources = read_sources(wanted.charter)
    try:
        subject = make.open_subject(wanted.charter, sources, wanted.variant, wanted.component)
    except Refused as refused:
        compiling.refuse_part(wanted.charter, refused.diagnostics)
        raise
    if wanted.search:
        subject = make.look(subject, wanted.charter, progress)
    name = f"{subject.component.name}-{subject.model.variant or 'charter'}-{wanted.profile}"
    folder = wanted.out or Path("build") / "suites" / name
    made = make.make(subject, wanted.profile, folder, progress)
    root = find_root(wanted.charter)
    if wanted.profile == "full" and root is not None:
        published.keep_full(root, subject, made.manifest)
    more: dict[str, Json] = {
        "refused": {**made.refused},
        "open": {**made.left},
        "failed": [*made.failed],
    }
    return {**made.manifest.json(), "folder": str(folder), **more}


# --- generated/, search, proof -------------------------------------------------------------------


def generate(root: Path) -> tuple[str, ...]:
    """Bring generated/ of the project at `root` up to date; the paths that changed.

    Raises `Refused`."""
    from charter.api import generated

    return generated.write(root)


def outdated(root: Path) -> str:
    """The counts of a full suite in generated/ that are not of the charter that stands: a sentence
    with the command that counts anew; "" if there are none."""
    from charter.api import generated

    return generated.outdated(root)


def stale(root: Path) -> str:
    """What is stale in generated/: a sentence and a difference; "" if nothing is. Raises
    `Refused`."""
    from charter.api import generated

    return generated.check(root)


def _instance(model: ir.Model, name: str) -> ir.Instance:
    """The instance of that name; of "" the one that is called tiny, else the first whose name
    begins so, else the only one. Raises `Missing`."""
    known = {instance.name: instance for instance in model.instances}
    tiny = [instance for instance in model.instances if instance.name.startswith("tiny")]
    there_are = ", ".join(known) or "none"
    if name in known:
        return known[name]
    if name:
        raise Missing(f"there is no instance {name!r}; there are: {there_are}")
    if "tiny" in known or tiny:
        return known.get("tiny", tiny[0])
    if len(known) == 1:
        return model.instances[0]
    raise Missing(f"no instance is called tiny: name the one that is meant; there are: {there_are}")


def instances(model: ir.Model, pattern: str) -> tuple[str, ...]:
    """The names of the instances that a pattern with `*` stands for, in the order of the charter;
    of a name itself, and of "" the one that is meant without a name. Raises `Missing`."""
    if "*" not in pattern:
        return (_instance(model, pattern).name,)
    found = tuple(i.name for i in model.instances if fnmatchcase(i.name, pattern))
    return found or (_instance(model, pattern).name,)


def bounded(model: ir.Model, instance: str, settings: Sequence[str]) -> ir.Model:
    """`model` with bounds of an instance replaced, each setting a text
    `name=number`. What the instance `misses`, it misses with its own bounds: it says nothing of
    others. Raises `Missing` or `WrongBound`."""
    chosen = _instance(model, instance)
    made = replace(with_bounds(model, chosen, settings), misses=())
    places = tuple(made if known is chosen else known for known in model.instances)
    return replace(model, instances=places)


def explore(
    model: ir.Model, instance: str, options: ExploreOptions, progress: Progress
) -> SearchResult:
    """Search an instance ("" for the one that is meant without a name). Raises `Missing` or
    `CannotExplore`."""
    from charter.explore import select

    return select.explore(model, _instance(model, instance), options, progress)


def failing_scenarios(model: ir.Model, machine: str) -> tuple[ScenarioFails, ...]:
    """Where the scenarios of a component or a system fail that the rules do not bear out, in the
    order of the charter."""
    from charter.semantics.scenario import failing

    return failing(model, machine)


def search_json(
    found: SearchResult, stories: Iterable[Story] = (), first: Story | None = None
) -> dict[str, Json]:
    """What a search found, as docs/formats/search.md describes it, with the stories of what is
    wrong and of the first state that was asked for."""
    from charter.api import as_json

    return as_json.search_json(found, stories, first)


def place(model: ir.Model, instance: str, mutant: str = "") -> dict[str, Json]:
    """What an instance of a model, which is `mutant` of its charter, is of, and its bounds, as
    `Head` has them. Raises `Missing`."""
    chosen = _instance(model, instance)
    return {
        "protocol": model.protocol,
        "variant": model.variant,
        "mutant": mutant,
        "machine": chosen.machine,
        "instance": chosen.name,
        "bounds": {**bounds_of(chosen)},
    }


def told(model: ir.Model, instance: str, finding: CheckResult | LivenessResult) -> Story:
    """A finding of a search or of walks, told on the definition. Raises `Missing`."""
    from charter.api import explain

    return explain.told(model, _instance(model, instance), explain.found_of(finding))


def trace_told(model: ir.Model, instance: str, called: tuple[str, str], trace: Trace) -> Story:
    """A trace that is no finding, told on the definition; it is called by a kind and a name. Raises
    `Missing`."""
    from charter.api import explain

    return explain.told(model, _instance(model, instance), explain.found_in(called, trace))


def drawn(story: Story, form: Literal["svg", "text"]) -> str:
    """The space-time picture of a story, as a document or for a terminal."""
    from charter.render.story.draw import in_svg, in_text
    from charter.render.story.scene import scene

    return in_svg(scene(story)) if form == "svg" else in_text(scene(story))


def itf(story: Story) -> dict[str, Json]:
    """A story as a trace in ITF."""
    from charter.render.story import itf as format_

    return format_.itf(story)


def exported(model: ir.Model, instance: str) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """Modules and cfgs in TLA+ of an instance ("" for all), by file name, and warnings of what
    they leave out.

    Raises `Missing`, or `Refused` with everything that the export has no form for."""
    from charter.render.tla.export import export

    chosen = (_instance(model, instance),) if instance else model.instances
    if not chosen:
        raise Missing(f"{model.protocol} has no instance to export; add one to the charter")

    found = export(model, chosen)
    return dict(found.files), found.warnings


def proved(model: ir.Model, instance: str) -> dict[str, Json]:
    """Try to prove the `always` properties of an instance's machine by induction, for all values
    of counters: `proved` hold in every reachable state, `open` are the others with the reason.
    `not_looked_at`: what must happen in the end, of the same machine; `explored` looks at it.

    Needs z3 (ImportError without it). Raises `Missing`."""
    from charter.prove import (
        CannotEncode,
        FalseInitially,
        NotInductive,
        NotProved,
        Proved,
        invariants,
    )
    from charter.semantics.machine import Machine

    chosen = _instance(model, instance)
    machine = Machine.of(model, chosen)
    props = [p for p in model.properties if p.machine == chosen.machine and p.kind == "always"]
    live: list[Json] = [p.name for p in model.liveness if p.machine == chosen.machine]
    known: dict[str, Json] = {"instance": chosen.name, "not_looked_at": live}
    try:
        found = invariants(machine, props)
    except CannotEncode as error:
        return {**known, "proved": [], "open": {p.name: f"unknown: {error}" for p in props}}
    reasons: dict[str, Json] = {}
    for answer in found.open:
        match answer:
            case NotInductive():
                reasons[answer.rule] = "not inductive: a step from a state that may be unreachable"
            case FalseInitially():
                reasons[answer.rule] = "false in the initial state"
            case NotProved():
                reasons[answer.rule] = f"unknown: {answer.reason}"
            case Proved():
                reasons[answer.rule] = "proved alone, but not together with the others"
    return {**known, "proved": list(found.proved), "open": reasons}


@dataclass(frozen=True, slots=True)
class Simulation:
    """How to walk through an instance: `walks` of at most `steps` steps, from `seed` on, `guided`
    to what is new, in `workers` processes. The result does not depend on their number."""

    steps: int
    walks: int
    seed: int
    guided: bool = True
    workers: int = 1


def simulated(
    model: ir.Model, instance: str, wanted: Simulation, progress: Callable[[int, int], None]
) -> WalksResult:
    """Random walks through an instance. Raises `Missing`."""
    from charter.explore.simulate import WalkPlan
    from charter.explore.swarm import swarm

    chosen = _instance(model, instance)
    plan = WalkPlan(wanted.steps, wanted.walks, wanted.seed, wanted.guided)
    return swarm((model, chosen), plan, wanted.workers, progress)


def walks_json(
    found: WalksResult, stories: Iterable[Story] = (), walk: Story | None = None
) -> dict[str, Json]:
    """What walks found, as docs/formats/search.md describes it, with the story of each finding and
    that of the only walk."""
    from charter.api import as_json

    return as_json.walks_json(found, stories, walk)
