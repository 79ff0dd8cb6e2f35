"""Relabels results with a cache: vectors share prefixes, so most steps are found in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes

_MEMORY = 128 << 20
"""Bytes in a full cache."""
_ENTRY = 16_000
"""Bytes of an entry without its texts, most of them in its labels: measured with Kafka."""


def key(value: Json) -> bytes:
    """The canonical text of `value`."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def is_same(one: Json, other: Json) -> bool:
    """Whether two values have the same canonical text. For Python `1 == True`."""
    return one == other and (isinstance(one, str) or key(one) == key(other))


@dataclass(slots=True, eq=False)
class RelabelPlace:
    """The labels of a vector after some of its steps, with a cache of next steps: from raw reply,
    raw observation and operation to their relabelled texts and the next place. `shown` are the
    relabelled texts of raw observations without new values."""

    labels: Labels
    shown: dict[bytes, bytes] = field(default_factory=dict)
    after: dict[tuple[bytes, bytes, str], Renamed] = field(default_factory=dict)


Renamed = tuple[bytes, bytes, RelabelPlace, bytes]
"""Relabelled reply and observation, the next place, and a digest of both for comparing runs."""


class Relabelling:
    """Relabels steps, with a cache that is cleared when it is full."""

    def __init__(self, types: OpaqueTypes) -> None:
        self.types = types
        self.start = RelabelPlace(Labels(types))
        self._known = 0

    def begin(self) -> RelabelPlace:
        """The place before the first step of a vector."""
        if self._known > _MEMORY:
            self.start = RelabelPlace(Labels(self.types))
            self._known = 0
        return self.start

    def step(
        self,
        place: RelabelPlace,
        reply: tuple[bytes, Json],
        observation: tuple[bytes, Json],
        operation: str,
    ) -> Renamed:
        """The canonical texts of the renamed reply of `operation` and observation, the next place,
        and the digest of both texts. Each value comes with its own canonical text. The operation
        may be "" where all values are of one type."""
        at = (reply[0], observation[0], operation)
        found = place.after.get(at)
        if found is not None:
            return found
        known = place.shown.get(observation[0])
        shown = observation[1] if known is None else None
        renamed_reply, renamed, labels = place.labels.step(reply[1], shown, operation)
        following = RelabelPlace(labels) if labels is not place.labels else place
        texts = (key(renamed_reply), key(renamed) if known is None else known)
        following.shown[observation[0]] = texts[1]
        found = (*texts, following, step_digest(*texts))
        place.after[at] = found
        self._known += _ENTRY + sum(map(len, (*at[:2], *texts)))
        return found


def step_digest(reply: bytes, observation: bytes) -> bytes:
    """A digest of 16 bytes of the relabelled reply and observation of one step."""
    return hashlib.blake2b(reply + b"\n" + observation, digest_size=16).digest()


def behaviour_digest(steps: Iterable[bytes]) -> str:
    """A digest of 32 hexadecimal digits of all steps of a run."""
    return hashlib.blake2b(b"".join(steps), digest_size=16).hexdigest()
