"""The page that says what became of each claim of the texts, and whether that is so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from charter.core import nodes as n
from charter.formats.claims import ClaimSection, TextClaim
from charter.formats.verdicts import InstanceVerdicts, PropertyVerdict
from charter.handbook.outline import CLAIMS
from charter.render.pages.blocks import (
    Block,
    DocumentPage,
    Heading,
    Paragraph,
    Table,
    Text,
    TextRun,
    prose,
    slug,
)

HOW_TO_READ = (
    "Confirmed: what is named holds in every instance that was searched and that meets its"
    " condition, but where an exception is named. Refuted: it fails, after so many steps."
    " Contradictory: the texts say different things. Open: not specified yet. Out of reach: not"
    " a matter of this charter."
)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with what searches show (`evidence`, with names between backticks), and what is wrong
    with it ("": nothing)."""

    claim: TextClaim
    evidence: tuple[str, ...]
    wrong: str


@dataclass(frozen=True, slots=True)
class ClaimJudge:
    """Holds claims against a charter (`models`: its core by variant, "" for none), the verdicts of
    searches, and the scenarios that are named and fail: `failing` has how, by variant and title.
    `broken`: the scenarios and mutants that were left out since they have errors."""

    models: Mapping[str, n.Model]
    rows: Sequence[InstanceVerdicts]
    failing: Mapping[tuple[str, str], str]
    broken: Collection[str] = ()

    def judged(self, claim: TextClaim) -> JudgedClaim:
        """What searches show of a claim."""
        found = {name: self._found(claim, name) for name in claim.by}
        evidence = [text for name, verdicts in found.items() for text in _told(name, verdicts)]
        mutants = {mutant.name: mutant.caught_by for mutant in self.models[""].mutants}
        evidence += [
            f"mutant `{name}`, caught by `{mutants[name]}`" for name in claim.by if name in mutants
        ]
        evidence += [f"scenario “{title}”" for title in claim.scenarios]
        evidence += [f"`{claim.command}`"] if claim.command else []
        return JudgedClaim(claim, tuple(evidence), self._wrong(claim, found))

    def _found(self, claim: TextClaim, name: str) -> dict[str, tuple[int, PropertyVerdict]]:
        """The verdicts of a property by instance, with the number of states."""
        return {
            row.instance: (row.states, row.verdicts[name])
            for row in self.rows
            if row.variant == claim.variant and not row.mutant and name in row.verdicts
        }

    def _wrong(
        self, claim: TextClaim, found: Mapping[str, Mapping[str, tuple[int, PropertyVerdict]]]
    ) -> str:
        unknown = self._unknown(claim)
        if unknown:
            return unknown
        if claim.verdict in ("contradictory", "open", "out of reach"):
            return "" if claim.why else f"a claim that is {claim.verdict} says why"
        if not (claim.by or claim.scenarios or claim.command):
            return f"a claim that is {claim.verdict} names properties, scenarios or a command"
        for title in claim.scenarios:
            if (claim.variant, title) in self.failing:
                return self.failing[claim.variant, title]
        mutants = {mutant.name: mutant.caught_by for mutant in self.models[""].mutants}
        asked = [name for name in claim.by if name not in mutants]
        answers = {name: [one for _, one in found[name].values()] for name in asked}
        if claim.verdict == "refuted":
            broken = any(one.word == "violated" for each in answers.values() for one in each)
            return "" if broken or not asked else f"{', '.join(asked)} fails in no instance"
        for name, each in answers.items():
            if any(one.word == "violated" and not one.expected for one in each):
                return f"{name} fails where no instance lists it under `fails`"
            if not any(one.word in ("holds", "found") for one in each):
                return f"no instance that was searched meets {name}"
        return self._not_caught({name: mutants[name] for name in claim.by if name in mutants})

    def _not_caught(self, mutants: Mapping[str, str]) -> str:
        """The first of these mutants that no search shows to break its property, told; or ""."""
        for mutant, name in mutants.items():
            found = [row.verdicts.get(name) for row in self.rows if row.mutant == mutant]
            if not any(one is not None and one.word == "violated" for one in found):
                return f"no search shows that the mutant {mutant} breaks {name}"
        return ""

    def _unknown(self, claim: TextClaim) -> str:
        """A name in a claim that the charter does not have; "" if it has all."""
        model = self.models.get(claim.variant)
        if model is None:
            return f"there is no variant {claim.variant}"
        known = {one.name for one in model.properties} | {one.name for one in model.liveness}
        known |= {mutant.name for mutant in model.mutants}
        titles = {scenario.title for scenario in model.scenarios}
        sources = {name for name, _ in model.sources}
        for name in (*claim.by, *claim.scenarios):
            if name in self.broken:
                return f"{name} has errors"
        for name in claim.by:
            if name not in known:
                return f"there is no property, witness or mutant {name}"
        for title in claim.scenarios:
            if title not in titles:
                return f"there is no scenario {title!r}"
        for cited in claim.cites:
            if cited.partition(" ")[0] not in sources:
                return f"{cited!r} does not begin with a source of the charter"
        return ""


def _told(name: str, found: Mapping[str, tuple[int, PropertyVerdict]]) -> Iterator[str]:
    """What searches found of a property."""
    good = [states for states, one in found.values() if one.word in ("holds", "found")]
    if good:
        how = "found" if any(one.word == "found" for _, one in found.values()) else "holds"
        instances = "1 instance" if len(good) == 1 else f"{len(good)} instances"
        yield f"`{name}` {how} in {instances} of up to {max(good):,} states"
    for instance, (_, one) in found.items():
        if one.word == "violated":
            after = "" if one.steps is None else f" after {one.steps} steps"
            yield f"`{name}` fails in `{instance}`{after}"


def claims_page(
    sections: Sequence[ClaimSection],
    judge: ClaimJudge,
    cited: Callable[[str], Text],
    show: Callable[[str], Text] = prose,
) -> DocumentPage:
    """The page of the claims. `cited` makes a text of a citation, `show` of what has names between
    backticks."""
    claims = [claim for section in sections for claim in section.claims]
    verdicts = Counter(claim.verdict for claim in claims)
    counts = (f"{count} {verdict}" for verdict, count in verdicts.items())
    blocks: list[Block] = [
        Paragraph((TextRun(f"{len(claims)} claims: {', '.join(counts)}. {HOW_TO_READ}"),))
    ]
    for section in sections:
        blocks.append(Heading(2, section.title, anchor=slug(section.title)))
        lines = tuple(_line(judge.judged(claim), cited, show) for claim in section.claims)
        blocks.append(Table(("", "claim", "verdict", "shown by", "source"), lines))
    return DocumentPage(CLAIMS, "What the texts claim", tuple(blocks))


def _line(
    one: JudgedClaim, cited: Callable[[str], Text], show: Callable[[str], Text]
) -> tuple[Text, ...]:
    claim = one.claim
    shown = "; ".join(one.evidence)
    says = f"{shown}. {claim.why}" if shown and claim.why else shown or claim.why
    variant = f" (variant `{claim.variant}`)" if claim.variant else ""
    sources: list[TextRun] = []
    for source in claim.cites:
        sources += [TextRun(", ")] if sources else []
        sources += cited(source)
    return (
        (TextRun(claim.id),),
        show(claim.says),
        show(claim.verdict + variant),
        show(says),
        tuple(sources),
    )
