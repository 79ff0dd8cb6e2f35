"""Serialises core to bytes and back, with spans and comments, for the cache; its digest without
them says whether two models are equal."""

from __future__ import annotations

from collections.abc import Collection

from charter.cache.rows import Rows
from charter.core import expressions, nodes, types
from charter.core.nodes import Model
from charter.diagnostics import source

_ROWS = Rows(source, types, expressions, nodes)


def encode(model: Model) -> bytes:
    """The bytes of a model, spans included."""
    return _ROWS.encode(model)


def digest(model: Model, omitted: Collection[str] = ()) -> str:
    """The same for equal models: spans, comments and sections do not change it, nor do fields with
    an `omitted` name, of any class."""
    return _ROWS.digest(model, omitted)


def decode(data: bytes) -> Model:
    """The inverse of `encode`. Only for bytes that it made."""
    model = _ROWS.decode(data)
    assert isinstance(model, Model)
    return model
