"""Reads what an adapter.toml says of the parameters of a target, and gives them values
(docs/formats/adapter.md, "Parameters")."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from charter.formats.spelling import suggest

OWN_PLACEHOLDERS = (
    "adapter", "cache", "downloads", "sources", "release", "variant", "python", "java", "model",
    "models",
)  # fmt: skip
"""The placeholders of commands that have a value in every target."""
_KEYS = ("default", "help")
_NAME = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class TargetParameter:
    """Something that a user may say of a target, such as the address of a server. `help` is a
    sentence about it. Without a `default` a value must be given."""

    name: str
    help: str
    default: str | None = None


def read_parameters(value: object, commands: Sequence[str]) -> tuple[TargetParameter, ...]:
    """The `parameters` of an adapter.toml; each must be in one of the `commands`, since else no
    value of it changes anything. Raises `ValueError`."""
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
    if not _NAME.fullmatch(name):
        raise ValueError(f"the parameter {name!r} has no name of the letters a-z and `_`")
    if name in OWN_PLACEHOLDERS:
        raise ValueError(
            f"the parameter {name!r} has the name of a placeholder that every target has; choose"
            " another"
        )
    if not isinstance(held, Mapping):
        raise ValueError(f"the parameter {name!r} is no table; begin it with [parameters.{name}]")
    for key in held:
        if key not in _KEYS:
            like = suggest(str(key), _KEYS)
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
            raise ValueError(unknown_parameter(target, name, names))
    for one in declared:
        if one.default is None and one.name not in given:
            raise ValueError(
                f"{target} needs the parameter {one.name!r}: --set {one.name}=VALUE ({one.help})"
            )
    return {one.name: given.get(one.name, one.default or "") for one in declared}


def unknown_parameter(target: str, name: str, names: Collection[str]) -> str:
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
