"""Writes the types of a charter for adapters in other languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from charter.core import nodes as n
from charter.project.sources import Missing

if TYPE_CHECKING:
    from charter.render.adapters.interface import Interface

LANGUAGES = ("go", "java", "node", "python", "rust")


class SameName(Exception):
    """Two names of a charter are one in the languages of adapters; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class AdapterFiles:
    """Texts by their path in the adapter's folder: `types` are generated anew with each change of
    the charter, `skeleton` is written once, for the author to complete."""

    component: str
    types: Mapping[str, str]
    skeleton: Mapping[str, str]


def adapter_files(model: n.Model, language: str, component: str = "") -> AdapterFiles:
    """The files of an adapter of a component (the first, if "") in one of `LANGUAGES`. Raises
    `Missing` and `SameName`."""
    from charter.render.adapters.emitters import EMITTERS
    from charter.render.adapters.interface import interface

    chosen = _component(model, component)
    seen = interface(model, chosen)
    _check_names(seen)
    emitter = EMITTERS[language]
    return AdapterFiles(chosen.name, emitter.types(seen), emitter.skeleton(seen))


def _check_names(seen: Interface) -> None:
    from charter.render.adapters.names import words

    for owner, names in seen.lists():
        known: dict[tuple[str, ...], str] = {}
        for name in names:
            first = known.setdefault(words(name), name)
            if first != name:
                raise SameName(
                    f"{owner} has {first} and {name}, which are one name in the style of another"
                    " language; rename one of them in the charter"
                )


def _component(model: n.Model, name: str) -> n.Component[n.Expr]:
    there_are = ", ".join(component.name for component in model.components) or "none"
    for component in model.components:
        if name in ("", component.name):
            return component
    raise Missing(f"there is no component {name!r}; there are: {there_are}")
