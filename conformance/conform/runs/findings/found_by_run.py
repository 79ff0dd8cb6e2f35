"""Collects the findings of a run by what shows them: vectors of its suite, or walks alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from charter.formats.run import RunFinding
from conform.runs.findings.findings import GivenState, run_findings
from conform.runs.findings.limits import RunLimits
from conform.runs.judged_rows import JudgedRows


@dataclass(frozen=True, slots=True)
class FoundByRun:
    """All findings of a run. `of_suite` are those that vectors of the suite show, without what
    walks add to them."""

    all: tuple[RunFinding, ...]
    of_suite: tuple[RunFinding, ...]

    @classmethod
    def of(
        cls, rows: JudgedRows, of_suite: JudgedRows, starts: Mapping[str, GivenState],
        limits: RunLimits,
    ) -> FoundByRun:  # fmt: skip
        """The findings in `rows`, of which those `of_suite` are no walks. The example of a finding
        is a vector of the suite if one shows it: it is the same whatever walks there are. If all of
        these begin in a given state, and a walk shows it from the first one, the example is the
        walk. `starts` are the given states of vectors, `limits` those of the target."""
        own = run_findings(of_suite, starts, limits)
        if rows.verdicts.num_rows == of_suite.verdicts.num_rows:
            return cls(own, own)
        given = {name for name, start in starts.items() if start.size}
        examples = {one.id: one for one in own if one.vector not in given}
        loaded = {one.id: one for one in own if one.vector in given}
        whole = tuple(
            replace(
                examples.get(one.id) or (loaded.get(one.id, one) if one.vector in given else one),
                vectors=one.vectors, deviations=one.deviations, hides=one.hides, like=one.like,
            )
            for one in run_findings(rows, starts, limits)
        )  # fmt: skip
        return cls(whole, own)

    @property
    def of_walks(self) -> tuple[RunFinding, ...]:
        """The findings that walks alone show."""
        known = {one.id for one in self.of_suite}
        return tuple(one for one in self.all if one.id not in known)
