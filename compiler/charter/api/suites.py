"""Makes suites, searches for questions and reports on searches for callers of the public interface.

Each function imports what it needs, as in `charters`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from charter.api.charters import LoadedRest, load_rest
from charter.core import nodes as ir
from charter.diagnostics import Diagnostic, Refused
from charter.formats.canonical import Json
from charter.formats.files import need_writable
from charter.formats.project import find_project
from charter.formats.suite import Manifest
from charter.project.sources import Missing, Selection, Unreadable, read_sources
from charter.semantics.machine import Machine
from charter.suites.proofs import list_searched, list_unsearched, proof_instances

if TYPE_CHECKING:
    from charter.formats.vector import Question
    from charter.project.without_errors import BrokenDeclaration
    from charter.suites.keep import KeptQuestion
    from charter.suites.search_results import Found
    from charter.suites.subject import Subject


@dataclass(frozen=True, slots=True)
class SuiteRequest:
    """Which suite to make: of a component (the first, if "") in a variant, `smoke`, `cover`,
    `standard` or `full`, of one `instance` or all (""), into the folder `out` (None:
    build/suites/..., and the counts of a full suite of all instances go into generated/). With
    `search` new questions are searched for first, in instances with at most `most` states (0: in
    all)."""

    charter: Path
    variant: str = ""
    component: str = ""
    profile: Literal["smoke", "cover", "standard", "full"] = "smoke"
    search: bool = False
    out: Path | None = None
    most: int = 0
    instance: str = ""


@dataclass(frozen=True, slots=True)
class MadeSuite:
    """A written suite: its manifest and folder, and what is to be told of it.

    refused: how many questions were refused, by reason.
    open: the open obligations, each with how far the search went.
    failed: the failing scenarios, with location and reason.
    unasked: the scenarios of which no question can be made, with the reason.
    searched, unsearched: the instances that are searched for questions, and the others.
    new: instances that are new, or have other bounds, since the last search.
    left_out: instances that the search left out, with the number of states that they exceed.
    looked: whether there was a search at all.
    pairs: whether each branch is taken right after each other one, in words.
    cover: how far a state cover goes, in words; "" of other profiles.
    broken, errors: what of the charter was left out since it has errors, and these."""

    manifest: Manifest
    folder: Path
    refused: Mapping[str, int]
    open: Mapping[str, str]
    failed: tuple[str, ...]
    unasked: Mapping[str, str]
    searched: tuple[str, ...]
    unsearched: tuple[str, ...]
    new: tuple[str, ...]
    left_out: Mapping[str, int]
    looked: bool
    pairs: str
    cover: str = ""
    broken: tuple[BrokenDeclaration, ...] = ()
    errors: tuple[Diagnostic, ...] = ()

    def json(self) -> dict[str, Json]:
        return {
            **self.manifest.json(),
            "folder": str(self.folder),
            "refused": {**self.refused},
            "open": {**self.open},
            "failed": [*self.failed],
            "unasked": {**self.unasked},
            "searched": [*self.searched],
            "unsearched": [*self.unsearched],
            "new": [*self.new],
            "looked": self.looked,
            "pairs": self.pairs,
            **({"cover": self.cover} if self.cover else {}),
            "left_out": {**self.left_out},
        }


def need_place_of_questions(charter: Path) -> None:
    """Raises OSError if the questions of a charter that has none yet could not be written."""
    from charter.suites.search_results import FOLDER

    found = (charter if charter.is_dir() else charter.parent) / FOLDER
    if not found.exists():
        need_writable(found)


def make_suite(
    wanted: SuiteRequest,
    progress: Callable[[str, int, int], None],
    tell_cost: Callable[[int, int, float], None] | None = None,
) -> MadeSuite:
    """Write a suite; a small one without the scenarios, instances and mutants that have errors,
    unless there is a search. `tell_cost` is called before it is made, with the most vectors and
    operations that it can have, and about how many seconds it takes. Raises `Refused`,
    `Unreadable`, `NoInitialState`, or `Missing`: also if no instance and no scenario is of the
    component."""
    from charter.suites import committed_suite, make, search_results
    from charter.suites.standard import cost

    subject, rest = _open_subject(wanted)
    _need_first_states(subject)
    chosen = f"{wanted.profile}-{wanted.instance}" if wanted.instance else wanted.profile
    folder = wanted.out or make.usual_folder(subject, chosen)
    if refused := make.why_refused(folder):
        raise Unreadable(refused)
    need_writable(folder)
    if wanted.search:
        subject = make.look(subject, wanted.charter, progress, wanted.most)
    if tell_cost is not None:
        estimated = cost.estimate_cost(subject, wanted.profile, wanted.instance)
        tell_cost(estimated.vectors, estimated.operations, estimated.seconds)
    made = make.make(subject, wanted.profile, folder, progress, wanted.instance)
    project = find_project(wanted.charter)
    whole = wanted.profile == "full" and not wanted.instance
    if whole and wanted.out is None and project is not None:
        committed_suite.keep_full(project, subject, made)
    model, component = subject.model, subject.component.name
    return MadeSuite(
        made.manifest,
        folder,
        made.refused,
        made.left,
        made.failed,
        made.unasked,
        _names(list_searched(model, component)),
        _names(list_unsearched(model, component)),
        tuple(search_results.list_renewed(model, component, subject.found)),
        subject.found.still_left_out(model, component),
        bool(subject.found.rules),
        subject.found.pairs,
        made.cover,
        rest.broken if rest else (),
        rest.errors if rest else (),
    )


def _names(instances: Iterable[ir.Instance]) -> tuple[str, ...]:
    return tuple(instance.name for instance in instances)


def _need_first_states(subject: Subject) -> None:
    """Raises `Missing` if nothing can give a question, `NoInitialState` for an instance that gives
    questions and has no first state."""
    model, component = subject.model, subject.component.name
    of_component = [i for i in model.instances if i.machine == component]
    if not of_component and all(s.instance.machine != component for s in model.scenarios):
        raise Missing(
            f"no instance and no scenario is of {component}, so there are no questions: add an"
            " instance of it whose name begins with `tiny`, or name another component"
        )
    asked = (*list_searched(model, component), *proof_instances(model, component))
    for instance in of_component:
        if instance in asked:
            Machine.of(model, instance).initial()


def _open_subject(wanted: SuiteRequest) -> tuple[Subject, LoadedRest | None]:
    """The subject of a suite, and what of the charter was loaded if it has errors. What belongs to
    the project, questions that were found and the counts of a full suite, is of the whole charter
    only. Raises as `make_suite` does."""
    from charter.project import compile as compiling
    from charter.suites import make

    asked = wanted.variant, wanted.component
    sources = read_sources(wanted.charter)
    try:
        return make.open_subject(wanted.charter, sources, *asked), None
    except Refused as refused:
        if wanted.search or wanted.profile != "smoke":
            compiling.refuse_part(wanted.charter, refused.diagnostics)
            raise
    rest = load_rest(wanted.charter, Selection(wanted.variant))
    return make.open_subject(wanted.charter, rest.charter.sources, *asked), rest


@dataclass(frozen=True, slots=True)
class BoundingConstant:
    """A constant that only bounds types, with its type as text, and its values in the instances and
    scenarios that the questions of a small suite are from."""

    type: str
    values: frozenset[int]


def bounding_constants(
    charter: Path, model: ir.Model, component: str, variant: str = ""
) -> dict[str, BoundingConstant]:
    """The constants that only bound types of a component; questions have no values for them.
    `model` is that of the whole charter."""
    from charter.core.reach import bounding
    from charter.core.show import show_type

    (chosen,) = (one for one in model.components if one.name == component)
    names = {one.instance for one in _read_search(charter, model, component, variant).asked}
    instances = [i for i in model.instances if i.name in names]
    instances += [s.instance for s in model.scenarios if s.instance.machine == component]
    given = [dict(instance.consts) for instance in instances]
    return {
        name: BoundingConstant(
            show_type(kind), frozenset(values[name] for values in given if name in values)
        )
        for name, kind in bounding(model, chosen)
    }


def list_unasked_scenarios(charter: Path, component: str) -> Mapping[str, str]:
    """The scenarios of a component of which no question can be made, by title, with the reason:
    they need a value that nothing shows. Raises as `make_suite` does."""
    from charter.suites import make, smoke

    return smoke.list_unasked(make.open_subject(charter, read_sources(charter), "", component))


def has_cover(model: ir.Model, component: str) -> bool:
    """Whether a component has operations that only answer, and an instance that is searched."""
    from charter.suites.touring.answering import list_answering

    (chosen,) = (one for one in model.components if one.name == component)
    return bool(list_answering(chosen) and list_searched(model, component))


def branch_pairs(charter: Path, model: ir.Model, component: str, variant: str = "") -> str:
    """How many pairs of branches in a row the small suite of a component takes, or why not; "" if
    no search was made. `model` is that of the whole charter."""
    return _read_search(charter, model, component, variant).pairs


def left_out(charter: Path, model: ir.Model, component: str, variant: str = "") -> dict[str, int]:
    """The instances of a component that the search for questions left out, as they have more than
    so many states. `model` is that of the whole charter."""
    return _read_search(charter, model, component, variant).still_left_out(model, component)


def keep_question(charter: Path, question: Question, title: str) -> KeptQuestion:
    """Write a question that failed on an implementation next to its charter, so that the small
    suite has it once it is made again. Raises as `make_suite` does."""
    from charter.suites import keep, make, search_results

    variant, component = question.variant, question.component
    about = make.open_subject(charter, read_sources(charter), variant, component)
    folder = search_results.place(charter, variant, about.inside)
    return keep.keep_question(about, folder, question, title)


def _read_search(charter: Path, model: ir.Model, component: str, variant: str) -> Found:
    """What the searches for questions about a component found."""
    from charter.suites import search_results

    folder = search_results.place(charter, variant, search_results.beside(model, component))
    return search_results.read_found(folder)


def look_if_stale(
    wanted: SuiteRequest, progress: Callable[[str, int, int], None], thorough: bool = False
) -> bool:
    """Search for the questions of a suite, unless this was done for the same rules, instances and
    solver; whether it was done. `thorough`: also if an obligation lost the scenario that covered
    it, which takes as long as to make the suite. Raises as `make_suite` does."""
    from charter.suites import make, search

    subject = make.open_subject(
        wanted.charter, read_sources(wanted.charter), wanted.variant, wanted.component
    )
    if not (search.is_stale(subject, wanted.most) or (thorough and search.leaves_open(subject))):
        return False
    make.look(subject, wanted.charter, progress, wanted.most)
    return True
