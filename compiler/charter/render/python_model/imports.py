"""Computes the imports of a generated module from the names that it uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from charter.render.python_model.layout import Block, lines
from charter.render.python_model.names import PRELUDE

_EXTRA = frozenset({
    "Json", "Path", "Sorts", "distinct", "elements", "fields_of", "items_of", "maps",
    "never_issued_in", "number", "opaque_number", "opaque_text", "pairs_of", "text_of", "truth",
})  # fmt: skip
_STANDARD = {
    "collections.abc": ("Mapping",),
    "dataclasses": ("dataclass", "replace"),
    "enum": ("Enum",),
    "itertools": ("product",),
    "typing": ("TYPE_CHECKING", "NewType"),
}
_SIBLING = frozenset({"begin", "instead_of"})


def with_imports(page: str, prelude: str, sibling: str = "") -> str:
    """A page with the imports that it needs in the place of `@imports@`: from the standard library,
    the module `prelude`, and `sibling` for a page that is made of another."""
    used = names_read(page.replace("@imports@", ""))
    standard = [
        f"from {module} import {', '.join(name for name in names if name in used)}"
        for module, names in _STANDARD.items()
        if used.intersection(names)
    ]
    ours = import_lines(prelude, (PRELUDE | _EXTRA) & used)
    if sibling:
        ours += import_lines(sibling, _SIBLING & used)
    return page.replace("@imports@", "\n".join([*standard, "", *ours]).strip())


def import_lines(module: str, names: Iterable[str], depth: int = 0) -> list[str]:
    """`from module import names`, in as many lines as it takes; none without names."""
    ordered = tuple(sorted(names, key=_order))
    if not ordered:
        return []
    block = lines(Block("(", ordered, ")"), depth, f"from {module} import ")
    return [block[0].replace("(", "", 1).replace(")", "")] if len(block) == 1 else block


def names_read(text: str) -> set[str]:
    """The names that a page reads, also inside quoted annotations."""
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
    return {node.id for node in found if isinstance(node.ctx, ast.Load)}


def _order(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
