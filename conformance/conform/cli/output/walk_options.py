"""Adds the options of walks to commands that judge."""

from __future__ import annotations

import argparse

from charter.formats.run_description import WalkSettings
from conform.cli.output.numbers import count, count_or_all, whole

STEPS, SEED = 20, 1
"""The operations of a walk, and the seed, if no option names them."""


def add_walks(parser: argparse.ArgumentParser) -> None:
    """Options of walks."""
    parser.add_argument("--walks", type=count_or_all, default=0, metavar="N",
                        help="make N walks after the suite: their operations are chosen in"
                        " the states that are observed (default: 0)")  # fmt: skip
    parser.add_argument("--steps", type=count, default=STEPS, metavar="K", help="operations of a"
                        f" walk (default: {STEPS})")  # fmt: skip
    parser.add_argument("--seed", type=whole, default=SEED, metavar="S", help="seed of the walks:"
                        f" the same seed makes the same ones (default: {SEED})")  # fmt: skip
    parser.add_argument("--seconds", type=count, default=0, metavar="T", help="cut the walks T"
                        " seconds after the run began; the result says so")  # fmt: skip
    parser.add_argument("--instance", default="", metavar="I", help="elements, constants and"
                        " operations of this instance of the component (default: those of all,"
                        " drawn for each walk)")  # fmt: skip


def read_walks(arguments: argparse.Namespace) -> WalkSettings:
    """The walks that the options ask for."""
    return WalkSettings(
        arguments.walks, arguments.steps, arguments.seed, arguments.seconds, arguments.instance
    ) if arguments.walks else WalkSettings()  # fmt: skip
