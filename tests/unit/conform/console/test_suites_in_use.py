"""A stored suite is whole while it is used: what is missing or changed is noticed, and nothing that
somebody reads is dropped, though others that were killed leave nothing to wait for."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.judging import environment
from tests.support.suites import write_suite
from tests.support.toy.vectors import random_vectors

from charter.formats.suite import Manifest
from conform.console.errors import BadSuite
from conform.suites.cache import KEPT, bucket_of, open_suite

HOLD = """
import sys
from conform.suites.cache import open_suite
suite = open_suite(sys.argv[1], 1)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def suites(tmp_path, cache):
    """Folders of suites, each with other vectors."""
    places = []
    for seed in range(KEPT + 3):
        about = Manifest("", "toy.lease", "", "keeper", "5eed", 0)
        places.append(tmp_path / f"suite-{seed}")
        write_suite(places[-1], random_vectors(6, seed), about)
    return [str(place) for place in places]


def read(suite):
    return [item.id for bucket in range(suite.buckets) for item in suite.items(bucket)]


def lose(path):
    shutil.rmtree(path.parent)


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [lose, flip, empty])
def test_damaged_suite_is_stored_again_from_its_folder(suites, damage):
    first = open_suite(suites[0], 2)
    whole = read(first)
    damage(first.path(0))
    digest = first.manifest.digest
    del first
    with pytest.raises(BadSuite, match="was changed"):
        open_suite(digest, 2)
    again = open_suite(suites[0], 2)
    assert read(again) == whole
    assert read(open_suite(digest, 2)) == whole


@pytest.mark.parametrize("damage", [lose, flip, empty])
def test_bucket_that_is_damaged_while_it_is_used_is_an_error(suites, damage):
    held = open_suite(suites[0], 2)
    name = next(held.items(0)).id
    damage(held.path(0))
    with pytest.raises(BadSuite, match="is missing, or was changed"):
        list(held.items(0))
    with pytest.raises(BadSuite, match="is missing, or was changed"):
        held.find(name)
    with pytest.raises(BadSuite, match="another run reads it"):
        open_suite(suites[0], 2)


def test_number_of_buckets_is_that_of_the_suite_and_not_of_the_folders(suites, toy_suite):
    held = open_suite(str(toy_suite), 1)
    assert sum(bucket.vectors for bucket in held.stored) == held.manifest.vectors == 61
    lose(held.path(held.buckets - 1))
    assert held.buckets == len(held.stored) == 2
    assert bucket_of("ffffffff", held.buckets) == 1


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_a_small_suite_has_few_buckets_whatever_the_machine(suites, toy_suite, cores):
    assert open_suite(str(toy_suite), cores).buckets == 2
    assert open_suite(suites[0], cores).buckets == 1


def test_suite_in_use_is_not_dropped(suites):
    held = open_suite(suites[0], 1)
    whole = read(held)
    for other in suites[1:]:
        open_suite(other, 1)
    assert read(held) == whole
    folder = held.folder
    del held
    open_suite(suites[1], 1)
    assert not folder.exists()
    assert len(list(folder.parent.glob("*/manifest.json"))) == KEPT


def test_suite_of_a_killed_process_is_dropped(suites, cache):
    command = [sys.executable, "-c", HOLD, suites[0]]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment()}
    )
    assert child.stdout.readline() == b"held\n"
    (folder,) = [path.parent for path in cache.glob("*/*/manifest.json")]
    for other in suites[1:]:
        open_suite(other, 1)
    assert folder.exists()
    child.send_signal(signal.SIGKILL)
    child.communicate()
    open_suite(suites[1], 1)
    assert not folder.exists()


def test_import_that_was_killed_leaves_nothing_that_stays(suites, cache, monkeypatch):
    """It is killed after its last file was written, and before all of them count."""
    command = [sys.executable, "-c", HOLD, suites[0]]
    kill = "import os, signal; from pathlib import Path; Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"  # noqa: E501
    command[2] = kill + command[2]
    child = subprocess.run(
        command, stdin=subprocess.DEVNULL, env={**os.environ, **environment()}, check=False
    )
    assert child.returncode == -signal.SIGKILL
    (left,) = cache.glob("*/unfinished-*")
    assert (left / "manifest.json").exists()
    with pytest.raises(BadSuite, match="there is no suite"):
        open_suite(left.name[:15], 1)
    assert len(read(open_suite(suites[0], 1))) == 6
    open_suite(suites[1], 1)
    assert not left.exists()


def test_import_onto_a_full_disk_leaves_nothing(suites, cache, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copy", full)
    from conform.console.errors import CannotWrite

    with pytest.raises(CannotWrite, match="No space left on device"):
        open_suite(suites[0], 1)
    assert [path.name for path in Path(cache).glob("*/*") if path.is_dir()] == []
    monkeypatch.undo()
    monkeypatch.setenv("CHARTER_CACHE", str(cache))
    assert len(read(open_suite(suites[0], 1))) == 6


@pytest.mark.parametrize("digest", ["../../mine", "", ".", "0" * 21, "0" * 19 + "G"])
def test_digest_that_is_no_digest_names_no_folder(digest, suites, cache, tmp_path):
    """A folder of that name would be taken for a damaged suite, and deleted."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    path = Path(suites[0]) / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "digest": digest}))
    with pytest.raises(BadSuite, match="the digest is not 20 hexadecimal digits"):
        open_suite(suites[0], 1)
    assert (tmp_path / "mine" / "thesis.txt").exists()


@pytest.mark.parametrize("stored", [False, True])
def test_a_suite_whose_manifest_was_changed_is_refused(suites, stored):
    place = Path(suites[0], "manifest.json")
    if stored:
        open_suite(suites[0], 1)
    about = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**about, "consts": {"ttl": "int 1..9"}}), encoding="utf-8")
    with pytest.raises(
        BadSuite, match=f"do not have the digest {about['digest']}; they were changed"
    ):
        open_suite(suites[0], 1)


def test_a_stored_suite_whose_manifest_was_changed_is_stored_again(suites):
    first = open_suite(suites[0], 1)
    place, whole = first.folder / "manifest.json", first.manifest
    del first
    about = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**about, "component": "other"}), encoding="utf-8")
    with pytest.raises(BadSuite, match="was changed"):
        open_suite(whole.digest, 1)
    assert open_suite(suites[0], 1).manifest == whole
    assert open_suite(whole.digest, 1).manifest == whole
