"""Lists which parts of an observation an image shows. An adapter may leave out some in all images.

A part is a dotted path. It ends where a value is no object; what is left out is named by its
topmost path alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from conform.judging.differ import general_path


@dataclass(frozen=True, slots=True)
class ImageParts:
    """The parts of an observation that one image shows, and those that it leaves out."""

    shown: frozenset[str]
    lacking: frozenset[str]


def image_parts(image: Json, observation: Json) -> ImageParts:
    """The parts of an observation that an image shows."""
    if not isinstance(image, dict) or not isinstance(observation, dict):
        return ImageParts(frozenset({""}), frozenset())
    shown, lacking = set[str](), set[str]()
    _add_parts(image, observation, "", (shown, lacking))
    return ImageParts(frozenset(shown), frozenset(lacking))


def _add_parts(
    image: Mapping[str, Json],
    observation: Mapping[str, Json],
    at: str,
    parts: tuple[set[str], set[str]],
) -> None:
    """Add the parts of an object to those that are shown, and to those that are not."""
    shown, lacking = parts
    for name, value in observation.items():
        if name not in image:
            lacking.add(at + name)
            continue
        shown.add(at + name)
        held = image[name]
        if isinstance(held, dict) and isinstance(value, dict):
            _add_parts(held, value, f"{at}{name}.", parts)


@dataclass(slots=True)
class SeenParts:
    """The parts that some images show, and that some leave out, with elements of sorts as they
    are named in the questions."""

    shown: set[str] = field(default_factory=set)
    lacking: set[str] = field(default_factory=set)

    def add(self, parts: ImageParts) -> None:
        if not (parts.shown <= self.shown and parts.lacking <= self.lacking):
            self.shown |= parts.shown
            self.lacking |= parts.lacking

    def json(self, elements: Mapping[str, str]) -> dict[str, Json]:
        """Both, sorted, with the sort in the place of each element."""
        return {
            name: [*sorted({general_path(path, elements) for path in paths})]
            for name, paths in (("shown", self.shown), ("lacking", self.lacking))
        }
