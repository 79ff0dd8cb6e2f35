"""One Java process that runs TLC again and again; most of a run of seconds is Java's start."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

PROGRAM = Path(__file__).with_name("TlcServer.java")
JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g")
SAVING = ("-XX:CICompilerCount=1", "-XX:CompileThresholdScaling=5", "-XX:MetaspaceSize=256m")
"""TLC's classes are loaded for each run: to compile fewer of their methods pays."""
MOST = 20
"""Runs of one process: some memory of each is never freed."""


class TlcServer:
    """Runs TLC in one process, which starts at the first request. Another takes its place if it
    dies, and after `MOST` runs. It ends with this process, which closes its input."""

    def __init__(self, jar: Path) -> None:
        self._jar = jar
        self._folder = tempfile.TemporaryDirectory(prefix="tlc")
        self._process: subprocess.Popen[bytes] | None = None
        self._runs = 0

    def run(self, folder: Path, arguments: Sequence[str]) -> str:
        """TLC's output for the modules in a folder; AssertionError with what Java said, if its
        process ended meanwhile."""
        if self._runs == MOST:
            self.end()
        process = self.process()
        assert process.stdin and process.stdout
        self._runs += 1
        try:
            process.stdin.write(("\t".join([str(folder), *arguments]) + "\n").encode())
            process.stdin.flush()
            length = process.stdout.readline()
        except BrokenPipeError:
            length = b""
        if length:
            return process.stdout.read(int(length)).decode()
        code = self.end()
        raise AssertionError(f"TLC ended with {code}: {self._errors.read_text()}")

    def process(self) -> subprocess.Popen[bytes]:
        """The process that the next request goes to."""
        self._process = self._process or self._start()
        return self._process

    def end(self) -> int:
        """The exit code of the process, whose input is closed; 0 if there is none."""
        ended, self._process, self._runs = self._process, None, 0
        if ended is None:
            return 0
        ended.communicate()
        return ended.wait()

    @property
    def _errors(self) -> Path:
        return Path(self._folder.name) / "errors"

    def _start(self) -> subprocess.Popen[bytes]:
        options = [*JAVA, *SAVING, f"-Djava.io.tmpdir={self._folder.name}"]
        with self._errors.open("wb") as errors:
            return subprocess.Popen(
                ["java", *options, str(PROGRAM), str(self._jar)],
                cwd=self._folder.name,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )


@cache
def server(jar: Path) -> TlcServer:
    """The one of this process."""
    return TlcServer(jar)
