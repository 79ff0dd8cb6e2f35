"""Finds the values that an adapter takes where a question requests one that was never issued.

The judge does not send such a value: the adapter chooses it, greater than all that the
implementation issues, and the same in the whole question (docs/formats/adapter.md). Until the
target shows it, the model's own value takes its place; from then on the run is followed with the
adapter's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.resolve import Path
from conform.judging.model import JudgeModel

WishPlace = tuple[str, Path]
"""An operation, and the path of a value in its arguments."""


@dataclass(frozen=True, slots=True)
class NeverIssued:
    """A value that was never issued, in the model's JSON."""

    model: JudgeModel
    operation: str

    def __call__(self, path: Path) -> Json:
        export = getattr(self.model, "never_issued", None)
        if export is None:
            return "@999999999999"
        value: Json = export(self.operation, path)
        return value


@dataclass(slots=True)
class Wishes:
    """The values for one run. `own` are the adapter's, by operation and path, as far as it showed
    them; `asked` are the values that took the places of the present step."""

    model: JudgeModel
    own: Mapping[WishPlace, str] = field(default_factory=dict)
    asked: dict[WishPlace, str] = field(default_factory=dict)

    def of(self, operation: str, labels: Labels) -> Callable[[Path], Json]:
        """The values for a step of which all before has these labels."""
        self.asked = {}

        def value(path: Path) -> Json:
            found = self._value((operation, path), labels)
            if isinstance(found, str):
                self.asked[operation, path] = found
            return found

        return value

    def learn(self, names: Mapping[str, str]) -> Mapping[WishPlace, str]:
        """The adapter's values with what it showed in a step: its `names` of those requested."""
        learned = {place: names[value] for place, value in self.asked.items() if value in names}
        return {**self.own, **learned} if learned else self.own

    def _value(self, place: WishPlace, labels: Labels) -> Json:
        if place in self.own:
            return self.own[place]
        value = NeverIssued(self.model, place[0])(place[1])
        if not isinstance(value, str):
            return value
        alike = {own for own in self.own.values() if own[:1] == value[:1]}
        if len(alike) == 1:
            return alike.pop()
        highest = labels.highest()
        if value[:1] == "@" and highest >= int(value[1:]):
            return f"@{int(highest) + 1}"
        return value


def find_shown(asked: Mapping[WishPlace, str], model: Labels, target: Labels) -> dict[str, str]:
    """The target's values for those that were asked: those with the label that the model's has."""
    back = {(kind, label): raw for (kind, raw), label in target.raw_names().items()}
    wanted = set(asked.values())
    return {
        value: back[kind, label]
        for (kind, value), label in sorted(model.raw_names().items())
        if value in wanted and (kind, label) in back
    }


def find_single_new(
    asked: Mapping[WishPlace, str], before: Labels, models: Sequence[Labels], target: Labels
) -> dict[str, str]:
    """The target's value for the one that was asked, after a deviation: the only one that is new,
    where the model shows no new one."""
    known = before.raw_names().keys()
    if any(labels.raw_names().keys() != known for labels in models):
        return {}
    new = sorted(target.raw_names().keys() - known)
    wished = set(asked.values())
    if len(new) != 1 or len(wished) != 1:
        return {}
    (value,) = wished
    (_, shown) = new[0]
    return {value: shown} if value[:1] == shown[:1] else {}
