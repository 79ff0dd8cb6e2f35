"""The checker of links that `make docs` runs on what it has built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.links import dead_links
from tests.tidy.house import ROOT

SITE = {
    "index.html": '<a href="rules/a.html#two">a</a> <img src="a%20b.svg?v=1"> <a href="#here">b</a>'
    ' <p id="here"> <a href="mailto:a@b">c</a> <a href="//host/x">d</a> <a href="rules/">e</a>',
    "rules/a.html": '<p id="two"><a href="../index.html">up</a>',
    "a b.svg": "",
    "rules": "",
}


def test_a_site_whose_links_lead_somewhere_has_no_dead_link() -> None:
    assert dead_links(SITE) == set()


@pytest.mark.parametrize(
    "target", ["a.html", "rules/b.html", "rules/a.html#three", "#there", "../index.html"]
)
def test_a_link_that_leads_nowhere_is_found(target: str) -> None:
    page = SITE["index.html"] + f'<a href="{target}">x</a>'
    assert dead_links({**SITE, "index.html": page}) == {("index.html", target)}


def test_the_command_names_the_page_and_the_link(tmp_path: Path) -> None:
    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tests.support.links", str(tmp_path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run().returncode == 1, "an empty folder is no site"
    (tmp_path / "index.html").write_text('<a href="index.html">a</a>', encoding="utf-8")
    assert run().returncode == 0
    (tmp_path / "a.html").write_text('<a href="b.html">b</a>', encoding="utf-8")
    done = run()
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path / 'a.html'}: the link to b.html leads nowhere\n"
