"""Checks that the walks of a run can fail: on models that are wrong, the walker must see it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import orjson

from charter.formats.run_description import WALKS_OF_BLOCK
from charter.formats.target import DEADLINES
from charter.formats.verdict import Kind
from conform.adapters.session import Session
from conform.judging import model
from conform.judging.automaton import ways
from conform.judging.siblings import Siblings
from conform.judging.verdict import VectorItem
from conform.runs.canaries.canaries import FORGETS, TRIES, Canary, ModelAdapter, skip
from conform.runs.canaries.trust import WALKS
from conform.runs.run_context import RunContext
from conform.walks.block import BlockLimits, JudgedWalk, WalkedBlock, WalkTarget, walk_block

WRONG_MODELS_MAX = 2
"""The most mutants, or forgotten operations, that are walked on until one is seen."""
BLOCKS_MAX = 2
"""The most blocks of walks in which one of them must be seen."""


def canaries_of_walks(context: RunContext) -> list[Canary]:
    """Once for each run with walks: an adapter that does nothing must be seen, and a mutant of the
    charter. Where no mutant is, a model that forgets an operation must be, if the suite shows that
    it can be seen; what is not seen otherwise is counted as skipped. The walks begin with no
    question of the suite, so that they say something of the walker. Raises `BadSuite`, and
    `ModelBug`."""
    if not (context.walks and context.reference and context.model and context.types):
        return []
    idle = _walk(ModelAdapter(context.model, nothing=True), context, 0)
    if not _deviates(idle):
        return [Canary("nothing", WALKS, "", "diverges", "conforms", False)]
    found = [Canary("nothing", WALKS, "", "diverges", "diverges", True)]
    mutants = {module: ModelAdapter(module) for module in [*context.canaries][:WRONG_MODELS_MAX]}
    seen = _find_seen(mutants, context)
    if mutants and not seen:
        walks = BLOCKS_MAX * WALKS_OF_BLOCK
        why = f"{walks} walks tell none of {len(mutants)} mutants from the charter"
        found.append(skip(WALKS, why))
    if not seen:
        moving = [*context.forgetful] or sorted(idle.coverage.moving)
        forgetful = {
            f"{context.model}{FORGETS}{name}": ModelAdapter(context.model, forgets=name)
            for name in moving[:WRONG_MODELS_MAX]
        }
        seen = _find_seen(forgetful, context)
        if not seen and not context.forgetful:  # nothing says that a walk can tell one of them
            why = f"walks tell none of {len(forgetful)} models that forget an operation"
            return [*found, skip(WALKS, why)]
    got = "diverges" if seen else "conforms"
    where = f"{WALKS}, mutant {seen}" if seen else WALKS
    return [*found, Canary("mutant", where, "", "diverges", got, bool(seen))]


def list_cut(walks: Sequence[JudgedWalk]) -> list[VectorItem]:
    """Walks up to the step before their first deviation, for canaries of a block in which all
    deviate. These conform."""
    return [*_list_cut(walks)][:TRIES]


def _list_cut(walks: Sequence[JudgedWalk]) -> Iterator[VectorItem]:
    for walk in walks:
        first = walk.assessment.verdict.first
        if walk.assessment.verdict.kind is Kind.DIVERGES and first is not None and first.step > 1:
            question, answer = orjson.loads(walk.item.question), orjson.loads(walk.item.answer)
            question["operations"] = question["operations"][: first.step - 1]
            answer["steps"] = answer["steps"][: first.step]
            texts = (orjson.dumps(one, option=orjson.OPT_SORT_KEYS) for one in (question, answer))
            asked, expected = texts
            yield replace(
                walk.item, question=asked, answer=expected, ways=orjson.dumps(ways(answer))
            )


def _find_seen(wrong: Mapping[str, ModelAdapter], context: RunContext) -> str:
    """The name of the first wrong model that walks see; "" for none. Those that escape a block are
    tried in the next one."""
    for block in range(BLOCKS_MAX):
        for name, adapter in wrong.items():
            if _deviates(_walk(adapter, context, block)):
                return name
    return ""


def _deviates(found: WalkedBlock) -> bool:
    return any(walk.assessment.verdict.kind is Kind.DIVERGES for walk in found.walks)


def _walk(wrong: ModelAdapter, context: RunContext, block: int) -> WalkedBlock:
    """A block of walks on a model that is wrong, up to the first that deviates."""
    connection = wrong.connect(context)
    try:
        charter = Siblings(model.load(context.model), opaque=context.opaque)
        variables = context.variables or None
        session = Session(connection, charter, DEADLINES, secrets.token_hex(4), variables)
        session.judge.set_opaque_types(context.opaque)  # of whatever type
        assert context.types is not None
        consts = frozenset(context.start.consts)
        target = WalkTarget(session, charter, context.types, consts, context.component)
        plan = replace(context.walks, seconds=0, count=BLOCKS_MAX * WALKS_OF_BLOCK)
        return walk_block(target, plan, plan.numbers(block), BlockLimits(first=True))
    finally:
        connection.close()
