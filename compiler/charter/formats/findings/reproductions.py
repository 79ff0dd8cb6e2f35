"""Reads what an adapter.toml says of reproductions: files that show a finding in tests of the
implementation (docs/formats/adapter.md, "Reproductions")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from charter.formats.limits import is_within
from charter.formats.spelling import suggest

_TEXTS = ("help", "template", "file")
_LISTS = ("releases", "check")
_PLACEHOLDERS = ("class", "name")
"""What `file` may have in braces."""
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A kind of file that shows a finding. `template` is a file in the folder of the adapter, and
    `file` the name of what it makes. `check` builds and runs that, on one of the `releases` (all,
    if none is named)."""

    name: str
    help: str
    template: str
    file: str
    releases: tuple[str, ...] = ()
    check: tuple[str, ...] = ()

    def works_on(self, release: str) -> bool:
        """Whether what it makes can be built for a release."""
        return not self.releases or any(is_within(release, one) for one in self.releases)


def read_reproductions(value: object) -> tuple[Reproduction, ...]:
    """The `reproductions` of an adapter.toml. Raises `ValueError`."""
    if not isinstance(value, Mapping):
        raise ValueError(
            "'reproductions' is no table; begin each of them with [reproductions.NAME]"
        )
    return tuple(_reproduction(str(name), held) for name, held in value.items())


def _reproduction(name: str, held: object) -> Reproduction:
    if not _NAME.fullmatch(name):
        raise ValueError(f"the reproduction {name!r} has no name of small letters and digits")
    if not isinstance(held, Mapping):
        raise ValueError(f"the reproduction {name!r} is no table; write [reproductions.{name}]")
    for key in held:
        if key not in (*_TEXTS, *_LISTS):
            like = suggest(str(key), (*_TEXTS, *_LISTS))
            raise ValueError(
                f"the reproduction {name!r} has the unknown key {key!r}{like and f'; {like}'}"
            )
    for key in _TEXTS:
        if not isinstance(held.get(key), str) or not str(held[key]).strip():
            raise ValueError(f"the reproduction {name!r} lacks the text {key!r}")
    lists = {key: held.get(key, []) for key in _LISTS}
    for key, parts in lists.items():
        if not isinstance(parts, list) or not all(isinstance(one, str) for one in parts):
            raise ValueError(f'{key!r} of the reproduction {name!r} is no list, as in ["a", "b"]')
    _need_known(name, str(held["file"]))
    help, template, file = (str(held[key]).strip() for key in _TEXTS)
    releases, check = (tuple(map(str, lists[key])) for key in _LISTS)
    return Reproduction(name, help, template, file, releases, check)


def _need_known(name: str, file: str) -> None:
    """Raises `ValueError` for an unknown placeholder in the name of a file."""
    for found in re.findall(r"\{([^{}]*)\}", file):
        if found not in _PLACEHOLDERS:
            like = suggest(found, _PLACEHOLDERS) or "it may have {class} and {name}"
            raise ValueError(
                f"the file of the reproduction {name!r} has the unknown placeholder"
                f" {{{found}}}; {like}"
            )
