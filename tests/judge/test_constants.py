"""A component with a constant, judged from end to end: model, questions, adapter, canaries."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from charter import api
from charter.api import generated as generate

MUTANT = "charter_models.lease_mutants.expires_early.lease"

LEASE = """protocol lease
sort Node
const ttl: int 1..9

component lease {
  state holder: option Node = none
  state left: int 0..ttl = 0
  operation acquire(n: Node) -> bool {
    branch held when taken: holder != none  reply false
    branch granted { holder' = present(n)  left' = ttl  reply true }
  }
  operation tick() -> bool {
    branch idle when nobody: holder == none  reply false
    branch expired when last: left <= 1 { holder' = none  left' = 0  reply true }
    branch ticked { left' = left - 1  reply false }
  }
  observe all { holder  left }
}
witness expiry of lease: took tick/expired
stepwise full_time of lease: took tick/expired implies left == 1
mutant expires_early in tiny {
  replace conjunct last of lease.tick/expired with left <= 2
} caught by full_time

instance tiny of lease { Node = 2  ttl = 3 }
instance tiny_short of lease { Node = 1  ttl = 1  misses tick/ticked }
scenario "two ticks" of lease {
  Node = {a}  ttl = 2
  do acquire(a) -> granted
  do tick() -> ticked
  do tick() -> expired
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the charter, its models, and a suite in `suite`."""
    root = tmp_path_factory.mktemp("project")
    charter = root / "spec" / "lease"
    charter.mkdir(parents=True)
    (charter / "lease.charter").write_text(LEASE)
    generate.write(root)
    (protocol,) = generate.protocols(root)
    made = generate.mutant_models(generate.open_protocol(protocol), "expires_early")
    models = {f"{generate.PACKAGE}/{path}": text for path, text in made.items()}
    generate.write_siblings(models, root / "generated")
    wanted = api.SuiteRequest(charter=charter, search=True, out=root / "suite")
    api.make_suite(wanted, lambda *_: None)
    return root


def run_reference(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = ["run", "--target", "reference", "--suite", str(root / "suite")]
    return subprocess.run(
        [sys.executable, "-m", "conform.cli.main", *command, "--engine", "inline", "--out", out],
        env={**os.environ, "PYTHONPATH": str(root / "generated")},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_questions_carry_the_constants_that_the_rules_read(project: Path) -> None:
    lines = (project / "suite" / "vectors.jsonl").read_text().splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    assert {question["consts"]["ttl"] for question in questions} == {1, 2, 3}


def test_the_model_conforms_and_its_mutant_is_caught(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    finished = run_reference(project, out)
    assert finished.returncode == 0, finished.stderr
    told = json.loads((out / "canaries.json").read_text())["canaries"]
    mutants = [row for row in told if row["kind"] == "mutant"]
    assert {(row["where"], row["got"]) for row in mutants} == {(MUTANT, "diverges")}
