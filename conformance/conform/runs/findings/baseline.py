"""Reads and writes the baseline of a target: findings that are known, each with the reason why it
may stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from charter.formats.files import read_toml, toml_string, write_whole
from charter.formats.run import RunFinding
from conform.console.errors import BadBaseline, CannotWrite
from conform.console.terminal import plural

BY_WALKS = "walks"
"""The `suite` of a finding that walks alone show: other walks need not show it."""
_ID = re.compile(r"f-[0-9a-f]{10}")
_HEAD = """\
# Known findings: `conform run --baseline` does not fail because of them (`conform help run`).
# Each needs a reason; without one it still counts as new. `--update-baseline` writes this file.
"""


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """A known finding: the `reason` why it may stay ("": nobody has reviewed it), how it reads
    (`finding`), and what was seen when it was listed: the digest of the `suite`, the number of
    `vectors` that showed it, and a digest of what they observed (`shown`)."""

    reason: str
    finding: str = ""
    suite: str = ""
    vectors: int = 0
    shown: str = ""

    def change(self, now: BaselineEntry) -> tuple[str, str] | None:
        """How it read when it was listed and reads `now`, if that is not the same. Vectors and what
        they observed are compared if the suite is the same."""
        if self.suite != now.suite:
            return (
                None if self.finding == now.finding else (f"`{self.finding}`", f"`{now.finding}`")
            )
        if self == replace(now, reason=self.reason):
            return None
        then = f"`{self.finding}`, shown by {plural(self.vectors, 'vector')}"
        told = f"`{now.finding}`, shown by {plural(now.vectors, 'vector')}"
        same = then == told
        return then, f"{told}, which observe something else" if same else told


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings by id."""

    place: str = ""
    entries: Mapping[str, BaselineEntry] = field(default_factory=dict)

    @property
    def reasons(self) -> Mapping[str, str]:
        """The reason of each finding; "" for one that nobody has reviewed."""
        return {name: entry.reason for name, entry in self.entries.items()}

    @property
    def known(self) -> frozenset[str]:
        """The findings that have a reason."""
        return frozenset(name for name, entry in self.entries.items() if entry.reason)

    def apply(self, findings: Sequence[RunFinding]) -> tuple[RunFinding, ...]:
        """The findings, those of the baseline with their reasons and behind new ones."""
        reasons = self.reasons
        found = [replace(one, known=reasons.get(one.id, "")) for one in findings]
        return tuple(sorted(found, key=lambda one: (bool(one.entry), bool(one.known))))

    def lacks(self, finding: RunFinding) -> bool:
        """Whether a finding is listed, but without a reason."""
        return self.reasons.get(finding.id) == ""

    def find_changed(
        self, findings: Sequence[RunFinding], suite: str, *, whole: bool
    ) -> dict[str, tuple[str, str]]:
        """The known findings that are not as they were listed, then and now: another bug in the
        same rule and place has the same id. `suite` is the digest of what was asked. A run that did
        not see the `whole` suite has less to show; what more vectors of it show has changed."""
        found = {}
        for one in sorted(findings, key=lambda one: one.id):
            if one.id not in self.known:
                continue
            listed, now = self.entries[one.id], _make_entry(one, suite)
            shown_by_more = listed.suite == suite and listed.vectors < now.vectors
            if (whole or shown_by_more) and (change := listed.change(now)):
                found[one.id] = change
        return found

    def of_another_suite(self, findings: Iterable[str], suite: str) -> tuple[str, ...]:
        """Those of some findings that are known and were listed by another suite: what vectors
        observed is not compared."""
        known = self.known.intersection(findings)
        same = (suite, BY_WALKS)
        return tuple(sorted(name for name in known if self.entries[name].suite not in same))

    def stale(self, findings: Sequence[RunFinding]) -> tuple[str, ...]:
        """The findings of the baseline that a run did not show, without those of walks."""
        listed = {name for name, entry in self.entries.items() if entry.suite != BY_WALKS}
        return tuple(sorted(listed - {one.id for one in findings}))


NO_BASELINE = Baseline()


