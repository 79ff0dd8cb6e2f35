"""The baseline of a target: findings that are known, each with the reason why it may stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from charter.formats.files import write_whole
from charter.formats.run import RunFinding
from charter.formats.toml import read_toml, toml_string
from conform.console.errors import BadBaseline, CannotWrite

_ID = re.compile(r"f-[0-9a-f]{10}")
_HEAD = """\
# Known findings: `conform run --baseline` does not fail because of them (`conform help run`).
# Each needs a reason; without one it still counts as new. `--update-baseline` writes this file.
"""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The reasons of known findings by id ("" for one that nobody has reviewed), and the sentences
    that the file has for people."""

    place: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)

    @property
    def known(self) -> frozenset[str]:
        """The findings that have a reason."""
        return frozenset(name for name, reason in self.reasons.items() if reason)

    def applied(self, findings: Sequence[RunFinding]) -> tuple[RunFinding, ...]:
        """The findings, those of the baseline with their reasons and behind new ones."""
        found = [replace(one, known=self.reasons.get(one.id, "")) for one in findings]
        return tuple(sorted(found, key=lambda one: (bool(one.entry), bool(one.known))))

    def lacks(self, finding: RunFinding) -> bool:
        """Whether a finding is listed, but without a reason."""
        return self.reasons.get(finding.id) == ""

    def changed(self, findings: Sequence[RunFinding]) -> dict[str, tuple[str, str]]:
        """The known findings that read otherwise than when they were listed, then and now: another
        bug in the same rule and place has the same id."""
        now = {one.id: _told(one) for one in findings if one.id in self.known}
        then = {name: self.sentences.get(name, "") for name in now}
        return {
            name: (then[name], now[name])
            for name in sorted(now)
            if then[name] and then[name] != now[name]
        }

    def stale(self, findings: Sequence[RunFinding]) -> tuple[str, ...]:
        """The findings of the baseline that a run did not show."""
        return tuple(sorted(self.reasons.keys() - {one.id for one in findings}))


NO_BASELINE = Baseline()


def read_baseline(place: str, *, may_miss: bool = False) -> Baseline:
    """The baseline in a TOML file. Raises `BadBaseline`."""
    path = Path(place)
    if may_miss and not path.exists():
        return Baseline(place)
    if not path.exists():
        raise BadBaseline(f"{place} does not exist; --update-baseline writes it")
    content = read_toml(path, BadBaseline)
    entries = {name: _entry(place, name, entry) for name, entry in content.items()}
    return Baseline(
        place,
        {name: entry["reason"].strip() for name, entry in entries.items()},
        {name: entry.get("finding", "") for name, entry in entries.items()},
    )


def _entry(place: str, name: str, entry: object) -> Mapping[str, str]:
    if not _ID.fullmatch(name):
        raise BadBaseline(
            f"{place}: {name!r} is not the id of a finding, such as [f-3f81a0c2d4]; `conform run`"
            " prints them"
        )
    fields = entry if isinstance(entry, dict) else {}
    if not fields.keys() <= {"reason", "finding"} or not isinstance(fields.get("reason"), str):
        raise BadBaseline(f"{place}: [{name}] has a text `reason`, and may have a text `finding`")
    if not isinstance(fields.get("finding", ""), str):
        raise BadBaseline(f"{place}: [{name}] has a `finding` that is not a text")
    return fields


def _told(finding: RunFinding) -> str:
    """What the file has of a finding for people."""
    return f"{finding.severity}: {finding.sentence}"


def write_baseline(
    baseline: Baseline, findings: Sequence[RunFinding], keep: Collection[str]
) -> Baseline:
    """Write the baseline of what a run showed: reasons stay, new findings have none yet. `keep` are
    findings that the run did not show, and that stay. Raises `CannotWrite`."""
    told = {one.id: _told(one) for one in findings if not one.entry}
    told |= {name: baseline.sentences.get(name, "") for name in keep}
    written = Baseline(
        baseline.place, {name: baseline.reasons.get(name, "") for name in sorted(told)}, told
    )
    entries = [
        f"\n[{name}]\nreason = {toml_string(reason)}\nfinding = {toml_string(told[name])}\n"
        for name, reason in written.reasons.items()
    ]
    write_whole(Path(baseline.place), _HEAD + "".join(entries), CannotWrite)
    return written
