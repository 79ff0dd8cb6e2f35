"""Serves `conform lsp`: the protocol, threads and delays. `charter.ide` has the answers."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from charter import api
from charter.diagnostics import Span
from charter.ide import answers as ide
from charter.ide.complete import complete
from charter.ide.run_scenario import run_scenario
from charter.ide.workspace import Snapshot, Workspace
from charter.project.compile import format_text
from conform.console.terminal import visible
from conform.storage.scratch import clean_up

PAUSE: Final = 0.25
"""Seconds without a key stroke after which a charter is checked."""
MOST: Final = "2000000"
"""The states after which the search of a code lens gives up."""
RUN: Final = "charter.run"
KINDS: Final = {
    "field": lsp.SymbolKind.Field,
    "state": lsp.SymbolKind.Field,
    "function": lsp.SymbolKind.Function,
    "operation": lsp.SymbolKind.Method,
    "step": lsp.SymbolKind.Method,
    "branch": lsp.SymbolKind.Event,
    "component": lsp.SymbolKind.Class,
    "system": lsp.SymbolKind.Module,
    "record": lsp.SymbolKind.Struct,
    "enum": lsp.SymbolKind.Enum,
    "union": lsp.SymbolKind.Enum,
    "member": lsp.SymbolKind.EnumMember,
    "case": lsp.SymbolKind.EnumMember,
    "constant": lsp.SymbolKind.Constant,
}
PROPOSED: Final = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "field": lsp.CompletionItemKind.Field,
    "state": lsp.CompletionItemKind.Field,
    "function": lsp.CompletionItemKind.Function,
    "built-in function": lsp.CompletionItemKind.Function,
    "branch": lsp.CompletionItemKind.Event,
    "member": lsp.CompletionItemKind.EnumMember,
    "case": lsp.CompletionItemKind.EnumMember,
    "constant": lsp.CompletionItemKind.Constant,
}


def name_of(uri: str) -> str:
    """The name of a file in the workspace: its path, or the address of a text without a file."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return uri if path is None else Path(path).as_posix()


def uri_of(name: str) -> str:
    """The address of a file."""
    return uris.from_fs_path(name) or name


