"""What "a tool that anyone can install" says of a project anywhere, sentence by sentence: the wheel
alone, in a root folder without the checkout. test_wheel.py begins, test_box_daily.py goes on."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from tests.support.installed import ROOT, Installed, InstalledProject

TEMPLATES = ("lease", "queue", "register", "raft")
SHADOW = "raise ImportError('a model of the user is not looked for here')"


@pytest.mark.slow
@pytest.mark.network
def test_the_checkout_is_not_there(installed: Installed) -> None:
    assert installed.run("ls", str(ROOT))[:2] == (2, "")
    find = "from importlib.util import find_spec as f; print(f('charter_models'), f('z3'))"
    assert installed.run(f"{installed.bin}/python", "-c", find)[1] == "None None\n"
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"+g{commit.strip()}" in installed.says("--version")


@pytest.mark.slow
@pytest.mark.network
def test_no_extra_is_needed_for_language_explorer_and_suites(installed: Installed) -> None:
    charter = "spec/queue.charter"
    installed.says("init", "bare", "--template", "queue", "--adapter", "none")
    assert "no errors, no warnings" in installed.says("check", charter, at="bare")
    assert "nothing is violated" in installed.says("explore", charter, at="bare")
    assert "1 of 1 mutants are caught" in installed.says(
        "explore", charter, "--mutant", "*", at="bare"
    )
    assert "by put/put" in installed.says("simulate", charter, at="bare")
    assert "obligations open             0\n" in installed.says(
        "vectors", charter, "--search", at="bare"
    )
    assert "generated/charter_models/queue/broker.py" in installed.says("generate", at="bare")
    assert installed.says("generate", "--check", at="bare") == ""


@pytest.mark.slow
@pytest.mark.network
def test_a_charter_is_formatted(installed: Installed) -> None:
    installed.says("init", "format", "--adapter", "none")
    path = installed.folder / "format" / "spec" / "lease.charter"
    text = path.read_text()
    path.write_text(text.replace("  ", " "))
    installed.says("fmt", "--check", "spec/lease.charter", at="format", code=1)
    installed.says("fmt", "spec/lease.charter", at="format")
    assert path.read_text() == text


@pytest.mark.slow
@pytest.mark.network
def test_every_page_that_a_hint_can_name_is_there(installed: Installed) -> None:
    topics = [
        line.split()[0] for line in installed.says("help").partition("topics:\n")[2].splitlines()
    ]
    assert {"adapters", "ci", "pytest", "editors", "types", "project", "run"} < set(topics)
    for topic in topics:
        assert installed.says("help", topic).startswith("# ")


@pytest.mark.slow
@pytest.mark.network
def test_a_missing_extra_is_one_sentence_before_any_work(installed: Installed) -> None:
    installed.says("init", "extras", "--adapter", "none")
    before = sorted(installed.folder.rglob("extras/**/*"))
    for command, extra in (
        ("prove spec/lease.charter", "smt"), ("explore spec/lease.charter --engine spark", "spark"),
        ("run --target reference --engine spark", "spark"), ("lsp", "lsp"),
    ):  # fmt: skip
        told = installed.says(*command.split(), at="extras", code=2)
        assert told.count("\n") == 1 and f"pip install 'charter-conform[{extra}]'" in told
    assert sorted(installed.folder.rglob("extras/**/*")) == before


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("template", TEMPLATES)
def test_init_makes_a_project_that_checks_and_explores(installed: Installed, template: str) -> None:
    installed.says("init", template, "--template", template, "--adapter", "none")
    project = installed.folder / template
    assert (project / "charter.toml").is_file() and (project / "README.md").is_file()
    assert "run: conform test\n" in (project / ".github/workflows/charter.yml").read_text()
    assert "no errors, no warnings" in installed.says(
        "check", f"spec/{template}.charter", at=template
    )
    told = installed.says("explore", f"spec/{template}.charter", "--instance", "tiny*", at=template)
    assert "nothing is violated" in told


@pytest.mark.slow
@pytest.mark.network
def test_a_project_is_found_from_below_and_the_innermost_counts(mine: InstalledProject) -> None:
    project = mine.copy("outer")
    assert (project.folder / "build/report/index.html").is_file()
    below = InstalledProject(mine.installed, "outer/deep/below")
    below.folder.mkdir(parents=True)
    assert "\nexit 1: " in below.says("test", code=1)
    assert "lease-python" in below.says("targets")
    file = below.folder / "charter.toml"
    file.touch()
    assert "lease-python" not in below.says("targets")
    assert "below/spec has no charter" in below.says("test", code=2)
    file.write_text('adapers = "../../adapters"\n')
    told = below.says("test", code=2)
    assert "'adapers' is not known; did you mean adapters?" in told and told.count("\n") == 1


@pytest.mark.slow
@pytest.mark.network
def test_nothing_in_site_packages_hides_the_models_of_a_user(mine: InstalledProject) -> None:
    place = mine.installed.box.place(mine.installed.bin).parent
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "charter_models").mkdir()
    (packages / "charter_models" / "__init__.py").write_text(SHADOW)
    assert not [name for name in mine.installed.environment if name.startswith("CHARTER")]
    told = mine.copy("shadowed").says("run", "--target", "lease-python", code=1)
    shutil.rmtree(packages / "charter_models")
    assert "exit 1: 2 findings" in told and "canary" not in told


@pytest.mark.slow
@pytest.mark.network
def test_the_engine_is_chosen_by_size_and_can_be_forced(mine: InstalledProject) -> None:
    for forced in ((), ("--engine", "inline")):
        asked = ("run", "--target", "lease-python", *forced, "--out", "chosen", "--json")
        told = json.loads(mine.says(*asked, code=1))
        assert told["run"]["engine"] == "inline" and told["summary"]["deviations"] > 0


@pytest.mark.slow
@pytest.mark.network
def test_a_charter_outside_of_a_project_is_told_where_it_belongs(mine: InstalledProject) -> None:
    shutil.copy(mine.folder / "spec" / "lease.charter", mine.installed.folder)
    assert "no errors" in mine.says("check", "../lease.charter")
    for project, charter in ((InstalledProject(mine.installed, ""), ""), (mine, "../")):
        told = project.says("test", f"{charter}lease.charter", code=2)
        assert told.count("\n") == 1 and "`conform init` makes a project" in told


@pytest.mark.slow
@pytest.mark.network
def test_a_read_only_project_is_checked_and_a_run_needs_another_folder(
    mine: InstalledProject,
) -> None:
    mounted = 'mount --bind . . && mount -o remount,bind,ro . && cd "$PWD" && exec "$@"'

    def conform(command: str) -> tuple[int, str]:
        conform = f"{mine.installed.bin}/conform"
        return mine.run("sh", "-c", mounted, "sh", conform, *command.split())

    assert conform("check spec/lease.charter")[0] == 0
    assert conform("explore spec/lease.charter")[0] == 0
    code, told = conform("run --target lease-python --out /tmp/elsewhere")
    assert (code, "exit 1: 2 findings" in told) == (1, True)
    for command in ("run --target lease-python", "test", "vectors spec/lease.charter", "init more"):
        code, told = conform(command)
        (line,) = (line for line in told.splitlines() if line.startswith("conform: "))
        assert (code, "Read-only file system" in line, ";" in line) == (2, True, True), told


@pytest.mark.slow
@pytest.mark.network
def test_no_home_is_needed(mine: InstalledProject) -> None:
    installed = mine.installed
    code, out, err = installed.run(f"{installed.bin}/conform", "test", at=mine.name, without="HOME")
    assert (code, "exit 1: 2 findings" in out) == (1, True), err
