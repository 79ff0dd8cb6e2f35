"""Checks, compiles, explores, proves, walks, explains and generates charters for callers of the
public interface.

Each function imports what it needs, since loading core from the cache needs neither parser nor
checks, passes or engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from charter.analysis.bounds import bounds_of, with_bounds
from charter.core import nodes as ir
from charter.diagnostics import Diagnostic, Diagnostics, Refused, Source
from charter.explore.model_checker import ExploreOptions, Progress
from charter.formats.canonical import Json
from charter.project.core_cache import check_once, core_of
from charter.project.sources import PLAIN, Missing, Selection, read_sources

if TYPE_CHECKING:
    from charter.explore.result import CheckResult, SearchResult, Trace
    from charter.explore.swarm import WalksResult
    from charter.project.without_errors import BrokenDeclaration
    from charter.render.story.tell import Story
    from charter.semantics.fairness import LivenessResult


@dataclass(frozen=True, slots=True)
class Charter:
    """The sources of a charter, for callers that compile several models from them."""

    sources: tuple[Source, ...]

    def model(self, selection: Selection = PLAIN) -> ir.Model:
        """The core with a selection applied. Raises `Refused` with every error, or `Missing`."""
        return core_of(self.sources, selection)

    def with_state_condition(
        self, model: ir.Model, selection: Selection, instance: str, expression: str
    ) -> ir.Model:
        """`model`, this charter's with the selection applied, with a condition on states of an
        instance that `explore` lists. Raises `Refused` with every error of the expression, or
        `Missing`."""
        from charter.project import compile as compiling

        chosen = select_instance(model, instance)
        return compiling.with_state_condition(self.sources, selection, model, chosen, expression)


def load(path: Path, selection: Selection = PLAIN) -> ir.Model:
    """The core of a protocol. Raises as `load_charter` does."""
    return load_charter(path, selection)[1]


def load_charter(path: Path, selection: Selection = PLAIN) -> tuple[Charter, ir.Model]:
    """A charter, and its core. Raises `Refused` with every error, `Unreadable`, or `Missing`."""
    charter = Charter(read_sources(path))
    return charter, _model(charter, path, selection)


def _model(charter: Charter, path: Path, selection: Selection) -> ir.Model:
    """The core of a charter that was read from `path`. Raises as `load_charter` does."""
    try:
        return charter.model(selection)
    except Refused as refused:
        from charter.project import compile as compiling

        compiling.refuse_part(path, refused.diagnostics)
        raise


@dataclass(frozen=True, slots=True)
class LoadedRest:
    """A charter and its core, without the scenarios, instances and mutants that have errors:
    `broken` and `errors` tell of these."""

    charter: Charter
    model: ir.Model
    broken: tuple[BrokenDeclaration, ...] = ()
    errors: tuple[Diagnostic, ...] = ()


def load_rest(path: Path, selection: Selection = PLAIN, instance: str = "*") -> LoadedRest:
    """A charter, and its core, without scenarios, instances and mutants that have errors.

    Raises as `load_charter` does if there are errors elsewhere, or if what remains, the mutant of
    the selection or the `instance` (a name, a pattern, or "": the default one) needs one of
    these."""
    charter = Charter(read_sources(path))
    try:
        return LoadedRest(charter, _model(charter, path, selection))
    except Refused as refused:
        found = _rest(charter, selection, instance, refused.diagnostics)
        if found is None:
            raise
        return found


def _rest(
    charter: Charter, selection: Selection, instance: str, found: Diagnostics
) -> LoadedRest | None:
    from charter.project.without_errors import compile_rest

    try:
        compiled = compile_rest(charter.sources, selection, found)
    except Missing:
        return None
    if compiled is None:
        return None
    rest, model = compiled
    broken = {(one.kind, one.name) for one in rest.broken}
    own = next((m.instance for m in model.mutants if m.name == selection.mutant), "")
    asked = instance or own or default_instance(rest.instances)
    remains = asked or default_instance([known.name for known in model.instances]) == ""
    if not remains or broken & {("instance", asked), ("mutant", selection.mutant)}:
        return None
    return LoadedRest(Charter(rest.sources), model, rest.broken, found.errors)


def load_text(text: str, selection: Selection = PLAIN, name: str = "<text>") -> ir.Model:
    """The core of a protocol in one text; it is not cached. Raises as `Charter.model` does."""
    from charter.project import compile as compiling

    return compiling.compile_core((Source(name, text),), selection)


def check_charter(path: Path) -> Diagnostics:
    """Check the charter at `path`, its variants and mutants; returns the diagnostics. Raises
    `Unreadable`."""
    sources = read_sources(path)

    def check() -> Diagnostics:
        from charter.project import compile as compiling

        return compiling.check_files(path, sources)

    return check_once(sources, check)


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


# --- generated/, search, proof -------------------------------------------------------------------


def select_instance(model: ir.Model, name: str) -> ir.Instance:
    """The instance with a name. For "" it is `tiny`, else the first whose name begins with `tiny`,
    else the only one. Raises `Missing`."""
    known = {instance.name: instance for instance in model.instances}
    there_are = ", ".join(known) or "none"
    if name and name not in known:
        raise Missing(f"there is no instance {name!r}; there are: {there_are}")
    chosen = name or default_instance([*known])
    if not chosen:
        raise Missing(f"no instance is called tiny: choose one; there are: {there_are}")
    return known[chosen]


def default_instance(names: Sequence[str]) -> str:
    """Of the names of instances `tiny`, else the first that begins with it, else the only one; ""
    if there is none of these."""
    tiny = [name for name in names if name.startswith("tiny")]
    if "tiny" in tiny:
        return "tiny"
    return tiny[0] if tiny else names[0] if len(names) == 1 else ""


def instances(model: ir.Model, pattern: str) -> tuple[str, ...]:
    """The names of the instances that match a pattern with `*`, in the order of the charter; "" is
    the default instance. Raises `Missing`."""
    if "*" not in pattern:
        return (select_instance(model, pattern).name,)
    found = tuple(i.name for i in model.instances if fnmatchcase(i.name, pattern))
    return found or (select_instance(model, pattern).name,)


def set_bounds(model: ir.Model, instance: str, settings: Sequence[str]) -> ir.Model:
    """`model` with bounds of an instance replaced, each setting a text `name=number`. `misses` and
    `fails` of the instance are dropped, since they hold for its own bounds only. Raises `Missing`
    or `WrongBound`."""
    chosen = select_instance(model, instance)
    made = replace(with_bounds(model, chosen, settings), misses=(), fails=())
    places = tuple(made if known is chosen else known for known in model.instances)
    return replace(model, instances=places)


def explore(
    model: ir.Model, instance: str, options: ExploreOptions, progress: Progress
) -> SearchResult:
    """Search an instance ("": the default one). Raises `Missing`, `CannotExplore`, or
    `NoInitialState`."""
    from charter.explore import select

    return select.explore(model, select_instance(model, instance), options, progress)


def same_search(before: ir.Model, after: ir.Model, instance: str) -> bool:
    """Whether a search of an instance has the same result in two models: its machine, its bounds
    and its properties mean the same. Raises `Missing`."""
    from charter.explore.model_checker import Problem

    if before == after:
        return True
    if instance not in (known.name for known in before.instances):
        return False
    one, other = (Problem.of(each, select_instance(each, instance)) for each in (before, after))
    return one == other


def place(model: ir.Model, instance: str, mutant: str = "") -> dict[str, Json]:
    """The protocol, machine and bounds of an instance, in the fields of `Head`; `mutant` is the
    model's mutant. Raises `Missing`."""
    chosen = select_instance(model, instance)
    return {
        "protocol": model.protocol,
        "variant": model.variant,
        "mutant": mutant,
        "machine": chosen.machine,
        "instance": chosen.name,
        "bounds": {**bounds_of(chosen)},
    }


