"""What is written about findings on Kafka's controller fits, and its tests fail as they should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from charter.formats.findings.reviewed import read_reviewed
from charter.formats.releases import within
from conform.adapters.targets import target
from conform.cli.output.overlay import releases_of

ROOT = Path(__file__).resolve().parents[3]
FILES = ROOT / "docs" / "findings"
WRITTEN = sorted(path.stem for path in FILES.glob("*.toml"))
TARGET = target("kafka-controller")
ENTRIES = releases_of(TARGET)
RANGES = {
    name: read_reviewed(FILES / f"{name}.toml").bound_releases(*ENTRIES[name]) for name in WRITTEN
}
NEWEST = TARGET.releases[-1]
WITH_TEST_JARS = "4.3.1"

PASSES_ON = {
    "any_change_does_all": "4.2.2",
    "again_gets_another_epoch": "3.9.0",
    "again_is_a_new_session": "3.7.1",
    "cancels_to_first_replica": "3.8.1",
    "cleared_elr_stays_in_index": "3.9.2",
    "deleted_topic_has_elr_cleared": "4.2.0",
    "elects_dead_leader": "4.1.0",
    "elr_cleared_by_last_image": "4.0.1",
    "elr_keeps_strangers": "3.9.2",
    "ended_session_still_leads": "4.0.0",
    "expired_goes_on_stopping": "3.7.0",
    "last_known_leader_has_no_replica": "4.1.0",
    "nobody_blocks_election": "4.1.0",
    "shutdown_offset_moves_on": "3.3.2",
    "stranger_has_no_directory": "3.9.2",
    "unclean_election_is_ignored": "3.9.0",
}
"""The first release that mended a finding, or the last one before it appeared."""
CANNOT_HAPPEN_ON = {"elr_survives_while_off": "3.9.2"}
"""The last release before a finding appeared, where that lacks what an operation needs."""
SHOWN_BY_AN_IMAGE = ["deleted_topic_has_elr_cleared", "elr_cleared_by_last_image"]
"""What differs is the image of a broker, which the test on a quorum does not compare."""
ON_EACH_RELEASE = ["overridden_reassignment_lingers"]


def list_shown_by(release):
    """The findings that a release shows."""
    return [name for name in WRITTEN if within(release, *RANGES[name])]


def test_each_written_finding_passes_on_a_release_or_says_why_not():
    assert sorted([*PASSES_ON, *CANNOT_HAPPEN_ON, *ON_EACH_RELEASE]) == WRITTEN
    assert all(RANGES[name] == ("", "") for name in ON_EACH_RELEASE)
    for name, release in {**PASSES_ON, **CANNOT_HAPPEN_ON}.items():
        first, last = RANGES[name]
        at = TARGET.releases.index(release)
        near = TARGET.releases[at - 1] if last else TARGET.releases[at + 1]
        assert not within(release, first, last) and within(near, first, last), name


def test_page_of_findings_is_what_the_command_writes(conform, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    conform("findings", "--target", "kafka-controller", "--page", tmp_path / "README.md")
    written = (tmp_path / "README.md").read_text()
    assert written == (FILES / "README.md").read_text()
    costs = [line for line in written.splitlines() if line.startswith("###")]
    assert costs[0] == "### It loses acknowledged records" and costs[-1] == "### It is cosmetic"


def test_written_findings_have_an_entry_and_a_path(conform, monkeypatch):
    monkeypatch.chdir(ROOT)
    code, said, _ = conform("findings", "--target", "kafka-controller", "--json")
    listed = json.loads(said)["kafka-controller"]
    assert code == 0, [one["stale"] for one in listed if one["stale"]]
    assert sorted(one["name"] for one in listed if one["title"]) == WRITTEN
    assert [one["name"] for one in listed][: len(WRITTEN)] == [
        one["name"] for one in listed if one["title"]
    ], "those that are written come first"


@pytest.mark.parametrize("name", WRITTEN)
def test_file_says_whether_a_quorum_gets_there(name):
    said = read_reviewed(FILES / f"{name}.toml").cluster
    shows = name in list_shown_by(WITH_TEST_JARS)
    of_image = name in SHOWN_BY_AN_IMAGE
    begin = "yes: three controllers" if shows else "not run: what differs is the image of a broker"
    assert said.startswith(begin if shows or of_image else "not run where it shows")
    assert WITH_TEST_JARS in said


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize("name", [one for one in WRITTEN if one not in SHOWN_BY_AN_IMAGE])
def test_test_of_a_finding_runs_on_a_quorum_and_passes_without_its_cause(
    conform, monkeypatch, tmp_path, name
):
    monkeypatch.chdir(ROOT)
    given = ("--as", "junit", "--release", WITH_TEST_JARS, "--check", "--out", tmp_path)
    code, said, error = conform("reproduce", name, *given)
    shows = name in list_shown_by(WITH_TEST_JARS)
    outcome = "built and run: fails with" if shows else "built and run: passes"
    assert code == 0 and outcome in said, said + error


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize("name", WRITTEN)
def test_program_of_a_finding_fails_on_the_last_release_that_shows_it(
    conform, monkeypatch, tmp_path, name
):
    monkeypatch.chdir(ROOT)
    release = ("--release", NEWEST) if name in list_shown_by(NEWEST) else ()
    given = ("--as", "plain", "--check", "--out", tmp_path, *release)
    code, said, error = conform("reproduce", name, *given)
    assert code == 0 and "built and run: fails with" in said, said + error


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize("name", ["again_gets_another_epoch", "again_is_a_new_session"])
def test_metadata_version_is_raised_before_a_running_broker_registers_again(
    conform, monkeypatch, tmp_path, name
):
    monkeypatch.chdir(ROOT)
    code, said, error = conform("reproduce", name, "--as", "plain", "--out", tmp_path)
    assert code == 0, said + error
    (written,) = tmp_path.glob("*.java")
    assert written.read_text().count("        raiseMetadataVersion();\n") >= 1


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize("name", sorted(PASSES_ON))
def test_program_of_a_finding_passes_on_a_release_without_it(conform, monkeypatch, tmp_path, name):
    monkeypatch.chdir(ROOT)
    given = ("--as", "plain", "--check", "--out", tmp_path, "--release", PASSES_ON[name])
    code, said, error = conform("reproduce", name, *given)
    assert code == 0 and "built and run: passes" in said, said + error


@pytest.mark.slow
@pytest.mark.xdist_group("real Kafka")
@pytest.mark.parametrize("name", sorted(CANNOT_HAPPEN_ON))
def test_release_on_which_a_finding_cannot_happen_is_named(conform, monkeypatch, tmp_path, name):
    monkeypatch.chdir(ROOT)
    release = CANNOT_HAPPEN_ON[name]
    given = ("--as", "plain", "--check", "--out", tmp_path, "--release", release)
    code, _, error = conform("reproduce", name, *given)
    assert code == 2 and f"{name} cannot happen on kafka-controller {release}: " in error
