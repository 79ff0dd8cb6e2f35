"""The small suites of the components of brokers and clients, judged against the reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from charter.formats.suite import read_manifest

SPEC = Path(__file__).resolve().parents[3] / "spec" / "kafka"
OPEN = {"replica": 2, "consumer": 0}
"""Obligations that no question meets, and that are not proved infeasible. generated/ has no
ledger of these components: nothing says that a search looked for them, which costs exit code 3."""


@pytest.mark.parametrize("component", OPEN)
def test_the_model_of_a_component_conforms_to_its_small_suite(component, conform, tmp_path):
    suite = tmp_path / "suite"
    code, _, err = conform("vectors", SPEC, "--component", component, "--out", suite)
    assert code == 0, err
    counts = read_manifest(suite).counts
    assert (counts["obligations_open"], counts["stale_questions"]) == (OPEN[component], 0)
    code, out, err = conform(
        "run", "--target", "reference", "--suite", suite, "--engine", "inline", "--json",
        "--out", tmp_path / "run",
    )  # fmt: skip
    said = json.loads(out)["summary"]
    assert code == (3 if OPEN[component] else 0), err
    assert said["trusted"]
    assert said["verdicts"]["conforms"] == said["vectors"] == said["suite_vectors"] > 3
