"""Computes the imports of a generated module from the names that it uses."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from charter.render.python_model.line_breaks import WIDTH
from charter.render.text import INDENT

SIBLING_NAMES = frozenset({"begin", "go_on", "instead_of"})
"""The names that a sibling imports to modify the plain model."""
_IMPORTS = "@imports@"
_STANDARD = {
    "collections.abc": ("Mapping",),
    "enum": ("Enum",),
    "itertools": ("product",),
    "typing": ("TYPE_CHECKING", "NewType"),
}


def with_imports(page: str, modules: Mapping[str, Collection[str]]) -> str:
    """A page with `@imports@` replaced by the imports that it needs: from the standard library, and
    from `modules`, which maps a module to the names that it has."""
    used = names_read(page)
    standard = [
        f"from {module} import {', '.join(name for name in names if name in used)}"
        for module, names in _STANDARD.items()
        if used.intersection(names)
    ]
    ours = [row for name in sorted(modules) for row in import_lines(name, used & {*modules[name]})]
    return page.replace(_IMPORTS, "\n".join([*standard, "", *ours]).strip())


def import_lines(module: str, names: Iterable[str], depth: int = 0) -> list[str]:
    """The lines of `from module import names`; none without names."""
    ordered = tuple(sorted(names, key=_order))
    if not ordered:
        return []
    pad = INDENT * depth
    whole = f"{pad}from {module} import {', '.join(ordered)}"
    if len(whole) <= WIDTH:
        return [whole]
    rows = [f"{pad}{INDENT}{name}," for name in ordered]
    return [f"{pad}from {module} import (", *rows, f"{pad})"]


@lru_cache(maxsize=32)
def parse(text: str) -> ast.Module:
    """The tree of a page, which must not be changed. Cached: all siblings are compared with one
    plain model."""
    return ast.parse(text.replace(_IMPORTS, ""))


def names_read(text: str) -> set[str]:
    """The names that a page reads, also inside quoted annotations, or lists in `__all__`."""
    page = parse(text)
    found = (node for node in ast.walk(page) if isinstance(node, ast.Name))
    return {node.id for node in found if isinstance(node.ctx, ast.Load)} | _list_exported(page)


@lru_cache(maxsize=256)
def methods_in(text: str) -> Mapping[str, str]:
    """The methods of a class by name, from their text. Cached: siblings have most of them in
    common."""
    lines = ["class _:", *text.split("\n")]
    (klass,) = ast.parse("\n".join(lines)).body
    assert isinstance(klass, ast.ClassDef)
    return {
        node.name: lines_of(node, lines) for node in klass.body if isinstance(node, ast.FunctionDef)
    }


def lines_of(node: ast.stmt, lines: Sequence[str]) -> str:
    """The text of a statement, with its decorators. `lines` are split where Python does: comments
    of a charter may have other line separators."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return "\n".join(lines[first - 1 : node.end_lineno])


def names_defined(text: str) -> set[str]:
    """The types, constants and functions that a page defines."""
    found: set[str] = set()
    for node in parse(text).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case _:
                pass
    return found


def _list_exported(page: ast.Module) -> set[str]:
    for node in page.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return {str(name) for name in ast.literal_eval(value)}
            case _:
                pass
    return set()


def _order(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower())
