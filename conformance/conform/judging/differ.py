"""Computes how an observed outcome differs from the expected ones, and which is the nearest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from charter.formats import canonical
from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.verdict import Severity
from conform.judging.relabel import is_same


@dataclass(frozen=True, slots=True)
class Allowed:
    """One outcome that the charter allows, renamed."""

    branch: str
    reply: Json
    observation: Json

    def json(self) -> dict[str, Json]:
        return {"branch": self.branch, "reply": self.reply, "observation": self.observation}


@dataclass(frozen=True, slots=True)
class RelabelledStep:
    """An observed reply and state, with opaque values relabelled. `fault`: the reply is one, and
    there is no observation."""

    reply: Json
    observation: Json
    fault: bool = False
    image: Json = None

    def json(self) -> dict[str, Json]:
        shown: dict[str, Json] = {"reply": self.reply, "observation": self.observation}
        if self.image is not None:
            shown["image"] = self.image
        return shown


def paths(expected: Json, observed: Json, at: str) -> Iterator[str]:
    """The paths, from `at`, where two values differ: down to fields, not into arrays."""
    if is_same(expected, observed):
        return
    if isinstance(expected, dict) and isinstance(observed, dict):
        for name in sorted(expected.keys() | observed.keys()):
            inner = f"{at}.{name}" if at else name
            if name not in expected or name not in observed:
                yield inner
            else:
                yield from paths(expected[name], observed[name], inner)
    else:
        yield at


def value_at(value: Json, path: str) -> Json:
    """The value at one of `paths`; None if there is none."""
    for part in path.split(".") if path else ():
        value = value.get(part) if isinstance(value, dict) else None
    return value


def select_shown(observation: Json, image: Json) -> Json:
    """The part of an observation that an image shows: images may leave out variables, fields and
    keys."""
    if isinstance(observation, dict) and isinstance(image, dict):
        return {
            name: select_shown(observation[name], value)
            for name, value in image.items()
            if name in observation
        }
    return observation


def image_paths(observation: Json, image: Json) -> tuple[str, ...]:
    """The paths in which an image differs from the observation, which begin with `image`; of an
    image that could not be made one alone."""
    if is_fault(image):
        return ("image.fault",)
    return tuple(paths(select_shown(observation, image), image, "image"))


def differing(allowed: Allowed, seen: RelabelledStep) -> tuple[str, ...]:
    """All paths in which `seen` differs from one allowed outcome."""
    if seen.fault:
        return ("reply.fault",)
    reply = tuple(paths(allowed.reply, seen.reply, "reply"))
    return reply + tuple(paths(allowed.observation, seen.observation, ""))


def nearest(expected: Sequence[Allowed], seen: RelabelledStep) -> Allowed | None:
    """The allowed outcome that differs least: by its reply first, then by the number of paths."""
    return min(expected, key=lambda allowed: _distance(allowed, seen), default=None)


def _distance(allowed: Allowed, seen: RelabelledStep) -> tuple[bool, int, str]:
    differs = not is_same(allowed.reply, seen.reply)
    return differs, len(differing(allowed, seen)), allowed.branch


def severity(expected: Sequence[Allowed], seen: RelabelledStep) -> Severity:
    """The kind of the difference from every expected outcome."""
    if seen.fault:
        return Severity.FAULT
    if any(is_same(allowed.observation, seen.observation) for allowed in expected):
        return Severity.REPLY
    return Severity.STATE


def cause(
    operation: str, branch: str, kind: Severity, where: Sequence[str], names: Mapping[str, str]
) -> str:
    """A digest that groups deviations which most likely have one cause. `names` maps each element
    to its sort, so that the digest does not depend on which broker it was. An image tells of all
    operations since the image before it, and a change that it misses shows in whatever fields it
    touched: neither the last operation nor the fields say anything about the cause."""
    general = {general_path(path, names) for path in where}
    if kind is Severity.IMAGE:
        operation, branch = "", ""
        general = {".".join(path.split(".")[:2]) for path in general}
    return canonical.digest([operation, branch, str(kind), [*sorted(general)]])


def general_path(path: str, names: Mapping[str, str]) -> str:
    """A path with the sorts of its elements in their place: `partition.Topic.elr`."""
    return ".".join(names.get(part, part) for part in path.split("."))
