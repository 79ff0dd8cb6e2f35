"""Keeps the results of `conform test` until its last line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.run_description import NO_WALKS, WalkSettings
from conform.console.terminal import out

_WORST = (1, 3, 4, 0)


@dataclass(slots=True)
class Tested:
    """The results so far: exit codes, what --json prints (`obligations`: for each judged component
    how many are covered, infeasible and open), the instances that were given up, and the
    mutants that no vector tells from a charter. `inside` is the folder in which commands are to be
    typed; "" is the one in which the user is. `most`, `go_on`, `walks`, `parameters`,
    `without_remembered` and `crosschecks` are the options --most, --continue, those of walks,
    --set, --without-remembered, and --crosschecks."""

    quiet: bool
    most: int
    inside: str = ""
    go_on: bool = False
    walks: WalkSettings = NO_WALKS
    parameters: Mapping[str, str] = field(default_factory=dict)
    without_remembered: bool = False
    crosschecks: int = 0
    codes: list[int] = field(default_factory=list)
    charters: list[Json] = field(default_factory=list)
    obligations: list[Json] = field(default_factory=list)
    runs: list[Json] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return min((*self.codes, 0), key=_WORST.index)

    def tell(self, what: str, sentence: str) -> None:
        """A line of the progress."""
        if not self.quiet:
            out(f"{what:<9} {sentence}")
