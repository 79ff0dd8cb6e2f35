"""A target with several releases, of which one is wrong and one cannot be prepared."""

import json
from dataclasses import replace

import pytest

from charter.formats.suite import digest_line, lines_digest

ADAPTER = """
import sys
from tests.support.fakes.fake import Fake, KeepsLeader
from conform import sdk

release = sys.argv[1]


class Release(KeepsLeader if release == "1.1" else Fake):
    def __init__(self):
        super().__init__()
        self.about = self.about._replace(version=release)


sdk.serve(Release())
"""
PREPARE = """
import json, sys
from pathlib import Path

release, cache = sys.argv[1:]
with (Path(cache) / "prepared").open("a") as log:
    log.write(f"{release}\\n")
lost = {"2.1": "The jars of 2.1 do not fit the adapter; remove them."}
print(json.dumps({"error": lost[release]} if release in lost else {}))
"""
TOML = """
id = "shop"
title = "Shop"
protocol = "toy.lease"
component = "keeper"
overlay = "known"
sources = []
prepare = ["{python}", "{adapter}/prepare.py", "{release}", "{downloads}"]
start = ["{python}", "{adapter}/adapter.py", "{release}"]
default_release = "2.0"
list_releases = ["{python}", "{adapter}/list.py"]
releases = ["1.0", "1.1", "2.0", "2.1"]

[deadlines]
batch = 60
one = 20
"""


@pytest.fixture
def shop(targets_folder, tiny_toy_suite, tmp_path):
    """A target whose release 1.1 keeps a leader that it should not, and whose 2.1 cannot be
    prepared."""
    targets_folder("faithful")
    folder = tmp_path / "adapters" / "shop"
    folder.mkdir()
    (folder / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    (folder / "prepare.py").write_text(PREPARE, encoding="utf-8")
    listed = 'import json; print(json.dumps({"releases": "0.9 1.0 1.1 1.2 2.0 2.1 2.2"}))'
    (folder / "list.py").write_text(listed, encoding="utf-8")
    (folder / "adapter.toml").write_text(TOML, encoding="utf-8")
    text = "protocol toy.lease\noverlay known of keeper { }\n"
    (folder / "overlay.charter").write_text(text, encoding="utf-8")
    suites = tmp_path / "generated" / "suites" / "toy"
    suites.mkdir(parents=True)
    for path in tiny_toy_suite.iterdir():
        (suites / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def judge(conform, shop):
    """Judges releases of the target into the folder `all`."""

    def judge(releases, *more, place="all"):
        given = ("run", "--target", shop, "--releases", releases, "--engine", "inline")
        return conform(*given, "--out", place, *more)

    return judge


@pytest.fixture
def old_suite(shop, tiny_toy_suite, tmp_path):
    """Judges 1.0 and 1.1 by another variant, with the same rules; returns the folder of its suite,
    which is no generated one and has a vector of its own."""
    from tests.support.toy.vectors import vector, write_toy_vectors

    from charter.formats.suite import read_lines, read_manifest

    about = shop / "adapter.toml"
    variants = '\n[variants]\n"1" = "old"\n'
    about.write_text(about.read_text(encoding="utf-8") + variants, encoding="utf-8")
    more = vector(("register", {"node": "n2"}), ("elect", {}))
    write_toy_vectors(tmp_path / "old", [*read_lines(tiny_toy_suite / "vectors.jsonl"), more])
    manifest = replace(read_manifest(tmp_path / "old"), variant="old")
    lines = [digest_line(one) for one in read_lines(tmp_path / "old" / "vectors.jsonl")]
    text = json.dumps(manifest.seal(lines_digest(lines)).json())
    (tmp_path / "old" / "manifest.json").write_text(text, encoding="utf-8")
    return tmp_path / "old"
