"""Joins the answers of walks to one batch, as if an adapter had sent it."""

from __future__ import annotations

from collections.abc import Sequence

from charter.formats.adapter import Result, Results
from charter.formats.canonical import Json
from conform.adapters.open_sessions import ShownSoFar
from conform.judging.relabel import key


def join_results(answered: Sequence[tuple[str, ShownSoFar]]) -> tuple[Results, bytes]:
    """Results of walks as one batch, under the ids of their vectors, and the line that an adapter
    would send for it."""
    places: dict[bytes, int] = {}
    values: list[Json] = []

    def place(held: Sequence[Json], index: int) -> int:
        if not 0 <= index < len(held):
            return index
        found = places.setdefault(key(held[index]), len(values))
        if found == len(values):
            values.append(held[index])
        return found

    results: list[Result] = []
    for name, one in answered:
        steps = [[place(one.results.values, index) for index in step] for step in one.result.steps]
        result = one.result
        results.append(Result(name, result.nonce, result.status, result.detail, steps))
    listed: list[Json] = [
        {
            "id": result.id, "nonce": result.nonce, "status": str(result.status),
            "detail": result.detail, "steps": [[*step] for step in result.steps],
        }
        for result in results
    ]  # fmt: skip
    return Results(values, results), key({"run": 0, "values": values, "results": listed})