@dataclass(slots=True)
class Service:
    """The answers for one editor. One thread at a time checks; questions read the last snapshot."""

    server: LanguageServer
    workspace: Workspace = field(default_factory=Workspace)
    checking: threading.Lock = field(default_factory=threading.Lock)
    versions: dict[str, int] = field(default_factory=dict)
    searches: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    # --- texts and diagnostics -------------------------------------------------------------------

    async def on_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        await self._check_later(params.text_document.uri, 0)

    async def on_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        await self._check_later(params.text_document.uri, PAUSE)

    async def on_save(self, params: lsp.DidSaveTextDocumentParams) -> None:
        await self._check_later(params.text_document.uri, 0)

    def on_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self.workspace.close(name_of(params.text_document.uri))

    async def _check_later(self, uri: str, pause: float) -> None:
        """Check a file unless it changes again within the pause."""
        name = name_of(uri)
        self.workspace.open(name, self.server.workspace.get_text_document(uri).source)
        stamp = self.versions[name] = self.versions.get(name, 0) + 1
        await asyncio.sleep(pause)
        if self.versions[name] != stamp:
            return
        try:
            snapshot = await asyncio.get_running_loop().run_in_executor(None, self._refresh, name)
        except api.Unreadable:
            return  # the text was closed, and has no file
        if self.versions[name] == stamp:
            self._publish(snapshot)

    def _refresh(self, name: str) -> Snapshot:
        with self.checking:
            return self.workspace.refresh(name)

    def _publish(self, snapshot: Snapshot) -> None:
        for name, found in snapshot.found.items():
            items = [self._diagnostic(snapshot, item) for item in found]
            self.server.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(uri_of(name), items)
            )

    def _diagnostic(self, snapshot: Snapshot, item: api.Diagnostic) -> lsp.Diagnostic:
        severe = item.severity == "error"
        notes = [
            lsp.DiagnosticRelatedInformation(self._location(snapshot.now(span)), visible(text))
            for text, span in item.notes
            if span.source.name in snapshot.files
        ]
        return lsp.Diagnostic(
            self._range(snapshot.now(item.span)),
            visible(f"{item.message}\n{item.hint}" if item.hint else item.message),
            severity=lsp.DiagnosticSeverity.Error if severe else lsp.DiagnosticSeverity.Warning,
            code=item.code,
            source="charter",
            related_information=notes,
        )

    # --- positions -------------------------------------------------------------------------------

    def _range(self, span: Span) -> lsp.Range:
        codec = self.server.workspace.position_codec
        lines = span.source.text.split("\n")
        ends = []
        for offset in (span.start, span.end):
            line, column = span.source.position(offset)
            place = lsp.Position(line - 1, column - 1)
            ends.append(codec.position_to_client_units(lines, place))
        return lsp.Range(*ends)

    def _location(self, span: Span) -> lsp.Location:
        return lsp.Location(uri_of(span.source.name), self._range(span))

    def _place(
        self, document: lsp.TextDocumentIdentifier, position: lsp.Position
    ) -> tuple[Snapshot, str, int]:
        """The last snapshot, the name of a file in it, and the offset of a position."""
        name = name_of(document.uri)
        snapshot = self._snapshot(name)
        file = snapshot.files.get(name)
        if file is None:
            return snapshot, name, 0
        lines = file.source.text.split("\n")
        place = self.server.workspace.position_codec.position_from_client_units(lines, position)
        line = min(place.line, len(lines) - 1)
        return (
            snapshot,
            name,
            file.source.line_starts[line] + min(place.character, len(lines[line])),
        )

    def _snapshot(self, name: str) -> Snapshot:
        if name not in self.workspace.snapshots:
            with self.checking:
                return self.workspace.snapshot(name)
        return self.workspace.snapshot(name)

    # --- questions -------------------------------------------------------------------------------

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        found = ide.hover(*self._place(params.text_document, params.position))
        if found is None:
            return None
        text = lsp.MarkupContent(lsp.MarkupKind.Markdown, visible(found.text))
        return lsp.Hover(text, self._range(found.span))

    def definition(self, params: lsp.DefinitionParams) -> list[lsp.Location]:
        found = ide.definition(*self._place(params.text_document, params.position))
        return [self._location(span) for span in found]

    def references(self, params: lsp.ReferenceParams) -> list[lsp.Location]:
        place = self._place(params.text_document, params.position)
        wanted = params.context.include_declaration
        found = ide.references(*place, declarations=wanted)
        return [self._location(span) for span in found]

    def completion(self, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        found = complete(*self._place(params.text_document, params.position))
        return [
            lsp.CompletionItem(
                each.text,
                kind=PROPOSED.get(each.kind, lsp.CompletionItemKind.Variable),
                detail=each.detail or each.kind,
            )
            for each in found
        ]

    def symbols(self, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        name = name_of(params.text_document.uri)
        return [self._symbol(each) for each in ide.outline(self._snapshot(name), name)]

    def _symbol(self, each: ide.Outlined) -> lsp.DocumentSymbol:
        inner = [self._symbol(below) for below in each.inner]
        kind = KINDS.get(each.kind, lsp.SymbolKind.Object)
        whole, name = self._range(each.whole), self._range(each.span)
        return lsp.DocumentSymbol(each.name, kind, whole, name, each.kind, children=inner)

    def formatting(self, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        """The whole text anew; nothing while it has syntax errors."""
        name = name_of(params.text_document.uri)
        source = self.workspace.source(name)
        try:
            text = format_text(source)
        except api.Refused:
            return []
        whole = self._range(Span(source, 0, len(source.text)))
        return [] if text == source.text else [lsp.TextEdit(whole, text)]

    def prepare_rename(self, params: lsp.PrepareRenameParams) -> lsp.Range:
        try:
            place = self._place(params.text_document, params.position)
            return self._range(ide.renamable(*place))
        except ide.CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from None

    def rename(self, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        _, name, offset = self._place(params.text_document, params.position)
        try:
            with self.checking:
                found = ide.rename(self.workspace, name, offset, params.new_name)
        except (ide.CannotRename, api.Unreadable) as error:
            raise JsonRpcInvalidParams(str(error)) from None
        edits = {
            uri_of(file): [lsp.TextEdit(self._range(span), params.new_name) for span in spans]
            for file, spans in found.items()
        }
        return lsp.WorkspaceEdit(edits)

    # --- code lenses -----------------------------------------------------------------------------

    def lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        found = ide.lenses(self._snapshot(name_of(uri)), name_of(uri))
        return [
            lsp.CodeLens(
                self._range(Span(lens.span.source, lens.span.start, lens.span.start)),
                lsp.Command(_title(lens), RUN, arguments=[uri, lens.kind, lens.name]),
            )
            for lens in found
        ]

    async def run(self, uri: str, kind: str, name: str) -> str:
        """Explore an instance, or run a scenario; shows the result and returns it."""
        try:
            sources = self.workspace.protocol(name_of(uri))
        except api.Unreadable as error:
            return self._show(str(error))
        if kind == "scenario":
            loop = asyncio.get_running_loop()
            return self._show(await loop.run_in_executor(None, run_scenario, sources, name))
        return self._show(await self._explore(sources, name))

    async def _explore(self, sources: tuple[api.Source, ...], instance: str) -> str:
        """The output of `conform explore` in a process of its own, for the texts as they are now.
        A search that still runs is ended first."""
        for process in self.searches.values():
            if process.returncode is None:
                process.kill()
        with tempfile.TemporaryDirectory(prefix="charter-") as folder:
            self.folders.add(folder)
            for source in sources:
                place = Path(folder) / Path(source.name).name
                if place.exists():  # in another folder of the protocol
                    place = Path(folder) / str(len(os.listdir(folder))) / place.name
                    place.parent.mkdir()
                place.write_text(source.text, encoding="utf-8")
            command = ("conform.cli.main", "explore", folder, "--instance", instance)
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", *command, "--most", MOST,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            self.searches[instance] = process
            said, errors = await process.communicate()
        self.folders.discard(folder)
        # Progress is on stderr, too: it is shown only if nothing else is.
        text = visible((said or errors).decode(errors="replace")).replace(
            folder, Path(sources[0].name).parent.as_posix()
        )
        return text or f"the search of {instance} was ended"

    def _show(self, text: str) -> str:
        """Show the first and the last line, and all of it in the log."""
        lines = text.strip().splitlines()
        brief = lines[0] if len(lines) == 1 else f"{lines[0]}: {lines[-1]}"
        self.server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Info, text))
        self.server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, brief))
        return text

    def shut_down(self, _: None) -> None:
        for process in self.searches.values():
            if process.returncode is None:
                process.kill()

    def end(self, number: int) -> None:
        """End at a signal. pygls would wait for its thread that reads stdin, which the editor has
        open."""
        self.shut_down(None)
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        clean_up()
        os._exit(128 + number)


