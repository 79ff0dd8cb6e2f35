"""Offers the public interface of the compiler. Each function imports the heavy modules that it
needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from charter.analysis.bounds import WrongBound
from charter.api.adapters import LANGUAGES, AdapterFiles, SameName, adapter_files
from charter.api.charters import (
    Charter,
    LoadedRest,
    Simulation,
    charter_of,
    charters_of,
    check_charter,
    check_overlay,
    check_texts,
    core_text,
    draw,
    explain_outdated,
    explore,
    export_tla,
    failing_scenarios,
    find_changed_models,
    flatten_text,
    format_text,
    generate,
    instances,
    itf,
    limits,
    limits_apart,
    list_replaced_in_property,
    load,
    load_charter,
    load_rest,
    load_text,
    overlay_entries,
    place,
    same_search,
    search_json,
    search_size,
    set_bounds,
    simulate,
    stale,
    suite_digests,
    tell,
    tell_trace,
    unsearched_suites,
    usual_limits,
    walks_json,
)
from charter.api.proofs import FALSE_INITIALLY, ProofResult, StepThatBreaks, prove
from charter.api.suites import (
    BoundingConstant,
    MadeSuite,
    SuiteRequest,
    bounding_constants,
    branch_pairs,
    left_out,
    list_searched,
    list_unasked_scenarios,
    list_unsearched,
    look_if_stale,
    make_suite,
    need_place_of_questions,
    proof_instances,
)
from charter.core.nodes import Model
from charter.diagnostics import Diagnostic, Diagnostics, Refused, Source
from charter.explore.model_checker import CannotExplore, ExploreOptions
from charter.project.sources import (
    PLAIN,
    Missing,
    Selection,
    Unreadable,
    list_files,
    read_files,
    read_sources,
)
from charter.semantics.machine import NoInitialState
from charter.semantics.values import TooManyValues

if TYPE_CHECKING:
    from charter.analysis.instance_table import InstanceLimits
    from charter.analysis.search_size import SearchSize
    from charter.explore.result import FirstViolation, SearchResult
    from charter.explore.swarm import WalksResult
    from charter.explore.workers import WorkerDied
    from charter.render.story.tell import Story
    from charter.semantics.scenario import ScenarioFails

__all__ = [
    "FALSE_INITIALLY",
    "LANGUAGES",
    "PLAIN",
    "AdapterFiles",
    "BoundingConstant",
    "CannotExplore",
    "Charter",
    "Diagnostic",
    "Diagnostics",
    "ExploreOptions",
    "FirstViolation",
    "InstanceLimits",
    "LoadedRest",
    "MadeSuite",
    "Missing",
    "Model",
    "NoInitialState",
    "ProofResult",
    "Refused",
    "SameName",
    "ScenarioFails",
    "SearchResult",
    "SearchSize",
    "Selection",
    "Simulation",
    "Source",
    "StepThatBreaks",
    "Story",
    "SuiteRequest",
    "TooManyValues",
    "Unreadable",
    "WalksResult",
    "WorkerDied",
    "WrongBound",
    "adapter_files",
    "bounding_constants",
    "branch_pairs",
    "charter_of",
    "charters_of",
    "check_charter",
    "check_overlay",
    "check_texts",
    "core_text",
    "draw",
    "explain_outdated",
    "explore",
    "export_tla",
    "failing_scenarios",
    "find_changed_models",
    "flatten_text",
    "format_text",
    "generate",
    "instances",
    "itf",
    "left_out",
    "limits",
    "limits_apart",
    "list_files",
    "list_replaced_in_property",
    "list_searched",
    "list_unasked_scenarios",
    "list_unsearched",
    "load",
    "load_charter",
    "load_rest",
    "load_text",
    "look_if_stale",
    "make_suite",
    "need_place_of_questions",
    "overlay_entries",
    "place",
    "proof_instances",
    "prove",
    "read_files",
    "read_sources",
    "same_search",
    "search_json",
    "search_size",
    "set_bounds",
    "simulate",
    "stale",
    "suite_digests",
    "tell",
    "tell_trace",
    "unsearched_suites",
    "usual_limits",
    "walks_json",
]

_IMPORTED_LATE = {
    "FirstViolation": "charter.explore.result",
    "InstanceLimits": "charter.analysis.instance_table",
    "ScenarioFails": "charter.semantics.scenario",
    "SearchResult": "charter.explore.result",
    "SearchSize": "charter.analysis.search_size",
    "Story": "charter.render.story.tell",
    "WalksResult": "charter.explore.swarm",
    "WorkerDied": "charter.explore.workers",
}
"""Types of results, with the modules that are imported when somebody asks for them."""


def __getattr__(name: str) -> object:
    if name not in _IMPORTED_LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_IMPORTED_LATE[name]), name)
    return found
