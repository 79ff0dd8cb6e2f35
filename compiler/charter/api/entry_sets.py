"""Prints models with a few entries of an overlay applied, when they are needed: generated/ has
those of single entries, and of all entries for a release."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from charter.api.models import OpenedProtocol, Tree, print_package, print_sibling
from charter.api.overlay_models import apply_overlay
from charter.api.protocol_files import Protocol, protocols
from charter.formats.project import Project
from charter.passes.narrow import narrow
from charter.project import pipeline
from charter.project.core_cache import core_of, derive
from charter.project.sources import PLAIN, Selection
from charter.render.python_model.delta import Plain
from charter.render.python_model.emit import Page, texts
from charter.render.python_model.names import camel
from charter.suites.subject import PACKAGE, Overlay, digest, module_name, overlays_in

_KIND = "entry_sets"


@dataclass(slots=True)
class EntrySets:
    """The models of sets of entries of one overlay in one variant. The protocol is opened for the
    first one that is not in the cache."""

    protocol: Protocol
    overlay: Overlay
    opened: OpenedProtocol | None = None

    def name_module(self, entries: Sequence[str]) -> str:
        """The module of the model of a set."""
        inside = f"{_KIND}/{self.overlay.package}"
        return module_name(
            self.protocol.name, self.overlay.component, inside, "_and_".join(entries)
        )

    def print_model(self, entries: Sequence[str]) -> Tree:
        """The files of the model of a set, with those of its packages. Raises `Refused` if the
        edits of these entries do not fit each other."""
        overlay = self.overlay
        selection = Selection(
            overlay.variant, overlay=overlay.sources, entries=tuple(entries),
            component=overlay.component,
        )  # fmt: skip
        module = self.name_module(entries)
        what = f"the files of the model {module}"
        text = derive(
            self.protocol.sources, selection, what,
            lambda: json.dumps(self._print(selection, module)).encode(),
        )  # fmt: skip
        return {str(path): str(text) for path, text in json.loads(text).items()}

    def _print(self, selection: Selection, module: str) -> Tree:
        overlay = self.overlay
        if self.opened is None:
            self.opened = _open_without_preludes(self.protocol, overlay.component)
        opened = self.opened
        model = pipeline.compile_files(opened.files, selection)
        component = apply_overlay(opened, model, overlay)
        whole = opened.whole[overlay.component]
        place = f"{opened.protocol.place} and {overlay.source.name}"
        page = Page(place, digest(model, component.name), module)
        written = texts(narrow(model, component.name), component, page, whole.texts.printed)
        title = f"The entries {', '.join(selection.entries)} of the overlay {overlay.name}."
        files, _ = print_sibling(whole, written, page, title)
        package = f"{PACKAGE}/{module.split('.')[1]}"
        about = print_package(f"Models of sets of entries of the overlay {overlay.name}.")
        inner = f"{package}/{overlay.package}/__init__.py"
        return {**files, f"{package}/__init__.py": about, inner: about}


def _open_without_preludes(protocol: Protocol, name: str) -> OpenedProtocol:
    """A protocol with the texts of the model of one component. How walks come to the first states
    of instances is left out: no set changes it, and to find it takes most of the time."""
    model = core_of(protocol.sources, PLAIN)
    component = next(one for one in model.components if one.name == name)
    module = module_name(protocol.name, name)
    page = Page(protocol.place, digest(model, name), module)
    written = texts(narrow(model, name), component, page)
    files = pipeline.parse_or_refuse(protocol.sources)
    plain = Plain(module, written, camel(name))
    return OpenedProtocol(protocol, files, model, {name: plain})


def open_entry_sets(
    project: Project, protocol: str, overlay: str, variant: str
) -> EntrySets | None:
    """The sets of entries of an overlay; None if the project has no such protocol or overlay.
    Raises `Refused` for an overlay that cannot be read."""
    for known in protocols(project):
        if known.name == protocol:
            for found in overlays_in(project, protocol):
                if (found.name, found.variant) == (overlay, variant):
                    return EntrySets(known, found)
    return None
