"""Says what a run with --exhaustive executed, and what it did not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from charter.formats.canonical import Json
from charter.formats.reading import own_number, own_object
from conform.console.terminal import number, plural

_WHY = {
    "no_question": "no question can ask",
    "elsewhere": "were made in another state, after a deviation",
    "not_judged": "came after a fault, or where the state was not known",
    "left_out": "were left out",
}


def tell_certificate(counted: Mapping[str, Json]) -> Iterator[str]:
    """A sentence for the certificate; none for a run without."""
    if "certificate" not in counted:
        return
    held = own_object(counted["certificate"])
    total, name = own_number(held["transitions"]), own_object(held["instance"])["name"]
    executed, lost = own_number(held["executed"]), own_object(held["not_executed"])
    extent = (
        f"all {number(total)}" if executed == total else f"{number(executed)} of {number(total)}"
    )
    found = f"{plural(own_number(held['deviating']), 'deviation')} in them"
    yield f"certificate: {extent} {number(total)} transitions of {name} were executed, with {found}"
    if lost:
        listed = (f"{number(own_number(n))} {_tell(kind)}" for kind, n in lost.items())
        yield f"of {name} were not executed: {'; '.join(listed)}"


def _tell(kind: str) -> str:
    """Why transitions were not executed, in words."""
    return _WHY.get(kind, f"are in vectors with the verdict {kind.replace('_', ' ')}")
