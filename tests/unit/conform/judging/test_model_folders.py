"""Generated models are loaded by path: the first folder that has one counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.judging import environment

from charter.api import generated as generate
from charter.formats.project import project_at
from conform.adapters.projects import builtin, model_folders
from conform.console.errors import BadSuite
from conform.judging.model import load, use_folders
from conform.runs.execute import run_target
from conform.runs.options import RunOptions

ROOT = Path(__file__).resolve().parents[4]
LAMP = """protocol lamp
component lamp {
  state lit: bool = false
  operation press() -> bool cites silent { branch on { lit' = true reply true } }
  observe all { lit }
}
witness shines of lamp: lit
scenario "on" of lamp { do press() -> on }
instance tiny of lamp { }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project in a folder with blanks, where the test then is."""
    root = tmp_path / "my pröject"
    (root / "spec").mkdir(parents=True)
    (root / "charter.toml").touch()
    (root / "spec" / "lamp.charter").write_text(LAMP)
    (root / "adapters" / "lamp").mkdir(parents=True)
    (root / "adapters" / "lamp" / "adapter.toml").write_text(
        'id = "lamp"\ntitle = "Lamp"\nprotocol = "lamp"\ncomponent = "lamp"\nstart = ["x"]\n'
    )
    generate.write(project_at(root))
    monkeypatch.chdir(root)
    yield root
    use_folders([str(builtin().generated)])


def test_models_of_the_project_and_of_the_tool_are_found(project: Path) -> None:
    use_folders(model_folders())
    assert load("charter_models.lamp.lamp").PROTOCOL == "lamp"
    assert load("charter_models.kafka_replication.controller").COMPONENT == "controller"
    variant = "charter_models.kafka_replication_variants.pre_kip_966.controller"
    assert load(variant).VARIANT == "pre_kip_966"


def test_the_first_folder_that_has_the_model_of_the_suite_comes_first(project: Path) -> None:
    mine, theirs = str(project / "generated"), str(builtin().generated)
    assert model_folders() == (mine, theirs)
    assert model_folders("charter_models.lamp.lamp") == (mine, theirs)
    kafka = "charter_models.kafka_replication.controller"
    assert model_folders(kafka) == (theirs, mine)
    (project / "generated" / "charter_models" / "kafka_replication").mkdir()
    assert model_folders(kafka) == (mine, theirs)


def test_another_project_has_another_model_in_the_same_process(project: Path) -> None:
    use_folders(model_folders())
    before = load("charter_models.lamp.lamp").SPEC_DIGEST
    (project / "spec" / "lamp.charter").write_text(LAMP.replace("reply true", "reply false"))
    (project / "charter.toml").write_text('generated = "other"')
    generate.write(project_at(project))
    use_folders(model_folders())
    assert before != load("charter_models.lamp.lamp").SPEC_DIGEST


def test_children_use_the_folders_that_they_are_given(project: Path, tmp_path: Path) -> None:
    """A package of the same name on Python's path, as an old installation has, is not read."""
    (tmp_path / "old" / "charter_models").mkdir(parents=True)
    (tmp_path / "old" / "charter_models" / "__init__.py").write_text("raise SystemExit(7)")
    path = os.pathsep.join([str(tmp_path / "old"), environment()["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-m", "conform.adapters.reference", "--models",
         os.pathsep.join(model_folders()), "--model", "charter_models.lamp.lamp"],
        input='{"hello": 1}\n', env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert '"component":"lamp"' in done.stdout.replace(" ", ""), done.stderr


def test_workers_of_spark_load_the_models_of_the_project(
    spark: object, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    finished = run_target(
        RunOptions("reference", engine="spark", master="local[2]"), lambda _: None
    )
    assert finished.run.protocol == "lamp"
    verdicts = finished.summary["verdicts"]
    assert isinstance(verdicts, dict)
    assert {kind: count for kind, count in verdicts.items() if count} == {"conforms": 1}
    assert finished.folder.place.startswith(str(project / "build" / "runs"))


def test_a_module_that_is_no_model_is_refused_by_name(project: Path) -> None:
    use_folders(model_folders())
    module = "charter_models.lamp.lamp"
    (project / "generated" / "charter_models" / "lamp" / "lamp_wire.py").unlink()
    (project / "generated" / "charter_models" / "lamp" / "lamp.py").write_text("X = 1\n")
    sys.modules.pop(module, None)
    with pytest.raises(BadSuite, match="no PROTOCOL, so it is no generated model"):
        load(module)
