"""What is written about findings on Kafka's controller fits, and its tests fail as they should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WRITTEN = sorted(path.stem for path in (ROOT / "docs" / "findings").glob("*.toml"))


def test_written_findings_have_an_entry_and_a_path(conform, monkeypatch):
    monkeypatch.chdir(ROOT)
    code, said, _ = conform("findings", "--target", "kafka-controller", "--json")
    listed = json.loads(said)["kafka-controller"]
    assert code == 0, [one["stale"] for one in listed if one["stale"]]
    assert sorted(one["name"] for one in listed if one["title"]) == WRITTEN
    assert [one["name"] for one in listed][: len(WRITTEN)] == [
        one["name"] for one in listed if one["title"]
    ], "those that are written come first"


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize("name", WRITTEN)
def test_test_of_a_finding_fails_on_a_quorum_and_passes_without_its_cause(
    conform, monkeypatch, tmp_path, name
):
    monkeypatch.chdir(ROOT)
    code, said, error = conform("reproduce", name, "--as", "junit", "--check", "--out", tmp_path)
    assert code == 0, said + error
