"""The passes over core, in order. Each says in its docstring what it changes and what it keeps."""

from __future__ import annotations

from collections.abc import Callable

from charter.core import nodes as ir
from charter.passes import fold_constants

PASSES: tuple[tuple[str, Callable[[ir.Model], ir.Model]], ...] = (
    ("fold_constants", fold_constants.run),
)
