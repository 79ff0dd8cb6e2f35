"""Arguments that refer to earlier observations and replies (docs/formats/adapter.md,
"Arguments")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from charter.formats.canonical import Json

Path = tuple[str | int, ...]
Place = tuple[int, bool]
"""A step, and whether its reply is meant instead of its observation."""
NeverIssued = Callable[[Path], Json]


REPLY = "reply"
"""The value of `in` in a reference that leads into a reply."""


class Unresolved(Exception):
    """A reference does not lead to a value in the observations or replies."""


class History(NamedTuple):
    """Raw observations and replies, by step. Step 0 is the state before the first operation; its
    reply is None."""

    observations: tuple[Json, ...]
    replies: tuple[Json, ...] = (None,)

    def then(self, reply: Json, observation: Json) -> History:
        """The history with one more step."""
        return History((*self.observations, observation), (*self.replies, reply))

    def json(self) -> Json:
        """The whole history, to compare it with others."""
        return [list(self.observations), list(self.replies)]

    def list_differing(self, other: History) -> set[Place]:
        """The places in which another history of as many steps shows something else."""
        pairs = (self.observations, other.observations), (self.replies, other.replies)
        return {
            (step, in_reply)
            for in_reply, held in zip((False, True), pairs, strict=True)
            for step, (one, another) in enumerate(zip(*held, strict=True))
            if one is not another and one != another
        }

    def at(self, place: Place) -> Json:
        """What one step showed; None if there was no such step."""
        step, in_reply = place
        shown = self.replies if in_reply else self.observations
        return shown[step] if 0 <= step < len(shown) else None


def resolve(args: Json, history: History, never_issued: NeverIssued) -> Json:
    """`args` with each reference replaced by what stands there in `history`. `never_issued` is
    called with the path of the place inside `args`. Raises `Unresolved`."""
    return _resolve(args, history, never_issued, ())


def is_reference(value: Json) -> bool:
    """Whether `value` stands for an earlier value instead of itself."""
    if not isinstance(value, dict) or not isinstance(value.get("ref"), list):
        return False
    return len(value) == 1 or (
        value.keys() <= {"ref", "plus", "in"} and value.get("in", REPLY) == REPLY
    )


def is_never_issued(value: Json) -> bool:
    """Whether `value` asks for a value that the implementation never gave out."""
    return isinstance(value, dict) and len(value) == 1 and value == {"never_issued": True}


def references(value: Json) -> Iterator[dict[str, Json]]:
    """The references in arguments."""
    if isinstance(value, dict):
        if is_reference(value):
            yield value
        else:
            for item in value.values():
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def find_references(value: Json) -> Iterator[Place]:
    """What the references in arguments need."""
    for reference in references(value):
        path = reference["ref"]
        assert isinstance(path, list) and isinstance(path[0], int)
        yield path[0], "in" in reference


def look_up(reference: Json, history: History) -> Json:
    """The value of `{"ref": [step, path...], "in": "reply", "plus": n}`; without `in`, that of an
    observation. Raises `Unresolved`."""
    assert isinstance(reference, dict)
    path = reference["ref"]
    assert isinstance(path, list)
    in_reply = "in" in reference
    steps = history.replies if in_reply else history.observations
    step = path[0] if path else None
    if not isinstance(step, int) or not 0 <= step < len(steps):
        raise Unresolved(f"{_show(path, in_reply)} refers to a step that was not observed")
    value = steps[step]
    for part in path[1:]:
        value = _descend(value, part)
    if value is None:
        raise Unresolved(f"nothing stands at {_show(path, in_reply)}")
    plus = reference.get("plus", 0)
    if not plus:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not isinstance(plus, int):
        raise Unresolved(f"{_show(path, in_reply)} is no number, so nothing can be added to it")
    return value + plus


def _descend(value: Json, part: Json) -> Json:
    """A part of a value; None if there is none."""
    if isinstance(value, dict):
        return value.get(part) if isinstance(part, str) else None
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return None


def _show(path: Sequence[Json], in_reply: bool) -> str:
    """A reference, for a sentence about it."""
    shown = ".".join(str(part) for part in path)
    return f"reply {shown}" if in_reply else shown


def _resolve(value: Json, history: History, never_issued: NeverIssued, path: Path) -> Json:
    if isinstance(value, dict):
        if "ref" in value and is_reference(value):
            return look_up(value, history)
        if "never_issued" in value and is_never_issued(value):
            return never_issued(path)
        return {
            key: _resolve(item, history, never_issued, (*path, key))
            if isinstance(item, (dict, list))
            else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _resolve(item, history, never_issued, (*path, position))
            if isinstance(item, (dict, list))
            else item
            for position, item in enumerate(value)
        ]
    return value


class _ReadsReply(Exception):
    """An argument refers to the reply of an operation that is left out."""


def leave_out(arguments: Sequence[Json], start: int, size: int) -> list[Json] | None:
    """The arguments of operations without `size` of them after the first `start`. What refers to
    the observation after one of these refers to the one before them. None if something refers to
    the reply of one: no other reply has its meaning."""

    def renumber(step: int, in_reply: bool) -> int:
        if in_reply and start < step <= start + size:
            raise _ReadsReply
        return step if step <= start else max(start, step - size)

    try:
        kept = (*arguments[:start], *arguments[start + size :])
        return [_renumber(value, renumber) for value in kept]
    except _ReadsReply:
        return None


def leave_out_calls(
    calls: Sequence[Mapping[str, Json]], start: int, size: int
) -> list[Json] | None:
    """The operations of a question without `size` of them after the first `start`, with the
    arguments of `leave_out`; None if something refers to the reply of one."""
    kept = leave_out([call["args"] for call in calls], start, size)
    if kept is None:
        return None
    rest = (*calls[:start], *calls[start + size :])
    return [{**call, "args": args} for call, args in zip(rest, kept, strict=True)]


def insert_calls(
    calls: Sequence[Mapping[str, Json]], start: int, more: Sequence[Mapping[str, Json]]
) -> list[Json]:
    """The operations of a question with `more` of them after the first `start`. Later ones refer
    to what they referred to."""

    def renumber(step: int, _: bool) -> int:
        return step + len(more) if step > start else step

    rest = ({**call, "args": _renumber(call["args"], renumber)} for call in calls[start:])
    return [*map(dict, calls[:start]), *map(dict, more), *rest]


def _renumber(value: Json, renumber: Callable[[int, bool], int]) -> Json:
    """A value with the steps of its references renumbered: each step, and whether the reference is
    to its reply."""
    if isinstance(value, dict):
        if is_reference(value):
            path = value["ref"]
            assert isinstance(path, list) and isinstance(path[0], int)
            step = renumber(path[0], value.get("in") == REPLY)
            return {**value, "ref": [step, *path[1:]]}
        return {name: _renumber(item, renumber) for name, item in value.items()}
    if isinstance(value, list):
        return [_renumber(item, renumber) for item in value]
    return value
