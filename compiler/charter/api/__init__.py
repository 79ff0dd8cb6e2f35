"""The public interface of the compiler. Each function imports the heavy modules that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from charter.api.adapters import LANGUAGES, AdapterFiles, SameName, adapter_files
from charter.api.charters import (
    Charter,
    Simulation,
    SuiteRequest,
    bounded,
    charters_of,
    check_charter,
    check_overlay,
    check_texts,
    core_text,
    draw,
    explore,
    exported,
    failing_scenarios,
    flattened,
    formatted,
    generate,
    instances,
    itf,
    load,
    load_charter,
    load_text,
    look_if_stale,
    make_suite,
    outdated,
    overlay_entries,
    place,
    prove,
    same_search,
    search_json,
    searched,
    simulate,
    spec_digest,
    stale,
    tell,
    tell_trace,
    walks_json,
)
from charter.core.nodes import Model
from charter.diagnostics import Refused, Source
from charter.explore.model_checker import CannotExplore, ExploreOptions
from charter.project.sources import PLAIN, Missing, Selection, Unreadable, read_sources
from charter.semantics.bounds import WrongBound

if TYPE_CHECKING:
    from charter.explore.result import SearchResult
    from charter.explore.swarm import WalksResult
    from charter.render.story.tell import Story
    from charter.semantics.scenario import ScenarioFails

__all__ = [
    "LANGUAGES",
    "PLAIN",
    "AdapterFiles",
    "CannotExplore",
    "Charter",
    "ExploreOptions",
    "Missing",
    "Model",
    "Refused",
    "SameName",
    "ScenarioFails",
    "SearchResult",
    "Selection",
    "Simulation",
    "Source",
    "Story",
    "SuiteRequest",
    "Unreadable",
    "WalksResult",
    "WrongBound",
    "adapter_files",
    "bounded",
    "charters_of",
    "check_charter",
    "check_overlay",
    "check_texts",
    "core_text",
    "draw",
    "explore",
    "exported",
    "failing_scenarios",
    "flattened",
    "formatted",
    "generate",
    "instances",
    "itf",
    "load",
    "load_charter",
    "load_text",
    "look_if_stale",
    "make_suite",
    "outdated",
    "overlay_entries",
    "place",
    "prove",
    "read_sources",
    "same_search",
    "search_json",
    "searched",
    "simulate",
    "spec_digest",
    "stale",
    "tell",
    "tell_trace",
    "walks_json",
]
