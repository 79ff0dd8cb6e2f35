"""The wheel in an environment of its own, in a root folder without the checkout."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.chroot import Chroot

ROOT = Path(__file__).resolve().parents[2]
WORK = "/somewhere/an empty földer"


class Installed:
    """An environment with the wheel and what is named in `more`, and a folder to work in."""

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

    def started(self, command: Sequence[str], at: str = "") -> subprocess.Popen[str]:
        """A process whose stdin and stdout are pipes."""
        return subprocess.Popen(
            self.box.command(f"{WORK}/{at}", command), env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(
        self, *command: str, at: str = "", without: str = "", told: str = ""
    ) -> tuple[int, str, str]:
        """Run a command in a folder of the one to work in: exit code, stdout, stderr. Its stdin is
        `told`, and the environment variable `without` is not there."""
        settings = {name: text for name, text in self.environment.items() if name != without}
        done = subprocess.run(
            self.box.command(f"{WORK}/{at}", command), capture_output=True, text=True, check=False,
            env=settings, timeout=600, input=told,
        )  # fmt: skip
        assert "Traceback" not in done.stderr + done.stdout, done.stderr + done.stdout
        return done.returncode, done.stdout, done.stderr

    def conform(self, *command: str, at: str = "", told: str = "") -> tuple[int, str, str]:
        return self.run(f"{self.bin}/conform", *command, at=at, told=told)

    def says(self, *command: str, code: int = 0, at: str = "") -> str:
        """All that a command prints, which ends with this exit code."""
        found, out, err = self.conform(*command, at=at)
        assert found == code, out + err
        return out + err

    def printed(self, command: Sequence[str]) -> tuple[int, str]:
        """The exit code of a command, and all that it printed."""
        code, out, err = self.conform(*command)
        return code, out + err


def wheel() -> Path:
    """The wheel that `make dist` builds."""
    subprocess.run([shutil.which("make") or "make", "dist"], cwd=ROOT, check=True)
    (built,) = (ROOT / "build" / "dist").glob("*.whl")
    return built
