"""Writes completion scripts for shells from the parsers of all commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conform.cli.commands.compiler.explain import list_known_words
from conform.cli.commands.compiler.help import topics
from conform.cli.main import commands, parser_of

NAMED: Final = {
    "--instance": "instances",
    "--variant": "variants",
    "--show": "variants",
    "--mutant": "mutants",
    "--component": "components",
    "--target": "targets",
    "--adapter": "adapters",
    "--branch": "branches",
    "-k": "branches",
}
"""The kind of the names that an option takes."""
PLACES: Final = frozenset({"--suite", "--run", "--out"})
"""Options that take a folder, but also a digest or a URI, so their type is no path."""
MANUAL: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "explain": list_known_words,
    "help": topics,
}
"""What the arguments of a command can be, where this is found in the manual."""


@dataclass(frozen=True, slots=True)
class Flag:
    """An option: its names, its help, whether a value follows, and what that can be: `choices`,
    names of a `kind`, or else a file."""

    names: tuple[str, ...]
    about: str
    takes: bool
    choices: tuple[str, ...]
    kind: str
    is_file: bool


@dataclass(frozen=True, slots=True)
class Described:
    """A command with its options; `choices` are those of its arguments."""

    name: str
    about: str
    flags: tuple[Flag, ...]
    choices: tuple[str, ...]


def describe_all() -> tuple[Described, ...]:
    """All commands, from their parsers."""
    return tuple(_describe(name, about) for name, about in commands().items())


def _describe(name: str, about: str) -> Described:
    actions = parser_of(name, about)._actions  # argparse has no other way to list them
    arguments = [action for action in actions if not action.option_strings]
    choices = tuple(str(each) for action in arguments for each in action.choices or ())
    return Described(
        name,
        about,
        tuple(_flag(action) for action in actions if action.option_strings),
        choices or tuple(MANUAL[name]() if name in MANUAL else ()),
    )


def _flag(action: argparse.Action) -> Flag:
    names = tuple(action.option_strings)
    about = "show this help" if action.dest == "help" else " ".join((action.help or "").split())
    kind = next((NAMED[name] for name in names if name in NAMED), "")
    choices = tuple(str(each) for each in action.choices or ())
    is_file = action.type is Path or action.metavar in ("FILE", "DIR")
    is_file = is_file or not PLACES.isdisjoint(names)
    return Flag(names, about.partition(";")[0], action.nargs != 0, choices, kind, is_file)


def script(shell: str) -> str:
    """The script of a shell, without the last line end."""
    make: Mapping[str, Callable[[tuple[Described, ...]], Iterator[str]]] = {
        "bash": _bash, "zsh": _zsh, "fish": _fish,
    }  # fmt: skip
    return "\n".join(make[shell](describe_all()))


# --- bash ----------------------------------------------------------------------------------------


def _bash(found: tuple[Described, ...]) -> Iterator[str]:
    names = " ".join((*(each.name for each in found), "--help", "--version"))
    yield "# bash completion of conform"
    yield "_conform() {"
    yield '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""'
    yield "  COMPREPLY=()"
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'    COMPREPLY=($(compgen -W "{names}" -- "$cur"))'
    yield "    return"
    yield "  fi"
    yield '  case "${COMP_WORDS[1]} $prev" in'
    for each in found:
        for flag in each.flags:
            if flag.takes:
                cases = "|".join(f'"{each.name} {name}"' for name in flag.names)
                yield f"    {cases}) {_bash_value(flag)}; return ;;"
    yield "  esac"
    yield '  case "${COMP_WORDS[1]}" in'
    for each in found:
        options = " ".join(name for flag in each.flags for name in flag.names)
        yield f'    {each.name}) if [[ "$cur" == -* ]]; then words="{options}"'
        yield f'      else words="{" ".join(each.choices)}"; fi ;;'
    yield "  esac"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$cur"))'
    yield '  [[ "$cur" == -* ]] || _conform_files'
    yield "}"
    yield "_conform_list() {"
    yield '  conform completion --list "$1" "${COMP_WORDS[@]:2}" 2>/dev/null'
    yield "}"
    yield "_conform_files() {"
    yield "  compopt -o filenames 2>/dev/null"
    yield "  local IFS=$'\\n'"
    yield '  COMPREPLY+=($(compgen -f -- "$cur"))'
    yield "}"
    yield "complete -F _conform conform"


def _bash_value(flag: Flag) -> str:
    if flag.choices:
        return f'COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$cur"))'
    if flag.kind:
        return f'COMPREPLY=($(compgen -W "$(_conform_list {flag.kind})" -- "$cur"))'
    return "_conform_files" if flag.is_file else ":"


# --- zsh -----------------------------------------------------------------------------------------


def _zsh(found: tuple[Described, ...]) -> Iterator[str]:
    yield "#compdef conform"
    yield "_conform_list() {"
    yield "  local -a found"
    yield '  found=(${(f)"$(conform completion --list $1 ${(Q)words} 2>/dev/null)"})'
    yield "  compadd -a found"
    yield "}"
    yield "_conform() {"
    yield "  local -a commands"
    yield "  commands=("
    for each in found:
        yield f"    {_quote(f'{each.name}:{each.about}')}"
    yield "  )"
    yield "  if (( CURRENT == 2 )); then _describe command commands; return; fi"
    yield "  local command=$words[2]"
    yield "  shift words; (( CURRENT-- ))"
    yield "  case $command in"
    for each in found:
        specs = [spec for flag in each.flags for spec in _zsh_flag(flag)]
        specs += [_quote(f"*: :{_zsh_arguments(each)}")]
        yield f"    {each.name}) _arguments {' '.join(specs)} ;;"
    yield "  esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = _conform ]; then _conform "$@"; else compdef _conform conform; fi'


def _zsh_arguments(each: Described) -> str:
    return f"({' '.join(each.choices)})" if each.choices else "_files"


# An action that begins with a blank gets no further arguments.
def _zsh_flag(flag: Flag) -> Iterator[str]:
    about = flag.about.replace("[", "(").replace("]", ")").replace(":", " ")
    value = ""
    if flag.takes:
        action = " "
        if flag.choices:
            action = f"({' '.join(flag.choices)})"
        elif flag.kind:
            action = f" _conform_list {flag.kind}"
        elif flag.is_file:
            action = "_files"
        value = f": :{action}"
    for name in flag.names:
        yield _quote(f"*{name}[{about}]{value}")


def _quote(text: str) -> str:
    """A text in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


