"""Describes the subject of a suite: one component of a protocol in one variant, and its models."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from charter.core import nodes as n
from charter.core import releases
from charter.core.reach import read_consts
from charter.core.show import show_model, show_scenario, show_type
from charter.diagnostics import Source
from charter.formats.files import regular
from charter.formats.findings.taken_entries import TakenEntries
from charter.formats.project import BadProject, Project
from charter.formats.spelling import suggest
from charter.formats.suite import Manifest, Models
from charter.formats.target import FILE, OVERLAY, Target, read_target
from charter.passes.narrow import narrow
from charter.project import pipeline
from charter.project.core_cache import core_of
from charter.project.sources import Missing, Selection
from charter.semantics.judged_types import collect_judged_types
from charter.suites.adapters import targets_in
from charter.suites.search_results import (
    FULL_SUITES,
    NOTHING,
    Found,
    beside,
    bounds_digests,
    drop_citations,
)

PACKAGE = "charter_models"


@dataclass(frozen=True, slots=True)
class TakenOverlay:
    """An overlay from which another one takes entries: its name, its target, the package of its
    models, and its file. `shared` are those of the entries that have a model there."""

    name: str
    target: str
    package: str
    source: Source
    shared: frozenset[str]


@dataclass(frozen=True, slots=True)
class Overlay:
    """An overlay in one variant: its name, its component and target, its file, and the releases of
    the target that are judged against the variant. `entries` are those that apply to one of these
    releases (if the target lists none: all). `taken`: the overlays from which some of them come."""

    name: str
    component: str
    target: str
    source: Source
    entries: tuple[n.OverlayEntry, ...]
    releases: tuple[str, ...] = ()
    variant: str = ""
    taken: tuple[TakenOverlay, ...] = ()

    @property
    def package(self) -> str:
        """The package of its models."""
        return _package(self.target, self.variant)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files of its entries; edits of its own are applied last."""
        return (*(one.source for one in self.taken), self.source)

    def home(self, entry: str) -> TakenOverlay | None:
        """The overlay with whose models that of an entry is; None if it is with those of this
        one."""
        return next((one for one in self.taken if entry in one.shared), None)

    def package_of(self, entry: str) -> str:
        """The package with the model of an entry."""
        home = self.home(entry)
        return home.package if home else self.package

    def groups(self) -> dict[str, tuple[str, ...]]:
        """For each release at which the set of applying entries changes, the entries that apply."""
        return releases.groups(self.entries, self.releases)


