"""Digests what deviations of a finding observed: two bugs in one rule and place differ in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import orjson

from charter.formats.adapter import without_message
from charter.formats.canonical import Json
from conform.judging.relabel import key

_SIZE = 16
_FAULT = b'"fault"'


@dataclass(slots=True)
class ObservedDigest:
    """A digest of some deviations. Their order does not count, as buckets come in any order."""

    total: int = 0

    def add(self, vector: str, step: int, observed: bytes) -> None:
        """Add a deviation with what was observed, as canonical JSON."""
        text = f"{vector} {step} ".encode() + _without_messages(observed)
        self.join(int.from_bytes(hashlib.blake2b(text, digest_size=_SIZE).digest()))

    def join(self, total: int) -> None:
        """Add what another digest has."""
        self.total = (self.total + total) % (1 << 8 * _SIZE)

    @property
    def text(self) -> str:
        """20 hexadecimal digits."""
        return f"{self.total:032x}"[:20]


def _without_messages(observed: bytes) -> bytes:
    """The messages of exceptions may be others in each run."""
    if _FAULT not in observed:
        return observed
    seen: dict[str, Json] = orjson.loads(observed)
    return key({name: without_message(value) for name, value in seen.items()})
