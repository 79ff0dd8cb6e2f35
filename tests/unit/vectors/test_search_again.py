"""A search of rules that changed finds what a search without earlier questions finds."""

from dataclasses import replace
from importlib import resources
from pathlib import Path

from charter.project.sources import read_sources
from charter.suites import make
from charter.suites.found import Found
from charter.suites.search import search
from charter.suites.subject import Subject

CONDITION = "mcdc renew/lost 1 holds[2] false"


def looked(subject: Subject, earlier: Found) -> Found:
    return search(replace(subject, found=earlier), lambda *_: None, False)


def titles(found: Found) -> set[str]:
    return {asked.title for asked in found.asked}


def test_instances_are_searched_again_when_the_rules_changed() -> None:
    """Every branch and reply is covered without the question that is missing."""
    charter = Path(str(resources.files("conform"))) / "templates" / "charters" / "lease.charter"
    subject = make.open_subject(charter, read_sources(charter), "", "")
    fresh = looked(subject, Found())
    assert CONDITION in titles(fresh)
    less = replace(fresh, asked=tuple(q for q in fresh.asked if q.title != CONDITION))
    assert CONDITION not in titles(looked(subject, less))
    assert titles(looked(subject, replace(less, rules="others"))) == titles(fresh)
