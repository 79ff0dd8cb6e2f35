"""Makes models of sets of overlay entries for a target, from the charter of its project."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from charter.formats.target import Target
from conform.adapters.projects import projects_of
from conform.judging.model import WIRE, JudgeModel, load_file

if TYPE_CHECKING:
    from charter.api.entry_sets import EntrySets


@dataclass(slots=True)
class SetsOfEntries:
    """The models of sets of entries of a target's overlay. The charter is read when the first is
    wanted."""

    target: Target
    known: dict[tuple[str, ...], JudgeModel | None] = field(default_factory=dict)
    opened: dict[str, EntrySets | None] = field(default_factory=dict)

    def load(self, variant: str, entries: Sequence[str], /) -> JudgeModel | None:
        """The model with these entries in a variant; None if their edits do not fit each other, or
        if no project here has the charter."""
        chosen = (variant, *entries)
        if chosen not in self.known:
            if variant not in self.opened:
                self.opened[variant] = self._open(variant)
            sets = self.opened[variant]
            self.known[chosen] = _make(sets, entries) if sets else None
        return self.known[chosen]

    def _open(self, variant: str) -> EntrySets | None:
        from charter.api.entry_sets import open_entry_sets  # slow to import, and seldom needed

        for project in projects_of(self.target.folder):
            found = open_entry_sets(project, self.target.protocol, self.target.overlay, variant)
            if found is not None:
                return found
        return None


def _make(sets: EntrySets, entries: Sequence[str]) -> JudgeModel | None:
    from charter.api import Refused

    try:
        files = sets.print_model(entries)
    except Refused:
        return None
    module = sets.name_module(entries)
    found: JudgeModel | None = None
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        for name in (module, module + WIRE):  # a whole model has a second file, for the judge
            path = f"{name.replace('.', '/')}.py"
            if path in files:
                place = Path(folder) / "model.py"
                place.write_text(files[path], encoding="utf-8")
                found = load_file(name, place)
    return found
