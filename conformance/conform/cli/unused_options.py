"""Refuses options that a command would not read, given the others."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conform.console.errors import ConformError


@dataclass(frozen=True, slots=True)
class UsedWhere:
    """Options that are read only where `applies`. `told` completes a sentence that begins with one
    of them."""

    options: Sequence[str]
    applies: Callable[[argparse.Namespace], bool]
    told: str


def _searches_in_process(chosen: argparse.Namespace) -> bool:
    """Whether `conform explore` searches by the native engine, in threads."""
    return chosen.engine in ("auto", "native")


def _is_of_project(chosen: argparse.Namespace) -> bool:
    """Whether `conform generate` writes generated/ of a project."""
    return chosen.backend is None and chosen.adapter is None


SEARCHED = (
    "--most", "--engine", "--master", "--no-symmetry", "--workers", "--journal", "--memory",
    "--fingerprints", "--where", "--limit", "--keep", "--picture", "--itf",
)  # fmt: skip
"""Options of a search by `conform explore`."""

RULES: Mapping[str, Sequence[UsedWhere]] = {
    "doctor": (
        UsedWhere(
            ("--release", "--set", "--sorts", "--consts", "--model"),
            lambda chosen: bool(chosen.adapter),
            "is for --adapter; add that",
        ),
    ),
    "eval": (
        UsedWhere(
            ("--instance",),
            lambda chosen: chosen.scenario is None,
            "is not for --scenario, which has an instance of its own; choose one",
        ),
    ),
    "explore": (
        UsedWhere(
            SEARCHED,
            lambda chosen: not chosen.bounds_only,
            "is for a search, and --bounds searches nothing; leave out --bounds",
        ),
        UsedWhere(
            ("--limit",), lambda chosen: chosen.where is not None, "is for --where; add that"
        ),
        UsedWhere(
            ("--workers", "--memory"),
            _searches_in_process,
            "is for the native engine in threads; choose that",
        ),
    ),
    "generate": (
        UsedWhere(
            ("--root",),
            _is_of_project,
            "is for generated/ of a project; leave out the charter",
        ),
        UsedWhere(
            ("--component",), lambda chosen: chosen.backend is None, "is for --adapter; add that"
        ),
        UsedWhere(
            ("--instance",), lambda chosen: chosen.adapter is None, "is for --backend tla; add that"
        ),
    ),
    "mutate": (
        UsedWhere(("--seed",), lambda chosen: bool(chosen.limit), "is for --limit; add that"),
    ),
    "run": (
        UsedWhere(
            (
                "--release",
                "--exhaustive",
                "--junit",
                "--update-baseline",
                "--in-system",
                "--continue",
                "--last-failed",
            ),
            lambda chosen: chosen.releases is None,
            "is for one release; leave out --releases",
        ),
        UsedWhere(
            ("--crosschecks",),
            lambda chosen: (
                not (chosen.limit or chosen.branch or chosen.last_failed or chosen.first)
            ),
            "is for the whole suite; leave out --limit, -k, --last-failed and -x",
        ),
        UsedWhere(
            ("--master",),
            lambda chosen: chosen.engine != "inline",
            "is for --engine spark; add that",
        ),
    ),
    "vectors": (
        UsedWhere(
            ("--most",),
            lambda chosen: bool(chosen.search),
            "is for --search: what that leaves out, the full suite leaves out, too; add that",
        ),
    ),
}


def refuse_unused(
    command: str, parser: argparse.ArgumentParser, given: Sequence[str], chosen: argparse.Namespace
) -> None:
    """Raises `ConformError` for an option that was given and is not read. `parser` is one of its
    own, whose defaults are dropped here."""
    unread = [rule for rule in RULES.get(command, ()) if not rule.applies(chosen)]
    if not unread:
        return
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    written = vars(parser.parse_args([*given]))
    for rule in unread:
        for option in rule.options:
            if parser._option_string_actions[option].dest in written:
                raise ConformError(f"{option} {rule.told}, or leave {option} out")
