"""The wheel works by itself: installed without extras into an empty environment, used from an empty
folder, where no checkout is. tests/judge/adapters/test_box.py goes on."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.drawn.planted import mend
from tests.support.installed import Installed
from tests.support.tutorial import PAGE, Conform, Newcomer

ROOT = Path(__file__).resolve().parents[3]
PAGE_FOR_MAN = ROOT / "docs" / "man" / "conform.1"
HATCH = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
START = (
    "import sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]\n"
    "from conform.cli.main import main; sys.exit(main())"
)


def test_the_wheel_has_what_comes_with_the_tool_and_hides_no_models() -> None:
    wheel = HATCH["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["compiler/charter", "conformance/conform"]
    placed = wheel["force-include"]
    for source, target in placed.items():
        assert (ROOT / source).exists()
        assert target == f"conform/builtin/{source}", "laid out as the checkout is"
    assert {"charter.toml", "spec", "generated", "conformance/adapters"} < set(placed)
    assert {"docs/language", "docs/diagnostics", "docs/formats"} < set(placed)
    assert wheel["shared-data"] == {"docs/man/conform.1": "share/man/man1/conform.1"}


def test_the_version_of_a_wheel_names_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    told = subprocess.run(
        [shutil.which("make") or "make", "--dry-run", "dist"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (build,) = re.findall(r"^CHARTER_BUILD=(\S+) .* -m pip .*wheel ", told, re.MULTILINE)
    assert re.fullmatch(rf"\.dev\d+\+g{commit.strip()}\w*(\.dirty)?", build)
    version = HATCH["version"]
    monkeypatch.setenv("CHARTER_BUILD", build)
    assert runpy.run_path(str(ROOT / version["path"]))[version["expression"]].endswith(build)
    monkeypatch.delenv("CHARTER_BUILD")
    plain = runpy.run_path(str(ROOT / version["path"]))[version["expression"]]
    assert re.fullmatch(r"\d+\.\d+\.\d+", plain), "where there is no commit, as in an archive"


@pytest.fixture
def unpacked(tmp_path: Path) -> Conform:
    """Runs `conform` from what a wheel has, laid out by the table from which it is built, in an
    empty folder and without HOME; of the environment of the tests only the libraries are seen."""
    built = HATCH["build"]["targets"]["wheel"]
    packages = {source: Path(source).name for source in built["packages"]}
    for source, target in {**packages, **built["force-include"]}.items():
        place = tmp_path / "lib" / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place)
        else:
            shutil.copy(ROOT / source, place)
    (tmp_path / "an empty földer").mkdir()
    libraries = sysconfig.get_paths()["purelib"]
    start = [sys.executable, "-I", "-S", "-c", START, str(tmp_path / "lib"), libraries]
    settings = {"PATH": os.environ["PATH"], "CHARTER_CACHE": str(tmp_path / "cache")}

    def conform(command: Sequence[str]) -> tuple[int, str]:
        done = subprocess.run(
            [*start, *command], cwd=tmp_path / "an empty földer", env=settings,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stdout and str(ROOT) not in done.stdout, done.stdout
        return done.returncode, done.stdout

    return conform


@pytest.mark.slow
def test_the_content_of_the_wheel_is_enough_to_judge_from_an_empty_folder(
    unpacked: Conform,
) -> None:
    assert unpacked(["init", "mine"])[0] == 0
    code, out = unpacked(["test", "mine/spec/lease.charter"])
    assert (code, "exit 1: 2 findings that no overlay entry explains" in out) == (1, True), out
    assert "renew/lost: expected reply = false, got true" in out
    assert "acquire/granted: expected reply.token = #3, got #2" in out


def test_the_content_of_the_wheel_has_targets_and_help(unpacked: Conform) -> None:
    code, out = unpacked(["targets", "--json"])
    assert code == 0
    assert [item["id"] for item in json.loads(out)] == [
        "fakeredis", "kafka-controller",
        "kafka-controller-experimental-elr", "redis-server", "reference",
    ]  # fmt: skip
    assert unpacked(["help", "project"])[1].startswith("# The project file")


@pytest.mark.slow
@pytest.mark.network
def test_from_an_empty_folder_to_a_counterexample(installed: Installed) -> None:
    assert installed.conform("init", "mine")[0] == 0
    code, out, err = installed.conform("test", at="mine")
    assert code == 1, out + err
    assert "renew/lost: expected reply = false, got true" in out
    (replay, *_) = re.findall(r"conform replay (\S+) --run (\S+)", out)
    code, out, _ = installed.conform("replay", replay[0], "--run", replay[1], at="mine")
    assert code == 1 and "DIVERGES" in out
    mend(installed.folder / "mine" / "adapters")
    code, out, err = installed.conform("test", at="mine")
    assert code == 0, out + err
    assert out.endswith("fine by the small suite and 200 walks (seed 1)\n")
    assert installed.conform("generate", "--check", at="mine")[0] == 0


@pytest.mark.slow
@pytest.mark.network
def test_the_tutorial_is_true_from_an_empty_folder(installed: Installed) -> None:
    newcomer = Newcomer(installed.folder, installed.run_and_print)
    assert newcomer.page() == PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.network
def test_what_comes_with_the_tool_is_there(installed: Installed) -> None:
    assert installed.conform("doctor")[0] == 0
    page = installed.box.place(installed.bin).parent / "share" / "man" / "man1" / "conform.1"
    assert page.read_text(encoding="utf-8") == PAGE_FOR_MAN.read_text(encoding="utf-8")
    _, out, _ = installed.conform("targets", "--json")
    assert [item["id"] for item in json.loads(out)] == [
        "fakeredis", "kafka-controller",
        "kafka-controller-experimental-elr", "redis-server", "reference",
    ]  # fmt: skip
    assert installed.conform("explain", "type/mismatch")[0] == 0
    code, out, err = installed.conform("run", "--target", "reference", "--out", "run")
    assert code == 0, out + err
    assert installed.conform("report", "run", "--out", "report")[0] == 0
    assert installed.conform("init", "other", "--adapter", "none")[0] == 0
    charter = "other/spec/lease.charter"
    for command, extra in (("prove", "smt"), ("run --target reference --engine spark", "spark")):
        words = [*command.split(), *([charter] if command == "prove" else [])]
        code, _, err = installed.conform(*words)
        assert (code, f"pip install 'charter-conform[{extra}]'" in err) == (2, True)


@pytest.mark.slow
@pytest.mark.network
def test_kafka_is_judged_from_an_empty_folder(installed: Installed) -> None:
    code, out, err = installed.conform("run", "--target", "kafka-controller", "--out", "kafka")
    assert code == 0, out + err
    assert "fine by the small suite: " in out
