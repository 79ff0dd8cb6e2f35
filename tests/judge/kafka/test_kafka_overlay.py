"""Real Kafka against the committed suite: every difference is known, and every entry is true."""

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from tests.support.suites import write_suite

from charter.formats.canonical import Json
from charter.formats.suite import read_lines, read_manifest
from charter.formats.vector import Vector
from conform.adapters.targets import target
from conform.cli.main import main
from conform.judging.model import load

pytestmark = pytest.mark.xdist_group("real Kafka")

SUITES = Path(__file__).parents[3] / "generated" / "suites" / "kafka_replication"
SUITE = SUITES / "controller"


EXPERIMENTAL = "kafka-controller-experimental-elr"


def judge(
    release: str, out: Path, *more: str, suite: Path = SUITE, of: str = "kafka-controller"
) -> int:
    chosen = ["--target", of, "--release", release, "--suite", str(suite)]
    return main(["run", *chosen, "--engine", "inline", "--out", str(out), *more])


def all_is_known(release: str, out: Path, of: str = "kafka-controller") -> None:
    code = judge(release, out, of=of)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["new_deviations"] == 0, summary
    assert summary["deviations"] > 0
    assert summary["unmet_entries"] == []
    assert summary["stale_entries"] == summary["claimed_too_much"] == []
    assert summary["trusted"]
    assert code == 0


@pytest.mark.network
@pytest.mark.parametrize("release", ["4.3.1", pytest.param("4.0.2", marks=pytest.mark.slow)])
def test_every_deviation_is_in_the_overlay_and_every_entry_is_met(
    release: str, tmp_path: Path
) -> None:
    all_is_known(release, tmp_path / "run")


