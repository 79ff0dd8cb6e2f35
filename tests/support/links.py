"""The links of a site that lead nowhere within it. `python -m tests.support.links FOLDER` prints
them, for `make docs`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit


class PageReader(HTMLParser):
    """Collects what a page links to, its anchors, its elements that are still open, its text."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.targets += [t for t in (given.get("href"), given.get("src")) if t]
        self.anchors |= {given["id"] or ""} if "id" in given else set()
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@cache
def read(text: str) -> PageReader:
    """The page of a text: several tests ask for those of Kafka's handbook, which take seconds."""
    page = PageReader()
    page.feed(text)
    return page


def dead_links(files: Mapping[str, str]) -> set[tuple[str, str]]:
    """The page and the target of each link within a site, whose files are given by their path, that
    leads to no file of it, or to no anchor of a page."""
    pages = {name: read(text) for name, text in files.items() if name.endswith(".html")}
    dead = set()
    for name, page in pages.items():
        for target in page.targets:
            at = urlsplit(target)
            if at.scheme or at.netloc:
                continue
            file = normpath(join(dirname(name), unquote(at.path))) if at.path else name
            missing = file in pages and at.fragment and at.fragment not in pages[file].anchors
            if file not in files or missing:
                dead.add((name, target))
    return dead


def main() -> int:
    """Exit code 1 if a link of the site in the folder that is named leads nowhere."""
    folder = Path(sys.argv[1])
    names = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*")}
    files = {
        name: file.read_text(encoding="utf-8") if name.endswith(".html") else ""
        for name, file in names.items()
    }
    dead = sorted(dead_links(files))
    for name, target in dead:
        sys.stderr.write(f"{folder / name}: the link to {target} leads nowhere\n")
    if not any(name.endswith(".html") for name in files):
        sys.stderr.write(f"{folder} has no pages\n")
        return 1
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
