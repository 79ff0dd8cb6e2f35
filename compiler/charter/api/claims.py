"""Compares the claims of a protocol's texts with what searches of its charter found."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from charter.api.charters import Charter
from charter.api.verdicts import mark_out_of_date
from charter.formats.charter_files.claims import (
    FILE,
    BadClaims,
    ClaimSection,
    claims_file,
    read_claims,
)
from charter.formats.charter_files.verdicts import read_verdicts, verdicts_file
from charter.handbook.claims import ClaimJudge, JudgedClaim, claims_page
from charter.project.sources import Selection
from charter.render.pages.as_markdown import in_markdown
from charter.render.pages.blocks import TextRun, prose
from charter.semantics.scenario import failing

__all__ = ["FILE", "BadClaims", "ClaimJudge", "Claims", "JudgedClaim", "claims_file", "claims_of"]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims beside a charter, and what they are held against."""

    sections: tuple[ClaimSection, ...]
    judge: ClaimJudge

    @property
    def searched(self) -> bool:
        """Whether there are verdicts of searches, be they out of date."""
        return bool(self.judge.rows)

    def judge_all(self) -> tuple[JudgedClaim, ...]:
        """Each claim with what searches show of it."""
        return tuple(self.judge.judge(c) for section in self.sections for c in section.claims)

    def markdown(self) -> str:
        """The claims as a Markdown page."""
        texts = (lambda text: (TextRun(text),)), prose
        return in_markdown(claims_page(self.sections, self.judge, texts))


def claims_of(charter: Charter, path: Path, broken: Collection[str] = ()) -> Claims:
    """The claims beside the charter at `path`; `broken` are the scenarios and mutants that it lacks
    since they have errors. Raises `BadClaims` or `BadVerdicts`, and `Refused` for a variant that a
    claim names."""
    sections = read_claims(claims_file(path))
    rows = mark_out_of_date(charter, read_verdicts(verdicts_file(path)))
    models = {"": charter.model()}
    claims = [claim for section in sections for claim in section.claims]
    for variant in {claim.variant for claim in claims} & set(models[""].variants):
        models[variant] = charter.model(Selection(variant))
    named = {(claim.variant, title) for claim in claims for title in claim.scenarios}
    fails: dict[tuple[str, str], str] = {}
    for variant, model in models.items():
        followed = tuple(s for s in model.scenarios if (variant, s.title) in named)
        for failure in failing(replace(model, scenarios=followed)):
            fails[variant, failure.title] = failure.sentence()
    return Claims(sections, ClaimJudge(models, rows, fails, broken))
