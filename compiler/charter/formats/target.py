"""Reads adapter.toml: what a project says about an implementation that can be judged
(docs/formats/adapter.md, "adapter.toml")."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from charter.formats.files import regular
from charter.formats.findings.crosschecks import CrossCheck, read_crosschecks
from charter.formats.findings.reproductions import Reproduction, read_reproductions
from charter.formats.findings.taken_entries import TakenEntries, read_taken
from charter.formats.limits import TargetLimit, read_limits
from charter.formats.project import BadProject, Project
from charter.formats.spelling import suggest

FILE = "adapter.toml"
OVERLAY = "overlay.charter"
"""The file beside it with the known differences of the implementation."""
IMAGE = "image"
"""The capability to show the state of a second reader of the log."""
OBLIGATIONS = "obligations"
"""The name that allows a suite to leave obligations of the rules open."""
NAMED = ("unsupported", "variable", "vector")
"""Prefixes of the names that an adapter.toml may list as not compared."""
ALONE = (IMAGE, OBLIGATIONS)
"""The other names."""
_DEADLINES = ("hello", "batch", "one")
_OWN_ID = re.compile(r"\w[\w.-]*")
_OVERLAY = re.compile(r"^[ \t]*overlay\s+(\w+)\s+of\b", re.M)
_VECTOR = re.compile(r"[0-9a-f]{20}")
_KEYS = {
    "id", "title", "protocol", "component", "capabilities", "start", "prepare", "overlay",
    "default_release", "releases", "deadlines", "variants", "errors", "not_compared", "sources",
    "limits", "parameters", "reproductions", "crosschecks",
    "list_releases", "taken",
}  # fmt: skip


OWN_PLACEHOLDERS = (
    "adapter", "cache", "downloads", "sources", "release", "variant", "python", "java", "model",
    "models",
)  # fmt: skip
"""The placeholders of commands that have a value in every target."""
_PARAMETER_KEYS = ("default", "help")
_PARAMETER_NAME = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class TargetParameter:
    """Something that a user may say of a target, such as the address of a server. `help` is a
    sentence about it. Without a `default` a value must be given."""

    name: str
    help: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that an adapter has to answer: hello, a batch, one question. A batch has at most the
    time of its questions."""

    hello: float = 30.0
    batch: float = 30.0
    one: float = 10.0


DEADLINES = Deadlines()


@dataclass(frozen=True, slots=True)
class Target:
    """A target as described by the adapter.toml in `folder`. `sources`: the files and folders
    outside of `folder` of which the implementation consists, None if that is not said."""

    id: str
    title: str
    folder: Path
    start: tuple[str, ...]
    protocol: str = ""
    component: str = ""
    capabilities: tuple[str, ...] | None = None
    prepare: tuple[str, ...] = ()
    list_releases: tuple[str, ...] = ()
    overlay: str = ""
    taken: tuple[TakenEntries, ...] = ()
    default_release: str = ""
    releases: tuple[str, ...] = ()
    deadlines: Deadlines = DEADLINES
    variants: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    not_compared: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[TargetLimit, ...] = ()
    sources: tuple[str, ...] | None = None
    parameters: tuple[TargetParameter, ...] = ()
    reproductions: tuple[Reproduction, ...] = ()
    crosschecks: tuple[CrossCheck, ...] = ()

    def variant(self, release: str) -> str:
        """The variant of the charter that a release is judged against."""
        parts = release.split(".")
        for length in range(len(parts), 0, -1):
            found = self.variants.get(".".join(parts[:length]))
            if found is not None:
                return found
        return ""

    def limits_of(self, release: str) -> tuple[TargetLimit, ...]:
        """The limits of a release."""
        return tuple(limit for limit in self.limits if limit.applies(release))

    def releases_of(self, variant: str) -> tuple[str, ...]:
        """The releases that are judged against a variant ("": the protocol as it stands)."""
        return tuple(release for release in self.releases if self.variant(release) == variant)


def target_files(project: Project) -> tuple[Path, ...]:
    """The adapter.toml of each target of a project, by folder."""
    return tuple(sorted(project.adapters.glob(f"*/{FILE}")))


def ids_of(files: Iterable[Path]) -> dict[Path, str]:
    """The id of each of these adapter.toml, "" of one that cannot be read: who needs it is told.
    Raises `BadProject` if two have the same id: they would share their runs and their known
    findings."""
    ids = {path: id_in(path) for path in files}
    first: dict[str, Path] = {}
    for path, own in ids.items():
        if own and first.setdefault(own, path) != path:
            raise BadProject(
                f"{first[own].parent} and {path.parent} have the same id {own!r} in {FILE}, by"
                " which runs and known findings are told apart; give one of them another id, or"
                " remove it"
            )
    return ids