@dataclass(frozen=True, slots=True)
class Subject:
    """`sources` have the names used in generated/; `found` are the committed search results, and
    `inside` is their folder in that of the charter; `canaries` are mutants with models, and ids of
    vectors that distinguish them."""

    sources: tuple[Source, ...]
    model: n.Model
    component: n.Component
    overlays: tuple[Overlay, ...] = ()
    found: Found = NOTHING
    inside: str = ""
    canaries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The heading of its ledger."""
        variant = f", variant {self.model.variant}" if self.model.variant else ""
        return f"Obligations of {self.model.protocol}, {self.component.name}{variant}"

    @property
    def spec_digest(self) -> str:
        """SPEC_DIGEST of the model."""
        return digest(self.model, self.component.name)

    @property
    def asked_digest(self) -> str:
        """A digest (20 hex digits) of what questions are made from besides the rules: scenarios,
        and the bounds of the instances that are searched for them. Comments and layout do not
        change it."""
        bounds = bounds_digests(self.model, self.component.name)
        told = repr((bounds, [*map(show_scenario, self.model.scenarios)]))
        return hashlib.sha256(told.encode()).hexdigest()[:20]

    @property
    def full_digest(self) -> str:
        """A digest (20 hex digits) of what a full suite is made from besides the small one: rules,
        properties and witnesses, all instances, those that the search left out, and how conform
        makes vectors of them."""
        bare = replace(self.model, scenarios=(), mutants=(), variants=(), sources=())
        left_out = self.found.still_left_out(self.model, self.component.name)
        told = repr(
            (FULL_SUITES, sorted(left_out), self.asked_digest, show_model(drop_citations(bare)))
        )
        return hashlib.sha256(told.encode()).hexdigest()[:20]

    def manifest(self, counts: Mapping[str, int]) -> Manifest:
        """A manifest without vectors."""
        consts = read_consts(self.model, self.component)
        return Manifest(
            digest="",
            protocol=self.model.protocol,
            variant=self.model.variant,
            component=self.component.name,
            spec_digest=self.spec_digest,
            asked_digest=self.asked_digest,
            vectors=0,
            models=self.models(),
            canaries=self.canaries,
            counts=counts,
            consts={name: show_type(kind) for name, kind in consts},
            types=collect_judged_types(self.component),
        )

    def models(self) -> Models:
        """The modules that a judge needs."""
        protocol, component = self.model.protocol, self.component.name
        variant = self.model.variant
        kind = "variants" if variant else ""
        overlays: dict[str, dict[str, str]] = {}
        for overlay in (o for o in self.overlays if o.variant == variant):
            names = {e.name: (overlay.package_of(e.name), e.name) for e in overlay.entries}
            for release in overlay.groups():
                names[f"@{release}"] = overlay.package, releases.module(release)
            overlays[overlay.name] = {
                entry: module_name(protocol, component, f"overlays/{package}", module)
                for entry, (package, module) in names.items()
            }
        mutants = {
            name: module_name(protocol, component, "mutants", f"{variant}_{name}".lstrip("_"))
            for name in self.canaries
        }
        return Models(module_name(protocol, component, kind, variant), overlays, mutants)


def subject(sources: Sequence[Source], variant: str, component: str = "") -> Subject:
    """A component (the first, unless named) in a variant. Raises `Refused`, or `Missing`."""
    texts = tuple(sources)
    model = core_of(texts, Selection(variant))
    chosen = [c for c in model.components if component in ("", c.name)]
    if not chosen:
        there_are = ", ".join(c.name for c in model.components) or "none"
        raise Missing(f"there is no component {component!r}; there are: {there_are}")
    cut = narrow(model, chosen[0].name)
    return Subject(texts, cut, chosen[0], inside=beside(model, chosen[0].name))


def digest(model: n.Model, component: str) -> str:
    """A digest (20 hex digits) of what the answers of one component follow from: rules with edits
    applied, types, constants. A question has its elements and values itself, so instances do not
    change it, nor do properties, scenarios, mutants, citations, comments, layout, other components
    and systems."""
    rules = replace(model, properties=(), liveness=(), scenarios=(), mutants=(), instances=())
    shown = show_model(drop_citations(narrow(rules, component)))
    return hashlib.sha256(shown.encode()).hexdigest()[:20]


def module_name(protocol: str, component: str, kind: str = "", name: str = "") -> str:
    """The Python module of a model; `kind` is "", "variants", "mutants" or "overlays/<target>"."""
    package = protocol.replace(".", "_")
    if not kind:
        return f"{PACKAGE}.{package}.{component}"
    head, _, target = kind.partition("/")
    if target:
        return f"{PACKAGE}.{package}_{head}.{target.replace('-', '_')}.{name}"
    return f"{PACKAGE}.{package}_{head}.{name}.{component}"


def _package(target: str, variant: str) -> str:
    package = target.replace("-", "_")
    return f"{package}_{variant}" if variant else package


def rename_sources(sources: Sequence[Source], root: Path | None) -> tuple[Source, ...]:
    """Sources with names relative to the project, so that digests do not depend on the caller."""
    if root is None:
        return tuple(sources)
    return tuple(Source(_relative(source.name, root), source.text) for source in sources)


def _relative(name: str, root: Path) -> str:
    if not Path(name).is_absolute() and (root / name).exists():
        return name
    whole = Path(name).resolve()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else name


def overlays_in(project: Project, protocol: str, component: str = "") -> tuple[Overlay, ...]:
    """The overlays of a component ("" for all) in the adapters' folders, once for each variant that
    their targets are judged against. Raises `Refused` if any overlay cannot be read, and
    `BadProject` if one takes an entry that another does not have."""
    found: list[Overlay] = []
    for adapter in targets_in(project):
        path = adapter.folder / OVERLAY
        if not path.is_file():
            continue
        source, head = _open_overlay(project, path)
        if head.protocol == protocol and component in ("", head.component):
            place = (head.name, head.component, adapter.folder.name, source)
            for variant in sorted({"", *adapter.variants.values()}):
                chosen = adapter.releases_of(variant)
                taken = [_take(project, adapter, one, variant) for one in adapter.taken]
                declared = (*(entry for _, listed in taken for entry in listed), *head.entries)
                entries = releases.applying(declared, chosen)
                if entries or not variant:
                    homes = tuple(one for one, _ in taken)
                    found.append(Overlay(*place, entries, chosen, variant, homes))
    return tuple(found)


def _open_overlay(project: Project, path: Path) -> tuple[Source, pipeline.OverlayHead]:
    source = Source(project.relative(path), regular(path).read_text(encoding="utf-8"))
    return source, pipeline.overlay_head(source)


def _take(
    project: Project, adapter: Target, taken: TakenEntries, variant: str
) -> tuple[TakenOverlay, tuple[n.OverlayEntry, ...]]:
    """An overlay from which an adapter takes entries, and these, with the releases of the adapter.
    Their models in a variant are there, if the entries apply in it there, too."""
    folder = (adapter.folder / taken.folder).resolve()
    source, head = _open_overlay(project, folder / OVERLAY)
    known = {entry.name: entry for entry in head.entries}
    lost = sorted(taken.ranges.keys() - known.keys())
    if lost:
        like = suggest(lost[0], known)
        raise BadProject(
            f"{adapter.folder / FILE}: the overlay in {taken.folder} has no entry {lost[0]!r}"
            f"{like and f'; {like}'}"
        )
    other = read_target(folder / FILE)
    chosen = other.releases_of(variant)
    there = {entry.name for entry in releases.applying(head.entries, chosen)}
    home = TakenOverlay(
        head.name,
        folder.name,
        _package(folder.name, variant),
        source,
        frozenset(there & taken.ranges.keys()),
    )
    return home, tuple(
        replace(known[name], first_release=first, last_release=last)
        for name, (first, last) in taken.ranges.items()
    )
