"""Fills the templates of the pages."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from charter.formats.suite import word_count
from conform.console.errors import CannotWrite
from conform.console.terminal import number, plural, visible
from conform.judging.written_values import show
from conform.reports import wording
from conform.reports.ledger import ledger_of_run
from conform.reports.matrix import by_source
from conform.reports.reasons import brief
from conform.reports.release_matrix import MEANINGS, SIGNS
from conform.runs.bounds import bounds_rows
from conform.runs.followed.followed_counts import read_hidden
from conform.runs.touring.certificate_text import tell_certificate

_HERE = Path(__file__).parent / "templates"
STYLE = "style.css"
_MARK = "conform report"
_CODE = re.compile("`([^`]+)`")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@cache
def environment() -> jinja2.Environment:
    """The templates. Every text is escaped, and an undefined name is an error. Kept, with the
    templates that it has compiled."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=number,
        human=wording.human,
        counted=word_count,
        shown=show,
        safe_name=safe_name,
        brief=brief,
        prose=mark_code,
    )
    made.globals.update(
        by_source=by_source,
        plural=plural, percent=wording.percent, in_system=wording.in_system,
        of_releases=wording.releases, say_met=wording.say_met, SIGNS=SIGNS, MEANINGS=MEANINGS,
        statement=wording.statement, scope=wording.scope,
        extent=wording.extent, stale=wording.stale, unmet=wording.list_unmet,
        limits_of=wording.limits_of, excess=wording.excess, both_told=wording.both,
        adds=wording.adds, bounds_rows=bounds_rows, ledger_of_run=ledger_of_run,
        hidden_of=read_hidden, certificate_of=tell_certificate,
        implementation=wording.implementation, name_target=wording.name_target,
        VERDICTS=wording.VERDICTS,
        CLASSES=wording.CLASSES, SEVERITIES=wording.SEVERITIES,
    )  # fmt: skip
    return made


def mark_code(text: str, end: str = "") -> Markup:
    """What a person has written, with its `code` marked, and with one full stop as its `end`."""
    ended = text if not end or text.endswith(end) else text + end
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(ended))))


def safe_name(name: str) -> str:
    """A text made safe as a file name and an anchor."""
    return _UNSAFE.sub("-", name).strip(".-") or "x"


@dataclass(frozen=True, slots=True)
class Site:
    """A folder to write pages to."""

    out: Path
    templates: jinja2.Environment = field(default_factory=environment)

    def page(self, path: str, template: str, **context: object) -> None:
        """Fills a template; links in it are relative to `root`."""
        root = "../" * path.count("/")
        text = self.templates.get_template(template).render(root=root, **context)
        self.write(path, text)

    def write(self, path: str, text: str) -> None:
        """Writes a text file; what would steer a reader's terminal or page is made visible. Raises
        `CannotWrite`."""
        with self._open_place(path) as target:
            target.write_text(visible(text), encoding="utf-8", newline="\n")

    def copy(self, source: Path, path: str) -> None:
        """Copies a file. Raises `CannotWrite`."""
        with self._open_place(path) as target:
            shutil.copyfile(source, target)

    @contextmanager
    def _open_place(self, path: str) -> Iterator[Path]:
        """Makes the folder of a file that is written here."""
        target = self.out / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            yield target
        except OSError as error:
            raise _cannot(target, error) from None

    def clear(self, names: Sequence[str]) -> None:
        """Removes an earlier report. Raises `CannotWrite` if the folder holds anything else,
        or cannot be changed."""
        if not self.out.exists():
            return
        if any(self.out.iterdir()) and not self._is_report():
            raise CannotWrite(
                f"{self.out} holds something other than a report, which would be lost; choose"
                " another folder with --out"
            )
        try:
            for path in (self.out / name for name in names):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise _cannot(path, error) from None

    def _is_report(self) -> bool:
        files = (self.out / name for name in (STYLE, "index.html"))
        return any(path.is_file() and _MARK in path.read_text("utf-8", "replace") for path in files)


def _cannot(path: Path, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"{path} could not be written ({error.strerror or error}); make room, or choose another"
        " folder with --out"
    )
