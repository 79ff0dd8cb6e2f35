"""Serialises core to bytes and back, with spans and comments, for the cache.

The bytes are JSON, compressed: a list of rows, the model's last. A row is the name of a class and
its fields in order, or "" and the members of a tuple. A field is null, a truth value, a number, a
text, or a list of one number: which of the rows before it is.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass

from charter.core import expressions, nodes, types
from charter.core.nodes import Model
from charter.diagnostics import source

_Made = Callable[..., object]
_TUPLE = ""
_CLASSES: dict[str, type] = {
    name: item
    for module in (source, types, expressions, nodes)
    for name, item in vars(module).items()
    if isinstance(item, type) and is_dataclass(item)
}


def _names(made: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(made) if field.init)


def encoded(model: Model) -> bytes:
    """The bytes of a model."""
    rows: list[list[object]] = []
    known: dict[int, list[int]] = {}
    names = {made: _names(made) for made in _CLASSES.values()}

    def cell(item: object) -> object:
        if item is None or isinstance(item, bool | int | str):
            return item
        found = known.get(id(item))
        if found is None:
            if isinstance(item, tuple):
                row = [_TUPLE, *map(cell, item)]
            else:
                kind = type(item)
                row = [kind.__name__, *(cell(getattr(item, name)) for name in names[kind])]
            found = known[id(item)] = [len(rows)]
            rows.append(row)
        return found

    cell(model)
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    return zlib.compress(text.encode(), level=1)


def decoded(data: bytes) -> Model:
    """The model that `encoded` gave these bytes for; others must not be given."""
    makers: dict[str, tuple[_Made, tuple[str, ...]]] = {
        name: (made, _names(made)) for name, made in _CLASSES.items()
    }
    done: list[object] = []
    for kind, *cells in json.loads(zlib.decompress(data)):
        items = [done[cell[0]] if cell.__class__ is list else cell for cell in cells]
        if kind == _TUPLE:
            done.append(tuple(items))
        else:
            make, names = makers[kind]
            done.append(make(**dict(zip(names, items, strict=True))))
    model = done[-1]
    assert isinstance(model, Model)
    return model
