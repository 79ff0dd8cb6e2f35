"""Determines which vectors, variables and images of a suite a run did not compare.

The names are those of the table `not_compared` in an adapter.toml (docs/formats/adapter.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from charter.formats.canonical import Json
from charter.formats.reading import own_number
from charter.formats.target import IMAGE
from charter.formats.verdict import JUDGED, Kind
from conform.runs.judged_rows import of_kinds

NOT_ASKED = "not asked"
"""The name of vectors that were never sent."""
LIMIT = "--limit"
"""The reason that allows vectors to be left out because of a limit."""
CHOSEN = "chosen by pytest"
"""The reason that allows vectors to be left out that pytest was not to run."""
WISHES = (LIMIT, "-k", "--last-failed", "-x", CHOSEN)
"""The options with which a caller leaves vectors out, as reasons that allow it."""


@dataclass(frozen=True, slots=True)
class Left:
    """Something that was not compared: the number of vectors concerned, and the reason why that is
    allowed ("": it is not)."""

    what: str
    vectors: int
    allowed: str = ""

    def json(self) -> dict[str, Json]:
        return {"what": self.what, "vectors": self.vectors, "allowed": self.allowed}


@dataclass(frozen=True, slots=True)
class ComparedScope:
    """The intended scope of a run: the number of vectors to judge, the number that the caller
    leaves out, the variables that answers have and the target does not show, and what may be left
    out, by name with the reason. `wish` is the option of the caller; `stopped`: the run ended with
    its first finding (-x)."""

    asked: int
    limited: int = 0
    hidden: Sequence[str] = ()
    allowed: Mapping[str, str] = field(default_factory=dict)
    wish: str = LIMIT
    stopped: bool = False


def saw_all(left: Iterable[Left]) -> bool:
    """Whether a finding that the run did not show is gone: all was asked, and nothing was lost."""
    return all(one.what != NOT_ASKED and one.allowed for one in left)


def left_out(scope: ComparedScope, verdicts: pa.Table, imageless: int) -> tuple[Left, ...]:
    """Everything that a run did not compare, from its verdicts, and the number of vectors without
    an image."""
    came = verdicts.num_rows
    lost = "-x" if scope.stopped else ""
    found = [Left(NOT_ASKED, scope.asked - came, lost)] if scope.asked > came else []
    found += [Left(NOT_ASKED, scope.limited, scope.wish)] if scope.limited else []
    unjudged = _count_unjudged(verdicts, scope.allowed)
    judged = came - sum(unjudged.values())
    found += [Left(what, count) for what, count in sorted(unjudged.items())]
    found += [Left(f"variable {name}", judged) for name in scope.hidden]
    found += [Left(IMAGE, imageless)] if imageless else []
    return tuple(
        Left(left.what, left.vectors, left.allowed or scope.allowed.get(left.what, ""))
        for left in found
    )


def _count_unjudged(verdicts: pa.Table, allowed: Mapping[str, str]) -> Counter[str]:
    """The number of vectors that were not judged, by the name of the obstacle."""
    rows = of_kinds(verdicts, {*Kind} - JUDGED).to_pylist()
    return Counter(obstacle(row, allowed) for row in rows)


def obstacle(row: Mapping[str, str], allowed: Mapping[str, str]) -> str:
    """The name of what kept a vector from being judged, from the `id`, `kind` and `detail` of its
    verdict."""
    own = f"vector {row['id']}"
    if own in allowed:
        return own
    kind = row["kind"].replace("_", " ")
    return f"{kind} {row['detail']}" if row["kind"] == Kind.UNSUPPORTED else kind


def describe(left: Iterable[Left]) -> str:
    """What was not compared, in words; "" for nothing."""
    return ", ".join(map(_describe, left))


def _describe(left: Left) -> str:
    concerned = f"{left.vectors:,} {left.what}"
    if left.what.startswith("variable "):
        concerned = f"the {left.what}"
    elif left.what == IMAGE:
        concerned = f"the image of {left.vectors:,}"
    if left.allowed in WISHES:
        return f"{concerned} ({left.allowed})"
    return f"{concerned} (allowed)" if left.allowed else concerned


def read(value: Json) -> tuple[Left, ...]:
    """What was not compared, from `summary.json`; empty for old runs without this field."""
    return tuple(
        Left(str(item["what"]), own_number(item["vectors"]), str(item["allowed"]))
        for item in (value if isinstance(value, list) else ())
        if isinstance(item, dict)
    )
