"""Makes the vectors of a standard suite that the small one lacks, instance after instance, with a
ledger of what was found and what was not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from charter.core import nodes as n
from charter.formats.vector import Vector
from charter.suites.standard.hunt import (
    AGAIN_MIN,
    STEPS,
    STEPS_AGAIN,
    TRIES,
    WALKS,
    WALKS_AGAIN,
    Hunt,
)
from charter.suites.standard.wanted import Triple, Wanted


@dataclass(frozen=True, slots=True)
class Standard:
    """The vectors, and what is left: triples and variables that no walk found. `refused` are
    questions that could not be made, by reason."""

    wanted: Wanted
    instances: tuple[str, ...]
    vectors: tuple[Vector, ...]
    triples: tuple[Triple, ...]
    variables: tuple[str, ...]
    refused: dict[str, int]

    def counts(self) -> dict[str, int]:
        """Numbers for the manifest."""
        return {
            "triples": len(self.wanted.triples),
            "triples_found": len(self.wanted.triples) - len(self.triples),
            "variables": len(self.wanted.variables),
            "variables_set_again": len(self.wanted.variables) - len(self.variables),
        }

    def markdown(self) -> str:
        """The part of the ledger: what was found, what was not, and where it was looked for."""
        counts, places = self.counts(), ", ".join(self.instances) or "no instance"
        bounds = (
            f"walks in {places}: in each at most {WALKS} of {STEPS} operations behind its prelude,"
            f" {TRIES} lists of arguments of each operation in each state"
        )
        again = (
            f"in each at most {WALKS_AGAIN} walks of {STEPS_AGAIN} operations, questions of at"
            f" least {AGAIN_MIN}"
        )
        lines = [
            "",
            "## Triples of operations",
            "",
            "Each one writes what the next one reads or writes, as far as the text says."
            f" {counts['triples_found']} of {counts['triples']} were found by {bounds}.",
            *_list("Not found:", [" ".join(triple) for triple in self.triples]),
            "",
            "## Variables that are set, cleared and set again",
            "",
            "A variable, or an entry of a map, gets another value than its first one, then the"
            f" first one, then another one. {counts['variables_set_again']} of"
            f" {counts['variables']} were found ({again}).",
            *_list("Not found:", self.variables),
        ]
        return "\n".join(lines) + "\n"


def _list(head: str, names: Sequence[str]) -> list[str]:
    return ["", head, "", *(f"- {name}" for name in names)] if names else []


def make_standard(
    model: n.Model,
    component: n.Component,
    instances: Sequence[n.Instance],
    progress: Callable[[str, int, int], None],
) -> Standard:
    """Look for what a standard suite has in these instances of a component."""
    wanted = Wanted.of(model, component)
    left = set(wanted.triples), set(wanted.variables)
    vectors: list[Vector] = []
    refused: dict[str, int] = {}
    for number, instance in enumerate(instances):
        progress(f"{instance.name}, {len(left[0])} triples left", number, len(instances))
        if not (left[0] or left[1]):
            break
        hunt = Hunt.of(model, instance, wanted, left)
        vectors += hunt.list_vectors()
        for reason, count in hunt.planner.planner.refused.items():
            refused[reason] = refused.get(reason, 0) + count
    progress("standard", len(instances), len(instances))
    return Standard(
        wanted,
        tuple(instance.name for instance in instances),
        tuple(vectors),
        tuple(triple for triple in wanted.triples if triple in left[0]),
        tuple(name for name in wanted.variables if name in left[1]),
        refused,
    )
