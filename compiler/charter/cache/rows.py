"""Serialises trees of frozen dataclasses to bytes and back, for the cache.

The bytes are JSON, compressed: a list of rows, that of the whole tree last. A row is the name of a
class and its fields in order, or "" and the members of a tuple. A field is null, a truth value, a
number, a text, or a list of one number: the index of an earlier row. Equal parts share one row.
"""

from __future__ import annotations

import gc
import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from hashlib import sha256
from operator import attrgetter, is_
from types import ModuleType

_TUPLE = ""
_PLAIN = frozenset({int, str, type(None)})
"""What is written as it is. Nodes hold no subclasses of these, such as members of an `IntEnum`."""
Reader = Callable[[object], tuple[object, ...]]
"""Gives the cells of an object."""
_TRUE, _FALSE = object(), object()
"""Truth values in rows that are not written yet."""
_JSON = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, check_circular=False, default=partial(is_, _TRUE)
)


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a class in the order of a row: those given by position, then those by name.
    Equal objects agree in those that are `compared`. Digests have those that may be `absent` only
    where they are not empty, so that a new one changes no digest of what does not use it."""

    make: Callable[..., object]
    placed: tuple[str, ...]
    named: tuple[str, ...]
    compared: tuple[str, ...]
    absent: tuple[str, ...]

    @staticmethod
    def of(made: type) -> _Fields:
        chosen = [field for field in fields(made) if field.init]
        return _Fields(
            made,
            tuple(field.name for field in chosen if not field.kw_only),
            tuple(field.name for field in chosen if field.kw_only),
            tuple(f.name for f in fields(made) if f.compare and not f.metadata.get("absent")),
            tuple(f.name for f in fields(made) if f.metadata.get("absent")),
        )


class Rows:
    """Reads and writes trees of the dataclasses that are in these modules, whose names differ."""

    def __init__(self, *modules: ModuleType) -> None:
        self._fields: dict[type, _Fields] = {
            item: _Fields.of(item)
            for module in modules
            for item in vars(module).values()
            if isinstance(item, type) and is_dataclass(item)
        }

    def encode(self, tree: object) -> bytes:
        """The bytes of a tree."""
        read = {made: _reader((*it.placed, *it.named)) for made, it in self._fields.items()}
        return zlib.compress(_rows(tree, read), level=1)

    def decode(self, data: bytes) -> object:
        """The inverse of `encode`. Only for bytes that it made."""
        with _no_collection():
            return self._make(json.loads(zlib.decompress(data)))

    def digest(self, tree: object, omitted: Collection[str] = ()) -> str:
        """The same for equal trees. Fields with an `omitted` name, of any class, do not change
        it."""
        read = {
            made: _reader(
                [name for name in it.compared if name not in omitted],
                [name for name in it.absent if name not in omitted],
            )
            for made, it in self._fields.items()
        }
        return sha256(_rows(tree, read)).hexdigest()

    def _make(self, rows: list[list[object]]) -> object:
        """The object of the last row."""
        found = self._fields.values()
        makers = {it.make.__name__: (it.make, 1 + len(it.placed), it.named) for it in found}
        done: list[object] = []
        for row in rows:
            items = [done[cell[0]] if isinstance(cell, list) else cell for cell in row]
            if row[0] == _TUPLE:
                done.append(tuple(items[1:]))
            else:
                make, end, names = makers[str(row[0])]
                named = dict(zip(names, items[end:], strict=True)) if names else {}
                done.append(make(*items[1:end], **named))
        return done[-1]


def _rows(tree: object, read: Mapping[type, Reader]) -> bytes:
    """The rows of a tree with what is read of each class."""
    numbers: dict[tuple[object, ...], tuple[int]] = {}
    by_identity: dict[int, tuple[int]] = {}

    def number(item: object) -> tuple[int]:
        """The number of the row of a tuple or a node."""
        if isinstance(item, tuple):
            cells: list[object] = [_TUPLE]
            parts = item
        else:
            cells = [type(item).__name__]
            parts = read[type(item)](item)
        for part in parts:
            kind = type(part)
            if kind in _PLAIN:
                cells.append(part)
            elif kind is bool:
                # Python takes 1 for equal to True, and rows with either for equal.
                cells.append(_TRUE if part else _FALSE)
            else:
                cells.append(by_identity.get(id(part)) or number(part))
        found = by_identity[id(item)] = numbers.setdefault(tuple(cells), (len(numbers),))
        return found

    number(tree)
    return _JSON.encode([*numbers]).encode()


def _reader(names: Sequence[str], absent: Sequence[str] = ()) -> Reader:
    """Gives the fields of an object with these names, then those that may be `absent`, each after
    its name, where they are not empty."""
    if absent:
        always = _reader(names)
        more = [(name, attrgetter(name)) for name in absent]
        return lambda item: (
            *always(item),
            *(cell for name, read in more if (value := read(item)) for cell in (name, value)),
        )
    if not names:
        return lambda item: ()
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda item: (read(item),)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Turns off the garbage collector, which takes half of the time of decoding and finds
    nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
