"""A server that runs already is judged by its address, and only one of its keys is used."""

import json
import socket
import subprocess
import time
from pathlib import Path

import pytest
import redis

PATIENCE_S = 30.0


@pytest.fixture
def port(tmp_path):
    """The port of a Redis server on the loopback address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    options = ["--port", str(number), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            redis.Redis(port=number).ping()
            break
        except redis.ConnectionError:
            time.sleep(0.05)
    yield number
    server.terminate()
    server.wait()


@pytest.mark.slow
def test_a_server_is_judged_by_its_address_and_keeps_its_other_keys(conform, port, tmp_path):
    client = redis.Redis(port=port)
    client.set("mine", "1")
    out, url = tmp_path / "run", f"redis://127.0.0.1:{port}/0"
    options = ("--limit", "20", "--no-shrink", "--engine", "inline", "--out", out)
    assert conform("run", "--target", "redis-server", "--set", f"url={url}", *options)[0] == 1
    about = json.loads(Path(out, "run.json").read_text(encoding="utf-8"))
    assert about["parameters"] == {"program": "redis-server", "url": url}
    assert about["implementation"]["version"] == client.info("server")["redis_version"]
    assert client.keys("*") == [b"mine"]
