"""Gets the controller of one Kafka release ready to be driven: its jars, and the adapter's classes.

Jars come through the ordinary Maven client into the cache; the adapter is compiled once, against
one release, for all of them. A second run needs neither the network nor a compiler. Prints one JSON
object: `{"classpath": ...}`, or `{"error": ...}` with exit code 2.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ADAPTER = Path(__file__).resolve().parent
MAIN_CLASS = "org.apache.kafka.controller.Adapter"
COMPILED_AGAINST = "4.3.1"
COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_NO_VERSION = "[9999,)"
"""A range of versions in which there is none."""
_METADATA_OF = "org.apache.kafka.kafka-metadata"
_MAVEN_SECONDS = 600.0
_JAVA_SECONDS = 120.0
_DIGESTS = "sha256.json"
_QUICK = "-J-XX:TieredStopAtLevel=1"
"""For a Java compiler that runs for seconds: it takes half as long."""

Say = Callable[[str], None]


class CannotPrepare(Exception):
    """The adapter cannot be made ready; the message is one sentence with the remedy."""


def prepare(release: str, cache: Path, say: Say) -> Mapping[str, str]:
    """The fields that `adapter.toml` uses: `classpath` of the adapter for this release.

    `cache` is a folder outside the tree; several processes may share it. Raises `CannotPrepare`.
    """
    if not _RELEASE.fullmatch(release):
        raise CannotPrepare(f"{release!r} is not a Kafka release; give one such as 4.3.1.")
    home = cache.resolve()
    jars = _jars(release, home, say)
    classes = _classes(home, say)
    classpath = os.pathsep.join([str(classes), str(jars / "*")])
    _check_fit(release, classes, classpath)
    return {"classpath": classpath}


def prepare_tests(release: str, cache: Path, say: Say) -> Mapping[str, str]:
    """The class path of Kafka's own tests: its test jars, and JUnit. Raises
    `CannotPrepare`."""
    return {"classpath": str(_jars(release, cache.resolve(), say, tests=True) / "*")}


def prepare_jars(release: str, cache: Path, say: Say) -> Mapping[str, str]:
    """The class path of a release by itself, without the adapter. Raises `CannotPrepare`."""
    return {"classpath": str(_jars(release, cache.resolve(), say) / "*")}


def list_releases(cache: Path, say: Say) -> Mapping[str, str]:
    """The `releases` that the registry has now, by its own metadata. Raises `CannotPrepare`.

    Maven fetches the metadata to resolve a range of versions. No version is in this range, so it
    fetches no jars.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise CannotPrepare("Maven (mvn) is not on the path; install it to ask the registry.")
    say("asking the registry for the releases of Kafka")
    command = [maven, "-X", "-B", "-ntp", "-U", "-f", str(ADAPTER / "pom.xml")]
    command += [COPY_DEPENDENCIES, f"-Dkafka.version={_NO_VERSION}"]
    output = _run(command, _MAVEN_SECONDS, "Maven")
    home = cache.resolve()
    home.mkdir(parents=True, exist_ok=True)
    local = re.search(r"Using local repository at (.+)", output)
    if local is None or "Could not transfer" in output or "offline mode" in output:
        raise CannotPrepare(_reason(output, _NO_VERSION, home))
    folder = Path(local[1].strip()).joinpath(*_METADATA_OF.split("."))
    found: set[str] = set()
    for path in folder.glob("maven-metadata-*.xml"):
        text = path.read_text(encoding="utf-8", errors="replace")
        found |= {*re.findall(r"<version>\s*(\d+\.\d+\.\d+)\s*</version>", text)}
    if not found:
        raise CannotPrepare(_reason(output, _NO_VERSION, home))
    ordered = sorted(found, key=lambda one: [int(part) for part in one.split(".")])
    return {"releases": " ".join(ordered)}


def _jars(release: str, home: Path, say: Say, *, tests: bool = False) -> Path:
    """The jars of a release, or also those of its tests."""
    jars = home / ("test-jars" if tests else "jars") / release
    if _is_whole(jars, say):
        return jars
    maven = shutil.which("mvn")
    if maven is None:
        raise CannotPrepare("Maven (mvn) is not on the path; install it to fetch the Kafka jars.")
    say(f"fetching the {'test ' if tests else ''}jars of Kafka {release}")
    pom, part = ("test-pom.xml", f"{release}-test") if tests else ("pom.xml", release)
    with _folder_for(jars) as made:
        command = [maven, "-q", "-B", "-ntp", "-f", str(ADAPTER / pom), COPY_DEPENDENCIES]
        command += [f"-Dkafka.version={release}", "-DincludeScope=runtime"]
        command += [f"-DoutputDirectory={made}"]
        output = _run(command, _MAVEN_SECONDS, "Maven")
        if not (made / f"kafka-metadata-{part}.jar").is_file():
            raise CannotPrepare(_reason(output, f"{release}{' with tests' if tests else ''}", home))
        for jar in sorted(made.glob("*.jar")):
            if not zipfile.is_zipfile(jar):
                raise CannotPrepare(
                    f"Maven gave {jar.name}, which is damaged or no jar; remove it from Maven's"
                    " local repository, and run again."
                )
    return jars


