"""run.json: what an earlier version did not write stays out, and counts as empty."""

from __future__ import annotations

from dataclasses import replace

from charter.formats.canonical import Json
from charter.formats.limits import TargetLimit
from charter.formats.run_description import RunDescription


def test_description_is_as_it_was_when_written_and_read() -> None:
    made = RunDescription(
        id="a", observes=("x",), suite_counts={"seeds": 2}, sources={"src": "1"},
        limits=(TargetLimit("it hides x", ("x",)),), selection={"branch": "put", "first": False},
    )  # fmt: skip
    assert replace(RunDescription.read(made.json()), lacks=frozenset()) == made
    assert made.json()["sources"] == {"src": "1"} and RunDescription().json()["sources"] is None
    assert not {"types", "rejudged", "continued", "lacks"} & made.json().keys()


def test_fields_of_an_earlier_version_stay_out_when_it_is_written_again() -> None:
    old: dict[str, Json] = {"id": "a", "format": 1, "buckets": 2, "entries": {"e": "m"}}
    read = RunDescription.read(old)
    assert (read.buckets, read.limits, read.sources) == (2, (), None)
    assert read.json() == old
    assert replace(read, rejudged="a").json() == {**old, "rejudged": "a"}
