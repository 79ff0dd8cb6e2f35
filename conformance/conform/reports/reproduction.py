"""Writes a reproduction of a finding, by the template of its target."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import NoReturn

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from charter.formats.findings.reproductions import Reproduction
from charter.formats.findings.reviewed import ReviewedFinding
from conform.console.errors import ConformError
from conform.runs.reproduce.case import ReproducedCase

_WIDTH = 96


class BadTemplate(ConformError):
    """The template of a reproduction is missing or wrong."""


@dataclass(frozen=True, slots=True)
class ReproducedFinding:
    """A finding with the two ways through that show it. `reviewed`: what a person has written, if
    anybody has; `says` is the sentence with which the first one fails. On a release that does not
    show it, `shown_by` is the one that does: then both pass."""

    name: str
    says: str
    target: str
    release: str
    sorts: Mapping[str, Mapping[str, int]]
    shows: ReproducedCase
    left_out: ReproducedCase
    reviewed: ReviewedFinding | None = None
    shown_by: str = ""

    @property
    def class_name(self) -> str:
        """The name in capitals, as a class has it: `ClearedElr` of `cleared_elr`."""
        parts = re.split(r"[^A-Za-z0-9]+", self.name)
        return "".join(part[:1].upper() + part[1:] for part in parts)

    @property
    def operations(self) -> frozenset[str]:
        """The operations that both cases need."""
        return frozenset(one.operation for one in (*self.shows.steps, *self.left_out.steps))


def file_name(kind: Reproduction, finding: ReproducedFinding) -> str:
    """The name of the file that a reproduction is written to. Raises `BadTemplate`."""
    name = kind.file.replace("{class}", finding.class_name).replace("{name}", finding.name)
    if Path(name).name != name or name.startswith("."):
        raise BadTemplate(
            f"the reproduction {kind.name!r} would be written to {name!r}, which is no file name;"
            ' write one such as "{class}Test.java"'
        )
    return name


def write_reproduction(folder: Path, kind: Reproduction, finding: ReproducedFinding) -> str:
    """The text of a reproduction, by a template in the folder of an adapter. Raises
    `BadTemplate`."""
    place = folder / kind.template

    def cannot(what: str) -> NoReturn:
        raise BadTemplate(f"{place} cannot reproduce {finding.name}: {what}; add it there")

    def absent(what: str) -> NoReturn:
        on = f"{finding.target} {finding.release}"
        raise BadTemplate(f"{finding.name} cannot happen on {on}: {what}; choose another release")

    made = ImmutableSandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(quoted=quote, comment=comment)
    made.globals.update(cannot=cannot, absent=absent)
    try:
        return made.get_template(kind.template).render(
            finding=finding,
            reviewed=finding.reviewed,
            cases=(finding.shows, finding.left_out),
            sorts=finding.sorts,
            operations=finding.operations,
        )
    except jinja2.TemplateNotFound as error:
        missing = folder / (error.name or kind.template)
        needs = "" if missing == place else f", and {place} needs it"
        raise BadTemplate(f"{missing} does not exist{needs}; write it") from None
    except jinja2.TemplateError as error:
        line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        raise BadTemplate(f"{place}{line}: {error.message}; mend the template") from None


def quote(text: object) -> str:
    """A text as a literal that most languages have, with ASCII alone."""
    return json.dumps(str(text))


def comment(text: object, prefix: str = " * ") -> str:
    """A text as lines of a comment: nothing in it ends the comment, or is an escape there."""
    safe = str(text).replace("*/", "* /").replace("\\u", "\\ u")
    lines = [
        part for line in safe.splitlines() for part in wrap(line, _WIDTH - len(prefix)) or [""]
    ]
    return "\n".join(f"{prefix}{line}".rstrip() for line in lines)
