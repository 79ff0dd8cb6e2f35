"""What the texts of a protocol claim, held against what searches of its charter found."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from charter.api.charters import Charter
from charter.api.verdicts import current
from charter.core import nodes as n
from charter.formats.claims import (
    FILE,
    BadClaims,
    ClaimSection,
    claims_file,
    read_claims,
)
from charter.formats.verdicts import read_verdicts, verdicts_file
from charter.handbook.claims import ClaimJudge, JudgedClaim, claims_page
from charter.project.sources import Selection
from charter.render.pages.as_markdown import in_markdown
from charter.render.pages.blocks import TextRun
from charter.semantics.scenario import ScenarioFails, follow

__all__ = ["FILE", "BadClaims", "ClaimJudge", "Claims", "JudgedClaim", "claims_file", "claims_of"]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims beside a charter, and what they are held against."""

    sections: tuple[ClaimSection, ...]
    judge: ClaimJudge

    @property
    def searched(self) -> bool:
        """Whether there are verdicts of the charter as it is now."""
        return bool(self.judge.rows)

    def judged(self) -> tuple[JudgedClaim, ...]:
        """Each claim with what searches show of it."""
        return tuple(self.judge.judged(c) for section in self.sections for c in section.claims)

    def markdown(self) -> str:
        """The claims as a Markdown page."""
        return in_markdown(claims_page(self.sections, self.judge, lambda text: (TextRun(text),)))


def claims_of(charter: Charter, path: Path) -> Claims:
    """The claims beside the charter at `path`. Raises `BadClaims` or `BadVerdicts`."""
    sections = read_claims(claims_file(path))
    rows = current(charter, read_verdicts(verdicts_file(path)))
    models = {"": charter.model()}
    named = {claim.variant for section in sections for claim in section.claims}
    for variant in named & set(models[""].variants):
        models[variant] = charter.model(Selection(variant))
    failing = {
        (variant, title): how
        for variant, model in models.items()
        for title, how in _failing(model, _titles(sections, variant))
    }
    return Claims(sections, ClaimJudge(models, rows, failing))


def _titles(sections: Iterable[ClaimSection], variant: str) -> set[str]:
    """The scenarios that the claims about a variant name."""
    claims = (claim for section in sections for claim in section.claims)
    return {title for claim in claims if claim.variant == variant for title in claim.scenarios}


def _failing(model: n.Model, titles: Container[str]) -> Iterator[tuple[str, str]]:
    """Those of some scenarios that fail, each with one sentence that says how."""
    for scenario in model.scenarios:
        if scenario.title in titles:
            try:
                follow(model, scenario)
            except ScenarioFails as failure:
                yield scenario.title, failure.sentence()
