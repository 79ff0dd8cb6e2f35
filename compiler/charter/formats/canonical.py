"""Writes canonical JSON: one text for one value, so that equality of values is equality of bytes.

docs/formats/adapter.md ("Values") says how the types of a charter are written as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_OPAQUE_NUMBER = re.compile(r'"@(-?\d+)"|"#(\d+)([.\d]*)"')
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
_DIGITS = 20
_OFFSET = 10**_DIGITS


def text(value: Json) -> str:
    """The canonical text of `value`: keys sorted, no spaces, characters outside ASCII as they are.

    Raises ValueError for NaN and infinities, TypeError for what JSON does not have.
    """
    return _ENCODER.encode(value)


def digest(value: Json) -> str:
    """The first 20 hexadecimal digits of the SHA-256 of the canonical text."""
    return text_digest(text(value))


def text_digest(content: str) -> str:
    """The first 20 hexadecimal digits of the SHA-256 of `content` in UTF-8."""
    import hashlib  # adapters start often, and most have no digest to make

    return hashlib.sha256(content.encode()).hexdigest()[:20]


def order_key(value: Json) -> str:
    """What sets and maps are sorted by: the canonical text, in which opaque numbers, and labels of
    them, count as numbers. So the order of a set stays what it is when its opaque values are
    renamed."""
    content = text(value)
    if '"@' not in content and '"#' not in content:
        return content
    return _OPAQUE_NUMBER.sub(_as_number, content)


def _as_number(match: re.Match[str]) -> str:
    """A number as text that is sorted like the number."""
    if match[1] is not None:
        return f'"@{int(match[1]) + _OFFSET:0{_DIGITS + 1}}"'
    return f'"#{int(match[2]):0{_DIGITS}}{match[3]}"'


def as_set(items: Iterable[Json]) -> list[Json]:
    """The array of a set: repeats dropped, in canonical order."""
    keyed = {order_key(item): item for item in items}
    return [keyed[key] for key in sorted(keyed)]


def as_pairs(entries: Iterable[tuple[Json, Json]]) -> list[Json]:
    """The array of a map whose keys are no names: `[key, value]` in canonical order."""
    pairs: list[Json] = [[key, value] for key, value in entries]
    return sorted(pairs, key=order_key)
