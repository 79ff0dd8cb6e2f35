"""The server for editors, in a process of its own, as an editor speaks with it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.edited_texts import LEASE
from tests.support.editor import Editor, editing, serve

from charter.diagnostics import Source
from charter.formats.canonical import Json
from charter.project.compile import format_text
from conform.cli.commands.compiler import lsp
from conform.cli.main import main


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[bytes]]:
    """A server that answers several tests, since it starts for a second."""
    with serve([sys.executable, "-m", "conform.cli.main", "lsp"]) as process:
        yield process


def test_an_editor_gets_answers_when_it_speaks_with_the_server(
    server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with editing(server, tmp_path, LEASE) as found:
        assert found.diagnostics() == []
        hover = found.at("textDocument/hover", 15, 30)
        assert "fun taken(lock: Lock, by: Client) -> bool" in json.dumps(hover)
        (place,) = json.loads(json.dumps(found.at("textDocument/definition", 15, 30)))
        assert place["uri"] == found.uri and place["range"]["start"] == {"line": 10, "character": 4}
        context: Json = {"includeDeclaration": False}
        uses = found.at("textDocument/references", 15, 30, context=context)
        assert json.dumps(uses).count('"uri"') == 2
        document: Json = {"textDocument": {"uri": found.uri}}
        outline = json.dumps(found.ask("textDocument/documentSymbol", document)["result"])
        assert '"name": "acquire"' in outline and '"name": "ann first"' in outline
        options: Json = {"tabSize": 2, "insertSpaces": True}
        (edit,) = json.loads(json.dumps(found.ask(
            "textDocument/formatting", {"textDocument": {"uri": found.uri}, "options": options}
        )["result"]))  # fmt: skip
        assert edit["newText"] == format_text(Source("", LEASE))
        assert edit["range"]["end"] == {"line": LEASE.count("\n"), "character": 0}
        edit = json.dumps(found.at("textDocument/rename", 2, 6, newName="Customer"))
        assert edit.count('"Customer"') == 7
        refused = json.dumps(found.at("textDocument/rename", 2, 6, newName="Token"))
        assert "`Token` is declared twice" in refused
        text = LEASE.replace("lock.token' = next", "lock.token' = lock.")
        change: Json = {
            "textDocument": {"uri": found.uri, "version": 2},
            "contentChanges": [{"text": text}],
        }
        found.send("textDocument/didChange", change)
        line = text[: text.index("lock.token' =")].count("\n")
        proposed = json.dumps(found.at("textDocument/completion", line, 25))
        assert '"label": "owner"' in proposed and '"label": "uses"' in proposed
        assert found.diagnostics() == [("syntax/unexpected", line + 1)]


def test_instances_and_scenarios_run_when_their_lens_is_clicked(
    server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with editing(server, tmp_path, LEASE) as found:
        document: Json = {"textDocument": {"uri": found.uri}}
        shown = json.loads(json.dumps(found.ask("textDocument/codeLens", document)["result"]))
        assert [each["command"]["title"] for each in shown] == ["explore tiny", "run scenario"]
        said = [found.ask("workspace/executeCommand", each["command"])["result"] for each in shown]
    assert str(said[0]).startswith("lease in the instance tiny")
    assert said[1] == "scenario 'ann first' is a run of the charter"


def test_a_missing_extra_is_one_sentence_when_the_server_is_started(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert main(["lsp"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("conform: `conform lsp` needs pygls") and "[lsp]" in said
    assert "Language Server Protocol" in lsp.EXAMPLES


def test_the_server_ends_at_a_signal_while_the_editor_still_listens() -> None:
    command = [sys.executable, "-m", "conform.cli.main", "lsp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        Editor(process, "").ask(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {}}
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM


LATE = """
import signal, threading
from conform.cli.output import lsp_server

def stop() -> None:
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

threading.Timer(1, stop).start()
lsp_server.serve()
"""
"""A server that waits for its editor when one of its other threads receives the signal, as Python
also handles one that comes right before it waits: nothing wakes the main thread."""


def test_the_server_ends_at_a_signal_that_does_not_wake_its_main_thread() -> None:
    command = [sys.executable, "-c", LATE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(20) == 128 + signal.SIGTERM


def test_a_message_turns_no_direction_when_a_text_does(
    server: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    text = LEASE.replace("lock.token' = next", "lock.token' = \u202enext")
    assert text != LEASE
    with editing(server, tmp_path, text) as found:
        told = json.dumps(found.read_published(), ensure_ascii=False)
    assert "\u202e" not in told and "u202e" in told
