"""Several releases of Kafka in one command, and what people wrote about the steps between them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from charter.formats.findings.steps import read_steps
from charter.formats.project import find_project
from conform.adapters.targets import target
from conform.judging.siblings import split_entries

pytestmark = pytest.mark.xdist_group("real Kafka")


def test_a_note_is_about_two_releases_in_a_row_and_an_entry_when_it_names_one() -> None:
    chosen = target("kafka-controller")
    text = (chosen.folder / "overlay.charter").read_text(encoding="utf-8")
    entries = {*re.findall(r"^  entry (\w+) ", text, re.MULTILINE)}
    notes = read_steps(find_project(chosen.folder), chosen.id)
    assert len(notes) > 20
    for note in notes:
        at = chosen.releases.index(note.before)
        assert chosen.releases[at + 1] == note.after, note
        named = {*split_entries(note.finding)} <= entries
        assert named or (note.direction == "changed" and ": " in note.finding), note


@pytest.mark.slow
@pytest.mark.network
def test_the_step_to_another_variant_is_compared_when_releases_are_judged(
    tmp_path: Path, conform
) -> None:
    chosen = ("--target", "kafka-controller", "--releases", "3.9.2,4.0.0,4.0.1")
    given = ("--engine", "inline", "--limit", "100000", "--out", tmp_path / "all")
    conform("run", *chosen, *given)
    code, out, _ = conform("compare", tmp_path / "all", "--json")
    found = json.loads(out)
    assert code == 1
    assert not [one["id"] for one in found["findings"] if one["new"]]
    steps = {(one["to"], one["finding"]): one for one in found["steps"]}
    assert steps["4.0.0", "elects_dead_leader"]["direction"] == "broken"
    assert steps["4.0.0", "unclean_start_elects_nobody"]["direction"] == "mended"
    assert steps["4.0.1", "elr_cleared_by_last_image"]["key"] == "KAFKA-19383"
    assert all(one["cause"] != "not known" for one in found["steps"])
    assert found["stale_steps"] == []


JOIN = """
import sys
from pathlib import Path
from conform.adapters.targets import target
from conform.runs.releases.run_releases import make_suites

releases = ("3.9.2", "4.0.0")
print(make_suites(target("kafka-controller"), releases, {}, Path(sys.argv[1])))
"""


def test_joined_suites_stay_the_same_when_a_command_goes_on(tmp_path: Path) -> None:
    found = []
    for seed in ("1", "2"):  # outcomes of a model have the order of a hash
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", JOIN, str(tmp_path)]
        subprocess.run(command, check=True, env=environment)
        found.append({p.parent.name: p.read_bytes() for p in tmp_path.rglob("manifest.json")})
    assert found[0] == found[1]
    assert sorted(found[0]) == ["own", "pre_kip_966"]
