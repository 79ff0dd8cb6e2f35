"""Runs on a standalone cluster: two workers that share no checkout and no folder with the driver
but one that a URI names."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from importlib import resources
from pathlib import Path

import pytest
from tests.support import cluster as clusters
from tests.support.judging import environment

from charter import api
from conform.project.skeletons import write_example
from conform.storage.bucket_store import RunFolder
from conform.suites import cache

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 300
KEYS = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing"}
PROBE = """
import sys
from conform.runs.engines.spark_start import session
made = session(sys.argv[1])
def look(_):
    import importlib.util, os, conform, charter
    found = importlib.util.find_spec("charter_models") or importlib.util.find_spec("pytest")
    places = map(os.path.abspath, [conform.__file__, charter.__file__])
    return [sys.executable, *places, repr(found), *sys.path]
for line in made.sparkContext.parallelize([0], 1).map(look).collect()[0]:
    sys.stdout.write("> " + line + "\\n")
"""
SEARCH = """
import json, sys
from pathlib import Path
from charter import api
from charter.explore.native.program.compile_instance import Choices, program
from charter.explore.native.search.spark import SparkSearch
from charter.explore.native.search.search_files import Store
from conform.runs.engines.spark_start import session
model = api.load(Path(sys.argv[2]))
compiled = program(model, next(i for i in model.instances if i.name == "tiny"), Choices(), None)
search = SparkSearch(compiled, session(sys.argv[1]), Store(sys.argv[3]), alone=0, bits=4)
search.run()
sys.stdout.write("\\n" + json.dumps([search.distinct, search.generated, search.levels]) + "\\n")
"""
"""Each level is a job, however small."""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return clusters.worker_python(tmp_path_factory.mktemp("python") / "venv")


@pytest.fixture
def two_workers(python, tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", str(python))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with clusters.cluster(tmp_path / "cluster", KEYS) as made:
        yield made


@pytest.fixture
def leases(called, tmp_path, monkeypatch):
    """A project outside of the checkout, with an adapter that has two bugs, and its inline run. Its
    few vectors are stored in several buckets, for the workers to share."""
    place = tmp_path / "project"
    (place / "spec").mkdir(parents=True)
    (place / "charter.toml").touch()
    text = resources.files("conform").joinpath("templates/charters/lease.charter").read_text()
    (place / "spec" / "lease.charter").write_text(text)
    monkeypatch.chdir(place)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_FEWEST", 1)
    folder = place / "adapters" / "lease-python"
    called("generate", "--adapter", "python", "spec/lease.charter", "--out", folder)
    write_example("python", folder)
    assert called("generate")[0] == 0
    assert called(*judge("--engine", "inline", "--out", "inline"))[0] == 1
    assert len(RunFolder(str(place / "inline")).buckets_done()) > 1
    return place


def judge(*more):
    return ("run", "--target", "lease-python", "--no-shrink", *map(str, more))


def conform(*arguments):
    """A command in a process of its own: a process has one Spark."""
    command = [str(Path(sys.executable).with_name("conform")), *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONPATH": environment()["PYTHONPATH"]},
    )  # fmt: skip


def wait_for_end(process):
    said, _ = process.communicate(timeout=SECONDS)
    assert "Traceback" not in said
    return process.returncode, said


def assert_same(place, leases):
    """The run at a URI found what the inline run found."""
    there, here = RunFolder(place), RunFolder(str(leases / "inline"))
    for dataset in ("verdicts", "transitions", "deviations"):
        rows = [folder.table(dataset).to_pylist() for folder in (there, here)]
        one, other = (sorted(map(json.dumps, found)) for found in rows)
        assert one == other
    for name in ("verdicts", "deviations", "by_branch", "distinct_pairs", "exit", "findings"):
        assert there.read_json("summary.json")[name] == here.read_json("summary.json")[name]
    there.check()


@pytest.mark.slow
def test_workers_import_only_what_they_were_sent(two_workers, tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", PROBE, two_workers.master], capture_output=True, text=True,
        timeout=SECONDS, check=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": environment()["PYTHONPATH"]},
    ).stdout  # fmt: skip
    program, judge, compiler, others, *path = [
        line[2:] for line in found.splitlines() if line.startswith("> ")
    ]
    assert program == os.environ["PYSPARK_PYTHON"]
    work = str(two_workers.folder)
    for module in (judge, compiler):
        assert module.startswith(work) and "conform-packages.zip" in module
    assert others == "None"
    assert not [entry for entry in path if entry.startswith(str(ROOT)) and "pyspark" not in entry]


@pytest.mark.slow
def test_cluster_finds_what_one_process_finds(two_workers, leases, tmp_path):
    (tmp_path / "stored").mkdir()
    (tmp_path / "mounted").symlink_to(tmp_path / "stored")
    place = f"file://{tmp_path}/mounted/run"
    code, said = wait_for_end(conform(*judge("--master", two_workers.master, "--out", place)))
    assert code == 1, said + two_workers.logs()
    assert_same(place, leases)
    left = {path.name for path in (tmp_path / "stored" / "run").iterdir()}
    assert "shipped" not in left


@pytest.mark.slow
def test_worker_that_dies_costs_its_buckets_only(two_workers, leases, tmp_path):
    adapter = leases / "adapters" / "lease-python" / "adapter.py"
    text = adapter.read_text().replace(
        "self.service = LeaseService(", "time.sleep(0.05)\n        self.service = LeaseService("
    )
    adapter.write_text(text.replace("import protocol\n", "import time\n\nimport protocol\n"))
    place = f"file://{tmp_path}/run"
    process = conform(*judge("--master", two_workers.master, "--out", place))
    folder, until = RunFolder(place), time.monotonic() + SECONDS
    while not folder.buckets_done() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)
    assert process.poll() is None, wait_for_end(process)
    clusters.end(two_workers.workers[0])
    code, said = wait_for_end(process)
    assert code == 1, said + two_workers.logs()
    assert_same(place, leases)


@pytest.mark.slow
@pytest.mark.network
def test_folder_of_a_run_can_be_in_s3(two_workers, leases, tmp_path):
    with clusters.s3_server(tmp_path / "s3") as port:
        made = urllib.request.Request(f"http://127.0.0.1:{port}/runs", method="PUT")
        urllib.request.urlopen(made, timeout=30).close()
        options = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
        place = f"s3://runs/lease?{options}"
        code, said = wait_for_end(conform(*judge("--master", two_workers.master, "--out", place)))
        assert code == 1, said + two_workers.logs()
        assert_same(place, leases)


@pytest.mark.slow
def test_wrong_python_of_the_workers_is_told(two_workers, leases, tmp_path, monkeypatch):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    for program, told in (
        (str(bare / "bin" / "python"), "the workers' Python lacks the package"),
        (str(tmp_path / "none"), f"a worker has no program {tmp_path}/none"),
    ):
        monkeypatch.setenv("PYSPARK_PYTHON", program)
        place = f"file://{tmp_path}/run-of-{Path(program).name}"
        code, said = wait_for_end(conform(*judge("--master", two_workers.master, "--out", place)))
        waited = "vectors judged, none of them in the last "
        (line,) = (line for line in said.splitlines() if waited not in line)
        assert (code, told in line) == (3, True), said


@pytest.mark.slow
def test_workers_of_a_cluster_search_what_one_process_searches(two_workers, tmp_path):
    charter = ROOT / "spec" / "examples" / "dining_philosophers.charter"
    model = api.load(charter)
    native = api.explore(model, "tiny", api.ExploreOptions(), lambda *_: None).counts
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, two_workers.master, charter, f"file://{tmp_path}/search"],
        capture_output=True, text=True, timeout=SECONDS, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": environment()["PYTHONPATH"]},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + two_workers.logs()
    distinct, generated, levels = json.loads(done.stdout.splitlines()[-1])
    assert (distinct, generated) == (native.distinct, native.generated)
    assert tuple(levels) == tuple(native.levels)
    assert list((tmp_path / "search").glob("level-*/*.parquet"))
