"""Each entry of Kafka's overlays has a vector of the committed suite that the charter answers
otherwise.

By the models alone: the entry's model answers a vector otherwise than the charter, throws there, or
says what an image shows. Whether releases do so is a slow test: test_kafka_overlay.py."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import orjson
import pytest

from charter.formats.canonical import Json
from charter.formats.image import image_operation
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls
from charter.formats.resolve import resolve
from charter.formats.suite import Manifest, read_lines, read_manifest
from conform.judging.answer import CannotAnswer, answer_of
from conform.judging.automaton import AnswerJson
from conform.judging.model import JudgeModel, can_fail, fails, load, may_differ, take_over
from conform.judging.never_issued import NeverIssued
from conform.judging.traces import begin, steps
from conform.suites.importing import item_of

SUITES = Path(__file__).parents[3] / "generated" / "suites" / "kafka_replication"


def list_apart(suite: str, entry: str) -> Iterator[str]:
    """The vectors that tell an entry from the charter."""
    model, charter = load(entries_of(suite)[entry]), load(manifest_of(suite).models.charter)
    of_images = {*operations(model)} - {*operations(charter)}
    for name, question in questions_of(suite).items():
        names = {str(call["operation"]) for call in own_calls(question)}
        changes = any(may_differ(model, operation) for operation in names)
        if (
            (changes and answer(suite, model, question) != answer(suite, charter, question))
            or (can_fail(model) and throws(suite, model, question))
            or any(image_operation(one, "partition") in of_images for one in names)
        ):
            yield name


@cache
def manifest_of(suite: str) -> Manifest:
    return read_manifest(SUITES / suite)


def entries_of(suite: str) -> dict[str, str]:
    overlays = manifest_of(suite).models.overlays.values()
    found = (pair for overlay in overlays for pair in overlay.items())
    return {name: module for name, module in found if not name.startswith("@")}


EVERY = [(suite, entry) for suite in ("controller", "controller_pre_kip_966")
         for entry in entries_of(suite)]  # fmt: skip


@cache
def questions_of(suite: str) -> dict[str, dict[str, Json]]:
    lines = read_lines(SUITES / suite / "vectors.jsonl")
    return {vector.id: orjson.loads(item_of(vector).question) for vector in lines}


def opaque_of(suite: str) -> OpaqueTypes:
    return OpaqueTypes.of(manifest_of(suite).read_types())


def answer(suite: str, model: JudgeModel, question: dict[str, Json]) -> AnswerJson | None:
    """What a model allows; None if a reference leads nowhere."""
    try:
        return answer_of(model, question, opaque_of(suite))
    except CannotAnswer:
        return None


def operations(model: JudgeModel) -> tuple[str, ...]:
    return tuple(getattr(model, "OPERATIONS", ()))


def throws(suite: str, model: JudgeModel, question: dict[str, Json]) -> bool:
    """Whether the model has a known fault at an operation, on one of the ways through a question of
    the models with all entries: some faults are in states that another entry leads to."""
    groups = manifest_of(suite).models.overlays["kafka_controller"]
    wholes = [load(module) for name, module in groups.items() if name.startswith("@")]
    return any(throws_on_a_way_of(suite, whole, model, question) for whole in wholes)


def throws_on_a_way_of(
    suite: str, whole: JudgeModel, model: JudgeModel, question: dict[str, Json]
) -> bool:
    trace = begin(whole, question, opaque_of(suite)).after
    for call in own_calls(question):
        operation = str(call["operation"])
        args = resolve(call["args"], trace.history, NeverIssued(whole, operation))
        assert isinstance(args, dict)
        if fails(model, take_over(model, trace.state), operation, args):
            return True
        reached = [*steps(whole, call, trace)]
        if not reached:
            return False
        trace = reached[0].after
    return False


@pytest.mark.parametrize(("suite", "entry"), EVERY)
def test_a_vector_tells_the_entry_from_the_charter(suite: str, entry: str) -> None:
    assert next(list_apart(suite, entry), ""), f"no vector of {suite} meets {entry}: keep one"
