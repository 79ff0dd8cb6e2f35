"""Writes the page of claims: each with its verdict, and whether that is up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from charter.core import nodes as n
from charter.formats.charter_files.claims import ClaimSection, TextClaim
from charter.formats.charter_files.verdicts import InstanceVerdicts
from charter.handbook.outline import CLAIMS
from charter.handbook.pictures import DrawFailure, failure_path
from charter.render.pages.blocks import (
    Block,
    DocumentPage,
    Figure,
    Heading,
    Paragraph,
    Table,
    Text,
    TextRun,
    slug,
)

HOW_TO_READ = (
    "Confirmed: what is named holds in every instance that was searched and that meets its"
    " condition. With exceptions: it fails in some, which are named with the reason. Refuted: it"
    " fails, after so many steps. Contradictory: the texts say different things. Open: not"
    " specified yet. Out of reach: not a matter of this charter."
)
OUT_OF_DATE = "out of date"
WITH_EXCEPTIONS = "confirmed, with exceptions"
WORDS = ("confirmed", WITH_EXCEPTIONS, "refuted", "contradictory", "open", "out of reach")


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """Some words about what shows a claim, with names between backticks, and what they are about:
    the title of a `scenario`, or a search (`row`) in which the property `fails`."""

    text: str
    scenario: str = ""
    row: InstanceVerdicts | None = None
    fails: str = ""


Evidence = tuple[EvidencePart, ...]
"""A sentence about what shows a claim."""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with what searches show, and what is wrong with it ("": nothing). `out_of_date`: it
    rests on searches that are, so that they show neither that it is so nor that it is not."""

    claim: TextClaim
    shown: tuple[Evidence, ...]
    wrong: str
    out_of_date: bool = False

    @property
    def verdict(self) -> str:
        """The verdict in words: one that is confirmed may fail in some instances."""
        failing = any(part.fails for sentence in self.shown for part in sentence)
        if failing and self.claim.verdict == "confirmed":
            return WITH_EXCEPTIONS
        return self.claim.verdict

    @property
    def evidence(self) -> tuple[str, ...]:
        """What searches show as text, with names between backticks."""
        return tuple("".join(part.text for part in sentence) for sentence in self.shown)


@dataclass(frozen=True, slots=True)
class ClaimPlaces:
    """What a page of claims can lead to: the places of scenarios by the variant that adds them ("":
    the charter itself) and their titles, and the files of the pictures that are on other pages.
    `draw` draws what none of them shows (None: nothing is drawn)."""

    scenarios: Mapping[tuple[str, str], str] = field(default_factory=dict)
    pictures: frozenset[str] = frozenset()
    draw: DrawFailure | None = None

    def of(self, part: EvidencePart, variant: str) -> str:
        """The target of a link from a part of the evidence for a claim about a variant; "" for
        none."""
        if part.row is not None:
            path = failure_path(part.row, part.fails)
            return path if path in self.pictures else ""
        if not part.scenario:
            return ""
        titled = [place for (_, title), place in self.scenarios.items() if title == part.scenario]
        own = self.scenarios.get((variant, part.scenario))
        return own or self.scenarios.get(("", part.scenario)) or next(iter(titled), "")

    def missing(
        self, claims: Iterable[JudgedClaim], rows: Sequence[InstanceVerdicts]
    ) -> Iterator[Figure]:
        """For each property that fails, and of which no other page has a picture, the one of its
        shortest trace; of a variant rather in an instance where the charter itself keeps the
        property, by the `rows` of all searches."""
        broken = {
            (row.instance, name)
            for row in rows
            for name, one in row.verdicts.items()
            if row.is_of_charter and one.word == "violated"
        }

        def order(found: tuple[InstanceVerdicts, str]) -> tuple[bool, int]:
            row, name = found
            is_own = row.variant != "" and (row.instance, name) in broken
            return is_own, len(row.verdicts[name].trace)

        for sentence in (sentence for one in claims for sentence in one.shown):
            failed = [
                (part.row, part.fails)
                for part in sentence
                if part.row is not None and not part.row.out_of_date
            ]
            drawn = any(failure_path(row, name) in self.pictures for row, name in failed)
            if failed and not drawn and self.draw is not None:
                found = self.draw(*min(failed, key=order))
                yield from (block for block in found if isinstance(block, Figure))


NOWHERE = ClaimPlaces()


