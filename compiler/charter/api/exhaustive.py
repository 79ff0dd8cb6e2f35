"""Makes suites of all transitions of one instance, for callers of the public interface."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from charter.core import nodes as ir
from charter.explore.select import TooManyStates
from charter.formats.files import need_writable
from charter.formats.spelling import suggest
from charter.project.core_cache import core_of
from charter.project.sources import Missing, Selection, Unreadable, read_sources

STATES_MAX = 1_000_000
"""The most states of an instance whose transitions a suite asks, all of them."""


@dataclass(frozen=True, slots=True)
class ExhaustedRequest:
    """A component of a charter in a variant, the name of one of its instances, and the operations
    that the target performs."""

    charter: Path
    variant: str
    component: str
    instance: str
    performed: Collection[str]


def make_exhaustive(wanted: ExhaustedRequest, progress: Callable[[str, int, int], None]) -> Path:
    """Write a suite that asks all transitions of an instance, besides the small suite; its folder.
    Raises `Refused`, `Unreadable`, and `Missing`: there is no such instance, it is one of something
    else, or it has too many states."""
    from charter.suites import make

    sources = read_sources(wanted.charter)
    model = core_of(sources, Selection(wanted.variant))
    instance = find_instance(model, wanted.component, wanted.instance)
    subject = make.open_subject(wanted.charter, sources, wanted.variant, wanted.component)
    folder = make.usual_folder(subject, f"exhaustive-{instance.name}")
    if refused := make.why_refused(folder):
        raise Unreadable(refused)
    need_writable(folder)
    lacking = {one.name for one in subject.component.operations} - {*wanted.performed}
    task = make.ExhaustTask(instance, STATES_MAX, tuple(sorted(lacking)))
    try:
        make.exhaust(subject, task, folder, progress)
    except TooManyStates as problem:
        raise Missing(
            f"{instance.name} has {problem}, too many to ask each of its transitions; give it"
            " smaller sorts, or leave arguments out by `only` and operations by `offers`"
        ) from None
    return folder


def find_instance(model: ir.Model, component: str, name: str) -> ir.Instance:
    """An instance of a component by its name. Raises `Missing`."""
    mine = [one.name for one in model.instances if one.machine == component]
    found = next((one for one in model.instances if one.name == name), None)
    if found is None:
        like = suggest(name, mine)
        listed = f"its instances are {', '.join(mine)}" if mine else "it has none"
        raise Missing(f"{component} has no instance {name!r}; {like or listed}")
    if found.machine != component:
        kind = "system" if any(one.name == found.machine for one in model.systems) else "component"
        raise Missing(
            f"{name} is an instance of the {kind} {found.machine}; name one of {component}, which"
            f" has {', '.join(mine) or 'none'}"
        )
    return found
