"""Finds how questions of a suite go on, and keeps it for all targets that hide the same state.

A question goes on if it takes a branch that changes a hidden variable in a way that few others
before it do. Two such changes are the same if they are equal up to names and numbers."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.opaque import OpaqueTypes
from charter.formats.suite import Manifest
from conform.judging.model import digest, load
from conform.judging.verdict import VectorItem
from conform.suites.cache import cache_folder
from conform.walks.hidden_state import HiddenEffect, HiddenStateSearch
from conform.walks.offered import read_offered
from conform.walks.places import ValueFinder

QUESTIONS_OF_CHANGE_MAX = 4
"""The most questions that go on after the same branch with the same change of a variable."""
SEARCHES_MAX = 512
"""The most questions of a suite after which a run searches."""
_QUOTED_TEXT = re.compile(r'"[^"]*"')

ListChanges = Callable[[Mapping[str, Json]], Iterable[tuple[str, str, Json]]]
"""The changes of hidden variables by the last operation of a question: branch, variable, values."""
Effects = dict[str, HiddenEffect | None]
"""What was found after each vector; None where nothing hidden could be wrong."""


@dataclass(frozen=True, slots=True)
class EffectsWanted:
    """What a search depends on besides the questions: the suite, the variables that a target hides
    and those that it shows, and its operations."""

    manifest: Manifest
    hidden: tuple[str, ...]
    observes: tuple[str, ...]
    operations: tuple[str, ...]

    def digest(self) -> str:
        """A digest of all that the result depends on, the code that searches included."""
        here = Path(__file__).parent
        code = sha256()
        for file in sorted([*here.glob("*.py"), *(here.parent.parent / "walks").glob("*.py")]):
            code.update(file.read_bytes())
        names = " / ".join(map(" ".join, (self.hidden, self.observes, self.operations)))
        rules = digest([self.manifest.models.charter])
        return canonical.digest([self.manifest.digest, rules, code.hexdigest(), names])


def find_effects(wanted: EffectsWanted, candidates: Mapping[str, VectorItem]) -> Effects:
    """What follows each of the chosen questions, in order. It is read from the cache if an earlier
    run searched the same."""
    kept = cache_folder() / "followed" / f"{wanted.digest()}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        held = orjson.loads(regular(kept).read_bytes())
        if held.keys() <= candidates.keys():
            return {name: one and HiddenEffect.read(one) for name, one in held.items()}
    found = _search(wanted, candidates)
    with contextlib.suppress(OSError):  # it only saves time
        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_name(f"{kept.name}.{os.getpid()}")
        unfinished.write_bytes(orjson.dumps({name: e and e.json() for name, e in found.items()}))
        unfinished.replace(kept)
    return found


def _search(wanted: EffectsWanted, candidates: Mapping[str, VectorItem]) -> Effects:
    model, types = load(wanted.manifest.models.charter), wanted.manifest.read_types()
    assert types is not None
    offered = read_offered(model)
    search = HiddenStateSearch(
        model, offered, ValueFinder(types), OpaqueTypes.of(types), wanted.hidden, wanted.observes,
        [name for name in offered.params if name in wanted.operations],
    )  # fmt: skip
    chosen = choose_new_changes(candidates, search.list_changes)
    return {name: search.look_after(question) for name, question in chosen}


def choose_new_changes(
    candidates: Mapping[str, VectorItem], list_changes: ListChanges
) -> Iterator[tuple[str, dict[str, Json]]]:
    """The questions whose last operation changes a hidden variable as few before them did, with
    their ids."""
    taken: Counter[tuple[str, str, str]] = Counter()
    chosen = 0
    for name, item in candidates.items():
        question = orjson.loads(item.question)
        changes = [
            (branch, variable, _rename(change))
            for branch, variable, change in list_changes(question)
        ]
        if any(taken[one] < QUESTIONS_OF_CHANGE_MAX for one in changes):
            taken.update(changes)
            chosen += 1
            yield name, question
        if chosen == SEARCHES_MAX:
            return


def _rename(change: Json) -> str:
    """The text of a change, with names and numbers in their order of appearance."""
    names: dict[str, str] = {}
    written = canonical.text(change)
    return _QUOTED_TEXT.sub(lambda at: names.setdefault(at[0], str(len(names))), written)
