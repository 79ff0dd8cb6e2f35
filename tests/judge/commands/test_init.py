"""`conform init`: a project that is whole, and nothing overwritten."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from argparse import Namespace
from pathlib import Path

import pytest
from tests.support.caches import own_cache

from charter import api
from charter.formats.suite import read_manifest
from conform.cli import main as cli
from conform.cli.commands.project import init
from conform.project.starting import TEMPLATES, charter_place


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with blanks and umlauts, where the test then is."""
    folder = tmp_path / "ein Ördner"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    return folder


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project with an example, and with the questions that a search finds."""
    place = tmp_path_factory.mktemp("searched")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("CHARTER_CACHE", own_cache(tmp_path_factory.mktemp("cache")))
        assert cli.main(["init", "--template", "lease", "--adapter", "python"]) == 0
        assert cli.main(["vectors", charter_place("lease"), "--search", "--out", "build/all"]) == 0
    return place


@pytest.fixture
def lease(here: Path, searched: Path) -> Path:
    """A copy of the project in the folder `mine`, which is not the current one."""
    return Path(shutil.copytree(searched, here / "mine"))


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_checks_explores_and_catches_its_mutants(
    conform, here: Path, template: str
) -> None:
    code, out, err = conform("init", "--template", template, "--adapter", "none", "--json")
    assert code == 0, err
    assert {Path(path).name for path in json.loads(out)["written"]} == {
        "charter.toml", f"{template}.charter", ".gitignore", "README.md", "charter.yml",
    }  # fmt: skip
    charter = charter_place(template)
    model = api.load(Path(charter))
    assert model.scenarios and model.properties and model.mutants
    assert conform("fmt", "--check", charter)[0] == 0
    assert conform("explore", charter, "--instance", "tiny*")[0] == 0
    assert conform("explore", charter, "--mutant", "*")[0] == 0


def test_the_small_suite_of_the_queue_has_jobs_that_differ(conform, here: Path) -> None:
    assert conform("init", "--template", "queue", "--adapter", "none")[0] == 0
    assert conform("vectors", charter_place("queue"), "--search", "--out", "suite")[0] == 0
    counts = read_manifest(Path("suite")).counts
    assert counts["obligations_covered"] == counts["obligations"]


def test_the_planted_bugs_are_found(conform, lease: Path) -> None:
    sorts, consts = '{"Client": {"a": 1}, "Lock": {"l": 7}}', '{"ttl": 2}'
    adapter = lease / "adapters" / "lease-python"
    assert conform("doctor", "--adapter", adapter, "--sorts", sorts, "--consts", consts)[0] == 0
    code, out, err = conform("test", lease / "spec" / "lease.charter", "--json", "--walks", "0")
    assert (code, err.splitlines()[0]) == (1, f"in {lease}")
    (run,) = json.loads(out)["runs"]
    assert {one["rule"] for one in run["summary"]["findings"]} == {"renew/lost", "acquire/granted"}


def test_nothing_is_overwritten(conform, here: Path) -> None:
    (here / "README.md").write_text("mine")
    assert conform("init", "--adapter", "none")[0] == 0
    assert (here / "README.md").read_text() == "mine"
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    code, _, err = conform("init", "--template", "queue", "--adapter", "none")
    assert (code, "charter.toml exists, and nothing is overwritten; choose" in err) == (2, True)
    assert before == {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}


def test_the_next_command_can_be_copied_when_the_folder_has_a_blank(conform, here: Path) -> None:
    code, _, err = conform("init", "my first", "--adapter", "none")
    assert (code, err) == (0, "next: cd 'my first' && conform test\n")


def test_a_folder_that_cannot_be_written_is_one_sentence(conform, here: Path) -> None:
    (here / "file").touch()
    code, _, err = conform("init", "file/mine", "--adapter", "none")
    assert (code, err.count("\n")) == (2, 1)
    assert "file/mine cannot be written: Not a directory; name another folder\n" in err


def test_the_first_test_of_a_skeleton_says_what_to_write_and_the_next_what_is_next(
    conform, here: Path
) -> None:
    assert conform("init", "--template", "queue", "--adapter", "python")[0] == 0
    code, out, _ = conform("test")
    assert code == 3
    assert "the adapter does not perform 4 of 4 operations yet" in out
    assert "next: write `put` in adapters/queue-python/adapter.py, line 33, and what it" in out
    assert "adapter error:" not in out and "canary" not in out
    assert "start in a given state" not in out
    assert out.endswith(
        "exit 3: write what is missing in the adapter, as is said above, and test again\n"
    )
    path = here / "adapters" / "queue-python" / "adapter.py"
    path.write_text(path.read_text().replace('raise sdk.Unsupported("put")', "return True"))
    out = conform("test")[1]
    assert "the adapter does not perform 3 of 4 operations yet" in out
    assert "next: write `take` in adapters/queue-python/adapter.py, line " in out
    assert "put/put: expected waiting = <j1>, got <>" in out


def test_readme_of_a_project_without_adapter_says_how_to_write_one(conform, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert conform("init", "--adapter", "none")[0] == 0
    readme = Path("README.md").read_text()
    assert "ADAPTER" not in readme and "doctor" not in readme
    assert "which drives it for the judge; there is none yet |" in readme
    (line,) = [line for line in readme.splitlines() if "generate --adapter" in line]
    assert conform(*line.partition("#")[0].split()[1:])[0] == 0
    assert Path("adapters/mine/adapter.toml").exists()
    assert conform("init", "other")[0] == 0
    assert "conform doctor --adapter lease-python  # does" in Path("other/README.md").read_text()


def test_tokens_from_one_sequence_for_all_locks_are_told_with_the_token_that_they_must_equal(
    conform, lease: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The template counts for each lock; a service with one sequence reads what it must change."""
    monkeypatch.chdir(lease)
    service = Path("adapters/lease-python/lease.py")
    text = service.read_text().replace("_REUSED = True", "_REUSED = False")
    text = text.replace("_RENEWED = True", "_RENEWED = False")
    each = "lock.newest += 1"
    assert each in text
    together = "lock.newest = max(other.newest for other in self.locks.values()) + 1"
    service.write_text(text.replace(each, together))
    code, out, _ = conform("test", "--walks", "0")
    assert code == 1 and "1 finding that" in out
    must, counters = out.index("must equal"), out.index("takes new values of all keys from one")
    assert 'lease.l1.token before this step ("#2"); it is a new value' in out[must:counters]
    assert "newest" in Path("README.md").read_text()