# --- fish ----------------------------------------------------------------------------------------


def _fish(found: tuple[Described, ...]) -> Iterator[str]:
    yield "# fish completion of conform"
    yield "function __conform_list"
    yield "  conform completion --list $argv[1] (commandline -opc)[3..-1] 2>/dev/null"
    yield "end"
    for each in found:
        yield (
            f"complete -c conform -n __fish_use_subcommand -f -a {each.name}"
            f" -d {_fish_quoted(each.about)}"
        )
    for each in found:
        here = f"complete -c conform -n '__fish_seen_subcommand_from {each.name}'"
        if each.choices:
            yield f"{here} -f -a '{' '.join(each.choices)}'"
        for flag in each.flags:
            yield f"{here} {_fish_flag(flag)} -d {_fish_quoted(flag.about)}"


def _fish_flag(flag: Flag) -> str:
    kinds = {1: "-s"}
    names = (f"{kinds.get(len(name.lstrip('-')), '-l')} {name.lstrip('-')}" for name in flag.names)
    text = " ".join(names)
    if not flag.takes:
        return text
    if flag.choices:
        return f"{text} -x -a '{' '.join(flag.choices)}'"
    if flag.kind:
        return f"{text} -x -a '(__conform_list {flag.kind})'"
    return f"{text} -r -F" if flag.is_file else f"{text} -x"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
