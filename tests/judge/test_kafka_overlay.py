"""Real Kafka against the committed suite: every difference is known, and every entry is true."""

import json
from pathlib import Path

import pytest

from conform.cli import main

SUITE = Path(__file__).parents[2] / "generated" / "suites" / "kafka_replication" / "controller"


@pytest.mark.network
def test_every_deviation_of_a_release_is_in_its_overlay(tmp_path: Path) -> None:
    out = tmp_path / "run"
    chosen = ["--target", "kafka-controller", "--release", "4.3.1", "--suite", str(SUITE)]
    code = main(["run", *chosen, "--engine", "inline", "--out", str(out)])
    summary = json.loads((out / "summary.json").read_text())
    assert summary["new_deviations"] == 0, summary
    assert summary["deviations"] > 0
    assert summary["by_entry"]["overridden_reassignment_lingers"] > 0
    assert summary["by_entry"]["elr_survives_while_off"] > 0
    assert not summary["stale_entries"]
    assert summary["trusted"]
    assert code == 0
    assert (
        main(["run", *chosen, "--engine", "inline", "--out", str(tmp_path / "s"), "--strict"]) == 1
    )
