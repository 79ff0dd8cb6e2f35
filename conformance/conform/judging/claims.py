"""What an adapter says of itself, held against what it does: statements that can be refuted."""

from __future__ import annotations

from collections.abc import Collection

import orjson

from charter.formats.adapter import Result, Status
from charter.formats.canonical import Json
from charter.formats.resolve import Unresolved, resolve
from conform.judging.walk import BatchTexts, is_fault

IMAGE = "image"
"""The capability of showing the state as a second reader of the history has it."""
NAMED = ("unsupported", "variable", "vector")
"""How the names begin of what an adapter.toml may allow not to be compared, but for `image`."""


def refuted(needs: str, result: Result, offers: Collection[str]) -> str:
    """Why a status without steps cannot be true, or "". `needs` is what the question needs, and
    `offers` are the operations and capabilities that hello claims."""
    if result.status is Status.NOT_LOADABLE and "load" not in needs.split():
        return "it answered not_loadable, but the question gives no state"
    if result.status is Status.UNSUPPORTED and result.detail in offers:
        return f"it answered that {result.detail} is unsupported, but its hello claims it"
    return ""


def resolves(question: Json, result: Result, batch: BatchTexts) -> str:
    """Why a question cannot have been left for a reference that leads nowhere, or ""."""
    assert isinstance(question, dict)
    operations = question["operations"]
    assert isinstance(operations, list)
    done = len(result.steps) - 1
    if done < 0:
        return "it answered unresolved, but showed no state at all"
    if done >= len(operations):
        return "it answered unresolved, but performed all operations"
    call = operations[done]
    assert isinstance(call, dict)
    try:
        resolve(call["args"], [batch.at(step[1]) for step in result.steps], lambda _: None)
    except Unresolved:
        return ""
    return f"it answered unresolved, but each reference of step {done + 1} leads to what it showed"


def lacks_image(question: bytes, result: Result, batch: BatchTexts) -> bool:
    """Whether an image is missing after a step for which the question asks for one. None is due
    after a fault, whether of an operation or of an image."""
    every = b',"delta":"each",' in question  # canonical JSON: only the field itself is written so
    due = () if every else orjson.loads(question)["delta"]
    for number, (_, observation, image) in enumerate(result.steps):
        if observation < 0:
            return False
        if image < 0 and (every or number in due):
            return True
        if image >= 0 and is_fault(batch.at(image)):
            return False
    return False
