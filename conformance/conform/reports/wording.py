"""Writes the sentences of the report. They say nothing that was not measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from charter.formats.canonical import Json
from charter.formats.findings.reviewed import ReviewedFinding
from charter.formats.reading import mapping, texts
from charter.formats.run import SystemAnswer
from conform.console.terminal import plural
from conform.judging.siblings import list_members
from conform.reports.findings import TOGETHER
from conform.reports.runs import ReportedRun
from conform.runs.entry_widths import adds_told, both_told, entry_steps
from conform.runs.extent import Extent, read_extent
from conform.runs.findings.baseline import tell_compared
from conform.runs.findings.findings import read_findings
from conform.runs.findings.limits import images_told
from conform.runs.resume import tell_continued
from conform.runs.walk_counts import tell_besides

VERDICTS: Mapping[str, str] = {
    "conforms": "the charter allows every step",
    "diverges": "the charter does not allow at least one step",
    "inconclusive": "the charter allows every step, but the vector's purpose was not reached",
    "unsupported": "the target lacks what the vector needs; it was not sent",
    "not_loadable": "after loading, the state differed from the given one",
    "unresolved": "an argument refers to a value that the target did not show",
    "crashed": "the adapter ended",
    "timed_out": "no answer within the deadline",
    "adapter_error": "the adapter failed, or violated the adapter protocol",
}
CLASSES: Mapping[str, str] = {
    "new": "not explained: no entry of the overlay covers it",
    "charter_gap": "charter gap: the texts are silent, the charter must be fixed",
    "by_design": "by design: the implementation differs on purpose, and the cited place says so",
    "harmless": "harmless: the implementation differs, and nobody is the worse for it",
    "known_defect": "known defect: reported to its authors",
    "suspected_defect": "suspected defect: the texts forbid it",
    "several_entries": "explained by more than one entry of the overlay together",
    "explained": "explained by an entry of the overlay",
    "in_the_baseline": "known: the baseline of the target gives a reason for it",
}
SEVERITIES: Mapping[str, str] = {
    "fault": "the target threw something that the protocol does not name",
    "state": "the state after the step is not one that the charter allows",
    "reply": "the state is allowed, the reply is not",
    "image": "a second reader of the same history does not agree",
}
OPEN = "open environment"


@dataclass(frozen=True, slots=True)
class RunStatement:
    """What the report says of a run. `tone`: good, known, bad or void."""

    tone: str
    word: str
    sentence: str


OTHER_MODELS = (
    "generated/ has changed since the run, so what the report says of rules, ledger and mutants is"
    " of the charter as it is now"
)
"""What is said of a run whose models are not there any more."""


def human(name: str) -> str:
    """A name from a format (`not_loadable`) as words."""
    return name.replace("_", " ")


def percent(part: int, whole: int) -> str:
    """A share in percent; 0 % or 100 % only if it is exactly none or all."""
    if not part:
        return "0 %"
    share = min(max(100 * part / whole, 0.1), 100 if part == whole else 99.9)
    return f"{share:.1f} %" if share < 10 or 99 < share < 100 else f"{share:.0f} %"


def extent(run: ReportedRun) -> Extent:
    """How much the run judged."""
    return read_extent(run.summary)


def statement(run: ReportedRun) -> RunStatement:
    """What the run shows of its target."""
    seen = extent(run)
    new, known, baseline = (
        run.count(name) for name in ("new_deviations", "deviations", "baseline_deviations")
    )
    known -= new + baseline
    if not seen.judged:
        return RunStatement(
            "void", "nothing judged", "No vector was judged, so nothing is claimed."
        )
    measured = count_unexplained(run, new)
    if known:
        counted = run.counts("by_entry").items()
        entries = len(list_members(name for name, count in counted if count) - {TOGETHER})
        covered = plural(entries, "entry", "entries")
        measured += f", {plural(known, 'deviation')} explained by {covered} of the overlay"
    if baseline:
        measured += f", {plural(baseline, 'deviation')} known in the baseline"
        if told := tell_compared(texts(run.summary.get("listed_by_another_suite"))):
            measured += f" ({told})"
    measured += f"; {seen.tell()}"
    if told := tell_continued(run.count("continued")):
        measured += f"; {told}"
    if seen.by:
        measured += f"; by {seen.by}"
    if besides := tell_besides(run.summary):
        measured += f"; besides {besides}"
    sentence = f"{measured}."
    if new:
        return RunStatement("bad", "diverges", sentence)
    if stale(run):
        names = ", ".join(stale(run))
        return RunStatement("bad", "overlay out of date", f"{sentence} No longer seen: {names}.")
    if excess(run):
        more = "The target follows the charter where its overlay says that it differs."
        return RunStatement("bad", "overlay claims too much", f"{sentence} {more}")
    if seen.missing:
        return RunStatement("void", "incomplete", sentence)
    if known or baseline:
        return RunStatement("known", "explained deviations", sentence)
    return _without_deviation(seen, sentence)


def _without_deviation(seen: Extent, sentence: str) -> RunStatement:
    """What a run without a deviation shows: it is good only if all was judged and compared."""
    if seen.older:
        return RunStatement("known", "no deviation from an older charter", sentence)
    if seen.wishes:
        return RunStatement("known", "no deviation in the part that was asked", sentence)
    if not seen.complete:
        return RunStatement("known", "no deviation in what was compared", sentence)
    return RunStatement("good", f"no deviation{f' by {seen.by}' if seen.by else ''}", sentence)


def count_unexplained(run: ReportedRun, new: int) -> str:
    """How many findings nothing explains, with their `new` deviations; older runs have no list of
    findings."""
    if not new or "findings" not in run.summary:
        return f"{plural(new, 'deviation')} not explained"
    found = sum(one.new for one in read_findings(run.summary))
    return f"{plural(found, 'finding')} not explained ({plural(new, 'deviation')})"


def limits_of(run: ReportedRun) -> tuple[str, ...]:
    """What the target hides or cannot do, in sentences."""
    declared = tuple(limit.says for limit in run.about.limits)
    return (*declared, *images_told(run.summary))


def stale(run: ReportedRun) -> tuple[str, ...]:
    """Entries of the overlay that the target no longer needs."""
    return texts(run.summary.get("stale_entries"))


def list_unmet(run: ReportedRun) -> tuple[str, ...]:
    """Entries of the overlay that the suite did not reach."""
    return texts(run.summary.get("unmet_entries"))


def both(run: ReportedRun) -> tuple[str, ...]:
    """Warnings of entries that also allow what the charter says where they explain a deviation."""
    return both_told(run.summary)


def adds(run: ReportedRun) -> tuple[tuple[str, str], ...]:
    """The entries that explain something, and how many outcomes each adds to the charter's."""
    found = entry_steps(run.summary.get("entry_steps"))
    return tuple((entry, adds_told(steps)) for entry, steps in found.items())


