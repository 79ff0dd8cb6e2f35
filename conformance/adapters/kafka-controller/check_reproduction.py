"""Builds and runs a reproduction of a finding, and prints what each of its cases said.

A test in the environment of Kafka's own tests needs the test jars of the release, which
`prepare.py` fetches; any other file has a `main` and needs the jars of the release alone. Prints
one JSON object: the message of each case ("" if it passed), or `{"error": ...}` with exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

CASES = {"fails()": "shows", "passesWithoutItsCause()": "left_out"}
MAIN_CASES = {"allOperations": "shows", "withoutItsCause": "left_out"}
_LAUNCHER = "org.junit.platform.console.ConsoleLauncher"
_JUNIT = "import org.junit.jupiter"
_SECONDS = 600.0
_LENGTH_MAX = 2000
"""Characters that are shown of what a program wrote that did not run."""


class CannotCheck(Exception):
    """The file cannot be built or run; the message is one sentence with the remedy."""


def check(release: str, cache: Path, source: Path) -> dict[str, str]:
    """What each case of a Java file says on a release. Raises `CannotCheck`."""
    is_test = _JUNIT in source.read_text(encoding="utf-8")
    classpath = _prepare(release, cache, "--tests" if is_test else "--jars")
    with tempfile.TemporaryDirectory() as made:
        _compile(source, classpath, Path(made))
        run = _run_tests if is_test else _run_main
        return run(f"org.apache.kafka.controller.{source.stem}", classpath, Path(made))


def _prepare(release: str, cache: Path, which: str) -> str:
    """The class path for a release."""
    command = [sys.executable, str(Path(__file__).with_name("prepare.py")), which]
    done = _run([*command, "--release", release, "--cache", str(cache)], stderr=None)
    said = json.loads(done.stdout)
    if "error" in said:
        raise CannotCheck(str(said["error"]))
    return str(said["classpath"])


def _compile(source: Path, classpath: str, made: Path) -> None:
    compiler = _of_jdk("javac")
    if compiler is None:
        raise CannotCheck("No Java compiler was found; install a JDK 17 or set JAVA_HOME to one.")
    command = [compiler, "-J-XX:TieredStopAtLevel=1", "-proc:none", "-nowarn", "-encoding", "UTF-8"]
    done = _run([*command, "-cp", classpath, "-d", str(made), str(source)])
    if done.returncode:
        raise CannotCheck(f"{source.name} does not compile: {done.stdout.strip()}")


def _run_tests(name: str, classpath: str, made: Path) -> dict[str, str]:
    """Runs the tests of a class, and reads their messages."""
    reports = made / "reports"
    command = [*_java(classpath, made), _LAUNCHER, "execute", "--disable-banner", "--details=none"]
    done = _run([*command, f"--reports-dir={reports}", f"--select-class={name}"])
    found = {}
    for file in sorted(reports.glob("TEST-*.xml")):
        for case in ElementTree.parse(file).iter("testcase"):
            found[CASES.get(case.get("name", ""), "")] = _message(case)
    if not {*CASES.values()} <= found.keys():
        raise CannotCheck(f"the tests of {name} did not run: {done.stdout.strip()[-_LENGTH_MAX:]}")
    return {case: found[case] for case in CASES.values()}


def _message(case: ElementTree.Element) -> str:
    """What a test said that failed; "" if it passed."""
    for kind in ("failure", "error"):
        if (found := case.find(kind)) is not None:
            return found.get("message") or found.get("type") or "it failed"
    return ""


def _run_main(name: str, classpath: str, made: Path) -> dict[str, str]:
    """Runs a program that prints a line for each case: that it passes, or with which words it
    fails."""
    done = _run([*_java(classpath, made), name])
    found = {}
    for line in done.stdout.splitlines():
        case, _, said = line.partition(": ")
        if case in MAIN_CASES:
            found[MAIN_CASES[case]] = "" if said == "passes" else said
    if not {*MAIN_CASES.values()} <= found.keys():
        raise CannotCheck(f"{name} did not run: {done.stdout.strip()[-_LENGTH_MAX:]}")
    return found


def _java(classpath: str, made: Path) -> list[str]:
    java = _of_jdk("java")
    if java is None:
        raise CannotCheck("No java was found; install a JDK 17 or set JAVA_HOME to one.")
    classpath = os.pathsep.join([str(made), classpath])
    return [java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classpath]


def _of_jdk(tool: str) -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home and (found := shutil.which(tool, path=str(Path(home) / "bin"))):
        return found
    return shutil.which(tool)


def _run(
    command: Sequence[str], stderr: int | None = subprocess.STDOUT
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise CannotCheck(f"{command[0]} did not end within {_SECONDS:.0f} s; run again.") from None


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Build and run a reproduction of a finding.")
    parser.add_argument("--release", required=True, help="a release of Kafka")
    parser.add_argument("--cache", required=True, type=Path, help="a folder outside the tree")
    parser.add_argument("file", type=Path, help="the Java file")
    options = parser.parse_args(arguments)
    try:
        found = check(options.release, options.cache.resolve(), options.file)
    except CannotCheck as error:
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return 2
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
