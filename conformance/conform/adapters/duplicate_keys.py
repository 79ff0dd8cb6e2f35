"""Notes where an adapter writes a key twice in one JSON object, as can happen where JSON is made by
hand. The judge reads the last value of such a key, and the others are lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from charter.formats.adapter import Welcome
from charter.formats.canonical import Json
from conform.adapters.base import AdapterBroken, BatchAnswered, Connection, SentQuestion, SentSteps

_SHOWN = 120
"""Characters of an object that are shown."""


@dataclass(slots=True)
class RepeatsNoted:
    """A connection whose answers are read once more. `repeated` is the first object with a key
    twice, as text; "" if there was none."""

    connection: Connection
    repeated: str = ""

    @property
    def welcome(self) -> Welcome:
        return self.connection.welcome

    @property
    def alive(self) -> bool:
        return self.connection.alive

    def send(self, batch: Sequence[SentQuestion], deadline: float) -> None:
        self.connection.send(batch, deadline)

    def send_steps(self, steps: SentSteps, deadline: float) -> None:
        self.connection.send_steps(steps, deadline)

    def receive(self) -> BatchAnswered | AdapterBroken:
        answer = self.connection.receive()
        if isinstance(answer, BatchAnswered) and not self.repeated:
            self.repeated = find_repeated_key(answer.line)
        return answer

    def restart(self) -> None:
        self.connection.restart()

    def close(self) -> None:
        self.connection.close()


def find_repeated_key(line: bytes) -> str:
    """The first object in a line of JSON that has a key twice, told with the key; "" for none."""
    found: list[str] = []

    def read(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        whole = dict(pairs)
        if len(whole) < len(pairs) and not found:
            found.append(_check_pairs(pairs))
        return whole

    try:
        json.loads(line, object_pairs_hook=read)
    except (ValueError, RecursionError):
        return ""  # no JSON, or nested too deep, is told elsewhere
    return found[0] if found else ""


def _check_pairs(pairs: Sequence[tuple[str, Json]]) -> str:
    names = [name for name, _ in pairs]
    twice = next(name for number, name in enumerate(names) if name in names[:number])
    whole = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in pairs)
    cut = whole if len(whole) <= _SHOWN else f"{whole[:_SHOWN]}…"
    return f"{json.dumps(twice)} is a key twice in {{{cut}}}: all but the last value are lost"
