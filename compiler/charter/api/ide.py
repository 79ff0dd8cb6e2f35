"""Answers a server for editors about texts that are being written."""

from __future__ import annotations

from collections.abc import Sequence

from charter.api.charters import Charter
from charter.diagnostics import Diagnostic, Refused, Source, Span
from charter.ide.answers import (
    CannotRename,
    Hover,
    Lens,
    Outlined,
    definition,
    hover,
    lenses,
    outline,
    references,
    renamable,
    rename,
)
from charter.ide.complete import Completion, complete
from charter.ide.workspace import Snapshot, Workspace
from charter.semantics.scenario import ScenarioFails, follow

__all__ = [
    "CannotRename",
    "Completion",
    "Diagnostic",
    "Hover",
    "Lens",
    "Outlined",
    "Snapshot",
    "Source",
    "Span",
    "Workspace",
    "complete",
    "definition",
    "hover",
    "lenses",
    "outline",
    "references",
    "renamable",
    "rename",
    "scenario_result",
]


def scenario_result(sources: Sequence[Source], title: str) -> str:
    """Runs a scenario on the definition, and says in a sentence whether it fails."""
    try:
        model = Charter(tuple(sources)).model()
        for scenario in model.scenarios:
            if scenario.title == title:
                follow(model, scenario)
                return f"scenario {title!r} is a run of the charter"
    except Refused as refused:
        return f"the charter has errors: {len(refused.diagnostics.errors)}"
    except ScenarioFails as failure:
        return f"{failure.span.where()}: {failure.sentence()}"
    return f"there is no scenario {title!r}"
