"""Judges toy vectors with fake adapters."""

import shutil
import sys
from collections import Counter
from pathlib import Path

from tests.support.caches import own_cache
from tests.support.toy import charter, fails_over_badly, keeps_leader

from charter.formats.target import Deadlines
from conform.adapters.base import AdapterStart
from conform.adapters.session import Session
from conform.adapters.stdio import StdioConnection
from conform.adapters.targets import python_path, target
from conform.judging.siblings import Siblings
from conform.suites.importing import item_of

QUICK = Deadlines(hello=20.0, batch=2.0, one=1.0)


def environment():
    """The environment in which child processes find our packages and those of the tests."""
    root = sys.modules["tests"].__path__[0].rpartition("/")[0]
    return {"PYTHONPATH": python_path()["PYTHONPATH"] + ":" + root}


def fake_start(mode, *more, expect="", deadlines=QUICK):
    command = (sys.executable, "-m", "tests.support.fakes.fake", mode, *more)
    return AdapterStart(command, environment=environment(), expect=expect, deadlines=deadlines)


def toy_siblings(*, overlay=True):
    entries = {"leader_stays": keeps_leader, "throws": fails_over_badly}
    return Siblings(charter, entries if overlay else {})


def judge(mode, vectors, *, overlay=True, batch=64, deadlines=QUICK):
    """The verdicts by id."""
    connection = StdioConnection(fake_start(mode, deadlines=deadlines))
    try:
        session = Session(
            connection, toy_siblings(overlay=overlay), deadlines, "test", charter.OBSERVES
        )
        return {
            assessment.verdict.id: assessment.verdict
            for judgement in session.run([item_of(v) for v in vectors], batch)
            for assessment in judgement.assessments
        }
    finally:
        connection.close()


def kinds(verdicts):
    return Counter(str(verdict.kind) for verdict in verdicts.values())


def write_fake_target(folder, mode, *more):
    """An adapter.toml for a fake; returns the id of the target."""
    place = folder / f"fake-{mode}"
    place.mkdir(parents=True, exist_ok=True)
    command = ["{python}", "-m", "tests.support.fakes.fake", mode, *more]
    lines = [
        f'id = "fake-{mode}"',
        'title = "Fake"',
        'protocol = "toy.lease"',
        'component = "keeper"',
        'overlay = "known"',
        "sources = []",
        f"start = {command!r}",
        "[deadlines]",
        "batch = 60",
        "one = 20",
    ]
    (place / "adapter.toml").write_text("\n".join(lines), encoding="utf-8")
    (place / "overlay.charter").write_text("protocol toy.lease\noverlay known of keeper { }\n")
    return f"fake-{mode}"


def write_toy_models(generated):
    """The models of the toy protocol as generated ones, `charter_models.toy.*`."""
    place = generated / "charter_models" / "toy"
    place.mkdir(parents=True)
    for path in Path(charter.__file__).parent.glob("*.py"):
        shutil.copy(path, place)


def project_with_targets(place, patch):
    """Makes `place` a project with the reference, the current folder; suites go into a cache in
    it. Returns what adds a fake."""
    reference = (target("reference").folder / "adapter.toml").read_text(encoding="utf-8")
    folder = place / "adapters"
    (folder / "reference").mkdir(parents=True)
    (folder / "reference" / "adapter.toml").write_text(reference, encoding="utf-8")
    (place / "charter.toml").touch()
    write_toy_models(place / "generated")
    patch.chdir(place)
    patch.setenv("CHARTER_CACHE", own_cache(place / "cache"))
    return lambda mode, *more: write_fake_target(folder, mode, *more)
