"""Imports vectors into the cache, with a fast path for undamaged files.

An id and two digests cover the content of a vector. If they match and the automaton is valid, the
vector is accepted; otherwise `charter.formats.vector` parses it and explains what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import orjson

from charter import formats
from charter.formats import canonical
from charter.formats.adapter import constant
from charter.formats.canonical import Json
from charter.formats.changes import whole
from charter.formats.reading import BadVector
from charter.formats.suite import digest_line
from charter.formats.vector import (
    MAX_NODES,
    Question,
    Vector,
    read_line,
    read_question,
    read_vector,
    read_why,
)
from conform.judging import automaton
from conform.judging.verdict import VectorItem

_ANSWER = frozenset({"question", "digest", "observations", "replies", "steps"})
_NODE = frozenset({"from", "branch", "reply", "observation"})


@dataclass(frozen=True, slots=True)
class Imported:
    """A vector as item, its line for the suite's digest, and its obligations."""

    item: VectorItem
    line: str
    obligations: tuple[str, ...]


class _Odd(Exception):
    """The fast path does not apply; the strict reader has to decide."""


_ODDITIES = (
    _Odd, BadVector, KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError,
)  # fmt: skip


@cache
def importer_digest() -> str:
    """The SHA-256 of the code that reads vectors and derives columns from them."""
    files = [Path(__file__), Path(automaton.__file__), *Path(formats.__file__).parent.glob("*.py")]
    total = sha256()
    for file in sorted(files, key=lambda file: file.name):
        total.update(sha256(file.read_bytes()).digest())
    return total.hexdigest()


def import_line(line: bytes, where: str) -> Imported:
    """The vector on one line. Raises `BadVector`."""
    try:
        return _quick(orjson.loads(line))
    except _ODDITIES:
        return _check(read_line(line, where), where)


def import_value(value: dict[str, Json], where: str) -> Imported:
    """The vector in parsed JSON. Raises `BadVector`."""
    try:
        return _quick(value)
    except _ODDITIES:
        return _check(read_vector(value, where), where)


def _check(vector: Vector, where: str) -> Imported:
    try:
        return import_vector(vector)
    except TypeError as problem:  # JSON that cannot be written again, such as half a surrogate pair
        raise BadVector(f"{where}: {problem}") from None


def import_vector(vector: Vector) -> Imported:
    """The import of a validated vector."""
    item = item_of(vector)
    return Imported(item, digest_line(vector), vector.why.obligations)


def item_of(vector: Vector) -> VectorItem:
    """The item of a vector."""
    whole = vector.json()
    assert isinstance(whole, dict)
    question, answer, why = (_text(whole[name]) for name in ("question", "answer", "why"))
    few = orjson.dumps(automaton.ways(orjson.loads(answer)))
    return VectorItem(vector.id, question, answer, why, needs(vector.question), few)


def needs(question: Question) -> str:
    """The capabilities and operations that a question needs from a target."""
    names = {call.operation for call in question.operations}
    if question.given is not None:
        names.add("load")
    names |= {constant(name) for name in question.consts}
    return " ".join(sorted(names))


def _text(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _digest(text: bytes) -> str:
    return canonical.text_digest(text.decode())


def _quick(value: object) -> Imported:
    _exactly(value, frozenset({"question", "answer", "why"}))
    assert isinstance(value, dict)
    question, answer, why = value["question"], copy(value["answer"]), value["why"]
    asked, reasons = read_question(question), read_why(why)
    changes = answer.pop("changes", None)
    _exactly(answer, _ANSWER)
    if not isinstance(answer["observations"], list) or not isinstance(changes, list | None):
        raise _Odd
    answer["observations"] = list(whole(asked.given, answer["observations"], changes, ""))
    question_text = _text(question)
    name = _digest(question_text)
    content = {part: answer[part] for part in ("observations", "replies", "steps")}
    if answer["question"] != name:
        raise _Odd
    if answer["digest"] != _digest(_text(content)):
        raise _Odd
    _check_steps(answer, len(asked.operations))
    why_text = _text(why)
    few = orjson.dumps(automaton.ways(answer))
    item = VectorItem(name, question_text, _text(answer), why_text, needs(asked), few)
    line = f"{name} {answer['digest']} {_digest(why_text)}"
    return Imported(item, line, reasons.obligations)


def _exactly(value: object, names: frozenset[str]) -> None:
    if not isinstance(value, dict) or value.keys() != names:
        raise _Odd


def _check_steps(answer: Mapping[str, list[list[dict[str, object]]]], operations: int) -> None:
    """Check that every index is valid and every step has nodes."""
    steps = answer["steps"]
    if len(steps) != operations + 1:
        raise _Odd
    replies, observations = len(answer["replies"]), len(answer["observations"])
    before = 0
    for number, step in enumerate(steps):
        if not 1 <= len(step) <= MAX_NODES:
            raise _Odd
        for node in step:
            origins, reply, observation = node["from"], node["reply"], node["observation"]
            if node.keys() != _NODE or type(reply) is not int or type(observation) is not int:
                raise _Odd
            if not isinstance(origins, list) or bool(origins) != bool(number):
                raise _Odd
            if not (-1 <= reply < replies and 0 <= observation < observations):
                raise _Odd
            for origin in origins:
                if type(origin) is not int or not 0 <= origin < before:
                    raise _Odd
        before = len(step)
