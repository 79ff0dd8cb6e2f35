"""What stands in the way of driving a Kafka release is said in one sentence with the remedy."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from conform.adapters import targets
from conform.suites import cache as suites

pytestmark = pytest.mark.xdist_group("real Kafka")

RELEASE = "4.3.1"
FOLDER = targets.target("kafka-controller").folder


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("kafka_preparation", FOLDER / "prepare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PREPARATION = load()


def tools(folder: Path, **scripts: str) -> str:
    """A PATH with nothing on it but these shell scripts."""
    folder.mkdir()
    for name, body in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.fixture
def compiled() -> Path:
    """The compiled adapter in the cache that all tests share, which has the jars, too."""
    shared = suites.cache_folder() / "adapters" / "kafka-controller"
    classpath = PREPARATION.prepare(RELEASE, shared, lambda line: None)["classpath"]
    return Path(classpath.partition(os.pathsep)[0])


@pytest.fixture
def cache(compiled: Path, tmp_path: Path) -> Path:
    """A cache that has the jars, and no compiled adapter."""
    own = tmp_path / "cache"
    (own / "jars").mkdir(parents=True)
    (own / "jars" / RELEASE).symlink_to(compiled.parents[1] / "jars" / RELEASE)
    return own


def why(release: str, cache: Path) -> str:
    with pytest.raises(PREPARATION.CannotPrepare) as raised:
        PREPARATION.prepare(release, cache, lambda line: None)
    return str(raised.value)


def test_a_second_run_needs_neither_the_network_nor_a_compiler(
    compiled: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`javac` copies what the shared cache has: to compile it once more takes seconds."""
    copy = f"""until [ "$1" = -d ]; do shift; done; /bin/cp -r {compiled}/org "$2\""""
    java = f'exec {shutil.which("java")} "$@"'
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", tools(tmp_path / "jdk", javac=copy, java=java))
    said: list[str] = []
    first = PREPARATION.prepare(RELEASE, cache, said.append)
    assert said == ["compiling the adapter"]
    monkeypatch.setenv("PATH", tools(tmp_path / "bin"))
    assert PREPARATION.prepare(RELEASE, cache, said.append) == first
    assert len(said) == 1


def test_what_is_no_release_is_told_so(tmp_path: Path) -> None:
    assert "is not a Kafka release; give one" in why("../4.3", tmp_path)


def test_a_missing_compiler_is_told(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", tools(tmp_path / "bin"))
    assert "install a JDK 17 or set JAVA_HOME" in why(RELEASE, cache)


def test_a_missing_maven_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", tools(tmp_path / "bin"))
    assert "Maven (mvn) is not on the path; install it" in why(RELEASE, tmp_path)


@pytest.mark.parametrize(
    "options", ["Picked up JAVA_TOOL_OPTIONS", "NOTE: Picked up JDK_JAVA_OPTIONS"]
)
def test_what_java_says_of_options_is_not_taken_for_an_answer(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    first = f"echo '{options}: -Da=b' >&2"
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", java=f"{first}; echo {RELEASE}"))
    PREPARATION._check_fit(RELEASE, tmp_path / "fitting", "")
    monkeypatch.setenv("PATH", tools(tmp_path / "other", java=f"{first}; echo NoSuchMethodError"))
    with pytest.raises(PREPARATION.CannotPrepare, match=r"do not fit the adapter \(NoSuchMethod"):
        PREPARATION._check_fit(RELEASE, tmp_path / "other", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Could not transfer artifact: Connection refused", "registry cannot be reached"),
        ("Could not find artifact org.apache.kafka:kafka-metadata", "The registry has no Kafka"),
        ("something else", "Maven could not fetch Kafka"),
    ],
)
def test_what_maven_says_is_told(
    words: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", mvn=f"echo '{words}'; exit 1"))
    told = why(RELEASE, tmp_path)
    assert expected in told
    assert words in (tmp_path / "maven.log").read_text()
    assert not (tmp_path / "jars" / RELEASE).exists()


def test_jar_that_maven_has_only_in_part_is_told(
    compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = compiled.parents[1] / "jars" / RELEASE / f"kafka-metadata-{RELEASE}.jar"
    copy = f"""for word; do case $word in -DoutputDirectory=*)
        /usr/bin/head -c 5000 {shared} > "${{word#*=}}/{shared.name}";; esac; done"""
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", mvn=copy))
    assert f"Maven gave {shared.name}, which is damaged or no jar" in why(RELEASE, tmp_path)
    assert not (tmp_path / "jars" / RELEASE).exists()


def test_cache_that_cannot_be_used_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "jars").write_text("a file", encoding="utf-8")
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", mvn="exit 1"))
    assert PREPARATION.main(["--release", RELEASE, "--cache", str(tmp_path)]) == 2
    said = json.loads(capsys.readouterr().out)["error"]
    assert said.startswith(f"The cache cannot be used: {tmp_path / 'jars'}: ")


@pytest.fixture
def fetched(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of jars in a cache of its own, where `mvn` fetches what the shared cache has."""
    jars = cache / "jars" / RELEASE
    shared = jars.resolve()
    jars.unlink()
    shutil.copytree(shared, jars)
    copy = f"""for word; do case $word in -DoutputDirectory=*)
        /bin/cp {shared}/*.jar "${{word#*=}}";; esac; done"""
    monkeypatch.setenv("PATH", tools(tmp_path / "bin", mvn=copy))
    return jars


@pytest.mark.parametrize("damage", ["another release", "removed", "added", "no digests"])
def test_jars_are_fetched_again_when_they_were_changed(damage: str, fetched: Path) -> None:
    digests = json.loads((fetched / "sha256.json").read_text())
    jar = fetched / f"kafka-metadata-{RELEASE}.jar"
    match damage:
        case "another release":
            jar.write_bytes(b"the jar of 4.0.2")
        case "removed":
            jar.unlink()
        case "added":
            jar = fetched / "another.jar"
            jar.write_bytes(b"other classes")
        case _:
            jar = fetched / "sha256.json"
            jar.unlink()
    said: list[str] = []
    assert PREPARATION._jars(RELEASE, fetched.parents[1], said.append) == fetched
    assert jar.name in said[0] or "has no list of digests" in said[0]
    assert said[1] == f"fetching the jars of Kafka {RELEASE}"
    assert json.loads((fetched / "sha256.json").read_text()) == digests
    assert sorted(path.name for path in fetched.iterdir()) == sorted([*digests, "sha256.json"])
    assert PREPARATION._digests(fetched) == digests


@pytest.mark.slow
def test_jars_of_another_release_do_not_fit(cache: Path) -> None:
    (cache / "jars" / "4.2.9").symlink_to(cache / "jars" / RELEASE)
    assert "The jars of Kafka 4.2.9 do not fit the adapter (4.3.1)" in why("4.2.9", cache)