def excess(run: ReportedRun) -> list[tuple[str, Json, str]]:
    """Vector, step and branch of transitions that the target has although its overlay says it does
    not."""
    found = run.summary.get("claimed_too_much")
    held = [mapping(item) for item in found] if isinstance(found, list) else []
    return [(str(item.get("id")), item.get("step"), str(item.get("branch"))) for item in held]


def scope(run: ReportedRun) -> str:
    """The component and variant judged against, the digest of the charter if another one of its
    name is in the report, and the level observed."""
    variant, variables = run.about.variant, sorted(run.about.observes)
    level = run.sections.level(set(variables))
    seen = f"{', '.join(variables)} and replies" if variables else "replies"
    against = f"{run.about.protocol}, component {run.about.component}"
    against += f", variant {variant}" if variant else ", as written"
    against += f" (charter {run.about.spec_digest[:8]})" if run.charter_apart else ""
    return f"{against}; observed: {f'level “{level}” ({seen})' if level else seen}"


def name_target(run: ReportedRun) -> str:
    """What was judged, in words of those who know it: the title of the target with the release."""
    return f"{run.about.title or run.about.target} {run.version}".strip()


def implementation(run: ReportedRun) -> str:
    """What the adapter reported at run time about the implementation."""
    found = run.about.implementation
    return f"{found.get('name', '')} {found.get('version', '')}".strip()


def releases(first: str, last: str) -> str:
    """The releases that an overlay entry applies to."""
    match bool(first), bool(last):
        case True, True:
            return f"{first} to {last}"
        case True, False:
            return f"from {first}"
        case False, True:
            return f"up to {last}"
        case _:
            return "all releases"


def say_met(reviewed: ReviewedFinding) -> str:
    """On which releases an operator meets a finding, where its entry has others, too; else ""."""
    if reviewed.releases is None:
        return ""
    first, last = reviewed.releases
    names = first if first == last else releases(first, last)
    return f"By its path an operator meets it on releases {names}"


@dataclass(frozen=True, slots=True)
class InSystem:
    """Whether a finding can happen in the whole system."""

    word: str
    sentence: str
    story: tuple[str, ...] = ()


def in_system(labels: Mapping[str, int], answer: SystemAnswer | None = None) -> InSystem | None:
    """The answer for a finding, from what a search of the systems said or else the number of its
    vectors per label; None if neither says anything, as of a charter without a system."""
    if answer is not None and answer.system:
        return InSystem("yes, by the charter", f"{answer.sentence}.", answer.story)
    possible = sorted(label for label in labels if label and label != OPEN)
    if possible:
        count = sum(labels[label] for label in possible)
        named = " and ".join(possible)
        told = f"{plural(count, 'vector')} of this finding {'is' if count == 1 else 'are'} {named}"
        takes = (
            "the charter's system takes these steps. They were not replayed in a running system."
        )
        return InSystem("yes, by the charter", f"{told}: {takes}")
    if answer is None:
        return None
    alone = "not by the charter" if answer.impossible else "not searched"
    return InSystem("not found" if answer.states else alone, f"{answer.sentence}.")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts §6.10 after §6.9."""
    parts = re.split(r"(\d+)", text)
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts if part)
