"""Reads and writes the messages of the adapter protocol (docs/formats/adapter.md,
schemas/adapter.json)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from charter.formats.canonical import Json
from charter.formats.status import PROTOCOL, Status

STATUSES: Mapping[str, Status] = {str(status): status for status in Status}
_DETAIL = 2_000
"""Characters of a result's detail that are kept."""


class BadMessage(Exception):
    """A message of an adapter violates the protocol; the text says how."""


def is_fault(reply: Json) -> TypeGuard[dict[str, Json]]:
    """Whether a reply is a fault: an exception that the protocol does not name. A reply of the
    protocol may have a field of this name beside others; `type/fault` refuses what has not."""
    return (
        isinstance(reply, dict)
        and isinstance(reply.get("fault"), str)
        and reply.keys() <= {"fault", "message"}
    )


def without_message(value: Json) -> Json:
    """A value; of a fault only the class of the exception, since its message may vary."""
    return {"fault": value["fault"]} if is_fault(value) else value


@dataclass(frozen=True, slots=True)
class Welcome:
    """The adapter's answer to hello: about itself and the implementation that it found."""

    name: str
    version: str
    component: str
    capabilities: frozenset[str]
    operations: frozenset[str]
    observes: tuple[str, ...]
    consts: frozenset[str] = frozenset()
    """The constants of the charter that it configures the implementation with."""
    sessions: int = 0
    """How many sessions it holds at once; 0 for none."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one question: `steps` are `[reply, observation, image]` indices into the values
    of the batch (-1 for none)."""

    id: str
    nonce: str
    status: Status
    detail: str
    steps: list[list[int]]


@dataclass(frozen=True, slots=True)
class Results:
    """The answer to one batch."""

    values: list[Json]
    results: list[Result]


def constant(name: str) -> str:
    """The name of a missing constant in the list of missing capabilities."""
    return f"consts.{name}"


def hello(
    release: str, variant: str, errors: Mapping[str, str], consts: Mapping[str, str]
) -> dict[str, Json]:
    """The first message; empty fields are left out. `consts` maps constants of the charter to
    their types."""
    message: dict[str, Json] = {"hello": PROTOCOL}
    if release:
        message["release"] = release
        message["variant"] = variant
    if errors:
        message["errors"] = dict(errors)
    if consts:
        message["consts"] = dict(consts)
    return message


def read_welcome(message: Json) -> Welcome:
    """The answer to `hello`. Raises `BadMessage`."""
    if not isinstance(message, dict) or "hello" not in message:
        raise BadMessage("the first line is not an answer to hello")
    if message["hello"] != PROTOCOL:
        raise BadMessage(
            f"it speaks version {_cut(message['hello'])} of the adapter protocol; this judge"
            f" speaks version {PROTOCOL}"
        )
    return Welcome(
        name=_text(message, "name"),
        version=_text(message, "version"),
        component=_text(message, "component"),
        capabilities=frozenset(_texts(message, "capabilities")),
        operations=frozenset(_texts(message, "operations")),
        observes=tuple(_texts(message, "observes")),
        consts=frozenset(_texts(message, "consts") if "consts" in message else ()),
        sessions=_sessions(message),
    )


def read_results(message: Json, run: int, asked: Sequence[tuple[str, str]]) -> Results:
    """The answer to message `run`, in which the (id, nonce) pairs `asked` were sent, in this order:
    those of questions, or of the beginnings and then the steps of sessions.

    Indices inside the steps are not read here. Raises `BadMessage`.
    """
    if not isinstance(message, dict) or message.get("run") != run:
        raise BadMessage(f"the line is not the answer to run {run}")
    values, results = message.get("values"), message.get("results")
    if not isinstance(values, list) or not isinstance(results, list):
        raise BadMessage("values or results are missing")
    if len(results) != len(asked):
        raise BadMessage(f"there are {len(results)} results instead of {len(asked)}")
    pairs = zip(results, asked, strict=True)
    return Results(values, [_result(item, *expected) for item, expected in pairs])


def _result(item: Json, expected_id: str, expected_nonce: str) -> Result:
    if not isinstance(item, dict):
        raise BadMessage("a result is not an object")
    if item.get("id") != expected_id:
        raise BadMessage(f"a result has the id {_cut(item.get('id'))} instead of {expected_id!r}")
    if item.get("nonce") != expected_nonce:
        raise BadMessage(f"the result of {expected_id} does not bring back the nonce that was sent")
    told = item.get("status")
    status = STATUSES.get(told) if isinstance(told, str) else None
    if status is None:
        raise BadMessage(f"the status {_cut(told)} is not in the protocol")
    steps = item.get("steps")
    if not isinstance(steps, list):
        raise BadMessage(f"the result of {expected_id} has no steps")
    detail = item.get("detail", "")
    return Result(expected_id, expected_nonce, status, str(detail)[:_DETAIL], steps)  # type: ignore[arg-type]


def _cut(value: Json, width: int = 80) -> str:
    """A value of a message, for a sentence about it."""
    shown = repr(value)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def _sessions(message: dict[str, Json]) -> int:
    held = message.get("sessions", 0)
    if isinstance(held, bool) or not isinstance(held, int) or held < 0:
        raise BadMessage(f"`sessions` in the answer to hello is {_cut(held)}, not a number from 0")
    return held


def _text(message: dict[str, Json], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise BadMessage(f"the answer to hello lacks the text {name!r}")
    return value


def _texts(message: dict[str, Json], name: str) -> list[str]:
    value = message.get(name)
    if not isinstance(value, list):
        raise BadMessage(f"the answer to hello lacks the list {name!r}")
    return [item for item in value if isinstance(item, str)]
