"""Every diagnostic code has a page, every page a code, and the examples of the pages are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from charter.diagnostics import Source
from charter.project.pipeline import check_texts

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "docs" / "diagnostics"
BLOCK = re.compile(r"^```charter\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r'"([a-z]+/[a-z]+(?:-[a-z]+)*)"')
NAMED = {f"{page.parent.name}/{page.stem}": page for page in sorted(PAGES.glob("*/*.md"))}


def list_used_codes() -> set[str]:
    """The codes that the compiler can report."""
    return {
        code
        for folder in ("check", "syntax", "project", "render/tla")
        for file in sorted((ROOT / "compiler" / "charter" / folder).rglob("*.py"))
        for code in CODE.findall(file.read_text(encoding="utf-8"))
    }


def codes_of(text: str) -> set[str]:
    whole = text if text.startswith("protocol ") else f"protocol example\n{text}"
    return {item.code for item in check_texts((Source("page", whole),))}


def test_pages_are_there_for_exactly_the_codes_that_are_used() -> None:
    assert set(NAMED) == list_used_codes()


def test_index_lists_every_page() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[([a-z/-]+)\]\(\1\.md\)", index, re.MULTILINE) == sorted(NAMED)


@pytest.mark.parametrize("code", NAMED)
def test_page_opens_with_its_code_and_explains_it(code: str) -> None:
    text = NAMED[code].read_text(encoding="utf-8")
    assert text.startswith(f"# {code}\n\n")
    assert len(text) > 150


@pytest.mark.parametrize(
    "code", [code for code, page in NAMED.items() if BLOCK.search(page.read_text())]
)
def test_first_example_has_the_error_and_the_last_one_has_not(code: str) -> None:
    examples = BLOCK.findall(NAMED[code].read_text(encoding="utf-8"))
    assert len(examples) == 2
    assert code in codes_of(examples[0])
    assert codes_of(examples[1]) == set()
