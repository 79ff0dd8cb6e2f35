"""The documentation site can be built: no dead link, and every page is in a table of contents."""

from __future__ import annotations

import re
import subprocess

import pytest
from tests.tidy.house import ROOT, paths

SHOWN = re.compile(r"^(?:docs/(?!plans/).*|spec/.*README|README|CHANGELOG|CONTRIBUTING)\.md$")
SITE = ROOT / "docs" / "site" / "conf.py"


def contents(page: str) -> set[str]:
    """The pages that the tables of contents of a page name."""
    folder = (ROOT / page).parent
    found: set[str] = set()
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S):
        for line in block.splitlines():
            if line and line[0] != ":":
                found |= {
                    p.resolve().relative_to(ROOT).as_posix() for p in folder.glob(f"{line}.md")
                }
    return found


def pages() -> set[str]:
    """The pages of the site: what the patterns that it gives to Sphinx find."""
    patterns = re.findall(r'"([^" ]+\.md)"', SITE.read_text())
    found = {path.relative_to(ROOT).as_posix() for each in patterns for path in ROOT.glob(each)}
    return found & set(paths())


def test_every_page_is_in_a_table_of_contents() -> None:
    assert len(pages()) > 100
    named = {"docs/index.md"}.union(*(contents(page) for page in pages()))
    assert pages() - named == set()


def test_every_page_is_read_by_the_site() -> None:
    """Sphinx calls a link to a page that it was not given a dead link."""
    assert {path for path in paths() if SHOWN.match(path)} - pages() == set()


def test_a_link_is_markdown_that_sphinx_checks() -> None:
    raw = {path for path in paths() if SHOWN.match(path) and "<a " in (ROOT / path).read_text()}
    assert raw == set()


def test_the_front_page_links_the_handbook_that_the_site_has() -> None:
    """In the repository the link leads to the page about handbooks, on the site to that of Kafka:
    conf.py replaces it by its text."""
    (link,) = re.findall(r'^IN_TREE = "(.*)"$', SITE.read_text(), re.M)
    assert (ROOT / "docs" / "index.md").read_text().count(link) == 1


@pytest.mark.slow
@pytest.mark.network
def test_the_site_is_built_without_a_warning() -> None:
    subprocess.run(["make", "docs"], cwd=ROOT, check=True, timeout=600)
    site = ROOT / "build" / "site"
    assert "../handbook/index.html" in (site / "docs" / "index.html").read_text()
    assert (site / "handbook" / "index.html").is_file()