@dataclass(frozen=True, slots=True)
class ClaimJudge:
    """Holds claims against a charter (`models`: its core by variant, "" for none), the verdicts of
    searches, and the scenarios that are named and fail: `failing` has how, by variant and title.
    `broken`: the scenarios and mutants that were left out since they have errors."""

    models: Mapping[str, n.Model]
    rows: Sequence[InstanceVerdicts]
    failing: Mapping[tuple[str, str], str]
    broken: Collection[str] = ()

    def judge(self, claim: TextClaim) -> JudgedClaim:
        """What searches show of a claim."""
        found = {name: self._find_rows(claim, name) for name in claim.by}
        of_states = {one.name for model in self.models.values() for one in model.properties
                     if one.kind == "always"}  # fmt: skip
        shown = [each for name, rows in found.items() for each in _tell(name, rows, of_states)]
        mutants = {mutant.name: mutant.caught_by for mutant in self.models[""].mutants}
        shown += [
            (EvidencePart(f"mutant `{name}`, caught by `{mutants[name]}`"),)
            for name in claim.by
            if name in mutants
        ]
        shown += [
            (EvidencePart("scenario "), EvidencePart(f"“{title}”", scenario=title))
            for title in claim.scenarios
        ]
        shown += [(EvidencePart(f"`{claim.command}`"),)] if claim.command else []
        wrong = self._explain_misstatement(claim)
        is_old = not wrong and self._is_out_of_date(claim)
        if is_old:
            now = {name: [r for r in rows if not r.out_of_date] for name, rows in found.items()}
            wrong = self._explain_unexpected(claim, now)
            if not wrong:
                shown.append((EvidencePart("the searches are out of date"),))
                return JudgedClaim(claim, tuple(shown), "", out_of_date=True)
        return JudgedClaim(claim, tuple(shown), wrong or self._explain_refutation(claim, found))

    def _find_rows(self, claim: TextClaim, name: str) -> tuple[InstanceVerdicts, ...]:
        """The searches that have a verdict on a property."""
        return tuple(
            row
            for row in self.rows
            if row.variant == claim.variant and not row.mutant and name in row.verdicts
        )

    def _is_out_of_date(self, claim: TextClaim) -> bool:
        """Whether a search is out of date that has to do with what the claim names."""
        if claim.verdict not in ("confirmed", "refuted"):
            return False
        model = self.models[claim.variant]
        machines = {one.machine for one in model.properties if one.name in claim.by}
        machines |= {one.machine for one in model.liveness if one.name in claim.by}
        return any(
            row.out_of_date
            and (row.mutant in claim.by if row.mutant else row.machine in machines)
            and row.variant == claim.variant
            for row in self.rows
        )

    def _explain_misstatement(self, claim: TextClaim) -> str:
        """What is wrong with a claim whatever searches show; "" for nothing."""
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
        return ""

    def _explain_unexpected(
        self, claim: TextClaim, found: Mapping[str, Sequence[InstanceVerdicts]]
    ) -> str:
        """The first property of a confirmed claim that fails where it is not expected, told."""
        for name, rows in found.items() if claim.verdict == "confirmed" else ():
            answers = (row.verdicts[name] for row in rows)
            if any(one.word == "violated" and not one.expected for one in answers):
                return f"{name} fails where no instance lists it under `fails`"
        return ""

    def _explain_refutation(
        self, claim: TextClaim, found: Mapping[str, Sequence[InstanceVerdicts]]
    ) -> str:
        """What searches show against a claim; "" for nothing."""
        if claim.verdict not in ("confirmed", "refuted"):
            return ""
        mutants = {mutant.name: mutant.caught_by for mutant in self.models[""].mutants}
        asked = [name for name in claim.by if name not in mutants]
        answers = {name: [row.verdicts[name] for row in found[name]] for name in asked}
        if claim.verdict == "refuted":
            broken = any(one.word == "violated" for each in answers.values() for one in each)
            return "" if broken or not asked else f"{', '.join(asked)} fails in no instance"
        if unexpected := self._explain_unexpected(claim, found):
            return unexpected
        for name, each in answers.items():
            if not any(one.word in ("holds", "found") for one in each):
                return f"no instance that was searched meets {name}"
            rows = found[name]
            failing = [row.instance for row in rows if row.verdicts[name].word == "violated"]
            if failing and not claim.why:
                return f"`why` does not say why {name} fails in {', '.join(failing)}"
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


