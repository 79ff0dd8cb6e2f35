"""What is known or allowed by name does not fail a job."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from charter.formats.run_description import RunDescription
from conform.reports.junit import junit
from conform.reports.runs import ReportedRun


def whole(**summary):
    counted = {"verdicts": {"conforms": 8}, "new_deviations": 0, "deviations": 2,
               "baseline_deviations": 2, "exit": 0}  # fmt: skip
    about = RunDescription(protocol="p", component="c")
    return ReportedRun("r", Path("r"), about, counted | summary, (), (), trusted=True)


def trouble(allowed):
    return {"kind": "crashed", "detail": "it ended with 1", "vectors": 1, "vector": "v1",
            "allowed": allowed, "at": {}}  # fmt: skip


def left(what, allowed):
    return {"what": what, "vectors": 1, "allowed": allowed}


KNOWN = {"id": "f-1", "entry": "", "severity": "state", "rule": "go/done", "vectors": 2,
         "deviations": 2, "vector": "v2", "step": 1, "sentence": "s", "known": "CHIP-6",
         "shown": [], "shrunk": {}, "chosen": False, "hides": 0, "like": ""}  # fmt: skip


@pytest.mark.parametrize("what", ["vector v1", "not loadable"])
def test_known_finding_and_what_is_allowed_by_name_fail_nothing(what):
    run = whole(findings=[KNOWN], not_compared=[left(what, "CHIP-7")],
                adapter_trouble=[trouble("CHIP-7")])  # fmt: skip
    suite = Xml.fromstring(junit(run).encode())
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    skipped = [one.get("message") for one in suite.iter("skipped")]
    assert skipped == ["known (CHIP-6): s", "allowed (CHIP-7): it ended with 1"]


def test_what_nothing_allows_fails_the_job():
    run = whole(findings=[KNOWN], not_compared=[left("crashed", "")], exit=3,
                reasons=["judged 8 of 9; not compared: 1 crashed"],
                adapter_trouble=[trouble("")])  # fmt: skip
    suite = Xml.fromstring(junit(run).encode())
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
