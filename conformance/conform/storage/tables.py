"""Defines the datasets of a run and of a stored suite: columns, and rows (docs/formats/run.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from charter.formats import canonical
from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.reading import own_list, own_object
from charter.formats.verdict import Deviation, Verdict
from conform.judging.differ import (
    Allowed,
    RelabelledStep,
    cause,
    differing,
    image_paths,
    nearest,
)
from conform.judging.relabel import key
from conform.storage.arrow import pa

SUITE = pa.schema(
    [
        ("id", pa.string()),
        ("bucket", pa.int32()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("why", pa.string()),
        ("obligations", pa.list_(pa.string())),
        ("needs", pa.string()),
        ("ways", pa.string()),
    ]
)
VERDICTS = pa.schema(
    [
        ("id", pa.string()),
        ("kind", pa.string()),
        ("detail", pa.string()),
        ("step", pa.int32()),
        ("branch", pa.string()),
        ("severity", pa.string()),
        ("deviations", pa.int32()),
        ("new", pa.bool_()),
        ("judged", pa.int32()),
        ("not_judged", pa.int32()),
        ("branches", pa.list_(pa.string())),
        ("behaviour", pa.string()),
        ("operations", pa.list_(pa.string())),
    ]
)
DEVIATIONS = pa.schema(
    [
        ("id", pa.string()),
        ("step", pa.int32()),
        ("operation", pa.string()),
        ("args", pa.string()),
        ("branch", pa.string()),
        ("branches", pa.list_(pa.string())),
        ("severity", pa.string()),
        ("before", pa.string()),
        ("expected", pa.string()),
        ("observed", pa.string()),
        ("entry", pa.string()),
        ("cause", pa.string()),
        ("paths", pa.list_(pa.string())),
        ("values", pa.list_(pa.string())),
    ]
)
OBSERVATIONS = pa.schema([("ids", pa.list_(pa.string())), ("line", pa.string())])
TRANSITIONS = pa.schema(
    [
        ("state", pa.int64()),
        ("branch", pa.string()),
        ("count", pa.int64()),
        ("vector", pa.string()),
    ]
)
WALKS = pa.schema(
    [
        ("id", pa.string()),
        ("walk", pa.int64()),
        ("steps", pa.int32()),
        ("varies", pa.bool_()),
        ("needs", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("why", pa.string()),
    ]
)
OF_WALKS = "walks"
"""The dataset that only buckets of walks have."""
DATASETS: Mapping[str, pa.Schema] = {
    "verdicts": VERDICTS,
    "deviations": DEVIATIONS,
    "observations": OBSERVATIONS,
    "transitions": TRANSITIONS,
}

Cell = str | int | bool | list[str]


@dataclass(slots=True)
class DatasetRows:
    """Rows of one dataset, by column. `size` is the number of characters in them, `gone` that of
    rows that were taken out, which count in its length."""

    schema: pa.Schema
    columns: dict[str, list[Cell]] = field(default_factory=dict)
    size: int = 0
    gone: int = 0

    def __post_init__(self) -> None:
        self.columns = {name: [] for name in self.schema.names}

    def add(self, *cells: Cell) -> None:
        for column, cell in zip(self.columns.values(), cells, strict=True):
            column.append(cell)
            if isinstance(cell, str):
                self.size += len(cell)

    def table(self) -> pa.Table:
        return pa.table(self.columns, schema=self.schema)

    def take_table(self) -> pa.Table:
        """The rows, which are not kept here."""
        found = self.table()
        self.columns = {name: [] for name in self.schema.names}
        self.size, self.gone = 0, self.gone + found.num_rows
        return found

    def __len__(self) -> int:
        return self.gone + len(self.columns[self.schema.names[0]])


def add_verdict(rows: DatasetRows, verdict: Verdict, behaviour: str, question: bytes) -> None:
    """Append the row of one verdict. The operations of the question are kept with it, since the
    suite may be gone when the run is compared with another."""
    first = verdict.first
    rows.add(
        verdict.id,
        str(verdict.kind),
        verdict.detail,
        first.step if first else -1,
        first.branch if first else "",
        str(first.severity) if first else "",
        len(verdict.deviations),
        verdict.new,
        verdict.judged,
        verdict.not_judged,
        list(verdict.branches),
        behaviour,
        [str(call["operation"]) for call in orjson.loads(question)["operations"]],
    )


def add_deviations(rows: DatasetRows, verdict: Verdict, question: bytes) -> None:
    """Append a row for each deviation of a verdict."""
    if not verdict.deviations:
        return
    names = element_sorts(orjson.loads(question)["sorts"])
    for deviation in verdict.deviations:
        where = differing_paths(deviation)
        rows.add(
            verdict.id,
            deviation.step,
            deviation.operation,
            key(deviation.args).decode(),
            deviation.branch,
            list_expected_branches(deviation),
            str(deviation.severity),
            key(deviation.before).decode(),
            key(deviation.expected).decode(),
            key(deviation.observed).decode(),
            " ".join(deviation.entries),
            cause(deviation.operation, deviation.branch, deviation.severity, where, names),
            where,
            list(deviation.values),
        )


def cause_of(deviation: Deviation, sorts: Mapping[str, Mapping[str, int]]) -> str:
    """The digest that groups a deviation, with the sorts of its question."""
    where, names = differing_paths(deviation), element_sorts(sorts)
    return cause(deviation.operation, deviation.branch, deviation.severity, where, names)


def deviation_row(deviation: Deviation) -> dict[str, Json]:
    """Some columns of the row of a deviation."""
    return {
        "operation": deviation.operation,
        "args": key(deviation.args).decode(),
        "branch": deviation.branch,
        "expected": key(deviation.expected).decode(),
        "observed": key(deviation.observed).decode(),
        "values": list(deviation.values),
    }


def element_sorts(sorts: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """The sort of each element."""
    return {name: sort for sort, ids in sorts.items() for name in ids}


def list_expected_branches(deviation: Deviation) -> list[str]:
    """All branches that the charter allows instead of a deviation."""
    return sorted({allowed.branch for allowed in list_expected(deviation)})


def differing_paths(deviation: Deviation) -> list[str]:
    """The paths at which an observation differs from the nearest expectation."""
    observed = own_object(deviation.observed)
    if "image" in observed:
        return list(image_paths(observed["observation"], observed["image"]))
    reply = observed["reply"]
    seen = RelabelledStep(reply, observed["observation"], is_fault(reply))
    closest = nearest(list_expected(deviation), seen)
    return list(differing(closest, seen)) if closest else []


def list_expected(deviation: Deviation) -> list[Allowed]:
    return [
        Allowed(str(item["branch"]), item["reply"], item["observation"])
        for item in map(own_object, own_list(deviation.expected))
    ]


@dataclass(slots=True)
class Transitions:
    """The distinct (state, branch) pairs of a bucket, with states up to renaming of elements
    (different states may rarely be confused)."""

    counts: dict[tuple[bytes, str], list[int | str]] = field(default_factory=dict)
    names: dict[bytes, int] = field(default_factory=dict)

    def add(self, pairs: Iterable[tuple[bytes, str]], vector: str) -> None:
        counts = self.counts
        for pair in pairs:
            found = counts.get(pair)
            if found is None:
                counts[pair] = [1, vector]
            else:
                found[0] += 1  # type: ignore[operator]
                found[1] = min(found[1], vector)

    def clear(self) -> None:
        """Forget the pairs, whose rows are written; a pair that comes again has another row."""
        self.counts.clear()
        self.names.clear()

    def rows(self, elements: Mapping[str, str], counters: Sequence[str]) -> DatasetRows:
        """One row a pair; `elements` gives the sort of each element."""
        merged: dict[tuple[int, str], list[int | str]] = {}
        for (state, branch), (count, vector) in self.counts.items():
            number = self.names.get(state)
            if number is None:
                number = state_number(orjson.loads(state), elements, counters)
                self.names[state] = number
            found = merged.setdefault((number, branch), [0, vector])
            found[0] += count  # type: ignore[operator]
            found[1] = min(str(found[1]), str(vector))
        rows = DatasetRows(TRANSITIONS)
        for (number, branch), (count, vector) in sorted(merged.items()):
            rows.add(number, branch, count, vector)
        return rows


def state_number(state: Json, elements: Mapping[str, str], counters: Sequence[str] = ()) -> int:
    """A hash that is equal for states which differ only by names of elements, or by values of the
    fields `counters` with the same order."""
    ranked = _rank(state, counters)
    views = _view(ranked, elements).of_elements
    lines = sorted(f"{elements[name]} {view}" for name, view in views.items())
    return int(canonical.text_digest("\n".join(lines or [canonical.text(ranked)]))[:15], 16)


class _Views(NamedTuple):
    """A value with the names of all elements replaced by their sorts, and for each element in it
    the same with its own name as `*`."""

    text: str
    of_elements: Mapping[str, str]

    def of(self, name: str) -> str:
        """The view of an element."""
        return self.of_elements.get(name, self.text)


def _view(value: Json, elements: Mapping[str, str]) -> _Views:
    """The views of a value; parts without an element have one for all."""
    if isinstance(value, str):
        return _Views(elements[value], {value: "*"}) if value in elements else _Views(value, {})
    if isinstance(value, dict):
        pairs = [(_view(name, elements), _view(item, elements)) for name, item in value.items()]
        names = {name for pair in pairs for one in pair for name in one.of_elements}
        whole = _join_sorted([f"{key.text}:{held.text}" for key, held in pairs], "{}")
        return _Views(whole, {
            name: _join_sorted([f"{key.of(name)}:{held.of(name)}" for key, held in pairs], "{}")
            for name in names
        })  # fmt: skip
    if isinstance(value, list):
        items = [_view(item, elements) for item in value]
        names = {name for item in items for name in item.of_elements}
        whole = _join_sorted([item.text for item in items], "[]")
        return _Views(
            whole, {name: _join_sorted([item.of(name) for item in items], "[]") for name in names}
        )
    return _Views(str(value), {})


def _join_sorted(parts: list[str], brackets: str) -> str:
    return f"{brackets[0]}{','.join(sorted(parts))}{brackets[1]}"


def _rank(state: Json, counters: Sequence[str]) -> Json:
    if not counters:
        return state
    values: dict[str, set[int]] = {name: set() for name in counters}
    _gather(state, values)
    ranks = {
        name: {number: rank for rank, number in enumerate(sorted(found))}
        for name, found in values.items()
    }
    return _with_ranks(state, ranks)


def _gather(value: Json, values: Mapping[str, set[int]]) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            if name in values and isinstance(item, int):
                values[name].add(item)
            else:
                _gather(item, values)
    elif isinstance(value, list):
        for item in value:
            _gather(item, values)


def _with_ranks(value: Json, ranks: Mapping[str, Mapping[int, int]]) -> Json:
    if isinstance(value, dict):
        return {
            name: ranks[name][item]
            if name in ranks and isinstance(item, int)
            else _with_ranks(item, ranks)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_with_ranks(item, ranks) for item in value]
    return value
