"""Cross-checks on real Kafka: a snapshot shows what a controller knows beyond its log."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.suites import write_suite

from charter.formats.suite import read_lines, read_manifest
from conform.cli.main import main

pytestmark = pytest.mark.xdist_group("real Kafka")

SUITE = Path(__file__).parents[3] / "generated" / "suites" / "kafka_replication" / "controller"
LOSES_ELR = "elr_survives_while_off"
LOADS_SNAPSHOTS = "N-E1 another controller begins with a snapshot"


@pytest.mark.slow
@pytest.mark.network
def test_a_snapshot_differs_from_the_log_when_elr_is_off(tmp_path: Path) -> None:
    """In the second question a snapshot is loaded already, so that two are."""
    wanted = (LOSES_ELR, f"scenario {LOADS_SNAPSHOTS}")
    every = [*read_lines(SUITE / "vectors.jsonl")]
    kept = [one for one in every if {one.why.title, *one.why.obligations} & {*wanted}]
    assert len(kept) == len(wanted)
    about = read_manifest(SUITE)
    about = replace(about, canaries={name: ids[:1] for name, ids in about.canaries.items()})
    canaries = {start for ids in about.canaries.values() for start in ids}
    kept += [one for one in every if one.id[:20] in canaries]
    write_suite(tmp_path / "suite", kept, about)
    chosen = ["--target", "kafka-controller", "--suite", str(tmp_path / "suite")]
    tried = ["--engine", "inline", "--crosschecks", "100", "--no-shrink"]
    main(["run", *chosen, *tried, "--out", str(tmp_path / "run")])
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    checks = summary["crosschecks"]["checks"]
    assert summary["new_deviations"] == 0
    assert checks["snapshot"]["fails"] == checks["snapshot"]["explained"] > 0
    assert checks["failover"]["fails"] == 0
    assert checks["snapshot"]["not_judged"] == checks["failover"]["not_judged"] == 0
