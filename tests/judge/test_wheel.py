"""The wheel works by itself: installed without extras into an empty environment, used from an empty
folder, where no checkout is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.tutorial import PAGE, Newcomer

ROOT = Path(__file__).resolve().parents[2]
PAGE_FOR_MAN = ROOT / "docs" / "man" / "conform.1"
HATCH = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]


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


class Installed:
    """An environment with the wheel alone, and a folder to work in."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.bin = place / "venv" / "bin"
        self.folder = place / "an empty földer"
        self.folder.mkdir()
        kept = {name: os.environ[name] for name in ("HOME", "PATH", "JAVA_HOME", "PIP_CACHE_DIR",
                "PIP_INDEX_URL", "PIP_CONFIG_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
                if name in os.environ}  # fmt: skip
        self.environment = {**kept, "CHARTER_CACHE": str(place / "cache")}

    def conform(self, *command: str, at: str = "") -> tuple[int, str, str]:
        """Run a command in a folder of the one to work in: exit code, stdout, stderr."""
        done = subprocess.run(
            [str(self.bin / "conform"), *command], cwd=self.folder / at, env=self.environment,
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        assert "Traceback" not in done.stderr + done.stdout, done.stderr + done.stdout
        return done.returncode, done.stdout, done.stderr

    def printed(self, command: Sequence[str]) -> tuple[int, str]:
        """The exit code of a command, and all that it printed."""
        code, out, err = self.conform(*command)
        return code, out + err


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel from `make dist`, installed without extras."""
    place = tmp_path_factory.mktemp("wheel")
    subprocess.run([shutil.which("make") or "make", "dist"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "build" / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith("charter_models")]
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    made = Installed(place)
    command = [str(made.bin / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(command, check=True, cwd=place, env=made.environment)
    return made


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
    source = installed.folder / "mine" / "adapters" / "lease-python" / "lease.py"
    text = re.sub(r"(?m)^([A-Z_]+(?:: \w+(?:\[\w+\])?)? = )True", r"\1False", source.read_text())
    assert text != source.read_text()
    source.write_text(text)
    code, out, err = installed.conform("test", at="mine")
    assert code == 0, out + err
    assert out.endswith("fine\n")
    assert installed.conform("generate", "--check", at="mine")[0] == 0


@pytest.mark.slow
@pytest.mark.network
def test_the_tutorial_is_true_from_an_empty_folder(installed: Installed) -> None:
    newcomer = Newcomer(installed.folder, installed.printed)
    assert newcomer.page() == PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.network
def test_what_comes_with_the_tool_is_there(installed: Installed) -> None:
    assert installed.conform("doctor")[0] == 0
    page = installed.bin.parent / "share" / "man" / "man1" / "conform.1"
    assert page.read_text(encoding="utf-8") == PAGE_FOR_MAN.read_text(encoding="utf-8")
    _, out, _ = installed.conform("targets", "--json")
    assert [item["id"] for item in json.loads(out)] == ["kafka-controller", "reference"]
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
    assert "fine: " in out
