"""Lists the languages in which adapters can be written, and what is printed for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from charter.render.adapters.go import go_files, go_skeleton
from charter.render.adapters.interface import Interface
from charter.render.adapters.java import java_files, java_skeleton
from charter.render.adapters.node import node_files, node_skeleton
from charter.render.adapters.python import python_files, python_skeleton
from charter.render.adapters.rust import rust_files, rust_skeleton

Files = Mapping[str, str]
"""Texts by their path in the adapter's folder."""


@dataclass(frozen=True, slots=True)
class AdapterLanguage:
    """`types` is generated anew; `skeleton` is written once, for the author to complete."""

    types: Callable[[Interface], Files]
    skeleton: Callable[[Interface], Files]


EMITTERS: Mapping[str, AdapterLanguage] = {
    "go": AdapterLanguage(go_files, go_skeleton),
    "java": AdapterLanguage(java_files, java_skeleton),
    "node": AdapterLanguage(node_files, node_skeleton),
    "python": AdapterLanguage(python_files, python_skeleton),
    "rust": AdapterLanguage(rust_files, rust_skeleton),
}