def _title(lens: ide.Lens) -> str:
    return f"explore {lens.name}" if lens.kind == "instance" else "run scenario"


def make_server() -> tuple[LanguageServer, Service]:
    """The server with all that it can do, and what answers. pygls sets attributes of the functions
    that it gets, and methods have none: hence `partial`."""
    server = LanguageServer("charter", version("charter-conform"))
    service = Service(server)
    server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(partial(service.on_open))
    server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(partial(service.on_change))
    server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)(partial(service.on_save))
    server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(partial(service.on_close))
    server.feature(lsp.TEXT_DOCUMENT_HOVER)(partial(service.hover))
    server.feature(lsp.TEXT_DOCUMENT_DEFINITION)(partial(service.definition))
    server.feature(lsp.TEXT_DOCUMENT_REFERENCES)(partial(service.references))
    proposing = lsp.CompletionOptions(trigger_characters=[".", "/"])
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, proposing)(partial(service.completion))
    server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(partial(service.symbols))
    server.feature(lsp.TEXT_DOCUMENT_FORMATTING)(partial(service.formatting))
    server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)(partial(service.prepare_rename))
    server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(True))(partial(service.rename))
    server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)(partial(service.lenses))
    server.feature(lsp.SHUTDOWN)(partial(service.shut_down))
    server.command(RUN)(partial(service.run))
    return server, service


def serve() -> None:
    """Serve an editor on stdin and stdout until it ends the session. What else is printed goes to
    stderr, and a refusal is not logged: the editor shows it."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_no_refusal)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        server, service = make_server()
        with _end_by_signals(service):
            server.start_io(sys.stdin.buffer, answers)


@contextmanager
def _end_by_signals(service: Service) -> Iterator[None]:
    """Ends the service at the first signal, in a thread of its own: the main thread may not notice
    a signal that comes right before it waits for the editor, or in another thread."""
    heard, told = socket.socketpair()

    def wait() -> None:
        for number in heard.recv(1):  # nothing if the editor has ended the session
            service.end(number)

    told.setblocking(False)  # Python asks for it
    signal.set_wakeup_fd(told.fileno())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # Python writes its number
    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        told.close()


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcInvalidParams)
