"""Real Kafka against the committed suite: every difference is known, and every entry is true."""

import json
from pathlib import Path

import pytest

from conform.cli.main import main

pytestmark = pytest.mark.xdist_group("real Kafka")

SUITE = Path(__file__).parents[2] / "generated" / "suites" / "kafka_replication" / "controller"


def judged(release: str, out: Path, *more: str) -> int:
    chosen = ["--target", "kafka-controller", "--release", release, "--suite", str(SUITE)]
    return main(["run", *chosen, "--engine", "inline", "--out", str(out), *more])


def all_is_known(release: str, out: Path) -> None:
    code = judged(release, out)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["new_deviations"] == 0, summary
    assert summary["deviations"] > 0
    assert summary["unmet_entries"] == []
    assert summary["stale_entries"] == summary["claimed_too_much"] == []
    assert summary["trusted"]
    assert code == 0


@pytest.mark.network
@pytest.mark.parametrize("release", ["4.3.1", pytest.param("4.0.2", marks=pytest.mark.slow)])
def test_every_deviation_is_in_the_overlay_and_every_entry_is_met(
    release: str, tmp_path: Path
) -> None:
    all_is_known(release, tmp_path / "run")


@pytest.mark.slow
@pytest.mark.network
def test_strictly_known_deviations_are_findings_too(tmp_path: Path) -> None:
    assert judged("4.3.1", tmp_path / "run", "--strict") == 1


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("release", ["4.2.0", "4.2.1", "4.3.0", "4.4.0"])
def test_every_release_where_entries_begin_or_end_has_nothing_new(
    release: str, tmp_path: Path
) -> None:
    all_is_known(release, tmp_path / "run")