@pytest.mark.slow
@pytest.mark.network
def test_strictly_known_deviations_are_findings_too(tmp_path: Path) -> None:
    assert judge("4.3.1", tmp_path / "run", "--strict") == 1


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("release", ["4.2.0", "4.2.2", "4.3.0", "4.4.0"])
def test_every_release_where_entries_begin_or_end_has_nothing_new(
    release: str, tmp_path: Path
) -> None:
    all_is_known(release, tmp_path / "run")


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("release", ["3.9.0", "3.9.2"])
def test_every_deviation_of_experimental_elr_is_known_and_it_is_called_so(
    release: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    all_is_known(release, tmp_path / "run", of=EXPERIMENTAL)
    assert f"with experimental ELR {release} against" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.network
def test_an_earlier_metadata_version_shows_as_an_epoch_with_each_shrunk_isr(tmp_path: Path) -> None:
    """KAFKA-15021, below 3.6-IV0. The overlay has it for 3.3 to 3.5 alone."""
    suite, out = SUITES / "controller_pre_kip_966", tmp_path / "run"
    more = ("--no-shrink", "--set", "metadata_version=3.3-IV3")
    assert judge("3.9.2", out, *more, suite=suite) == 1
    rows = ds.dataset(out / "deviations", partitioning="hive").to_table().to_pylist()
    new = [row for row in rows if not row["entry"]]
    assert new
    assert {path.rpartition(".")[2] for row in new for path in row["paths"]} == {"leader_epoch"}


@pytest.mark.network
def test_an_earlier_metadata_version_is_refused_where_elr_is_a_feature(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert judge("4.3.1", tmp_path / "run", "--set", "metadata_version=3.3-IV3") == 2
    assert "a metadata version is for releases before 4.0" in capfd.readouterr().err


def test_what_is_experimental_says_so_in_its_title_and_its_limits() -> None:
    chosen = target(EXPERIMENTAL)
    assert "experimental" in chosen.title
    for release in chosen.releases:
        assert any("experiment" in limit.says for limit in chosen.limits_of(release))


def test_a_start_may_change_a_partition_without_isr_and_elr_or_leave_it() -> None:
    """Whether the index of eligible replicas still lists the broker is not seen. In 4.0 the last
    known leader is elected if it does, though it is fenced."""
    model = load("charter_models.kafka_replication_overlays.kafka_controller.from_4_0_0")
    lost: Json = {
        "topic_id": "~1", "replicas": ["b1", "b2"], "isr": [], "leader": None,
        "leader_epoch": 1, "partition_epoch": 1, "elr": [], "last_known_elr": ["b1"],
        "adding": [], "removing": [], "recovering": False,
    }  # fmt: skip
    state = model.given(
        {
            "partition": {"t1": lost},
            "registration": {"b1": None, "b2": None},
            "config": {"min_insync_replicas": 1, "unclean_election": False, "elr": True},
            "last_broker_epoch": "@0", "last_topic_id": "~1",
        },
        {"Broker": ("b1", "b2"), "Topic": ("t1",)},
    )  # fmt: skip
    started: dict[str, Json] = {"broker": "b1", "restarted": True, "previous_epoch": None}
    shown = [
        json.dumps(model.encode(outcome.state))
        for outcome in model.outcomes(state, "register", started)
    ]
    assert {json.loads(state)["partition"]["t1"]["leader"] for state in shown} == {None, "b1"}


def test_an_elr_that_stayed_may_be_cleared_by_a_broker_of_the_index() -> None:
    """ELR is off, and b1 was in an ELR that was cleared: the index lists the partition for it."""
    folder = "charter_models.kafka_replication_overlays.kafka_controller"
    model = load(f"{folder}.cleared_elr_stays_in_index")
    stayed: Json = {
        "topic_id": "~1", "replicas": ["b2"], "isr": [], "leader": None,
        "leader_epoch": 1, "partition_epoch": 1, "elr": ["b2"], "last_known_elr": ["b2"],
        "adding": [], "removing": [], "recovering": False,
    }  # fmt: skip
    gone: Json = {"epoch": "@1", "fenced": True, "shutting_down": False}
    state = model.given(
        {
            "partition": {"t1": stayed},
            "registration": {"b1": gone, "b2": None},
            "config": {"min_insync_replicas": 1, "unclean_election": False, "elr": False},
            "last_broker_epoch": "@1", "last_topic_id": "~1",
        },
        {"Broker": ("b1", "b2"), "Topic": ("t1",)},
    )  # fmt: skip
    outcomes = model.outcomes(state, "unregister", {"broker": "b1"})
    shown = [json.loads(json.dumps(model.encode(one.state)))["partition"]["t1"] for one in outcomes]
    # Where it throws instead, nothing changes.
    assert [(one["elr"], one["partition_epoch"]) for one in shown] == [(["b2"], 1), ([], 2)]


REFUSED = {"unclean_election_is_ignored"}
REPORTED: Mapping[str, Mapping[str, set[str]]] = {
    "3.3.1": {
        "K-E1": {"shutdown_offset_moves_on"},
        "K-E2": {"again_is_a_new_session"},
        "K-E3": REFUSED,
    },
    "3.3.2": {"K-E1": set()},
    "3.7.0": {"K-E2": {"again_is_a_new_session"}, "K-E3": REFUSED},
    "3.8.1": {"K-E1": set(), "K-E2": {"again_gets_another_epoch"}, "K-E3": REFUSED},
    "3.9.1": {"K-E2": set(), "K-E3": {"cancels_to_first_replica"}},
}
"""The entries that explain the scenarios of what was reported to Kafka's tracker, by release:
KAFKA-14292 to 3.3.1, 16757 to 3.7.0, 16952 to 3.8.1, 14424 to 3.8.1 and otherwise from 3.9.0."""


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("release", REPORTED)
def test_what_was_reported_shows_in_the_releases_that_have_it(release: str, tmp_path: Path) -> None:
    suite, out = SUITES / "controller_pre_kip_966", tmp_path / "run"
    judge(release, out, "--no-shrink", suite=suite)
    assert json.loads((out / "summary.json").read_text())["new_deviations"] == 0
    found = entries_by_vector(out)
    asked = {title(vector): vector.id for vector in read_lines(suite / "vectors.jsonl")}
    for name, entries in REPORTED[release].items():
        assert found.get(asked[name], set()) == entries, name


@pytest.mark.slow
@pytest.mark.network
def test_walks_find_what_was_reported_when_the_suite_lacks_its_scenario(tmp_path: Path) -> None:
    """KAFKA-14292 in 3.3.1: a broker waits although all others know that it leads no more. No
    vector that is left shows it."""
    whole = SUITES / "controller_pre_kip_966"
    kept = [each for each in read_lines(whole / "vectors.jsonl") if title(each) != "K-E1"]
    write_suite(tmp_path / "suite", kept, read_manifest(whole))
    walks = ("--walks", "512", "--steps", "30", "--instance", "shutdown_among_records")
    out = tmp_path / "run"
    judge("3.3.1", out, "--no-shrink", *walks, suite=tmp_path / "suite")
    rows = ds.dataset(out / "deviations", partitioning="hive").to_table().to_pylist()
    shown = [row for row in rows if row["entry"] == "shutdown_offset_moves_on"]
    assert shown
    assert not {row["id"] for row in shown} & {each.id for each in kept}
    assert all('"branch":"heartbeat/shuts_down"' in row["expected"] for row in shown)


def title(vector: Vector) -> str:
    """The beginning of the title of the scenario that a vector is; "" if it is none."""
    told = [one for one in vector.why.obligations if one.startswith("scenario K-")]
    return told[0].split()[1] if told else ""


def entries_by_vector(run: Path) -> dict[str, set[str]]:
    rows = ds.dataset(run / "deviations", partitioning="hive").to_table().to_pylist()
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["id"], set()).add(row["entry"])
    return found
