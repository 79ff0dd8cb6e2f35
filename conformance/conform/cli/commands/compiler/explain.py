"""`conform explain`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from charter.formats.spelling import nearest
from conform.adapters.projects import docs
from conform.console.errors import ConformError
from conform.console.terminal import out

EXAMPLES = """examples:
  conform explain type/mismatch
  conform explain inconclusive
  conform explain --list

Explains a diagnostic code, a word that is printed beside a count, or a finding of the project by
its id (f- and ten digits): what deviates, in which runs, and what a baseline says of it. Exit
code 0: it is explained; 2: there is no such code, word or finding.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "word",
        nargs="?",
        default="",
        help="code of a diagnostic, a count: stale, or id of a finding",
    )
    parser.add_argument("--list", action="store_true", help="list all codes and words")


def run(arguments: argparse.Namespace) -> int:
    known = list_known_words()
    if arguments.list or not arguments.word:
        out("\n".join(known))
    elif re.fullmatch(r"f-[0-9a-f]+", arguments.word):
        from conform.cli.output.explain_finding import tell_finding  # slow to import

        out(tell_finding(arguments.word))
    elif found := explanation(arguments.word):
        out(found)
    else:
        word = _as_listed(arguments.word)
        near = [name for name in known if arguments.word in name or word in name]
        near = near or [like for like in (nearest(arguments.word, known, 0.75),) if like]
        hint = f"; did you mean {', '.join(near)}" if near else ""
        raise ConformError(
            f"{arguments.word!r} is neither a diagnostic code nor a count{hint}; --list shows all"
        )
    return 0


def list_known_words() -> list[str]:
    """All codes of diagnostics, and all counts."""
    return [*_codes(), *_counts()]


def explanation(word: str) -> str:
    """What is known of a diagnostic code or a count; "" if it is neither."""
    if word in _codes():
        return (_pages() / f"{word}.md").read_text(encoding="utf-8").rstrip()
    counts, listed = _counts(), _as_listed(word).removesuffix("_small_suite")
    found = (counts.get(listed.removeprefix(start), "") for start in ("", *_OF))
    return next(filter(None, found), "")


def _pages() -> Path:
    return docs() / "diagnostics"


def _codes() -> list[str]:
    pages = _pages()
    return sorted(
        path.relative_to(pages).with_suffix("").as_posix()
        for path in pages.rglob("*.md")
        if path.parent != pages
    )


def _as_listed(word: str) -> str:
    """A count as it appears in JSON."""
    return re.sub(r"\W+", "_", word.lower()).strip("_")


_OF = ("mutants_", "obligations_", "vectors_")
"""What stands before a word in the labels of some commands."""


def _counts() -> dict[str, str]:
    """The sections of docs/formats/counts.md, by their titles as they appear in JSON."""
    page = docs() / "formats" / "counts.md"
    _, *sections = page.read_text(encoding="utf-8").split("\n## ")
    titles = [section.partition("\n")[0] for section in sections]
    return {
        title.replace(" ", "_"): f"# {section.strip()}"
        for title, section in zip(titles, sections, strict=True)
    }
