"""Says what a run with --exhaustive executed, and what it did not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from charter.formats.canonical import Json
from charter.formats.reading import own_number, own_object
from conform.console.terminal import number

_WHY = {
    "no_question": "which no question can ask",
    "behind_choice": "behind a choice of the target",
    "elsewhere": "made in another state after a deviation",
    "not_judged": "after a fault, or where the state was not known",
    "unsupported": "by an operation that the target lacks, or after one",
    "left_out": "left out",
}


def tell_certificate(counted: Mapping[str, Json]) -> Iterator[str]:
    """Sentences for the certificate; none for a run without."""
    if "certificate" not in counted:
        return
    held = own_object(counted["certificate"])
    total, name = own_number(held["transitions"]), own_object(held["instance"])["name"]
    executed, lost = own_number(held["executed"]), own_object(held["not_executed"])
    extent = (
        f"all {number(total)}" if executed == total else f"{number(executed)} of {number(total)}"
    )
    wrong = own_number(held["deviating"])
    found = f"{number(wrong) if wrong else 'none'} of these deviate{'' if wrong > 1 else 's'}"
    shown = ", as far as the target shows it" if "hidden" in counted else ""
    yield f"certificate: {extent} transitions of {name} were executed, {found}{shown}"
    if lost:
        listed = (f"{number(own_number(n))}, {_tell(kind)}" for kind, n in lost.items())
        yield f"not executed: {'; '.join(listed)}"


def _tell(kind: str) -> str:
    """Why transitions were not executed, in words."""
    return _WHY.get(kind, f"in vectors with the verdict {kind.replace('_', ' ')}")
