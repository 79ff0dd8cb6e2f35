"""Docstrings of sibling models: their edits, and why each exists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from charter.core import nodes as n
from charter.formats.releases import numbers
from charter.suites.subject import Overlay


def of_entry(overlay: Overlay, entry: n.OverlayEntry) -> str:
    """A model with one entry of an overlay: its class, its releases, its citations. Its evidence is
    in the overlay, and in sections.json."""
    known = f"{entry.verdict}, {_releases(entry)}{_cite(entry.citations)}."
    where = f"the overlay {overlay.name}{_inside(overlay)}"
    return f"The entry {entry.name} of {where}.\n\n{known}"


def of_group(overlay: Overlay, release: str, groups: Mapping[str, Sequence[str]]) -> str:
    """A model with all entries of an overlay that apply to some releases: those of the first of the
    `groups`, or what differs from the group before."""
    names = groups[release]
    *_, earlier = ("", *(one for one in groups if numbers(one) < numbers(release)))
    known = groups.get(earlier, ())
    new = [f"    {name}" for name in names if name not in known]
    old = [f"    {name}" for name in known if name not in names]
    applied = ["Applied:" if not earlier else f"Applied: those from {earlier} on, and", "", *new]
    applied = applied if new or not earlier else [f"Applied: those from {earlier} on,"]
    gone = ["", "but no longer", "", *old] if old else []
    return (
        f"All entries of the overlay {overlay.name}{_inside(overlay)} that apply from release"
        f" {release} on, until others do.\n\n" + "\n".join([*applied, *gone])
    )


def _inside(overlay: Overlay) -> str:
    return f" in the variant {overlay.variant}" if overlay.variant else ""


def of_variant(name: str) -> str:
    """A model in a variant."""
    return f"The variant {name}."


def of_mutant(mutant: n.Mutant, variant: str) -> str:
    """A model with a mutant."""
    inside = f" in the variant {variant}" if variant else ""
    doc = f"\n\n{mutant.doc}" if mutant.doc else ""
    return f"The mutant {mutant.name}{inside}, a mistake on purpose.{doc}"


def name_other(module: str, beginning: str) -> str:
    """The sibling `module` with which another one begins: a release is named by its module, and a
    variant by the package that its module is in. An entry in a variant begins with itself."""
    package, _, name = module.rpartition(".")
    if name == beginning.rpartition(".")[2]:
        return f"{name} outside of the variant"
    kind, _, variant = package.rpartition(".")
    return f"the variant {variant}" if kind.endswith("_variants") else name


def _releases(entry: n.OverlayEntry) -> str:
    first, last = entry.first_release, entry.last_release
    if first and last:
        return f"releases {first} to {last}"
    if first:
        return f"releases from {first} on"
    return f"releases up to {last}" if last else "all releases"


def _cite(citations: Iterable[n.Citation]) -> str:
    texts = ", ".join(f"{c.source} {c.section}".strip() for c in citations)
    return f" ({texts})" if texts else ""