def _tell(name: str, rows: Sequence[InstanceVerdicts], of_states: Set[str]) -> Iterator[Evidence]:
    """What searches found of a property: at most one sentence; `of_states` are the properties that
    can fail in a first state."""
    verdicts = [row.verdicts[name] for row in rows]
    good = [row.states for row in rows if row.verdicts[name].word in ("holds", "found")]
    parts: list[EvidencePart] = []
    if good:
        how = "found" if any(one.word == "found" for one in verdicts) else "holds"
        instances = "1 instance" if len(good) == 1 else f"{len(good)} instances"
        found = f"`{name}` {how} in {instances} of up to {max(good):,} states"
        parts.append(EvidencePart(found))
    before = ", but fails " if good else f"`{name}` fails "
    for row in rows:
        one = row.verdicts[name]
        if one.word == "violated":
            when = "" if one.steps is None else f"after {one.steps} steps"
            when = "in the first state" if name in of_states and not one.trace else when
            parts.append(EvidencePart(f"{before}in `{row.instance}`", fails=name))
            parts += (EvidencePart(" "), EvidencePart(when, row=row, fails=name)) if when else ()
            before = ", "
    if parts:
        yield tuple(parts)


def claims_page(
    sections: Sequence[ClaimSection],
    judge: ClaimJudge,
    texts: tuple[Callable[[str], Text], Callable[[str], Text]],
    places: ClaimPlaces = NOWHERE,
) -> DocumentPage:
    """The page of the claims. Of `texts` the first makes a text of a citation, the second of what
    has names between backticks."""
    judged_of = {section.title: list(map(judge.judge, section.claims)) for section in sections}
    verdicts = Counter(one.verdict for each in judged_of.values() for one in each)
    counts = ", ".join(f"{count} {verdict.replace(',', '')}" for verdict, count in verdicts.items())
    number = sum(verdicts.values())
    blocks: list[Block] = [Paragraph((TextRun(f"{number} claims: {counts}. {HOW_TO_READ}"),))]
    blocks += _by_text([one for each in judged_of.values() for one in each], judge.models[""])
    for section in sections:
        blocks.append(Heading(2, section.title, anchor=slug(section.title)))
        judged = judged_of[section.title]
        figures = {figure.path: figure for figure in places.missing(judged, judge.rows)}
        places = replace(places, pictures=places.pictures | figures.keys())
        lines = tuple(_line(one, texts, places) for one in judged)
        blocks.append(Table(("", "claim", "verdict", "shown by", "source"), lines))
        blocks += (replace(figure, is_folded=True) for figure in figures.values())
    return DocumentPage(CLAIMS, "What the texts claim", tuple(blocks))


def _by_text(judged: Sequence[JudgedClaim], model: n.Model) -> tuple[Block, ...]:
    """How many claims of each source have which verdict; a claim of two sources is in both rows."""
    sources_of = {one.claim.id: {c.partition(" ")[0] for c in one.claim.cites} for one in judged}
    verdicts = [v for v in WORDS if any(one.verdict == v for one in judged)]
    lines = []
    for source, _ in model.sources:
        mine = Counter(one.verdict for one in judged if source in sources_of[one.claim.id])
        counts = [str(mine[verdict] or "") for verdict in verdicts]
        if mine:
            lines.append(tuple((TextRun(text),) for text in (source, *counts)))
    if not lines:
        return ()
    said = Paragraph((TextRun("A claim that cites two texts is counted with both."),))
    table = Table(("text", *verdicts), tuple(lines))
    return Heading(2, "By text", anchor="by-text"), said, table


def _line(
    one: JudgedClaim,
    texts: tuple[Callable[[str], Text], Callable[[str], Text]],
    places: ClaimPlaces,
) -> tuple[Text, ...]:
    claim, (cited, show) = one.claim, texts
    says: list[TextRun] = []
    for sentence in one.shown:
        says += [TextRun("; ")] if says else []
        for part in sentence:
            target = places.of(part, claim.variant)
            says += (TextRun(part.text, target=target),) if target else show(part.text)
    says += [TextRun(". ")] if says and claim.why else []
    says += show(claim.why) if claim.why else ()
    variant = f" (variant `{claim.variant}`)" if claim.variant else ""
    sources: list[TextRun] = []
    for source in claim.cites:
        sources += [TextRun(", ")] if sources else []
        sources += cited(source)
    return (
        (TextRun(claim.id),),
        show(claim.says),
        show(one.verdict + variant),
        tuple(says),
        tuple(sources),
    )
