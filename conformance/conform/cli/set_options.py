"""Adds the option for parameters of a target to commands that start one."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence

from charter.formats.target import Target, write_unknown
from conform.console.errors import BadParameter


def add_set(parser: argparse.ArgumentParser) -> None:
    """The option `--set`."""
    parser.add_argument("--set", action="append", default=[], type=assignment, dest="parameters",
                        metavar="NAME=VALUE", help="value of a parameter that the target's"
                        " adapter.toml declares; it is stored with the run and in the report, so"
                        " give no secrets")  # fmt: skip


def assignment(text: str) -> tuple[str, str]:
    """Name and value of `NAME=VALUE`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, as in url=localhost:6379")
    return name, value


def read_set(
    given: Sequence[tuple[str, str]], targets: Collection[Target] | None = None
) -> dict[str, str]:
    """The values that are given. Raises `BadParameter` if one is given twice, or if none of the
    `targets` declares it."""
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise BadParameter(f"--set {name}=... is there twice; leave one out")
        if targets is not None:
            _need_declared(name, targets)
    return dict(given)


def write_set(given: Mapping[str, str]) -> tuple[str, ...]:
    """The options that give these values, as arguments of a command."""
    return tuple(part for name, value in given.items() for part in ("--set", f"{name}={value}"))


def _need_declared(name: str, targets: Collection[Target]) -> None:
    """Raises `BadParameter` for a name that none of the targets declares."""
    known = {one.name for target in targets for one in target.parameters}
    if name not in known:
        ids = [target.id for target in targets]
        who = ids[0] if len(ids) == 1 else "the project"
        raise BadParameter(write_unknown(who, name, sorted(known)))


def select_declared(given: Mapping[str, str], target: Target) -> dict[str, str]:
    """The values of those parameters that a target declares."""
    return {one.name: given[one.name] for one in target.parameters if one.name in given}