def _reason(output: str, release: str, home: Path) -> str:
    log = home / "maven.log"
    log.write_text(output, encoding="utf-8")
    unreachable = ("Could not transfer", "Unknown host", "Connection", "Network is unreachable")
    if any(words in output for words in unreachable):
        return (
            "The Maven registry cannot be reached; check the network or the proxy of Maven "
            f"and run again (Maven's words: {log})."
        )
    if "Could not find artifact" in output or "offline mode" in output:
        return f"The registry has no Kafka {release}; give a release from 3.3.0 on (see {log})."
    return f"Maven could not fetch Kafka {release}; its words are in {log}."


def _classes(home: Path, say: Say) -> Path:
    sources = sorted((ADAPTER / "src" / "main" / "java").rglob("*.java"))
    digest = hashlib.sha256(COMPILED_AGAINST.encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    classes = home / "classes" / digest.hexdigest()[:20]
    if _is_whole(classes, say):
        return classes
    compiler = _of_jdk("javac")
    if compiler is None:
        raise CannotPrepare("No Java compiler was found; install a JDK 17 or set JAVA_HOME to one.")
    jars = _jars(COMPILED_AGAINST, home, say)
    say("compiling the adapter")
    with _folder_for(classes) as made:
        command = [compiler, _QUICK, "--release", "17", "-proc:none", "-nowarn"]
        command += ["-encoding", "UTF-8", "-cp", str(jars / "*"), "-d", str(made)]
        command += map(str, sources)
        output = _run(command, _JAVA_SECONDS, "The Java compiler")
        if not any(made.rglob("Adapter.class")):
            log = home / "javac.log"
            log.write_text(output, encoding="utf-8")
            raise CannotPrepare(
                f"The adapter does not compile; a JDK 17 or newer is needed ({log})."
            )
    return classes


def _check_fit(release: str, classes: Path, classpath: str) -> None:
    """Builds one controller of the release, the first time that it meets these classes."""
    fits = classes.parent / f"{classes.name}-fits-{release}"
    if fits.exists():
        return
    java = _of_jdk("java")
    if java is None:
        raise CannotPrepare("No java was found; install a JDK 17 or set JAVA_HOME to one.")
    command = [java, "-XX:+UseSerialGC", "-cp", classpath, MAIN_CLASS, "--check"]
    # Java begins with the options that the environment gives it.
    output = _run(command, _JAVA_SECONDS, "Java").strip()
    said = [line for line in output.splitlines() if "Picked up" not in line]
    if said != [release]:
        words = said[0] if said else "nothing was said"
        raise CannotPrepare(
            f"The jars of Kafka {release} do not fit the adapter ({words}); "
            "choose another release, or remove its jars from the cache."
        )
    fits.touch()


def _of_jdk(tool: str) -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home and (found := shutil.which(tool, path=str(Path(home) / "bin"))):
        return found
    return shutil.which(tool)


def _run(command: Sequence[str], seconds: float, name: str) -> str:
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotPrepare(f"{name} did not end within {seconds:.0f} s; run again.") from None
    except OSError as error:
        raise CannotPrepare(
            f"{name} cannot be started ({error}); check its installation."
        ) from None
    return done.stdout.decode(errors="replace")


@contextlib.contextmanager
def _folder_for(final: Path) -> Iterator[Path]:
    """A new folder that becomes `final` at once when all is done, or disappears."""
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=".making-") as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        yield made
        (made / _DIGESTS).write_text(json.dumps(_digests(made), indent=1), encoding="utf-8")
        if final.exists() and not _is_whole(final, lambda _: None):
            final.rename(Path(scratch) / "damaged")
        # Another process may have been faster: then its folder is as good.
        with contextlib.suppress(OSError):
            made.rename(final)


def _is_whole(folder: Path, say: Say) -> bool:
    """Whether a folder of the cache has the files that were put there, unchanged."""
    if not folder.is_dir():
        return False
    try:
        expected = json.loads((folder / _DIGESTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        say(f"{folder} has no list of digests; it is made again")
        return False
    found = _digests(folder)
    if not isinstance(expected, dict) or found == expected:
        return found == expected
    changed = sorted({*found.items()} ^ {*expected.items()})
    say(f"{folder / changed[0][0]} was changed since it was put there; the folder is made again")
    return False


def _digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _DIGESTS)
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Prepare the Kafka controller adapter.")
    parser.add_argument("--release", default="")
    parser.add_argument("--cache", required=True, type=Path)
    parser.add_argument("--tests", action="store_true", help="for Kafka's own tests")
    parser.add_argument("--jars", action="store_true", help="without the adapter")
    parser.add_argument("--list", action="store_true", help="the releases that the registry has")
    options = parser.parse_args(arguments)
    make = prepare_tests if options.tests else prepare_jars if options.jars else prepare
    try:
        if options.list:
            fields = list_releases(options.cache, tell)
        else:
            fields = make(options.release, options.cache, tell)
    except CannotPrepare as error:
        return refuse(str(error))
    except OSError as error:
        place = error.filename or options.cache
        return refuse(
            f"The cache cannot be used: {place}: {error.strerror or error}; make it writable, or"
            " set CHARTER_CACHE to another folder."
        )
    sys.stdout.write(json.dumps(fields) + "\n")
    return 0


def refuse(sentence: str) -> int:
    """Says why nothing was prepared; returns the exit code."""
    sys.stdout.write(json.dumps({"error": sentence}) + "\n")
    return 2


def tell(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
