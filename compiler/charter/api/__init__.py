"""Offers the public interface of the compiler. Each function imports the heavy modules that it
needs."""

from __future__ import annotations

from charter.analysis.bounds import WrongBound
from charter.api.adapters import LANGUAGES, AdapterFiles, SameName, adapter_files
from charter.api.charters import (
    Charter,
    LoadedRest,
    Simulation,
    check_charter,
    core_text,
    draw,
    explore,
    export_tla,
    instances,
    load,
    load_charter,
    load_rest,
    load_text,
    place,
    same_search,
    select_instance,
    set_bounds,
    simulate,
    tell,
    tell_trace,
)
from charter.api.proofs import FALSE_INITIALLY, ProofResult, StepThatBreaks, prove
from charter.api.suites import (
    BoundingConstant,
    MadeSuite,
    SuiteRequest,
    bounding_constants,
    branch_pairs,
    left_out,
    list_unasked_scenarios,
    look_if_stale,
    make_suite,
    need_place_of_questions,
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
    "LoadedRest",
    "MadeSuite",
    "Missing",
    "Model",
    "NoInitialState",
    "ProofResult",
    "Refused",
    "SameName",
    "Selection",
    "Simulation",
    "Source",
    "StepThatBreaks",
    "SuiteRequest",
    "TooManyValues",
    "Unreadable",
    "WrongBound",
    "adapter_files",
    "bounding_constants",
    "branch_pairs",
    "check_charter",
    "core_text",
    "draw",
    "explore",
    "export_tla",
    "instances",
    "left_out",
    "list_files",
    "list_unasked_scenarios",
    "load",
    "load_charter",
    "load_rest",
    "load_text",
    "look_if_stale",
    "make_suite",
    "need_place_of_questions",
    "place",
    "prove",
    "read_files",
    "read_sources",
    "same_search",
    "select_instance",
    "set_bounds",
    "simulate",
    "tell",
    "tell_trace",
]
