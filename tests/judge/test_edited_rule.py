"""An edited rule: the model changes, the suite of before diverges there, and CI calls it stale."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import dataset

from charter.api import generated as generate
from charter.formats.project import project_at
from charter.formats.suite import read_manifest

ROOT = Path(__file__).parents[2]
SUITE = Path("generated") / "suites" / "kafka_replication" / "controller"
RULE = "& set(replicas)) - isr - suspect"


def edit(root: Path) -> None:
    """A copy of the project's charter in which an unclean shutdown leaves a replica eligible."""
    shutil.copy(ROOT / "charter.toml", root)
    shutil.copytree(ROOT / "spec" / "kafka", root / "spec" / "kafka")
    rules = root / "spec" / "kafka" / "10-rules.charter"
    text = rules.read_text()
    assert text.count(RULE) == 1
    rules.write_text(text.replace(RULE, RULE.removesuffix(" - suspect")))
    shutil.copytree(ROOT / "generated", root / "generated")


def write_models(root: Path) -> None:
    """The models of the edited charter, and of the mutants that the suite takes along."""
    mutants = read_manifest(root / SUITE).models.mutants
    for protocol in generate.protocols(project_at(root)):
        opened = generate.open_protocol(protocol)
        files = dict(generate.base_models(opened))
        for mutant in mutants if protocol.name == "kafka.replication" else ():
            made = generate.mutant_models(opened, mutant)
            files |= {f"{generate.PACKAGE}/{path}": text for path, text in made.items()}
        generate.write_files(files, root / "generated")


def run_reference(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """`conform run --target reference`, with the models and the suite of `root`."""
    command = ["run", "--target", "reference", "--suite", str(root / SUITE), "--engine", "inline"]
    return subprocess.run(
        [sys.executable, "-m", "conform.cli.main", *command, "--out", str(out)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow
def test_an_edited_rule_diverges_from_the_suite_of_before(tmp_path: Path) -> None:
    """The README's tour makes the same edit, with the command that writes all models."""
    edit(tmp_path)
    before = run_reference(tmp_path, tmp_path / "before")
    assert before.returncode == 0, before.stderr
    write_models(tmp_path)
    after = run_reference(tmp_path, tmp_path / "after")
    assert after.returncode == 1, after.stderr
    rows = dataset.dataset(tmp_path / "after" / "deviations", partitioning="hive").to_table()
    # The replicas of a broker that is unregistered leave by the same rule.
    assert set(rows.column("branch").to_pylist()) == {"register/unclean", "unregister/removed"}


@pytest.mark.slow  # of a small charter: tests/unit/api/test_generated.py
def test_generated_is_stale_once_a_rule_is_edited(tmp_path: Path) -> None:
    edit(tmp_path)
    model = "charter_models/kafka_replication/controller.py"
    (protocol,) = (
        p for p in generate.protocols(project_at(tmp_path)) if p.name == "kafka.replication"
    )
    text = generate.base_models(generate.open_protocol(protocol))[model]
    committed = (ROOT / "generated" / model).read_text()
    assert text != committed
    assert "- isr - suspect" in committed
    assert "- isr - suspect" not in text
