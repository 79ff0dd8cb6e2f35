"""Prints the models of overlays: with each entry alone, and with all entries for a release.

Each begins with a model that has some of its edits, so that little is left to print:

- an entry in a variant with the same entry outside of it, or with the variant,
- the first release with the entry that changes most,
- another release with the one before,
- the first release of an overlay that takes entries with the first one of the other overlay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from charter.api.models import (
    OpenedProtocol,
    Tree,
    make_page,
    print_component,
    print_package,
    print_sibling,
    print_texts,
)
from charter.core import nodes as n
from charter.core import releases
from charter.core.affected import find_changed_operations
from charter.project import pipeline
from charter.project.core_cache import core_of
from charter.project.sources import Selection
from charter.render.python_model.delta import Plain
from charter.suites import siblings
from charter.suites.subject import PACKAGE, Overlay, module_name


def overlay_models(opened: OpenedProtocol, overlays: Sequence[Overlay]) -> Tree:
    """The models of a protocol with each entry of its overlays applied alone, and with all entries
    that apply to the same releases. Raises `Refused`, or `Missing` if there is no such variant."""
    printer = _Printer(opened, overlays)
    files: dict[str, str] = {}
    for overlay in overlays:
        files |= _packages(opened, overlay)
        for entry in overlay.entries:
            if not overlay.home(entry.name):  # the model of the same edits
                files |= printer.print_entry(overlay, entry).files
        for release in overlay.groups():
            files |= printer.print_release(overlay, release).files
    return files


def _packages(opened: OpenedProtocol, overlay: Overlay) -> Tree:
    package = f"{PACKAGE}/{opened.protocol.package}_overlays"
    title = f"Models of {opened.protocol.name} as known to differ in a target."
    within = f" in the variant {overlay.variant}" if overlay.variant else ""
    inner = f"Models of the overlay of {overlay.target}{within}."
    return {
        f"{package}/__init__.py": print_package(title),
        f"{package}/{overlay.package}/__init__.py": print_package(inner),
    }


@dataclass(frozen=True, slots=True)
class _Module:
    """A module to print: its name in the overlay's package, the entries applied, its docstring, and
    the models that it can begin with."""

    name: str
    entries: tuple[str, ...]
    about: str
    beginnings: tuple[Plain | None, ...]


@dataclass(frozen=True, slots=True)
class _Printed:
    """The files of a model, and what others can differ from; None if it was printed as a whole.
    `differs`: how much text is its difference from the first of its beginnings."""

    files: Tree
    model: Plain | None
    differs: int


@dataclass(frozen=True, slots=True)
class _Printer:
    """Prints the models of all overlays of a protocol. It keeps what others begin with: in
    `variants` core and model of a component in a variant, in `printed` the modules."""

    opened: OpenedProtocol
    overlays: Sequence[Overlay]
    variants: dict[tuple[str, str], tuple[n.Model, Plain | None]] = field(default_factory=dict)
    printed: dict[str, _Printed] = field(default_factory=dict)

    def print_entry(self, overlay: Overlay, entry: n.OverlayEntry) -> _Printed:
        """The model with one entry alone."""
        outside = [one for one in self.overlays if overlay.variant and not one.variant]
        twins = [
            self.print_entry(other, one).model
            for other in outside
            for one in other.entries
            if (other.target, one.name) == (overlay.target, entry.name)
        ]
        begin = self._open_variant(overlay)[1]
        about = siblings.of_entry(overlay, entry)
        return self._print(overlay, _Module(entry.name, (entry.name,), about, (begin, *twins)))

    def print_release(self, overlay: Overlay, release: str) -> _Printed:
        """The model with all entries that apply to a release, the first one of its group."""
        groups = overlay.groups()
        earlier = [*groups][: [*groups].index(release)]
        begin = self._open_variant(overlay)[1]
        taken = self._begin_with_taken(overlay)
        beginnings: tuple[Plain | None, ...]
        if earlier:
            beginnings = (self.print_release(overlay, earlier[-1]).model or begin,)
        else:
            beginnings = (taken,) if taken else (begin, *self._begin_alone(overlay))
        about = siblings.of_group(overlay, release, groups)
        module = _Module(releases.module(release), groups[release], about, beginnings)
        return self._print(overlay, module)

    def _begin_with_taken(self, overlay: Overlay) -> Plain | None:
        """The first model of all entries of an overlay from which entries are taken: it has most of
        the same edits."""
        for taken in overlay.taken:
            home = self._find(taken.target, overlay.variant)
            if home:
                return self.print_release(home, next(iter(home.groups()))).model
        return None

    def _begin_alone(self, overlay: Overlay) -> list[Plain | None]:
        """The model of the one entry of the first release that changes most, if there is any."""
        first = next(iter(overlay.groups().values()))
        alone = [
            self.print_entry(overlay, entry)
            for entry in overlay.entries
            if entry.name in first and not overlay.home(entry.name)
        ]
        return [max(alone, key=lambda one: one.differs).model] if alone else []

    def _find(self, target: str, variant: str) -> Overlay | None:
        wanted = target, variant
        return next((one for one in self.overlays if (one.target, one.variant) == wanted), None)

    def _print(self, overlay: Overlay, wanted: _Module) -> _Printed:
        """The model of a module, as the shortest of the differences from what it can begin with."""
        protocol = self.opened.protocol
        place = f"overlays/{overlay.package}"
        module = module_name(protocol.name, overlay.component, place, wanted.name)
        if module in self.printed:
            return self.printed[module]
        selection = Selection(
            overlay.variant, overlay=overlay.sources, entries=wanted.entries,
            component=overlay.component,
        )  # fmt: skip
        model = pipeline.compile_files(self.opened.files, selection)
        component = apply_overlay(self.opened, model, overlay)
        page = make_page(model, component, f"{protocol.place} and {overlay.source.name}", module)
        if wanted.entries == (wanted.name,):
            before = self._open_variant(overlay)[0]
            page = replace(page, changes=find_changed_operations(before, model, component.name))
        like = next((one.texts for one in wanted.beginnings if one), None)
        texts = print_texts(model, component, page, like)
        found = [print_sibling(begin, texts, page, wanted.about) for begin in wanted.beginnings]
        sizes = [sum(map(len, files.values())) for files, _ in found]
        shortest = found[sizes.index(min(sizes))]
        self.printed[module] = _Printed(*shortest, differs=sizes[0])
        return self.printed[module]

    def _open_variant(self, overlay: Overlay) -> tuple[n.Model, Plain | None]:
        """An overlay's variant, and the model of its component there; the plain one if types or
        state differ."""
        opened = self.opened
        plain = opened.whole.get(overlay.component)
        if not overlay.variant:
            return opened.model, plain
        key = overlay.variant, overlay.component
        if key not in self.variants:
            model = core_of(opened.protocol.sources, Selection(overlay.variant))
            self.variants[key] = model, _print_variant(opened, model, *key) or plain
        return self.variants[key]


def _print_variant(opened: OpenedProtocol, model: n.Model, variant: str, name: str) -> Plain | None:
    about = siblings.of_variant(variant)
    for component in model.components:
        if component.name == name:
            return print_component(opened, model, component, ("variants", variant), about)[1]
    return None


def apply_overlay(opened: OpenedProtocol, model: n.Model, overlay: Overlay) -> n.Component:
    """The component of an overlay. Raises `Refused` if the protocol has no such component."""
    found = [c for c in model.components if c.name == overlay.component]
    if not found:
        sources = opened.protocol.sources
        pipeline.check_overlay_texts(sources, overlay.sources).refuse_if_any()
    return found[0]
