"""Arguments that refer to what was observed before (docs/formats/adapter.md, "Arguments")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from charter.formats.canonical import Json

Path = tuple[str | int, ...]
NeverIssued = Callable[[Path], Json]


class Unresolved(Exception):
    """A reference does not lead to a value in the observations."""


def resolve(args: Json, observations: Sequence[Json], never_issued: NeverIssued) -> Json:
    """`args` with each reference replaced by what stands there in `observations`.

    `observations[i]` is the raw observation of step i, 0 being the state before the first
    operation. `never_issued` is called with the path of the place inside `args`.
    Raises `Unresolved`.
    """
    return _resolve(args, observations, never_issued, ())


def is_reference(value: Json) -> bool:
    """Whether `value` stands for an observed value instead of itself."""
    if not isinstance(value, dict):
        return False
    keys = set(value)
    return keys in ({"ref"}, {"ref", "plus"}) and isinstance(value["ref"], list)


def is_never_issued(value: Json) -> bool:
    """Whether `value` asks for a value that the implementation never gave out."""
    return isinstance(value, dict) and value == {"never_issued": True}


def referred_steps(value: Json) -> Iterator[int]:
    """The steps to which the references in arguments lead."""
    if isinstance(value, dict):
        if is_reference(value):
            path = value["ref"]
            assert isinstance(path, list) and isinstance(path[0], int)
            yield path[0]
        else:
            for item in value.values():
                yield from referred_steps(item)
    elif isinstance(value, list):
        for item in value:
            yield from referred_steps(item)


def look_up(reference: Json, observations: Sequence[Json]) -> Json:
    """The value of `{"ref": [step, path...], "plus": n}`. Raises `Unresolved`."""
    assert isinstance(reference, dict)
    path = reference["ref"]
    assert isinstance(path, list)
    shown = ".".join(str(part) for part in path)
    value = _at_step(path, observations, shown)
    for part in path[1:]:
        value = _descend(value, part, shown)
    if value is None:
        raise Unresolved(f"nothing stands at {shown}")
    plus = reference.get("plus", 0)
    if not plus:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not isinstance(plus, int):
        raise Unresolved(f"{shown} is no number, so nothing can be added to it")
    return value + plus


def _at_step(path: list[Json], observations: Sequence[Json], shown: str) -> Json:
    step = path[0] if path else None
    if not isinstance(step, int) or not 0 <= step < len(observations):
        raise Unresolved(f"{shown} refers to a step that was not observed")
    return observations[step]


def _descend(value: Json, part: Json, shown: str) -> Json:
    if isinstance(value, dict) and isinstance(part, str) and part in value:
        return value[part]
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    raise Unresolved(f"nothing stands at {shown}")


def _resolve(
    value: Json, observations: Sequence[Json], never_issued: NeverIssued, path: Path
) -> Json:
    if isinstance(value, dict):
        if is_reference(value):
            return look_up(value, observations)
        if is_never_issued(value):
            return never_issued(path)
        return {
            key: _resolve(item, observations, never_issued, (*path, key))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _resolve(item, observations, never_issued, (*path, position))
            for position, item in enumerate(value)
        ]
    return value
