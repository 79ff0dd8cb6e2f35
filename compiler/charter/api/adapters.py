"""The types of a charter for adapters in other languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from charter.core import nodes as n
from charter.project.sources import Missing

LANGUAGES = ("go", "java", "node", "python", "rust")


@dataclass(frozen=True, slots=True)
class AdapterFiles:
    """Texts by their path in the adapter's folder: `types` are generated anew with each change of
    the charter, `skeleton` is written once, for the author to complete."""

    component: str
    types: Mapping[str, str]
    skeleton: Mapping[str, str]


def adapter_files(model: n.Model, language: str, component: str = "") -> AdapterFiles:
    """The files of an adapter of a component (the first, if "") in one of `LANGUAGES`. Raises
    `Missing`."""
    from charter.render.adapters.emitters import EMITTERS
    from charter.render.adapters.interface import interface

    chosen = _component(model, component)
    seen = interface(model, chosen)
    emitter = EMITTERS[language]
    return AdapterFiles(chosen.name, emitter.types(seen), emitter.skeleton(seen))


def _component(model: n.Model, name: str) -> n.Component[n.Expr]:
    there_are = ", ".join(component.name for component in model.components) or "none"
    for component in model.components:
        if name in ("", component.name):
            return component
    raise Missing(f"there is no component {name!r}; there are: {there_are}")