def id_in(path: Path) -> str:
    """The id in an adapter.toml; "" if it cannot be read, or is none."""
    try:
        return _id(tomllib.loads(regular(path).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return ""


def id_from(name: str) -> str:
    """The id of an adapter that is written into a folder of this name."""
    return re.sub(r"[^\w.-]+", "-", name).lstrip(".-") or "adapter"


def read_target(path: Path) -> Target:
    """The target of one adapter.toml. Raises `BadProject`."""
    try:
        content = tomllib.loads(regular(path).read_text(encoding="utf-8"))
        unknown = sorted(set(content) - _KEYS)
        if unknown:
            like = suggest(unknown[0], _KEYS)
            raise ValueError(f"the key {unknown[0]!r} is not known{like and f', {like}'}")
        found = Target(
            id=_id(content),
            title=_text(content, "title"),
            folder=path.parent,
            start=_texts(content, "start"),
            protocol=_text(content, "protocol", ""),
            component=_text(content, "component", ""),
            capabilities=_texts(content, "capabilities") if "capabilities" in content else None,
            prepare=_texts(content, "prepare", ()),
            list_releases=_texts(content, "list_releases", ()),
            overlay=_text(content, "overlay", ""),
            taken=read_taken(content.get("taken", {})),
            default_release=_text(content, "default_release", ""),
            releases=_texts(content, "releases", ()),
            deadlines=_deadlines(content),
            variants=_table(content, "variants"),
            errors=_table(content, "errors"),
            not_compared=_not_compared(content),
            limits=read_limits(content.get("limits", []), _texts(content, "releases", ())),
            sources=_texts(content, "sources") if "sources" in content else None,
            parameters=_parameters(content),
            reproductions=read_reproductions(content.get("reproductions", {})),
            crosschecks=read_crosschecks(content.get("crosschecks", {})),
        )
        if not found.start:
            raise ValueError("'start' is empty")
        _check_overlay(found)
        return found
    except (OSError, ValueError) as error:
        raise BadProject(f"{path}: {error}; `conform help adapter` has the format") from None


def _id(content: Mapping[str, object]) -> str:
    """The id: runs, builds and known findings lie in files and folders of that name."""
    own = _text(content, "id")
    if not _OWN_ID.fullmatch(own):
        raise ValueError(
            f"'id' is {own!r}; write letters, digits, `.`, `_` and `-`, neither `.` nor `-` first,"
            " since runs and known findings are stored by it"
        )
    return own


def _parameters(content: Mapping[str, object]) -> tuple[TargetParameter, ...]:
    commands = (*_texts(content, "start"), *_texts(content, "prepare", ()))
    return read_parameters(content.get("parameters", {}), commands)


def _deadlines(content: Mapping[str, object]) -> Deadlines:
    held, what = content.get("deadlines", {}), "'deadlines' has the seconds hello, batch and one"
    if not isinstance(held, dict):
        raise ValueError(what)
    for name, seconds in held.items():
        if name not in _DEADLINES:
            like = suggest(name, _DEADLINES)
            raise ValueError(f"{what}, not the unknown key {name!r}{like and f'; {like}'}")
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not number or not seconds > 0:
            wrong = f"it has {name} = {seconds!r}, which is no number of seconds above 0"
            raise ValueError(f"{what}; {wrong}")
    return Deadlines(**{name: float(seconds) for name, seconds in held.items()})


def _not_compared(content: Mapping[str, object]) -> dict[str, str]:
    """What runs of this target may leave uncompared, by name, each with its reason."""
    found = _table(content, "not_compared")
    for name, reason in found.items():
        word, _, rest = name.partition(" ")
        if not (name in ALONE or (word in NAMED and rest)):
            like = suggest(word, (*NAMED, *ALONE))
            raise ValueError(
                f"'not_compared' has the unknown name {name!r};{like and f' {like}'} write one of"
                f" {', '.join(NAMED)} and a name, or {' or '.join(ALONE)}"
            )
        if word == "vector" and not _VECTOR.fullmatch(rest):
            raise ValueError(f"'not_compared' has {name!r}, and an id has 20 digits, all of them")
        if not reason.strip():
            raise ValueError(f"'not_compared' has no reason for {name!r}")
    return found


def _check_overlay(found: Target) -> None:
    """Raises `ValueError` if the overlay that is named is not beside adapter.toml: a run would go
    on without it. A file in which no overlay is seen is for the compiler to refuse."""
    path = found.folder / OVERLAY
    for taken in found.taken:
        if not found.overlay:
            raise ValueError("'taken' adds entries to an overlay, and 'overlay' names none")
        if not (found.folder / taken.folder / OVERLAY).is_file():
            raise ValueError(f"'taken' names {taken.folder!r}, which has no {OVERLAY}")
    if not found.overlay:
        return
    if not path.exists():
        raise ValueError(
            f"'overlay' is {found.overlay!r}, and there is no {OVERLAY} beside it; write one, or"
            " remove the key"
        )
    if not path.is_file():
        return
    known = _OVERLAY.findall(path.read_text(encoding="utf-8", errors="replace"))
    if known and found.overlay not in known:
        like = suggest(found.overlay, known) or "write that name, or remove the key"
        raise ValueError(
            f"'overlay' is {found.overlay!r}, and {OVERLAY} has the overlay {', '.join(known)};"
            f" {like}"
        )


def _text(content: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = content.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is missing, or not a text")
    return value


def _texts(
    content: Mapping[str, object], name: str, default: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    value = content.get(name, default)
    if value is None:
        raise ValueError(f'{name!r} is missing; write a list of texts, as in ["a", "b"]')
    if not isinstance(value, list | tuple):
        raise ValueError(f'{name!r} is no list; write each part as a text, as in ["a", "b"]')
    return tuple(str(item) for item in value)


def _table(content: Mapping[str, object], name: str) -> dict[str, str]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name!r} is not a table")
    return {str(key): str(item) for key, item in value.items()}


# --- parameters ----------------------------------------------------------------------------------


def read_parameters(value: object, commands: Sequence[str]) -> tuple[TargetParameter, ...]:
    """The `parameters` of an adapter.toml; each must be in one of the `commands`, since else no
    value of one changes anything. Raises `ValueError`."""
    if not isinstance(value, Mapping):
        raise ValueError("'parameters' is no table; begin each of them with [parameters.NAME]")
    found = tuple(_parameter(str(name), held) for name, held in value.items())
    for one in found:
        if not any(f"{{{one.name}}}" in part for part in commands):
            raise ValueError(
                f"neither 'start' nor 'prepare' has the parameter {one.name!r}; write"
                f" {{{one.name}}} where its value goes"
            )
    return found


def _parameter(name: str, held: object) -> TargetParameter:
    if not _PARAMETER_NAME.fullmatch(name):
        raise ValueError(f"the parameter {name!r} has no name of the letters a-z and `_`")
    if name in OWN_PLACEHOLDERS:
        raise ValueError(
            f"the parameter {name!r} has the name of a placeholder that every target has; choose"
            " another"
        )
    if not isinstance(held, Mapping):
        raise ValueError(f"the parameter {name!r} is no table; begin it with [parameters.{name}]")
    for key in held:
        if key not in _PARAMETER_KEYS:
            like = suggest(str(key), _PARAMETER_KEYS)
            raise ValueError(f"the parameter {name!r} has the unknown key {key!r}{like and '; '}"
                             f"{like}")  # fmt: skip
    help, default = held.get("help"), held.get("default")
    if not isinstance(help, str) or not help.strip():
        raise ValueError(f"the parameter {name!r} lacks 'help', the sentence that explains it")
    if default is not None and not isinstance(default, str):
        raise ValueError(f"the 'default' of the parameter {name!r} is no text")
    return TargetParameter(name, help.strip(), default)


def parameter_values(
    target: str, declared: Sequence[TargetParameter], given: Mapping[str, str]
) -> dict[str, str]:
    """The value of each parameter of a target: what is `given`, or the default. Raises `ValueError`
    for a name that is not declared, and for a value that is missing."""
    names = [one.name for one in declared]
    for name in given:
        if name not in names:
            raise ValueError(write_unknown(target, name, names))
    for one in declared:
        if one.default is None and one.name not in given:
            raise ValueError(
                f"{target} needs the parameter {one.name!r}: --set {one.name}=VALUE ({one.help})"
            )
    return {one.name: given.get(one.name, one.default or "") for one in declared}


def write_unknown(target: str, name: str, names: Collection[str]) -> str:
    """A sentence about a parameter that a target does not declare."""
    like = suggest(name, names)
    has = f"it has {', '.join(names)}" if names else "no adapter.toml declares one"
    return f"{target} has no parameter {name!r}; {has}{like and f'; {like}'}"


def other_than_default(
    declared: Sequence[TargetParameter], values: Mapping[str, str]
) -> dict[str, str]:
    """The values that are not the defaults."""
    defaults = {one.name: one.default for one in declared}
    return {name: value for name, value in values.items() if defaults.get(name) != value}
