"""Tells which constants of the charter have one value only in all questions of a suite."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from charter.formats.suite import LINES, Manifest, read_lines
from charter.suites.proofs import list_searched

if TYPE_CHECKING:
    from charter.api import BoundingConstant, Model

_ONE_VALUE = re.compile(r"int (\S+)\.\.\1")


@dataclass(frozen=True, slots=True)
class FixedConstant:
    """The one value that a constant has in all questions, and its type as text."""

    value: int
    type: str


def one_value_only(
    folder: Path, manifest: Manifest, bounding: Mapping[str, BoundingConstant]
) -> dict[str, FixedConstant]:
    """The constants whose type has more values, but that have the same one in all questions of the
    suite in `folder`. `bounding` are those that only bound types: questions do not name them."""
    types = {**manifest.consts, **{name: one.type for name, one in bounding.items()}}
    values: dict[str, set[int]] = {name: set() for name in manifest.consts}
    for vector in read_lines(folder / LINES) if values else ():
        for name, found in values.items():
            found.add(vector.question.consts[name])
    values |= {name: {*one.values} for name, one in bounding.items()}
    return {
        name: FixedConstant(next(iter(asked)), types[name])
        for name, asked in sorted(values.items())
        if len(asked) == 1 and not _ONE_VALUE.fullmatch(types[name])
    }


def sentence(fixed: Mapping[str, FixedConstant], manifest: Manifest, model: Model) -> str:
    """Which values the constants have in all questions, and how others are asked."""
    told = ", ".join(
        f"{name} = {_show(one.value, one.type)} (of {one.type})" for name, one in fixed.items()
    )
    searched = {i.name: dict(i.consts) for i in list_searched(model, manifest.component)}
    others = {
        name: [instance for instance, values in searched.items() if values[name] != one.value]
        for name, one in fixed.items()
    }
    if all(others.values()):
        names = ", ".join(dict.fromkeys(name for each in others.values() for name in each))
        return f"all questions have {told}; the full suite has those of {names}, too"
    lacking = ", ".join(name for name, instances in others.items() if not instances)
    return (
        f"all questions have {told}; an instance with another value of {lacking}, whose name begins"
        " with `tiny`, gets questions of its own"
    )


def _show(value: int, kind: str) -> str:
    return str(bool(value)).lower() if kind == "bool" else str(value)
