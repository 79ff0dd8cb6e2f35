"""Defines the options of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from charter.formats.run_description import NO_WALKS, WalkSettings
from conform.runs.findings.baseline import NO_BASELINE, Baseline
from conform.runs.findings.entry_sets import SetModels
from conform.runs.selection import ALL, SuiteFilter

Engine = Literal["auto", "spark", "inline"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run. `out` "" is `build/runs/<id>`; `limit` 0 is all vectors; `go_on`:
    continue a run although nobody knows whether the implementation is the same; `older`: by what
    the target is judged if it is not the charter of the project as it is now; `parameters`: the
    values that are given of the target's; `set_models`: makes models of sets of overlay entries
    (None: steps that several entries explain are not looked into); `without_remembered`: put no
    question that failed in earlier runs and that the suite does not have; `crosschecks`: the most
    places that are tried of each cross-check of the target; `keep_finished`: judge nothing again if
    the folder holds the same run, finished, with the same `strict`, trusted, and without a
    baseline."""

    target: str
    _: KW_ONLY
    release: str = ""
    suite: str = ""
    engine: Engine = "auto"
    master: str = "local[*]"
    limit: int = 0
    out: str = ""
    strict: bool = False
    baseline: Baseline = NO_BASELINE
    update_baseline: bool = False
    shrink: bool = True
    wanted: SuiteFilter = ALL
    go_on: bool = False
    older: str = ""
    command: tuple[str, ...] = ()
    walks: WalkSettings = NO_WALKS
    parameters: Mapping[str, str] = field(default_factory=dict)
    without_remembered: bool = False
    set_models: SetModels | None = None
    crosschecks: int = 0
    keep_finished: bool = False
