"""Asks an adapter that claims `load` for given states of a suite, without operations, and compares
what it shows with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import orjson

from charter.formats.canonical import Json
from charter.formats.types import JudgedTypes
from charter.formats.verdict import Kind
from conform.adapters.base import BatchAnswered, Connection, SentQuestion
from conform.adapters.session import offers, select_compared
from conform.console.terminal import plural
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts
from conform.judging.verdict import VectorItem, assess

MOST = 16
"""The most given states that are asked for."""


def select_given(items: Iterable[VectorItem]) -> tuple[VectorItem, ...]:
    """Vectors of a suite from different given states, without their operations: `MOST` of them."""
    found: dict[bytes, VectorItem] = {}
    for item in items:
        if len(found) == MOST:
            break
        question: dict[str, Json] = orjson.loads(item.question)
        if question["given"] is None:
            continue
        cut = orjson.dumps({**question, "operations": []}, option=orjson.OPT_SORT_KEYS)
        if cut not in found:
            answer = orjson.loads(item.answer)
            first = orjson.dumps({**answer, "steps": answer["steps"][:1]})
            found[cut] = replace(
                item, question=cut, answer=first, why=b'{"purpose":[]}', needs="load", ways=b"{}"
            )
    return tuple(found.values())


def check_loading(
    connection: Connection,
    deadline: float,
    asked: Sequence[VectorItem],
    variables: Sequence[str],
    types: JudgedTypes | None,
) -> tuple[str, str]:
    """What is wrong with how an adapter loads given states, "" for nothing, and how many it loaded.
    Raises `CannotStart` if the adapter cannot be started again."""
    welcome = connection.welcome
    judge = Judge(select_compared(welcome, variables), offers(welcome), types)
    came, refused = 0, 0
    for item in asked:
        connection.send([SentQuestion(item.id, "nonce", item.question)], deadline)
        answer = connection.receive()
        if not isinstance(answer, BatchAnswered):
            connection.restart()
            return f"the adapter breaks ({answer.kind.replace('_', ' ')}): {answer.detail}", ""
        batch = BatchTexts.of(answer.results, judge.observes)
        verdict = assess(item, answer.results.results[0], batch, judge, None).verdict
        refused += verdict.kind is Kind.NOT_LOADABLE
        came += verdict.kind is Kind.CONFORMS
        if verdict.kind not in (Kind.CONFORMS, Kind.NOT_LOADABLE):
            return verdict.detail or "it answers with a fault", ""
    states = plural(came, "given state")
    return "", f"{states}, {refused} not loadable" if refused else states
