"""Starts Spark's JVM, beside the other preparations of a run if it is asked for early."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from conform.adapters.targets import SAFE_PATH, python_path
from conform.console.errors import MissingEngine, first_line
from conform.runs.engines import python_daemon
from conform.runs.engines.cluster import address_of, is_local
from conform.runs.engines.shipping import pack_packages

_ATTEMPTS = "4"
"""How often a task is tried on a cluster: a worker that dies must not end the run."""
_SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The JVM hands bytes to Python and back: the optimizing compiler would cost more than it gains."""
_END_SECONDS = 20.0
_CHATTER = ("WARN", "INFO", "NOTE", "SLF4J", "Using Spark", "Setting default", "\tat ")
_GRAVE = re.compile(r"\w(Exception|Error)\b|not (set|found)")
_JAVA = ("JAVA_HOME", "UnsupportedClassVersion", "java: ", "JAVA_GATEWAY_EXITED", "java not found")


class StartingSpark:
    """A Spark context that is started in a thread; this process ends it. `instead` names the
    alternative to Spark for messages. Raises `MissingEngine` if the master does not answer."""

    def __init__(self, master: str, instead: str = "--engine inline") -> None:
        # It logs a traceback for each connection that a JVM leaves open when it ends.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self._instead = instead
        self._context: SparkContext | None = None
        self._error: Exception | None = None
        self._said: list[str] = []
        conf = _conf(master, instead)
        os.environ.update(_environment(master))
        # Not a daemon: Python waits for it before it ends, and then the JVM can be ended.
        self._thread = threading.Thread(target=self._start, args=(conf,))
        self._thread.start()

    def context(self) -> SparkContext:
        """The context. Raises `MissingEngine` if Java is missing or does not start."""
        self._thread.join()
        if self._context is None:
            assert self._error is not None
            raise MissingEngine(why_not(self._said, self._error, self._instead))
        return self._context

    def _start(self, conf: SparkConf) -> None:
        with tempfile.TemporaryFile() as said:
            try:
                self._context = _start(conf, said)
            except Exception as error:  # pyspark raises many kinds, up to plain RuntimeError
                self._error = error
                said.seek(0)
                self._said = said.read().decode("utf-8", "replace").strip().splitlines()


def session(master: str, instead: str = "--engine inline") -> SparkSession:
    """A Spark session, for what needs Spark's SQL. Raises as `StartingSpark` does."""
    StartingSpark(master, instead).context()
    return SparkSession.builder.getOrCreate()


def _conf(master: str, instead: str) -> SparkConf:
    """The settings of Spark. Raises `MissingEngine` if the master does not answer."""
    here = "127.0.0.1" if is_local(master) else address_of(master, instead)
    quiet = Path(__file__).with_name("log4j2.properties")
    settings = {
        "spark.app.name": "conform",
        "spark.master": master,
        "spark.speculation": "false",
        "spark.task.maxFailures": "1" if is_local(master) else _ATTEMPTS,
        "spark.python.worker.reuse": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        f"spark.executorEnv.{SAFE_PATH}": "1",
        "spark.local.dir": tempfile.gettempdir(),
        "spark.driver.extraJavaOptions": f'{_SHORT} "-Dlog4j2.configurationFile={quiet}"'
        f' "-Djava.io.tmpdir={tempfile.gettempdir()}"',
        **({"spark.python.daemon.module": python_daemon.__name__} if is_local(master) else {}),
        **({"spark.driver.bindAddress": here, "spark.driver.host": here} if here else {}),
    }
    return SparkConf(loadDefaults=False).setAll(list(settings.items()))


def _environment(master: str) -> dict[str, str]:
    """The environment variables that Spark and its workers need."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    plain = next(filter(None, names), "C") in ("C", "POSIX")
    return {
        **python_path(),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        **({"PYSPARK_PYTHON": sys.executable} if is_local(master) else {}),
        # Else Java cannot open a path that is not ASCII.
        **({"LC_ALL": "C.UTF-8"} if plain else {}),
    }


def _start(conf: SparkConf, said: IO[bytes]) -> SparkContext:
    """A context with these settings, or the one that this process has; a starting JVM writes its
    stderr to `said`."""
    if SparkContext._gateway is None:
        gateway = launch_gateway(conf, {"stderr": said})  # type: ignore[no-untyped-call]
        made = SparkContext(conf=conf, gateway=gateway)
    else:
        made = SparkContext.getOrCreate(conf)
    atexit.register(_end_jvm, made)
    made.setLogLevel("OFF")
    if not is_local(str(made.master)):
        made.addPyFile(str(pack_packages()))
    return made


def _end_jvm(made: SparkContext) -> None:
    """At the end of this process: end the JVM and wait for it, so that it removes its files. A JVM
    that is still busy is killed."""
    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    with contextlib.suppress(Exception):  # of py4j, if the JVM is gone or does not answer
        made.stop()
    if process is None or process.stdin is None:
        return
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def why_not(said: Sequence[str], error: Exception, instead: str = "--engine inline") -> str:
    """Why Spark did not start, from the lines that the JVM wrote: one sentence with a remedy."""
    lines = [line.strip() for line in said if not line.startswith(_CHATTER)]
    old = [line for line in lines if any(word in line for word in _JAVA)]
    grave = [line for line in lines if _GRAVE.search(line)]
    reason = next(iter((*old, *grave, *lines)), "") or first_line(error)
    reason = reason.removeprefix('Exception in thread "main" ')[:200].rstrip(".")
    java = any(word in reason for word in _JAVA)
    remedy = "it needs Java 17 or newer (set JAVA_HOME)" if java else "see --master"
    return f"Spark did not start ({reason}); {remedy}, or use {instead}"