def tell_compared(names: Sequence[str], what: str = "the sentence was") -> str:
    """That only `what` it names was compared of the findings that another suite listed; "" for no
    finding."""
    if not names:
        return ""
    them = "it" if len(names) == 1 else "them"
    found = plural(len(names), "known finding")
    return f"of {found} only {what} compared, as another suite listed {them}"


def read_baseline(place: str, *, lenient: bool = False) -> Baseline:
    """The baseline in a TOML file. If `lenient`, since it is written again or only shown, the file
    may be missing, and its entries may lack what tells one bug from another. Raises
    `BadBaseline`."""
    path = Path(place)
    if lenient and not path.exists():
        return Baseline(place)
    if not path.exists():
        raise BadBaseline(f"{place} does not exist; --update-baseline writes it")
    content = read_toml(path, BadBaseline)
    return Baseline(
        place, {name: _entry(place, name, entry, lenient) for name, entry in content.items()}
    )


_TEXTS = ("reason", "finding", "suite", "shown")
_NUMBERS = ("vectors",)


def _entry(place: str, name: str, entry: object, lenient: bool) -> BaselineEntry:
    if not _ID.fullmatch(name):
        raise BadBaseline(
            f"{place}: {name!r} is not the id of a finding, such as [f-3f81a0c2d4]; `conform run`"
            " prints them"
        )
    held = entry if isinstance(entry, dict) else {}
    texts = {key: value for key, value in held.items() if key in _TEXTS and isinstance(value, str)}
    numbers = {key: value for key, value in held.items() if key in _NUMBERS and type(value) is int}
    if "reason" not in texts or held.keys() != texts.keys() | numbers.keys():
        raise BadBaseline(
            f"{place}: [{name}] has a text `reason`, and what --update-baseline writes: the texts"
            " `finding`, `suite` and `shown`, and the number `vectors`"
        )
    lacking = [key for key in (*_TEXTS, *_NUMBERS) if key not in held]
    if lacking and not lenient:
        raise BadBaseline(
            f"{place}: [{name}] lacks `{lacking[0]}`, by which another bug in the same rule and"
            " place is told from it; --update-baseline writes it, and keeps the reason"
        )
    return BaselineEntry(
        texts["reason"].strip(),
        texts.get("finding", ""),
        texts.get("suite", ""),
        numbers.get("vectors", 0),
        texts.get("shown", ""),
    )


def _make_entry(finding: RunFinding, suite: str) -> BaselineEntry:
    """A finding as a run by a suite shows it."""
    told = f"{finding.severity}: {finding.sentence}"
    return BaselineEntry("", told, suite, finding.vectors, finding.observed)


def write_baseline(
    baseline: Baseline, findings: Sequence[RunFinding], keep: Collection[str], suite: str,
    of_walks: Collection[str] = (),
) -> Baseline:  # fmt: skip
    """Write the baseline of what a run by a suite showed: reasons stay, new findings have none yet.
    `keep` are findings that the run did not show, and that stay; walks alone show those
    `of_walks`. Raises `CannotWrite`."""
    keep = {*keep, *(name for name, one in baseline.entries.items() if one.suite == BY_WALKS)}
    keep -= {one.id for one in findings}
    seen = {one.id: _make_entry(one, BY_WALKS if one.id in of_walks else suite)
            for one in findings if not one.entry}  # fmt: skip
    held = {name: replace(entry, reason=baseline.reasons.get(name, ""))
            for name, entry in seen.items()}  # fmt: skip
    held |= {name: baseline.entries[name] for name in keep}
    written = Baseline(baseline.place, dict(sorted(held.items())))
    entries = [_table(name, entry) for name, entry in written.entries.items()]
    write_whole(Path(baseline.place), _HEAD + "".join(entries), CannotWrite)
    return written


def _table(name: str, entry: BaselineEntry) -> str:
    fields = {
        "reason": toml_string(entry.reason),
        "finding": toml_string(entry.finding),
        "suite": toml_string(entry.suite),
        "vectors": str(entry.vectors),
        "shown": toml_string(entry.shown),
    }
    return f"\n[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in fields.items())
