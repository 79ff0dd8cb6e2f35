"""Reads the stored observations of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from charter.formats.adapter import BadMessage, Results, read_results
from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import BadVector
from charter.formats.run_description import RunDescription
from charter.formats.types import JudgedTypes, read_types
from conform.console.errors import BadRun
from conform.judging.read_result import operation_at, project
from conform.storage.bucket_store import RunFolder


@dataclass(frozen=True, slots=True)
class ObservationBatch:
    """One batch of observations, with the ids of its questions."""

    ids: tuple[str, ...]
    results: Results
    line: bytes


def observations(folder: RunFolder, bucket: int) -> Iterator[ObservationBatch]:
    """The batches of one bucket. Raises `BadRun` for lines that violate the protocol."""
    table = folder.bucket("observations", bucket)
    for ids, line in zip(table["ids"].to_pylist(), table["line"].to_pylist(), strict=True):
        try:
            message = orjson.loads(line)
            asked = [(result["id"], result["nonce"]) for result in message["results"]]
            results = read_results(message, message["run"], asked)
        except (orjson.JSONDecodeError, BadMessage, KeyError, TypeError) as error:
            raise BadRun(
                f"{folder.place}: the observations of bucket {bucket} cannot be read ({error});"
                " run it again"
            ) from None
        yield ObservationBatch(tuple(ids), results, line.encode())


def read_label_types(about: RunDescription) -> OpaqueTypes:
    """The types by which the labels of a run count, from its run.json. Raises `BadRun`."""
    return OpaqueTypes.of(types_of(about))


def types_of(about: RunDescription) -> JudgedTypes | None:
    """The types of a run's suite, from its run.json; None if it has none. Raises `BadRun`."""
    try:
        return read_types({**about.types}, "types") if about.types else None
    except BadVector as error:
        raise BadRun(f"run.json is not what `conform run` writes ({error})") from None


def rename_steps(
    values: Sequence[Json],
    steps: Sequence[Sequence[int]],
    opaque: OpaqueTypes,
    operations: Sequence[str],
    observes: Sequence[str] | None = None,
) -> list[tuple[Json, Json]]:
    """Reply and observation (of the variables in `observes`; None: all) of the `steps` of a result,
    relabelled by the types of a suite; up to the first that violates the protocol, of which the
    verdict speaks."""
    labels, renamed = Labels(opaque), list[tuple[Json, Json]]()
    for number, step in enumerate(steps):
        try:
            reply, observation, _ = step
            raw = values[reply] if reply >= 0 else None
            seen = values[observation] if observation >= 0 else None
            seen = seen if observes is None else project(seen, observes)
            shown_reply, shown, labels = labels.step(raw, seen, operation_at(operations, number))
        except (IndexError, TypeError, ValueError):
            break
        renamed.append((shown_reply, shown))
    return renamed
