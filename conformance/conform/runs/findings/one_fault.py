"""Recognizes that the implementation was not there: vectors end in one fault as soon as they begin.
Then the findings say nothing of its rules."""

from __future__ import annotations

from collections import Counter

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from charter.formats.verdict import Severity
from conform.console.terminal import one_line

_FEWEST = 5
"""Fewer vectors are a finding like any other."""


def one_fault(deviations: pa.Table, judged: int) -> str:
    """A sentence if at least half of the judged vectors end in their first operation with the same
    new fault; "" if not. Its message is whole, as it has the reason."""
    faults = pc.equal(deviations["severity"], str(Severity.FAULT))
    first = pc.and_(pc.equal(deviations["step"], 1), pc.equal(deviations["entry"], ""))
    rows = deviations.filter(pc.and_(faults, first)).select(["observed"])
    replies = [orjson.loads(row["observed"])["reply"] for row in rows.to_pylist()]
    names = Counter(str(reply["fault"]) for reply in replies)
    name, count = next(iter(names.most_common(1)), ("", 0))
    if count < _FEWEST or 2 * count < judged:
        return ""
    told = Counter(str(one.get("message", "")) for one in replies if one["fault"] == name)
    message = told.most_common(1)[0][0]
    such = "" if len(told) == 1 else ", such as"
    shown = f"{such}: {message}" if message else ""
    return one_line(
        f"{count:,} of {judged:,} vectors end in their first operation with the fault {name}{shown}"
    )
