"""Runs a scenario of texts that are being written."""

from __future__ import annotations

from charter.diagnostics import Refused, Source
from charter.project.core_cache import core_of
from charter.project.sources import PLAIN
from charter.semantics.scenario import ScenarioFails, follow


def run_scenario(sources: tuple[Source, ...], title: str) -> str:
    """Runs a scenario on the definition, and says in a sentence whether it fails."""
    try:
        model = core_of(sources, PLAIN)
        for scenario in model.scenarios:
            if scenario.title == title:
                follow(model, scenario)
                return f"scenario {title!r} is a run of the charter"
    except Refused as refused:
        return f"the charter has errors: {len(refused.diagnostics.errors)}"
    except ScenarioFails as failure:
        return f"{failure.span.where()}: {failure.sentence()}"
    return f"there is no scenario {title!r}"
