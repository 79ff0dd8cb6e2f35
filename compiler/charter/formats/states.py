"""Defines the format of saved states: rows of a table, and a head that identifies the search.

docs/formats/states.md describes both for readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

from charter.formats.canonical import Json

FORMAT = 1

Form = Literal["truth", "number", "text", "json"]
Cell = bool | int | str | None
Chunk = list[list[Cell]]
"""Consecutive rows: the cells of each column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `json`: the canonical text of a value; other forms: the value itself, or null for
    `none`."""

    name: str
    form: Form


NUMBER, LEVEL, SOURCE, STEP, ARGS, MATCHES = (
    Column("_number", "number"),
    Column("_level", "number"),
    Column("_source", "number"),
    Column("_step", "text"),
    Column("_args", "json"),
    Column("_matches", "truth"),
)
"""Columns that say how a state was reached first; no variable has such a name."""


def column_name(variable: str) -> str:
    """The name of the column of a state variable: its own, unless it begins with `_`."""
    return f"_{variable}" if variable.startswith("_") else variable


@dataclass(frozen=True, slots=True)
class Head:
    """Identifies the search of the states: `variant` and `mutant` are names ("" for none),
    `program` is the digest of everything that the states depend on, `expression` is the condition
    of the column `_matches` ("": none)."""

    protocol: str
    variant: str
    mutant: str
    machine: str
    instance: str
    bounds: dict[str, int]
    program: str
    permuted: tuple[str, ...]
    expression: str
    distinct: int
    levels: tuple[int, ...]
    complete: bool
    lossy: float
    columns: tuple[Column, ...]

    def json(self) -> dict[str, Json]:
        """The head as JSON."""
        return {
            "kind": "states",
            "format": FORMAT,
            **asdict(self),
            "permuted": list(self.permuted),
            "levels": list(self.levels),
            "columns": [{"name": c.name, "form": c.form} for c in self.columns],
        }


class StateTable(Protocol):
    """States that can be read sequentially in chunks."""

    @property
    def head(self) -> Head:
        """What they are."""

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The rows in order, at most `size` at a time."""
