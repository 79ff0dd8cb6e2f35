"""Consumer groups of fakeredis, judged by operations alone: no command loads a state."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ADAPTER = ROOT / "conformance" / "adapters" / "fakeredis"
KNOWN = {
    "read_new/no_group": "fault",
    "read_history/no_group": "fault",
    "read_history/read": "state",
}
"""What fakeredis 2.41.0 does otherwise: it fails with the error of XGROUP where there is no key,
and it counts a delivery of an entry that is deleted."""


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    """The summary of a run with the committed suite."""
    from conform.cli import main

    out = tmp_path_factory.mktemp("fakeredis") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHARTER_CACHE", str(out.parent / "cache"))  # nothing is remembered there
        code = main.main(["run", "--target", "fakeredis", "--engine", "inline", "--out", str(out)])
    assert code == 1
    return json.loads((out / "summary.json").read_text(encoding="utf-8"))


def test_the_known_differences_of_fakeredis_are_found_when_it_is_judged(summary):
    found = {one["rule"]: one["severity"] for one in summary["findings"]}
    assert found == KNOWN
    assert summary["trusted"]
    assert summary["verdicts"]["diverges"] == len(KNOWN)


def test_findings_are_at_most_five_operations_when_they_are_shrunk(summary):
    sizes = [len(one["shrunk"]["question"]["operations"]) for one in summary["findings"]]
    assert len(sizes) == len(KNOWN)
    assert max(sizes) <= 5


def test_types_of_the_adapter_are_those_of_the_charter_when_generated(conform, tmp_path):
    made = tmp_path / "adapter"
    code, _, err = conform(
        "generate", "--adapter", "python", ROOT / "spec" / "streams", "--out", made
    )
    assert code == 0, err
    assert (made / "protocol.py").read_text() == (ADAPTER / "protocol.py").read_text()


def test_entries_that_are_nil_are_not_claimed(monkeypatch):
    monkeypatch.syspath_prepend(str(ADAPTER))  # Redis 6.2 says nil in the place of a deleted entry
    adapter = runpy.run_path(str(ADAPTER / "adapter.py"))
    monkeypatch.delitem(sys.modules, "protocol")
    assert adapter["read_claimed"]([None, b"1-0", [b"2-0", [b"f", b"v"]]]) == {1, 2}


def test_walks_find_a_wrong_lag_that_the_small_suite_misses(conform, tmp_path):
    out = tmp_path / "run"
    walks = ("--walks", "200", "--seed", "3")
    code, _, _ = conform("run", "--target", "fakeredis", "--engine", "inline", *walks, "--out", out)
    assert code == 1
    found = json.loads((out / "summary.json").read_text(encoding="utf-8"))["findings"]
    (lag,) = [one for one in found if one["rule"] == "info_lag/answered"]
    calls = lag["shrunk"]["question"]["operations"]
    assert [call["operation"] for call in calls][-1] == "info_lag"
    assert len(calls) <= 7
