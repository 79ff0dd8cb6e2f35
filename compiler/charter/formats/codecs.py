"""Converts values of a charter's types to and from JSON, for adapters in Python
(docs/formats/adapter.md, "Values"). `conform generate --adapter python` writes the codecs of a
charter with these."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Hashable, Mapping
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

from charter.formats.canonical import Json, as_pairs, order_key

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
E = TypeVar("E", bound=Enum)
N = TypeVar("N", bound=int)
S = TypeVar("S", bound=str)

NEVER_ISSUED = 999_999_999
"""The number in an argument that asks for one that the implementation never allotted."""
NEVER_ISSUED_TEXT = "never issued"
"""The same for a text."""
WISH: Json = {"never_issued": True}
"""How a question asks for them."""


class Codec(NamedTuple, Generic[T]):
    """How values of one type are written and read."""

    encode: Callable[[T], Json]
    decode: Callable[[Json], T]


BOOL: Codec[bool] = Codec(lambda value: value, bool)


def name(kind: Callable[[str], S]) -> Codec[S]:
    """Elements of a sort."""
    return Codec(lambda value: value, lambda value: kind(str(value)))


def counter(kind: Callable[[int], N]) -> Codec[N]:
    """A counter."""
    return Codec(lambda value: value, lambda value: kind(_number(value)))


def opaque_counter(kind: Callable[[int], N]) -> Codec[N]:
    """Numbers that the implementation allots."""
    return Codec(lambda value: f"@{value}", lambda value: kind(_number(value)))


def opaque(kind: Callable[[str], S]) -> Codec[S]:
    """Texts that the implementation allots."""
    return Codec(lambda value: f"~{value}", lambda value: kind(_text(value)))


def _number(value: Json) -> int:
    return NEVER_ISSUED if value == WISH else int(str(value).removeprefix("@"))


def _text(value: Json) -> str:
    return NEVER_ISSUED_TEXT if value == WISH else str(value).removeprefix("~")


INT: Codec[int] = counter(int)


def enum(kind: type[E]) -> Codec[E]:
    """The members of an enum, by their values: a name may be a keyword of Python."""
    return Codec(lambda value: str(_of(kind, value).value), lambda value: kind(str(value)))


def option(inner: Codec[T]) -> Codec[T | None]:
    """`None`, or a value."""
    return Codec(
        lambda value: None if value is None else inner.encode(value),
        lambda value: None if value is None else inner.decode(value),
    )


def sequence(inner: Codec[T]) -> Codec[tuple[T, ...]]:
    """A sequence or a ranking."""
    return Codec(
        lambda value: [inner.encode(item) for item in value],
        lambda value: tuple(inner.decode(item) for item in _items(value)),
    )


def set_of(inner: Codec[T]) -> Codec[frozenset[T]]:
    """A set. An element that is there twice stays: the judge tells it."""
    return Codec(
        lambda value: sorted((inner.encode(item) for item in value), key=order_key),
        lambda value: frozenset(inner.decode(item) for item in _items(value)),
    )


def mapping(key: Codec[K], inner: Codec[V]) -> Codec[Mapping[K, V]]:
    """A map whose keys are names or truth values."""

    def key_text(value: K) -> str:
        text = key.encode(value)
        return str(text).lower() if isinstance(text, bool) else str(text)

    def key_from(text: str) -> K:
        return key.decode(text == "true" if key is BOOL else text)

    return Codec(
        lambda value: {key_text(each): inner.encode(item) for each, item in value.items()},
        lambda value: {key_from(each): inner.decode(item) for each, item in _entries(value)},
    )


def pairs(key: Codec[K], inner: Codec[V]) -> Codec[Mapping[K, V]]:
    """A map with other keys."""

    def read(value: Json) -> Mapping[K, V]:
        found = (_items(pair) for pair in _items(value))
        return {key.decode(each): inner.decode(item) for each, item in found}

    return Codec(
        lambda value: as_pairs(
            (key.encode(each), inner.encode(item)) for each, item in value.items()
        ),
        read,
    )


def record(kind: type[T], parts: Mapping[str, Codec[Any]]) -> Codec[T]:
    """A dataclass; `parts` are the codecs of its fields in their order, by the charter's names."""
    from dataclasses import fields  # not at the top: adapters without records start faster

    attributes = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # a dataclass

    def write(value: T) -> Json:
        _of(kind, value)
        return {
            part: codec.encode(getattr(value, attribute))
            for (part, codec), attribute in zip(parts.items(), attributes, strict=True)
        }

    def read(value: Json) -> T:
        given = dict(_entries(value))
        return kind(*(codec.decode(given[part]) for part, codec in parts.items()))

    return Codec(write, read)


def union(cases: Mapping[str, tuple[type[Any], Mapping[str, Codec[Any]]]]) -> Codec[Any]:
    """Dataclasses, by the names of the cases."""
    codecs = {tag: record(kind, parts) for tag, (kind, parts) in cases.items()}
    tags = {kind: tag for tag, (kind, _) in cases.items()}

    def write(value: object) -> Json:
        tag = tags.get(type(value))
        if tag is None:
            named = ", ".join(kind.__name__ for kind in tags)
            raise TypeError(f"{reprlib.repr(value)} is none of {named}")
        return {"case": tag, **dict(_entries(codecs[tag].encode(value)))}

    return Codec(write, lambda value: codecs[str(dict(_entries(value))["case"])].decode(value))


def only(value: Json, names: Collection[str]) -> Json:
    """An object with only the entries called `names`."""
    return {each: item for each, item in _entries(value) if each in names}


def _of(kind: type[T], value: T) -> T:
    """An adapter may return anything, whatever its annotations say."""
    if not isinstance(value, kind):
        raise TypeError(f"{reprlib.repr(value)} is no {kind.__name__}")
    return value


def _items(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is no array")
    return value


def _entries(value: Json) -> list[tuple[str, Json]]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no object")
    return [*value.items()]