def test_doctor_tells_once_of_an_operation_that_ends_the_adapter(conform, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert conform("init")[0] == 0
    assert conform("generate")[0] == 0
    file = Path("adapters/lease-python/adapter.py")
    text, tick = file.read_text(), "    def tick(self) -> frozenset[Lock]:\n"
    assert tick in text
    file.write_text(text.replace(tick, f"{tick}        import os; os._exit(3)\n"))
    code, out, _ = conform("doctor", "--adapter", "lease-python")
    wrong = [line.split() for line in out.splitlines() if line.startswith("NOT  ")]
    assert (code, [line[:3] for line in wrong]) == (1, [["NOT", "performs", "tick"]])
    (forgets,) = (line for line in out.splitlines() if "keeps no state of" in line)
    assert forgets.startswith("-") and "an operation breaks the adapter, see below" in forgets
    assert "the adapter breaks 1 rule" in out


@pytest.mark.parametrize("exists", [False, True])
def test_nothing_is_left_of_a_project_when_init_is_killed(conform, monkeypatch, tmp_path, exists):
    """The folder can then be named again."""
    folder = tmp_path / "mine"
    if exists:
        folder.mkdir()
        (folder / "README.md").write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr("conform.cli.commands.project.init.write_example", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            init.run(Namespace(name=str(folder), template="lease", adapter="python", json=False))
    assert [path.name for path in tmp_path.glob("**/*")] == (["mine", "README.md"] * exists)
    ended = subprocess.Popen(["true"])
    ended.wait()
    dead, alive = tmp_path / f".mine.init-{ended.pid}", tmp_path / f".mine.init-{os.getppid()}"
    others = tmp_path / f".mine.init-0{ended.pid}"
    for stage in (dead, alive, others):  # of one that was killed by SIGKILL, of one that works
        (stage / "spec").mkdir(parents=True)
    (others / "thesis.tex").touch()
    code, out, _ = conform("init", folder)
    assert code == 0 and str(folder / "adapters" / "lease-python" / "adapter.toml") in out
    assert (folder / "charter.toml").exists()
    assert (folder / "README.md").read_text() == "mine" or not exists
    assert not list(folder.glob(".*init*"))
    assert [stage.exists() for stage in (dead, alive, others)] == [False, True, True]
