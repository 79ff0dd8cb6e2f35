"""Checks that the walks of a run can fail: on models that are wrong, the walker must see it."""

from __future__ import annotations

import secrets
from dataclasses import replace

from charter.formats.target import DEADLINES
from charter.formats.verdict import Kind
from conform.adapters.session import Session
from conform.judging import model
from conform.judging.follow import Siblings
from conform.runs.canaries.canaries import Canary, ModelAdapter, skip
from conform.runs.run_context import RunContext
from conform.walks.block import WalkTarget, walk_block

MUTANTS_TRIED = 3
"""The most mutants that are walked on until one is seen."""
_WHERE = "walks"


def canaries_of_walks(context: RunContext) -> list[Canary]:
    """Once for each run with walks: an adapter that does nothing must be seen by the first of them,
    and a mutant of the charter. Where no mutant is seen, the canary is skipped and says so. Raises
    `BadSuite`, and `ModelBug`."""
    if not (context.walks and context.reference and context.model and context.types):
        return []
    if not _sees(ModelAdapter(context.model, nothing=True), context):
        return [Canary("nothing", _WHERE, "", "diverges", "conforms", False)]
    found = [Canary("nothing", _WHERE, "", "diverges", "diverges", True)]
    mutants = [*context.canaries][:MUTANTS_TRIED]
    for module in mutants:
        if _sees(ModelAdapter(module), context):
            where = f"{_WHERE}, mutant {module}"
            return [*found, Canary("mutant", where, "", "diverges", "diverges", True)]
    if mutants:
        why = (
            f"the first walks tell none of {len(mutants)} mutants from the charter: make more walks"
        )
        found.append(skip(_WHERE, why))
    return found


def _sees(wrong: ModelAdapter, context: RunContext) -> bool:
    """Whether one of the first walks of a run diverges on a model that is wrong."""
    connection = wrong.connect(context)
    try:
        charter = Siblings(model.load(context.model), opaque=context.opaque)
        variables = context.variables or None
        session = Session(connection, charter, DEADLINES, secrets.token_hex(4), variables)
        session.judge.set_opaque_types(context.opaque)  # of whatever type
        assert context.types is not None
        target = WalkTarget(
            session, charter, context.types, frozenset(context.start.consts), context.component,
            context.prefixes,
        )  # fmt: skip
        plan = replace(context.walks, seconds=0)
        found = walk_block(target, plan, plan.numbers(0))
    finally:
        connection.close()
    return any(walk.assessment.verdict.kind is Kind.DIVERGES for walk in found.walks)
