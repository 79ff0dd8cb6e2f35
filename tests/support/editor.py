"""An editor that speaks with the server of the language, in a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from charter.formats.canonical import Json


@dataclass(slots=True)
class Editor:
    """An editor with one open file."""

    process: subprocess.Popen[bytes]
    uri: str
    asked: int = 0
    told: list[dict[str, Json]] = field(default_factory=list)

    def send(self, method: str, params: Json, **more: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self) -> dict[str, Json]:
        assert self.process.stdout is not None
        size = 0
        while (line := self.process.stdout.readline().strip()) or not size:
            assert line, "the server ended"
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        message = json.loads(self.process.stdout.read(size))
        assert isinstance(message, dict)
        return message

    def ask(self, method: str, params: Json) -> dict[str, Json]:
        """The answer to a question; messages before it are kept in `told`."""
        self.asked += 1
        self.send(method, params, id=self.asked)
        while (message := self.read()).get("id") != self.asked:
            self.told.append(message)
        return message

    def at(self, method: str, line: int, character: int, **more: Json) -> Json:
        place: Json = {"line": line, "character": character}
        document: Json = {"uri": self.uri}
        answer = self.ask(method, {"textDocument": document, "position": place, **more})
        return answer.get("result", answer.get("error"))

    def diagnostics(self) -> list[tuple[Json, Json]]:
        """The next diagnostics of the file: code and line."""
        found = json.loads(json.dumps(self.read_published()))
        return [(each["code"], each["range"]["start"]["line"]) for each in found]

    def read_published(self) -> list[Json]:
        """The next diagnostics of the file, whole."""
        while True:
            for message in [*self.told]:
                params = message.get("params")
                if message.get("method") == "textDocument/publishDiagnostics":
                    self.told.remove(message)
                    assert isinstance(params, dict)
                    if params["uri"] != self.uri:
                        continue
                    found = params["diagnostics"]
                    assert isinstance(found, list)
                    return found
            self.told.append(self.read())


@contextmanager
def serve(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server that `command` starts, for editors that open one file after another."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        found = Editor(process, "")
        found.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        found.send("initialized", {})
        yield process
        found.ask("shutdown", None)
        found.send("exit", None)
        assert process.wait(20) == 0


@contextmanager
def editing(process: subprocess.Popen[bytes], folder: Path, text: str) -> Iterator[Editor]:
    """An editor of a server, in which a new charter is open that was never saved; `folder` is where
    the server sees it."""
    found = Editor(process, (folder / "lease.charter").as_uri())
    document: Json = {"uri": found.uri, "languageId": "charter", "version": 1, "text": text}
    found.send("textDocument/didOpen", {"textDocument": document})
    yield found
    found.send("textDocument/didClose", {"textDocument": {"uri": found.uri}})


@contextmanager
def open_editor(command: Sequence[str], folder: Path, text: str) -> Iterator[Editor]:
    """An editor with a server of its own."""
    with serve(command) as process, editing(process, folder, text) as found:
        yield found
