"""Sums the counts of a run's buckets, and derives its result and exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.reading import own_list, own_number, own_object, texts
from charter.formats.run import RunFinding
from charter.formats.verdict import JUDGED, Kind
from conform.console.terminal import plural
from conform.judging.siblings import SET_ENTRIES_MAX, SEVERAL_ENTRIES, list_members
from conform.runs.bounds import JudgedBounds
from conform.runs.canaries import trust
from conform.runs.crosschecks.cross_counts import CrossCounts
from conform.runs.entry_widths import EntrySteps
from conform.runs.extent import Extent
from conform.runs.findings.baseline import NO_BASELINE, Baseline
from conform.runs.followed.followed_counts import FollowedCounts
from conform.runs.not_compared import saw_all
from conform.runs.touring.asked_transitions import OF_TRANSITIONS, AskedTransitions
from conform.runs.walk_counts import (
    OF_CROSSCHECKS,
    OF_FOLLOWED,
    OF_REMEMBERED,
    OF_WALKS,
    WalkCounts,
    is_of_suite,
)
from conform.storage.bucket_store import RunFolder


@dataclass(slots=True)
class RunCounts:
    """Sums over the buckets of a run."""

    vectors: int = 0
    judged_steps: int = 0
    not_judged_steps: int = 0
    deviations: int = 0
    new_deviations: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    by_entry: Counter[str] = field(default_factory=Counter)
    entry_steps: EntrySteps = field(default_factory=EntrySteps)
    taken: Counter[str] = field(default_factory=Counter)
    deviating: Counter[str] = field(default_factory=Counter)
    bounds: JudgedBounds = field(default_factory=JudgedBounds)
    first_verdict: float = 0.0
    claimed: list[Json] = field(default_factory=list)
    canaries: list[Json] = field(default_factory=list)
    broken_batches: int = 0
    unexplained_breaks: list[str] = field(default_factory=list)
    images_show: set[str] = field(default_factory=set)
    images_lack: set[str] = field(default_factory=set)
    searched_sets: bool = False
    walks: WalkCounts = field(default_factory=WalkCounts)
    remembered: WalkCounts = field(default_factory=lambda: WalkCounts(OF_REMEMBERED))
    followed: FollowedCounts = field(default_factory=FollowedCounts)
    crosschecks: CrossCounts = field(default_factory=CrossCounts)
    transitions_asked: AskedTransitions = field(default_factory=AskedTransitions)

    def add(self, bucket: Mapping[str, Json]) -> None:
        self.walks.join(bucket.get(OF_WALKS))
        self.remembered.join(bucket.get(OF_REMEMBERED))
        self.followed.join(bucket.get(OF_FOLLOWED))
        self.crosschecks.join(bucket.get(OF_CROSSCHECKS))
        if is_of_suite(bucket):
            self.vectors += own_number(bucket["vectors"])
            self.verdicts.update(_table(bucket["verdicts"]))
            self.transitions_asked.join(bucket.get(OF_TRANSITIONS))
        self.judged_steps += own_number(bucket["judged_steps"])
        self.not_judged_steps += own_number(bucket["not_judged_steps"])
        self.deviations += own_number(bucket["deviations"])
        self.new_deviations += own_number(bucket["new_deviations"])
        self.taken.update(_table(bucket["taken"]))
        self.deviating.update(_table(bucket["deviating"]))
        for names, count in _table(bucket["by_entry"]).items():
            for name in names.split():
                self.by_entry[name] += count
        self.entry_steps.join(bucket.get("entry_steps"))
        self.bounds.join(bucket.get("bounds"))
        first = bucket["first_verdict"]
        if isinstance(first, float) and first:
            self.first_verdict = min(first, self.first_verdict or first)
        self.claimed += own_list(bucket["claimed"])
        self.canaries += own_list(bucket["canaries"])
        self.broken_batches += own_number(bucket.get("broken_batches", 0))
        self.unexplained_breaks += map(str, own_list(bucket.get("unexplained_breaks", [])))
        parts = own_object(bucket.get("image_parts", {}))
        self.images_show.update(texts(parts.get("shown")))
        self.images_lack.update(texts(parts.get("lacking")))

    @property
    def met(self) -> frozenset[str]:
        """The entries that explain a deviation, alone or with others."""
        return list_members(name for name, count in self.by_entry.items() if count)

    @property
    def judged(self) -> int:
        """Vectors that were judged, in whole or in part."""
        return sum(self.verdicts[kind] for kind in JUDGED)


@dataclass(frozen=True, slots=True)
class ConclusionInputs:
    """What the result depends on besides counts: the overlay entries that apply to the release,
    those of them that are stale, whether explained deviations count as failures (`strict`), how
    much was judged, the findings, those known before, and those of them that are not as they were
    listed (`changed`, then and now), the digest of the suite, which files are not as they were when
    the run began, which vectors failed in the last run of the same files and conform now
    (`unsteady`), which entries also allow what the charter says
    (`allowing_both`), which state variables the target does not show (`hidden`), and how many
    places each cross-check could try (`possible`)."""

    @property
    def known(self) -> int:
        """The deviations of findings that the baseline gives a reason for."""
        return sum(one.deviations for one in self.findings if one.known and not one.entry)

    @property
    def stale_baseline(self) -> tuple[str, ...]:
        """The findings of the baseline that were not seen, if the whole suite was compared."""
        return self.baseline.stale(self.findings) if saw_all(self.extent.left) else ()

    entries: Sequence[str]
    stale: Sequence[str]
    strict: bool
    extent: Extent
    findings: Sequence[RunFinding] = ()
    baseline: Baseline = NO_BASELINE
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    digest: str = ""
    files_changed: Sequence[str] = ()
    unsteady: Sequence[str] = ()
    allowing_both: Sequence[str] = ()
    hidden: Sequence[str] = ()
    possible: Mapping[str, int] = field(default_factory=dict)


def collect(folder: RunFolder) -> RunCounts:
    """The sums of the committed buckets."""
    counts = RunCounts()
    for _, bucket in sorted(folder.read_committed().items()):
        counts.add(bucket)
    return counts


def conclude(
    counts: RunCounts, inputs: ConclusionInputs, seconds: float, pairs: int
) -> dict[str, Json]:
    """The content of summary.json (docs/formats/run.md), with the exit code of the run."""
    stale = sorted(inputs.stale)
    canaries = _canaries(counts)
    untrusted = trust.why_not(canaries) + trust.breaks(counts.unexplained_breaks)
    untrusted += trust.explain_mixed(inputs.files_changed)
    exit_code, reasons = _exit(counts, inputs, untrusted, stale)
    branches: dict[str, Json] = {
        branch: {"taken": counts.taken[branch], "deviating": counts.deviating[branch]}
        for branch in sorted({*counts.taken, *counts.deviating} - {""})
    }
    return {
        "verdicts": {str(kind): counts.verdicts[kind] for kind in Kind},
        "vectors": counts.vectors,
        **_apart(counts),
        **({"hidden": counts.followed.json(inputs.hidden)} if inputs.hidden else {}),
        **({OF_CROSSCHECKS: counts.crosschecks.json(inputs.possible)} if inputs.possible else {}),
        **inputs.extent.json(),
        "broken_batches": counts.broken_batches,
        "unexplained_breaks": list(counts.unexplained_breaks),
        "judged_steps": counts.judged_steps,
        "not_judged_steps": counts.not_judged_steps,
        "deviations": counts.deviations,
        "new_deviations": counts.new_deviations - inputs.known,
        "findings": [finding.json() for finding in inputs.findings],
        "baseline": inputs.baseline.place,
        "baseline_deviations": inputs.known,
        "stale_baseline": list(inputs.stale_baseline),
        "changed_baseline": {name: [*both] for name, both in inputs.changed.items()},
        "listed_by_another_suite": list(
            inputs.baseline.of_another_suite((one.id for one in inputs.findings), inputs.digest)
        ),
        "without_reason": [one.id for one in inputs.findings if inputs.baseline.lacks(one)],
        **_of_entries(counts, inputs, stale),
        "by_branch": branches,
        "bounds": counts.bounds.json(),
        "images_lack": [*sorted(counts.images_lack - counts.images_show)],
        "distinct_pairs": pairs,
        "seconds": round(seconds, 3),
        "exit": exit_code,
        "strict": inputs.strict,
        "trusted": not untrusted,
        "files_changed": list(inputs.files_changed),
        "unsteady": list(inputs.unsteady),
        "skipped_canaries": trust.list_skipped(canaries),
        "reasons": list(reasons),
    }


def _apart(counts: RunCounts) -> dict[str, Json]:
    """What was judged besides the suite."""
    found: dict[str, Json] = {}
    if any(counts.walks.counts.values()):
        found[OF_WALKS] = counts.walks.json()
    if any(counts.remembered.counts.values()):
        held = counts.remembered
        kinds: dict[str, Json] = {**dict(sorted(held.verdicts.items()))}
        found[OF_REMEMBERED] = {"count": held.counts["walks"], "verdicts": kinds, "dropped": {}}
    return {**found, **counts.transitions_asked.json()}


def _of_entries(
    counts: RunCounts, inputs: ConclusionInputs, stale: Sequence[str]
) -> dict[str, Json]:
    """What the run shows of the overlay."""
    names = [name for name in inputs.entries if name]
    unmet = sorted(e for e in names if e not in counts.met and e not in stale)
    return {
        "by_entry": {e: counts.by_entry[e] for e in sorted({*names, *counts.by_entry}) if e},
        "entry_steps": counts.entry_steps.json(),
        "entries_allowing_both": list(inputs.allowing_both),
        "stale_entries": list(stale),
        "unmet_entries": [*unmet],
        "claimed_too_much": counts.claimed,
    }


def _canaries(counts: RunCounts) -> list[dict[str, Json]]:
    return [item for item in counts.canaries if isinstance(item, dict)]


def _exit(
    counts: RunCounts, inputs: ConclusionInputs, untrusted: Sequence[str], stale: Sequence[str]
) -> tuple[int, list[str]]:
    """The gravest exit code, and a sentence for each problem."""
    reasons: list[tuple[int, str]] = []
    if not counts.judged:
        reasons.append((3, "no vector was judged"))
    new = counts.new_deviations - inputs.known
    if new:
        nor = " and the baseline does not know" if inputs.baseline.place else ""
        found = plural(sum(one.new for one in inputs.findings), "finding")
        steps = plural(new, "deviation")
        reasons.append((1, f"{found} that no overlay entry explains{nor} ({steps})"))
    if inputs.strict and inputs.stale_baseline:
        names = ", ".join(inputs.stale_baseline)
        reasons.append((1, f"findings of the baseline that were not seen: {names} (--strict)"))
    if inputs.strict and inputs.changed:
        names = ", ".join(inputs.changed)
        reasons.append((1, f"findings of the baseline that changed: {names} (--strict)"))
    if inputs.strict and inputs.unsteady:
        reasons.append((1, f"{trust.unsteady(len(inputs.unsteady))} (--strict)"))
    if counts.searched_sets and (left := counts.by_entry[SEVERAL_ENTRIES]):
        were = "is" if left == 1 else "are"
        reasons.append(
            (
                1,
                f"{plural(left, 'deviation')} {were} explained by the overlay as a whole, and by no"
                f" {SET_ENTRIES_MAX} of its entries: the cause is not known",
            )
        )
    if stale:
        noun = "entry no longer applies" if len(stale) == 1 else "entries no longer apply"
        reasons.append((1, f"{len(stale)} overlay {noun}: {', '.join(stale)}"))
    if counts.claimed:
        first = own_object(counts.claimed[0])
        reasons.append(
            (
                1,
                f"the overlay claims too much: it forbids {len(counts.claimed)} transitions in"
                f" which the target follows the charter, such as {first['branch']} in"
                f" {str(first['id'])[:12]}",
            )
        )
    strictly = counts.deviations - inputs.known
    if inputs.strict and strictly:
        reasons.append((1, f"{plural(strictly, 'deviation')} from the charter (--strict)"))
    if inputs.extent.missing:
        reasons.append((3, inputs.extent.tell()))
    for apart in (counts.remembered, counts.walks, counts.followed, counts.crosschecks):
        if unjudged := apart.tell_unjudged():
            reasons.append((3, unjudged))
    doubts = [(3, sentence) for sentence in untrusted]
    # Where canaries were not possible, the reason for that is what the run found.
    doubted = bool(counts.unexplained_breaks) or trust.has_misbehaved(_canaries(counts))
    reasons = [*doubts, *reasons] if doubted else [*reasons, *doubts]
    if not reasons:
        return 0, []
    if untrusted or not counts.judged:
        return 3, [sentence for _, sentence in reasons]
    code = 1 if any(code == 1 for code, _ in reasons) else 3
    return code, [sentence for _, sentence in reasons]


def distinct_pairs(folder: RunFolder) -> int:
    """How many (state, branch) pairs the run took, counted up to renaming."""
    table = folder.table("transitions")
    if not table.num_rows:
        return 0
    return int(table.group_by(["state", "branch"]).aggregate([("count", "sum")]).num_rows)


def _table(value: Json) -> dict[str, int]:
    return {name: own_number(count) for name, count in own_object(value).items()}
