"""Adds the options of what is judged besides the suite to commands that judge."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from charter.formats.run_description import NO_WALKS, WalkSettings
from conform.cli.output.numbers import count, count_or_all, whole
from conform.cli.output.tested import Tested

if TYPE_CHECKING:
    from charter.api import Model

STEPS, SEED = 20, 1
"""The operations of a walk, and the seed, if no option names them."""


WALKS_OF_TEST = 200
"""The walks of `conform test`, if no option names a number."""


def add_walks(parser: argparse.ArgumentParser, walks: int = 0) -> None:
    """Options of walks; `walks` is how many there are without an option."""
    parser.add_argument("--walks", type=count_or_all, default=walks, metavar="N",
                        help="make N walks after the suite: their operations are chosen in"
                        f" the states that are observed (default: {walks})")  # fmt: skip
    parser.add_argument("--steps", type=count, default=STEPS, metavar="K", help="operations of a"
                        f" walk (default: {STEPS})")  # fmt: skip
    parser.add_argument("--seed", type=whole, default=SEED, metavar="S", help="seed of the walks:"
                        f" the same seed makes the same ones (default: {SEED})")  # fmt: skip
    parser.add_argument("--seconds", type=count, default=0, metavar="T", help="cut the walks T"
                        " seconds after the run began; the result says so")  # fmt: skip
    parser.add_argument("--instance", default="", metavar="I", help="elements, constants and"
                        " operations of this instance of the component (default: those of all,"
                        " drawn for each walk)")  # fmt: skip


CROSSCHECKS_OF_TEST = 60
"""The places that `conform test` tries of each cross-check, if no option names a number."""


def add_crosschecks(parser: argparse.ArgumentParser, *, in_test: bool = False) -> None:
    """The option of cross-checks; `conform test` tries some without it."""
    places = CROSSCHECKS_OF_TEST if in_test else 0
    parser.add_argument("--crosschecks", type=count_or_all, default=places, metavar="N",
                        help="try each cross-check of the target at N places at most of the suite's"
                        f" vectors (default: {places}; `conform help crosschecks`)")  # fmt: skip


def add_without_remembered(parser: argparse.ArgumentParser) -> None:
    """The option that leaves remembered questions out."""
    parser.add_argument("--without-remembered", action="store_true", help="put no question that"
                        " failed in earlier runs and that the suite does not have; `conform keep`"
                        " lists them")  # fmt: skip


def read_walks(arguments: argparse.Namespace) -> WalkSettings:
    """The walks that the options ask for."""
    return WalkSettings(
        arguments.walks, arguments.steps, arguments.seed, arguments.seconds, arguments.instance
    ) if arguments.walks else WalkSettings()  # fmt: skip


def choose_walks(model: Model, component: str, tested: Tested) -> WalkSettings:
    """The walks of `conform test` on a target: none if its component has no instance."""
    if not tested.walks or any(one.machine == component for one in model.instances):
        return tested.walks
    why = f"none: the charter has no instance of {component} to walk in"
    tested.tell("walks", f"{component}: {why}")
    return NO_WALKS
