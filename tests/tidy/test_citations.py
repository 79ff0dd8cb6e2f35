"""A citation of a text on the web leads to the place that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tests.tidy.house import File, texts

PROTOCOL: Final = re.compile(r"^protocol ([\w.]+)", re.MULTILINE)
SOURCE: Final = re.compile(
    r'^source (?P<name>\w+) "[^"]*"(?:\s+at "(?P<url>[^"]+)"(?: \{(?P<sections>[^}]*)\})?)?',
    re.MULTILINE,
)
SECTION: Final = re.compile(r'"(?P<section>[^"]+)": "(?P<address>[^"]+)"')


def protocols() -> Iterator[list[File]]:
    """The charters and overlays of each protocol that the project ships."""
    files: dict[str, list[File]] = {}
    for file in texts():
        if file.path.startswith(("spec/", "conformance/")) and file.path.endswith(".charter"):
            files.setdefault(PROTOCOL.findall(file.text)[0], []).append(file)
    yield from files.values()


def without_address(files: Iterable[File]) -> list[str]:
    """What is cited of a source on the web, and would lead to the front page of the source."""
    text = "\n".join(file.text for file in files)
    found: set[str] = set()
    for source in SOURCE.finditer(text):
        if source["url"]:
            known = {
                section for section, address in SECTION.findall(source["sections"] or "")
                if address != source["url"]
            }  # fmt: skip
            cited = re.findall(rf'\b{source["name"]} "([^"]+)"', SOURCE.sub("", text))
            found |= {f"{source['name']} {section}" for section in {*cited} - known}
    return sorted(found)


def test_each_cited_section_has_an_address_when_its_source_has_one() -> None:
    assert any("Eligible Leader Replicas" in f.text for files in protocols() for f in files)
    missing = [citation for files in protocols() for citation in without_address(files)]
    assert not missing, "\n".join(missing)


def test_a_citation_is_reported_when_it_has_no_address_of_its_own() -> None:
    declared = 'source T "a text"\nsource W "a page"\n  at "https://example.org" {\n  "1": "one",'
    top = 'at "https://example.org"'
    cited = 'fun f() -> bool cites T "0", W "1", W "2", W "3" = true\n'
    charter = File("a.charter", f'{declared}\n  "3": "https://example.org"\n}}\n{cited}')
    assert without_address([charter]) == ["W 2", "W 3"]
    bare = File("a.charter", f'source W "a page" {top}\n{cited}')
    assert without_address([bare]) == ["W 1", "W 2", "W 3"]
