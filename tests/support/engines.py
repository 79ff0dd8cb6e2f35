"""What the native engine and the plain explorer say of one instance, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.support import plain

from charter.core import nodes as n
from charter.core.vacuity import with_companions
from charter.explore.native.explore import Choices
from charter.explore.native.explore import Exploration as Native
from charter.explore.native.explore import Finding as NativeFinding
from charter.explore.native.explore import Options as NativeOptions
from charter.explore.native.explore import explore as natively
from charter.explore.reference.explore import Exploration as Plain
from charter.explore.reference.explore import Finding as PlainFinding
from charter.explore.reference.explore import Options as PlainOptions
from charter.explore.reference.explore import explore as plainly

Counts = tuple[int, int, int, tuple[int, ...]]
Verdicts = dict[tuple[str, str], tuple[bool, int | None]]


def counts(found: Native | Plain) -> Counts:
    """Distinct states, transitions, those that leave the instance, and the levels."""
    return found.distinct, found.generated, found.outside, found.levels


def verdicts(found: Native | Plain) -> Verdicts:
    """Of each property, branch and failure whether it was seen and, but for branches, how long the
    shortest trace is."""
    every: Iterable[NativeFinding | PlainFinding] = (
        *found.properties, *found.branches, *found.failures,
    )  # fmt: skip
    return {
        (f.kind, f.name): (
            bool(f.seen),
            None if f.kind == "branch" or f.trace is None else len(f.trace),
        )
        for f in every
    }


def both(
    model: n.Model, instance: n.Instance, *, symmetry: bool = True, cache: Path | None = None
) -> tuple[Native, Plain]:
    """The same search by both, for the companions of properties too."""
    model, _ = with_companions(model, instance.machine)
    options = NativeOptions(Choices(symmetry=symmetry), cache=cache)
    return (
        natively(model, instance, options),
        plainly(model, instance, PlainOptions(symmetry=symmetry)),
    )


def both_of(charter: str, name: str, *, symmetry: bool = True) -> tuple[Native, Plain]:
    """The same of an instance of a charter of spec/."""
    instance = plain.instance(charter, name)
    model, _ = with_companions(plain.model(charter), instance.machine)
    return (
        natively(model, instance, NativeOptions(Choices(symmetry=symmetry))),
        plain.with_companions_explored(charter, name, symmetry=symmetry),
    )
