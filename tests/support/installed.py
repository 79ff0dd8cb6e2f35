"""The wheel in an environment of its own, in a root folder without the checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.chroot import Chroot

ROOT = Path(__file__).resolve().parents[2]
WORK = "/somewhere/an empty földer"


class Installed:
    """An environment with the wheel, and a folder to work in."""

    def __init__(self, box: Chroot, name: str = "venv") -> None:
        self.box = box
        self.bin = f"/somewhere/{name}/bin"
        self.folder = box.place(WORK)
        self.environment = box.environment()

    def install(self, wheel: Path, extra: str = "", *more: str) -> None:
        """Make the environment, from the wheel and the registry."""
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, self.box.place("/tmp"))
        assert self.run("python3", "-m", "venv", str(Path(self.bin).parent))[0] == 0
        what = [f"/tmp/{wheel.name}{extra}", *more]
        code, out, err = self.run(f"{self.bin}/python", "-m", "pip", "install", "--quiet", *what)
        assert code == 0, out + err

    def command(self, *command: str, at: str = "", without: str = "") -> list[str]:
        """A command in a folder of the one to work in; the environment variable `without` is not
        there."""
        settings = [f"{key}={text}" for key, text in self.environment.items() if key != without]
        return self.box.command(f"{WORK}/{at}", ("env", "-i", *settings, *command))

    def run(
        self, *command: str, at: str = "", without: str = "", told: str = ""
    ) -> tuple[int, str, str]:
        """Run a command: exit code, stdout, stderr. Its stdin is `told`."""
        done = subprocess.run(
            self.command(*command, at=at, without=without),
            capture_output=True, text=True, check=False, timeout=600, input=told,
        )  # fmt: skip
        told = done.stderr + done.stdout
        assert not re.search("^Traceback", told, re.MULTILINE), told
        return done.returncode, done.stdout, done.stderr

    def conform(self, *command: str, at: str = "", told: str = "") -> tuple[int, str, str]:
        return self.run(f"{self.bin}/conform", *command, at=at, told=told)

    def says(self, *command: str, code: int = 0, at: str = "", told: str = "") -> str:
        """All that a command prints, which ends with this exit code."""
        found, out, err = self.conform(*command, at=at, told=told)
        assert found == code, out + err
        return out + err

    def run_and_print(self, command: Sequence[str]) -> tuple[int, str]:
        """The exit code of a command, and all that it printed."""
        code, out, err = self.conform(*command)
        return code, out + err


@dataclass(frozen=True, slots=True)
class InstalledProject:
    """A project in the folder to work in."""

    installed: Installed
    name: str

    @property
    def folder(self) -> Path:
        """Where it is, as seen from outside."""
        return self.installed.folder / self.name

    def says(self, *command: str, code: int = 0, told: str = "") -> str:
        return self.installed.says(*command, code=code, at=self.name, told=told)

    def run(self, *command: str) -> tuple[int, str]:
        """Any command: exit code, and all that it printed."""
        code, out, err = self.installed.run(*command, at=self.name)
        return code, out + err

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace each `old` in a file."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert old in text
        (self.folder / path).write_text(text.replace(old, new), encoding="utf-8")

    def copy(self, name: str, by: Installed | None = None) -> InstalledProject:
        """A copy beside it."""
        shutil.copytree(self.folder, self.installed.folder / name)
        return InstalledProject(by or self.installed, name)


def wheel() -> Path:
    """The wheel that `make dist` builds."""
    subprocess.run([shutil.which("make") or "make", "dist"], cwd=ROOT, check=True)
    (built,) = (ROOT / "build" / "dist").glob("*.whl")
    return built
