"""Writes names of a charter in the styles of other languages."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, field

_WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")


def words(name: str) -> tuple[str, ...]:
    """`topic_id`, `TopicId` and `TOPIC_ID` as ("topic", "id")."""
    return tuple(word.lower() for word in _WORD.findall(name))


def pascal(name: str) -> str:
    """`topic_id` as `TopicId`; a name in capitals and small letters stays as it is."""
    if name[:1].isupper() and "_" not in name and not name.isupper():
        return name
    return "".join(word.capitalize() for word in words(name))


def camel(name: str) -> str:
    """`topic_id` as `topicId`."""
    first, *rest = words(name)
    return first + "".join(word.capitalize() for word in rest)


def snake(name: str) -> str:
    """`TopicId` as `topic_id`."""
    return "_".join(words(name))


def avoid(name: str, taken: Set[str]) -> str:
    """`name`, followed by an underscore if it is taken."""
    return f"{name}_" if name in taken else name


@dataclass(slots=True)
class TakenNames:
    """The names that are taken where a language has one space of names."""

    taken: set[str] = field(default_factory=set)

    def take(self, name: str) -> str:
        """`name`, followed by underscores until it is not taken."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name