def tell(model: ir.Model, instance: str, finding: CheckResult | LivenessResult) -> Story:
    """The story of a finding, replayed on the definition. Raises `Missing`."""
    from charter.api import explain

    return explain.story_of(model, select_instance(model, instance), explain.make_finding(finding))


def tell_trace(model: ir.Model, instance: str, called: tuple[str, str], trace: Trace) -> Story:
    """The story of any trace, replayed on the definition; `called` is its kind and name. Raises
    `Missing`."""
    from charter.api import explain

    return explain.story_of(
        model, select_instance(model, instance), explain.make_trace_finding(called, trace)
    )


def draw(story: Story, form: Literal["svg", "text"]) -> str:
    """The space-time diagram of a story, as SVG or as text."""
    from charter.render.story.draw import in_svg, in_text
    from charter.render.story.scene import scene

    return in_svg(scene(story)) if form == "svg" else in_text(scene(story))


def export_tla(model: ir.Model, instance: str) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """TLA+ modules and cfg files of an instance ("" for all) by file name, and warnings of what
    they leave out.

    Raises `Missing`, or `Refused` with everything that cannot be exported."""
    from charter.render.tla.export import export

    chosen = (select_instance(model, instance),) if instance else model.instances
    if not chosen:
        raise Missing(f"{model.protocol} has no instance to export; add one to the charter")

    found = export(model, chosen)
    return dict(found.files), found.warnings


@dataclass(frozen=True, slots=True)
class Simulation:
    """Options of random walks: `walks` of at most `steps` steps from `seed` on, `guided` to new
    states, in `workers` processes. The result does not depend on the number of processes."""

    steps: int
    walks: int
    seed: int
    guided: bool = True
    workers: int = 1


def simulate(
    model: ir.Model, instance: str, wanted: Simulation, progress: Callable[[int, int], None]
) -> WalksResult:
    """Random walks through an instance. Raises `Missing` or `NoInitialState`."""
    from charter.explore.simulate import WalkPlan
    from charter.explore.swarm import swarm

    chosen = select_instance(model, instance)
    plan = WalkPlan(wanted.steps, wanted.walks, wanted.seed, wanted.guided)
    return swarm((model, chosen), plan, wanted.workers, progress)
