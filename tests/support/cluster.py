"""A standalone cluster of Spark on loopback, from the jars of pyspark: a master, and workers in
folders of their own, with a Python that has not installed this project."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from conform.storage.scratch import dying_with_parent

HOME = Path(pyspark.__path__[0])
SECONDS = 180.0


@dataclass(slots=True)
class Cluster:
    """Its master's URL, its workers, and the folder of their logs."""

    master: str
    folder: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def log(self, name: str) -> str:
        return (self.folder / name / "log").read_text(errors="replace")

    def logs(self) -> str:
        """What the executors wrote to stderr, for messages."""
        found = sorted(self.folder.glob("worker-*/work/*/*/stderr"))
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in found)


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def start(
    folder: Path, name: str, java_class: str, more: Sequence[str], variables: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """A daemon of Spark in a folder and a session of its own, with an environment that names
    nothing of this checkout."""
    place = folder / name
    place.mkdir(parents=True)
    kept = {key: os.environ[key] for key in ("PATH", "JAVA_HOME", "HOME") if key in os.environ}
    environment = {
        **kept,
        **variables,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_WORKER_DIR": str(place / "work"),
        "SPARK_LOCAL_DIRS": str(place / "local"),
        "TMPDIR": str(place),
    }
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{java_class}", *more]
    with (place / "log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, cwd=place, start_new_session=True,
            preexec_fn=dying_with_parent(),  # noqa: PLW1509
        )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that `start` made, and its group: for a worker also its executors."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(pattern: str, cluster: Cluster, name: str) -> None:
    until = time.monotonic() + SECONDS
    while not re.search(pattern, cluster.log(name)):
        if time.monotonic() > until:
            raise TimeoutError(f"{name} did not say {pattern!r}: {cluster.log(name)[-2000:]}")
        time.sleep(0.1)


@contextlib.contextmanager
def cluster(folder: Path, variables: Mapping[str, str]) -> Iterator[Cluster]:
    """A cluster of two workers that have one core, 1 GB and these environment variables."""
    port = free_port()
    made = Cluster(f"spark://127.0.0.1:{port}", folder)
    place = ("--host", "127.0.0.1", "--webui-port", "0")
    master = start(folder, "master", "master.Master", [*place, "--port", str(port)], {})
    try:
        wait_for("New state: ALIVE", made, "master")
        names = ("worker-0", "worker-1")
        size = ("--cores", "1", "--memory", "1g", made.master)
        for name in names:
            worker = start(folder, name, "worker.Worker", [*place, *size], variables)
            made.workers.append(worker)
        for name in names:
            wait_for("Successfully registered", made, name)
        yield made
    finally:
        for process in (*made.workers, master):
            end(process)


def worker_python(folder: Path) -> Path:
    """The Python of a new environment with what workers need, and nothing else."""
    return environment_with(folder, "pyarrow", "orjson", "platformdirs", "llvmlite")


@contextlib.contextmanager
def s3_server(folder: Path) -> Iterator[int]:
    """An S3 server on loopback, in an environment of its own; yields its port."""
    python = environment_with(folder / "venv", "moto[server]")
    port = free_port()
    command = [str(python.with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, start_new_session=True,
            preexec_fn=dying_with_parent(),  # noqa: PLW1509
        )  # fmt: skip
    try:
        until = time.monotonic() + SECONDS
        while not answers(port):
            if time.monotonic() > until:
                raise TimeoutError((folder / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.1)
        yield port
    finally:
        end(process)


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


def environment_with(folder: Path, *packages: str) -> Path:
    """The Python of a new environment with these packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, *packages], check=True)
    return python
