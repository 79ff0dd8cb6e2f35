"""Rows of a bucket that do not fit into memory are written before it ends."""

import json

import pyarrow.compute as pc
import pytest

from charter.formats.verdict import Kind, Verdict
from conform.adapters.base import AdapterStart
from conform.adapters.session import Judgement
from conform.judging.verdict import Assessment, VectorItem
from conform.runs.engines import bucket as judging
from conform.runs.engines.bucket import RunContext, Tally, datasets
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.storage.bucket_store import RunFolder
from conform.storage.tables import DATASETS, DatasetRows, Transitions


def some_rows():
    rows = {name: DatasetRows(schema) for name, schema in DATASETS.items()}
    rows["observations"].add(["a"], "line " * 10)
    return rows


def test_rows_that_were_taken_count(tmp_path):
    rows = some_rows()["observations"]
    assert (rows.size, len(rows)) == (50, 1)
    assert rows.take_table().num_rows == 1
    assert (rows.size, len(rows), rows.table().num_rows) == (0, 1, 0)


@pytest.mark.parametrize("place", ["{}", "file://{}"])
def test_spilled_rows_are_in_the_file_of_the_bucket(tmp_path, place):
    folder, rows = RunFolder(place.format(tmp_path)), some_rows()
    writer = folder.writer(3)
    for _ in range(3):
        folder.spill(writer, rows)
        rows["observations"].add(["b"], "more")
    assert not folder.buckets_done()
    folder.commit(3, rows, {"bucket": 3}, writer)
    assert folder.buckets_done() == [3]
    found = folder.bucket("observations", 3)["line"].to_pylist()
    assert found == ["line " * 10, "more", "more", "more"]
    assert folder.drop_damaged() == 0
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith("_")]


def test_table_has_the_columns_and_rows_that_are_asked_for(tmp_path):
    folder, wanted = RunFolder(str(tmp_path)), pc.field("line") == "more"
    assert folder.table("observations", ["line"], wanted).column_names == ["line", "bucket"]
    for bucket in (1, 4):
        rows = some_rows()
        rows["observations"].add(["b"], "more")
        folder.commit(bucket, rows, {})
    found = folder.table("observations", ["line"], wanted).to_pylist()
    assert found == [{"line": "more", "bucket": 1}, {"line": "more", "bucket": 4}]
    assert folder.table("observations").num_rows == 4


def test_bucket_that_is_given_up_leaves_nothing(tmp_path):
    folder = RunFolder(str(tmp_path))
    with pytest.raises(KeyboardInterrupt), folder.writer(3) as writer:
        folder.spill(writer, some_rows())
        raise KeyboardInterrupt
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_worker_that_was_given_up_does_not_touch_a_committed_bucket(tmp_path):
    folder, late = RunFolder(str(tmp_path)), some_rows()
    writer = folder.writer(3)
    folder.spill(writer, late)
    folder.commit(3, some_rows(), {"bucket": 3})
    folder.commit(3, late, {"bucket": 3, "late": True}, writer)
    assert folder.drop_damaged() == 0
    assert "late" not in folder.commit_of(3)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith("_")]


def test_end_of_a_run_removes_what_killed_workers_began(tmp_path):
    folder = RunFolder(str(tmp_path))
    folder.commit(3, some_rows(), {"bucket": 3})
    left = tmp_path / "verdicts" / "bucket=0003" / "_part-0.parquet.0a1b.tmp"
    left.write_bytes(b"half")
    folder.finish({})
    assert not left.exists()
    assert folder.drop_damaged() == 0


def test_run_that_spills_has_the_rows_of_one_that_does_not(
    toy_suite, targets_folder, tmp_path, monkeypatch
):
    name = targets_folder("keeps_leader")

    def judge(out):
        options = RunOptions(name, suite=str(toy_suite), engine="inline", out=str(tmp_path / out))
        return run_target(options, lambda _: None).folder

    def rows(folder, dataset):
        return folder.table(dataset).drop_columns(["line"] if dataset == "observations" else [])

    whole = judge("whole")
    monkeypatch.setattr(judging, "TEXTS", 1)
    monkeypatch.setattr(judging, "PAIRS", 1)
    spilled = judge("spilled")
    for dataset in ("verdicts", "deviations", "observations"):
        assert rows(whole, dataset) == rows(spilled, dataset)
    pairs = [
        folder.table("transitions").group_by(["state", "branch"]).aggregate([("count", "sum")])
        for folder in (whole, spilled)
    ]
    one, other = (sorted(map(str, table.to_pylist())) for table in pairs)
    assert one == other
    assert spilled.read_json("summary.json")["vectors"] == 61


def test_pairs_that_were_written_are_forgotten():
    pairs = Transitions()
    pairs.add([(b"{}", "on")], "v")
    pairs.rows({}, ())
    pairs.clear()
    assert not pairs.counts and not pairs.names


def test_states_count_up_to_names_wherever_in_a_bucket_they_come():
    tally = Tally()
    for number in range(judging.SAMPLE + 2):
        name = f"lock{number}"
        item = VectorItem(f"v{number}", question_about(name), b"", b'{"source":"solver"}', "")
        verdict = Verdict(item.id, Kind.CONFORMS, "", (), ("", "free/freed"), judged=1)
        taken = ((json.dumps({"held": [name]}).encode(), "free/freed"),)
        tally.add(Judgement((item,), (Assessment(verdict, taken),)))
    rows = datasets(tally, RunContext("run", "", AdapterStart(())))
    assert rows["transitions"].columns["count"] == [judging.SAMPLE + 2]


def question_about(lock):
    return json.dumps({"sorts": {"Lock": {lock: 1}}, "operations": []}).encode()
