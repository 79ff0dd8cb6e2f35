"""Makes the suite of `conform test` for a target whose charter has operations that only answer: the
small suite with a state cover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from charter import api
from charter.formats.run_description import RunDescription
from charter.formats.suite import COVER_STATES, SMALL_SUITE, Manifest
from charter.formats.target import Target
from conform.adapters.targets import release_of
from conform.console.errors import ConformError
from conform.console.progress import tasks
from conform.runs.conclusion import Finished
from conform.runs.extent import read_extent


@dataclass(slots=True)
class CoveredSuites:
    """The suites with a state cover that one `conform test` made, by charter, variant and
    component. `tell` is called with what each covers."""

    tell: Callable[[str, str], None]
    made: dict[tuple[Path, str, str], str] = field(default_factory=dict)

    def open_suite(self, path: Path, model: api.Model, about: tuple[Target, str]) -> str:
        """The folder of the suite for a target and its release; "" if its charter has no state
        cover: the generated suite is all then. Raises `ConformError`s."""
        target, release = about
        if not api.has_cover(model, target.component):
            return ""
        key = path, target.variant(release_of(target, release)), target.component
        if key not in self.made:
            self.made[key] = self._make(*key)
        return self.made[key]

    def _make(self, path: Path, variant: str, component: str) -> str:
        try:
            with tasks("cover") as progress:
                wanted = api.SuiteRequest(path, variant, component, "cover")
                made = api.make_suite(wanted, progress)
        except api.Unreadable as error:
            raise ConformError(str(error)) from None
        self.tell("cover", f"{component}: {made.cover}")
        return str(made.folder) if made.manifest.counts.get(COVER_STATES) else ""


def is_of_run(generated: Manifest, run: RunDescription) -> bool:
    """Whether the vectors of a generated suite are in the one of a run."""
    mine = generated.protocol, generated.component, generated.variant
    return mine == (run.protocol, run.component, run.variant)


def name_suite(runs: Sequence[Finished]) -> str:
    """By which suite all of some runs are fine: a cover with the run that judged the least."""
    covered = [read_extent(one.summary) for one in runs if one.summary.get("state_cover")]
    if not runs or len(covered) < len(runs):
        return SMALL_SUITE
    least = min(covered, key=lambda one: one.judged / max(one.suite, 1))
    return replace(least, older="").by
