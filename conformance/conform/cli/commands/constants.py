"""Tells which constants of the charter have one value only in all questions of a suite."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.formats.suite import LINES, Manifest, read_lines

if TYPE_CHECKING:
    from charter.api import Model

_ONE_VALUE = re.compile(r"int (\S+)\.\.\1")


def one_value_only(folder: Path, manifest: Manifest) -> dict[str, int]:
    """The constants whose type has more values, but that have the same one in all questions of the
    suite in `folder`."""
    wide = [name for name, kind in manifest.consts.items() if not _ONE_VALUE.fullmatch(kind)]
    if not wide:
        return {}
    values: dict[str, set[int]] = {name: set() for name in wide}
    for vector in read_lines(folder / LINES):
        for name in wide:
            values[name].add(vector.question.consts[name])
    return {name: found.pop() for name, found in values.items() if len(found) == 1}


def sentence(fixed: Mapping[str, int], manifest: Manifest, model: Model) -> str:
    """Which values the constants have in all questions, and how others are asked."""
    told = ", ".join(
        f"{name} = {_shown(value, manifest.consts[name])} (of {manifest.consts[name]})"
        for name, value in fixed.items()
    )
    searched = {i.name: dict(i.consts) for i in model.instances
                if i.name in api.searched(model, manifest.component)}  # fmt: skip
    others = {
        name: [instance for instance, values in searched.items() if values[name] != value]
        for name, value in fixed.items()
    }
    if all(others.values()):
        names = ", ".join(dict.fromkeys(name for each in others.values() for name in each))
        return f"all questions have {told}; the full suite has those of {names}, too"
    lacking = ", ".join(name for name, instances in others.items() if not instances)
    return (
        f"all questions have {told}; an instance with another value of {lacking}, whose name begins"
        " with `tiny`, gets questions of its own"
    )


def _shown(value: int, kind: str) -> str:
    return str(bool(value)).lower() if kind == "bool" else str(value)
