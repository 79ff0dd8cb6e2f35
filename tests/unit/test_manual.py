"""The language manual is the checker's test suite: its blocks say what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from charter.diagnostics import Source
from charter.project.pipeline import check_texts

MANUAL = Path(__file__).parents[2] / "docs" / "language"
BLOCK = re.compile(r"^```charter\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLAIM = re.compile(r"-- error: \[([a-z-]+/[a-z-]+)\]")


def blocks() -> Iterator[tuple[str, str]]:
    """Name and text of every block; fragments stand behind the first block of their page."""
    for page in sorted(MANUAL.glob("*.md")):
        found = BLOCK.findall(page.read_text(encoding="utf-8"))
        for number, text in enumerate(found, start=1):
            whole = text if text.startswith("protocol ") else found[0] + text
            yield f"{page.name}:{number}", whole


CASES = dict(blocks())


@pytest.mark.parametrize("name", CASES)
def test_block_gives_exactly_the_errors_that_it_names(name: str) -> None:
    text = CASES[name]
    lines = text.splitlines()
    claimed = {
        (number, code) for number, line in enumerate(lines, start=1) for code in CLAIM.findall(line)
    }
    found = check_texts((Source(name, text),)).errors
    shown = "\n".join(item.show() for item in found)
    assert {(item.span.source.position(item.span.start)[0], item.code) for item in found} == (
        claimed
    ), shown


def test_manual_has_a_page_for_each_part_of_the_language() -> None:
    assert {page.stem for page in MANUAL.glob("*.md")} >= {
        "types",
        "expressions",
        "components",
        "systems",
        "properties",
        "instances-and-scenarios",
        "variants-mutants-overlays",
    }
