"""Proposes larger suites than the one of `conform test`: the standard one first."""

from __future__ import annotations

from pathlib import Path

from charter.formats.target import Target
from conform.adapters.targets import name_lookup
from conform.cli.output.run_output import write_command
from conform.cli.output.tested import Tested
from conform.cli.set_options import select_declared, write_set

_LARGER_PROFILES = (
    ("standard", "small. One of some thousand vectors, made in seconds to minutes"),
    ("full", "a larger one has every transition of the small instances"),
)
"""The profiles of larger suites, with how each is introduced."""


def tell_larger(path: Path, target: Target, tested: Tested) -> None:
    """Tell that there are larger suites than the one that was just judged by."""
    values = write_set(select_declared(tested.parameters, target))
    for profile, what in _LARGER_PROFILES:
        place = f"build/{profile}"
        make = ["conform", "vectors", str(path), "--component", target.component]
        make += ["--profile", profile, "--out", place]
        judge = ["conform", "run", "--target", name_lookup(target), "--suite", place, *values]
        commands = (write_command(one, tested.inside) for one in (make, judge))
        steps = ", then ".join(f"`{one}`" for one in commands)
        tested.tell("suite", f"{what}: {steps}")
