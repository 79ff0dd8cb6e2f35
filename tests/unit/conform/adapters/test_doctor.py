"""Checks of an adapter's end: by itself, after `bye` and when stdin ends."""

import sys

import orjson
import pytest
from tests.support.judging import fake_start

from charter.formats.target import Deadlines
from conform.adapters.base import AdapterStart
from conform.adapters.doctor import Probes, check_adapter, ends
from conform.adapters.duplicate_keys import find_repeated_key
from conform.adapters.stdio import StdioConnection, last_words, not_json
from conform.cli.commands.judge.doctor import _java
from conform.console.errors import CannotStart

BYE = b'{"bye":true}\n'


@pytest.mark.parametrize("last", [BYE, b""])
def test_an_adapter_that_ends_is_fine(last):
    assert ends(fake_start("faithful"), "ends", last).ok


@pytest.mark.parametrize("said", ["", "{"])
@pytest.mark.parametrize("last", [BYE, b""])
def test_an_adapter_that_does_not_greet_is_not_waited_for(said, last):
    script = f"import time; print({said!r}, end='', flush=True); time.sleep(60)"
    start = AdapterStart((sys.executable, "-c", script), deadlines=Deadlines(hello=0.5))
    check = ends(start, "ends", last)
    assert not check.ok
    assert check.detail == "it does not answer hello within 0.5 s"


def test_an_adapter_that_ends_without_a_greeting_is_at_fault():
    start = AdapterStart((sys.executable, "-c", "input()"), deadlines=Deadlines(hello=20.0))
    check = ends(start, "ends", BYE)
    assert (check.ok, check.detail) == (False, "it ends before it answers hello")


@pytest.mark.parametrize(
    ("mode", "failing", "starts"), [("faithful", 0, 1), ("no_steps", 4, 1), ("bad_nonce", 8, 10)]
)
def test_an_adapter_is_started_again_only_if_it_ended_when_it_failed_a_rule(
    mode, failing, starts, tmp_path
):
    """Two more starts are those of the rules about its end."""
    log = tmp_path / "log"
    probes = Probes({"sorts": {"Node": {"n1": 0}}}, {"write": {"epoch": "@1"}})
    failed = [one for one in check_adapter(fake_start(mode, str(log)), probes) if not one.ok]
    assert (len(failed), len(log.read_text().split())) == (failing, starts + 2)


NODE = """node:internal/modules/esm/resolve:844
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'leases' imported from /a/adapter.js
    at packageResolve (node:internal/modules/esm/resolve:844:9)
{} {{
  code: 'ERR_MODULE_NOT_FOUND'
}}

Node.js v18.19.0
""".format("\n".join(f"    at frame{n} (node:internal/modules/esm/resolve:{n})" for n in range(9)))


def test_the_message_before_a_stack_is_among_the_last_words():
    assert last_words(NODE)[3:5] == [
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'leases' imported from /a/adapter.js",
        "at packageResolve (node:internal/modules/esm/resolve:844:9)",
    ]
    assert last_words(NODE)[-1] == "Node.js v18.19.0"


def test_last_words_are_bounded():
    told = last_words("".join(f"line {n} {'x' * 1500}\n" for n in range(1000)))
    assert told[0].startswith("line 0 ") and told[-1].startswith("line 999 ")
    assert (len(told), told[5], max(map(len, told))) == (14, "… (987 lines)", 1_000)


def test_the_line_of_the_adapter_is_among_the_last_words_of_a_long_traceback():
    own = '  File "/srv/redis/adapter.py", line 254, in perform\n    self.ask("XACK")\n'
    inside = (
        '  File "/venv/lib/python3.11/site-packages/redis/client.py", line 9, in go\n    go()\n'
    )
    sdk = '  File "/venv/lib/python3.11/site-packages/conform/sdk.py", line 9, in serve\n    s()\n'
    told = last_words(
        "Traceback (most recent call last):\n" + sdk * 9 + own + inside * 9
        + "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379.\n"
    )  # fmt: skip
    assert 'File "/srv/redis/adapter.py", line 254, in perform' in told
    assert 'self.ask("XACK")' in told
    assert told[-1].startswith("redis.exceptions.ConnectionError")


def test_an_adapter_that_does_not_start_is_told_with_its_stderr_in_lines():
    script = f"import sys; sys.stderr.write({NODE!r}); sys.exit(1)"
    with pytest.raises(CannotStart) as told:
        StdioConnection(AdapterStart((sys.executable, "-c", script)))
    lines = str(told.value).splitlines()
    assert lines[0] == "the adapter did not start: it ended with 1; its stderr:"
    assert lines[4].startswith("  | Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'leases'")


@pytest.mark.parametrize(("written", "told"), [
    ("debug 17", "no message: 'debug 17'; stdout is for messages only, print to stderr"),
    ('{"protocol":', "no JSON: "),
])  # fmt: skip
def test_an_adapter_that_does_not_begin_with_a_message_is_told_so(written, told):
    with pytest.raises(CannotStart) as broken:
        StdioConnection(AdapterStart((sys.executable, "-c", f"print({written!r})")))
    assert str(broken.value).startswith(f"the adapter did not start: its first line is {told}")


def test_a_line_that_is_no_json_is_shown_where_it_ceases_to_be():
    line = b'{"run":1,"values":[{"working":{"w1":undefined,"w2":null}}' + b" " * 100 + b"]}"
    with pytest.raises(orjson.JSONDecodeError) as broken:
        orjson.loads(line)
    told = not_json(line, broken.value)
    assert '"working":{"w1":undefined' in told
    assert told.startswith("no JSON: ") and len(told) < 150
    told = not_json(b"debug 17", broken.value)
    assert told == "no message: 'debug 17'; stdout is for messages only, print to stderr"


@pytest.mark.parametrize(("mode", "told"), [
    ("faithful", ""),
    ("twice", '"leader" is a key twice in {"leader": null, "leader": null, "registration": {"n1":'),
])  # fmt: skip
def test_a_key_that_an_object_has_twice_is_told(mode, told):
    probes = Probes({"sorts": {"Node": {"n1": 1, "n2": 2}}})
    checks = {check.rule: check for check in check_adapter(fake_start(mode), probes)}
    check = checks["writes each key of an object once"]
    assert check.ok is not bool(told)
    assert check.detail.startswith(told)
    assert all(one.ok for rule, one in checks.items() if one is not check)


@pytest.mark.parametrize(("line", "key"), [
    ('{"a":1,"b":{"a":2}}', ""), ('[{"a":[{"b":1,"c":2,"b":1}]}]', '"b"'),
    ('{"a":1,"\\u0061":1}', '"a"'),
    ("[" * 5000 + "]" * 5000, ""), ("{", ""), (f'{{"a":"{"x" * 999}","a":2}}', '"a"'),
])  # fmt: skip
def test_the_first_repeated_key_is_found(line, key):
    told = find_repeated_key(line.encode())
    assert told.startswith(f"{key} is a key twice in {{") if key else not told
    assert len(told) < 200


def test_the_version_of_java_is_told_and_not_its_options(tmp_path, monkeypatch):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    said = 'Picked up JAVA_TOOL_OPTIONS: -Da=b\nopenjdk version "17.0.15"'
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert _java().detail == 'openjdk version "17.0.15"'
