"""Computes what images show that are behind, as overlay entries say (`replace image`).

An image is followed from the state before the first operation. In each step it changes as the
observation does: a number by as much, any other value to what it is there. Where an entry says what
the image shows of a variable after an operation, its model computes that, from the image so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from charter.formats.canonical import Json
from charter.formats.image import LAST_IMAGE, NEXT_IMAGE, image_operation
from charter.formats.resolve import Unresolved
from conform.judging.follow import CannotFollow, Follower
from conform.judging.model import JudgeModel, images
from conform.judging.model_bugs import ModelCall
from conform.judging.read_result import shows_part
from conform.judging.relabel import key
from conform.judging.siblings import SEVERAL_ENTRIES, ObservedStep
from conform.judging.translate import overlay


@dataclass(frozen=True, slots=True)
class ImagedStep:
    """An observed step, and the image that was shown after it (None: none)."""

    step: ObservedStep
    image: Json


@dataclass(frozen=True, slots=True)
class _HeldImage:
    """What an image holds of all observed variables, and what the last one that was shown held."""

    now: Json
    last: Json


@dataclass(slots=True)
class _EntryImages:
    """The images that an entry allows at a step; none once one was shown that it does not allow.
    `operations` are those of its model that say what images show."""

    model: JudgeModel
    operations: frozenset[str]
    images: list[_HeldImage] = field(default_factory=list)

    def go_on(self, follower: Follower, before: Json, step: ObservedStep) -> None:
        """Take one step, of which the follower knows the states before."""
        found = {
            key(now): _HeldImage(now, image.last)
            for image in self.images
            for now in self._after(follower, image, before, step)
        }
        self.images = [*found.values()]

    def keep(self, shown: Json) -> None:
        """Keep the images that are as one was shown."""
        self.images = [_HeldImage(i.now, i.now) for i in self.images if shows_part(shown, i.now)]

    def _after(
        self, follower: Follower, image: _HeldImage, before: Json, step: ObservedStep
    ) -> Iterator[Json]:
        moved = _moved(image.now, before, step.observation)
        shown = [*moved] if isinstance(moved, dict) else []
        edited = {name: image_operation(step.operation, name) for name in shown}
        edited = {name: known for name, known in edited.items() if known in self.operations}
        if not edited:
            yield moved
            return
        asked = follower.resolved(step)
        for state in follower.encoded(follower.siblings.charter, follower.likely):
            values = [overlay(state, each) for each in (image.now, image.last, moved)]
            now, last, following = (v if isinstance(v, dict) else {} for v in values)
            found = dict(following)
            for name, operation in edited.items():
                more = {LAST_IMAGE: last[name], NEXT_IMAGE: following[name]}
                call = ModelCall(operation, {**asked.args, **more}, {**asked.args, **more})
                found[name] = self._reply(follower, now, call)
            yield {name: found[name] for name in shown}

    def _reply(self, follower: Follower, now: Json, call: ModelCall) -> Json:
        """What the entry's model says that the image shows; `now` is the state as it sees it."""
        try:
            state = self.model.decode(now, *follower.world)
            (outcome,) = images(self.model, state, call.operation, call.args)
        except Exception as error:
            if follower.deviated:
                raise CannotFollow(f"nothing says what an image shows ({error})") from None
            raise follower.failed(self.model, call, error) from error
        return outcome.reply


def explaining(follower: Follower, steps: Sequence[ImagedStep]) -> dict[int, tuple[str, ...]]:
    """The entries that allow the images of a run, by step; `steps` begin with the state before the
    first operation, and `follower` is there."""
    entries = _entries(follower, steps[0].step.observation)
    found: dict[int, tuple[str, ...]] = {}
    before: Json = None
    for number, each in enumerate(steps if entries else ()):
        try:
            if number:
                for entry in entries.values():
                    entry.go_on(follower, before, each.step)
                follower.step(each.step)
        except (CannotFollow, Unresolved):
            break
        before = each.step.observation
        if each.image is not None:
            for entry in entries.values():
                entry.keep(each.image)
            allowing = [name for name, entry in entries.items() if entry.images]
            names = tuple(sorted(name for name in allowing if name))
            found[number] = names or (SEVERAL_ENTRIES,) * len(allowing)
    return found


def _entries(follower: Follower, start: Json) -> dict[str, _EntryImages]:
    """The entries that say what images show, by name, before the first operation: an image holds
    what is observed, and before it there was the charter's initial state."""
    charter = follower.siblings.charter
    known = frozenset(_operations(charter))
    last = follower.encoded(charter, [charter.initial(*follower.world)])[0]
    return {
        name: _EntryImages(model, operations, [_HeldImage(start, last)])
        for name, model in follower.siblings.entries.items()
        if (operations := frozenset(_operations(model)) - known)
    }


def _operations(model: JudgeModel) -> Sequence[str]:
    found: Sequence[str] = getattr(model, "OPERATIONS", ())
    return found


def _moved(held: Json, before: Json, after: Json) -> Json:
    """What an image holds that held `held`, after a step from `before` to `after`."""
    if key(before) == key(after):
        return held
    if isinstance(held, dict) and isinstance(before, dict) and isinstance(after, dict):
        if held.get("case") == before.get("case") == after.get("case"):
            moved = {name: _moved(held.get(name), before.get(name), after[name]) for name in after}
            return {**held, **moved}
    elif _is_number(held) and _is_number(before) and _is_number(after):
        return held + (after - before)
    return after


def _is_number(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
