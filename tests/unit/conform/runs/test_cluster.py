"""What can be wrong with a cluster is told in one sentence."""

import socket

import pytest

from conform.console.errors import CannotWrite, ConformError, Incomplete, MissingEngine
from conform.runs.engines.choose import engine_for
from conform.runs.engines.cluster import ClusterWatch, address_of, why_lost
from conform.runs.execute import run_target
from conform.runs.options import RunOptions


def test_address_is_the_one_by_which_the_master_is_reached():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert address_of(f"spark://127.0.0.1:{port}", "") == "127.0.0.1"
        two = f"spark://127.0.0.1:1,127.0.0.1:{port}"
        assert address_of(two, "") == "127.0.0.1"
    assert address_of("yarn", "") == ""


@pytest.mark.parametrize(
    ("master", "why"),
    [
        ("spark://127.0.0.1:1", "Connection refused"),
        ("spark://127.0.0.1", "it names no HOST:PORT"),
    ],
)
def test_master_that_does_not_answer_is_told(master, why):
    with pytest.raises(MissingEngine, match=f"{master} does not answer .*{why}.*--engine inline"):
        address_of(master, "--engine inline")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in"
            " driver: 3.11, PySpark cannot run with different minor versions.",
            "a worker has Python 3.9, and this is Python 3.11",
        ),
        ("x\nModuleNotFoundError: No module named 'pyarrow'\n at", "lacks the package pyarrow"),
        ('java.io.IOException: Cannot run program "python9": error=2', "no program python9"),
        ("Job aborted\nmore", "Spark gave up (Job aborted); repeat"),
        ("", "without a word"),
    ],
)
def test_end_of_a_job_is_one_sentence(said, told):
    assert told in why_lost(said)
    assert "\n" not in why_lost(said)


def test_job_without_workers_is_given_up():
    counts = [1, 0]
    watch = ClusterWatch("spark://a:1", lambda: counts.pop(0), patience=-1.0)
    with pytest.raises(Incomplete, match="spark://a:1 has had no worker"):
        watch.look() or watch.look()


def test_job_with_workers_goes_on():
    watch = ClusterWatch("spark://a:1", lambda: 1, patience=3600.0)
    watch.look()
    ClusterWatch("spark://a:1", lambda: 0, patience=3600.0).look()


@pytest.mark.parametrize("out", ["", "build/run"])
def test_cluster_needs_a_folder_that_all_reach(out):
    with pytest.raises(ConformError, match="needs --out URI"):
        run_target(RunOptions("reference", master="spark://127.0.0.1:1", out=out), print)


@pytest.mark.parametrize("scheme", ["file", "nonsense"])
def test_folder_that_cannot_be_used_is_told_before_any_work(scheme, tmp_path):
    (tmp_path / "taken").touch()
    place = f"{scheme}://{tmp_path}/taken/run"
    with pytest.raises(CannotWrite, match=f"{place} (cannot be read and|names no file)"):
        run_target(RunOptions("no such target", out=place), print)


def test_master_of_a_cluster_chooses_spark_for_any_size():
    assert engine_for(RunOptions("x", master="spark://a:1"), 3, print) == "spark"
    assert engine_for(RunOptions("x"), 3, print) == "inline"
