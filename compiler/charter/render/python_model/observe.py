"""Prints the function that turns the observable part of a state into JSON."""

from __future__ import annotations

from charter.core import types as t
from charter.render.python_model.types import TypePrinter

Paths = frozenset[tuple[str, ...]]


def project(types: TypePrinter, kind: t.Type, x: str, paths: Paths, depth: int = 0) -> str:
    """Like `TypePrinter.write`, with only the fields on `paths`; an empty path means everything."""
    if () in paths:
        return types.write(kind, x, depth)
    match kind:
        case t.Option(inner):
            return f"None if {x} is None else {project(types, inner, x, paths, depth)}"
        case t.Map(_, inner):
            item = f"entry{depth or ''}"
            name = f"key{depth or ''}"
            body = project(types, inner, item, paths, depth + 1)
            key = {t.Enum: f"{name}.name", t.Bool: f"str({name}).lower()"}.get(type(kind.key), name)
            return f"{{{key}: {body} for {name}, {item} in {x}.items()}}"
        case t.Record(fields=fields):
            parts = []
            for name, part in fields:
                inside = frozenset(p[1:] for p in paths if p and p[0] == name)
                if inside:
                    at = f"{x}.{types.names.attribute(name)}"
                    parts.append(f'"{name}": {project(types, part, at, inside, depth)}')
            return "{" + ", ".join(parts) + "}"
        case _:
            return types.write(kind, x, depth)
