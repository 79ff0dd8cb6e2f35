// Starts `conform lsp` and hands VS Code's questions on to it. Positions are the same in both.
"use strict";

const { spawn } = require("child_process");
const vscode = require("vscode");

const LANGUAGE = { language: "charter" };
let server = null;

// --- the connection: messages with a header that says how long they are ------------------------

class Server {
  constructor(command, log, told) {
    this.waiting = new Map();
    this.asked = 0;
    this.buffer = Buffer.alloc(0);
    this.told = told;
    this.process = spawn(command[0], command.slice(1));
    this.process.stdout.on("data", (data) => this.receive(data));
    this.process.stderr.on("data", (data) => log.append(data.toString()));
    this.process.stdin.on("error", () => {});
    this.process.on("error", (error) => this.end(`${command[0]} cannot be started: ${error.message}`));
    this.process.on("exit", (code) => this.end(`${command.join(" ")} ended with ${code}`));
  }

  end(reason) {
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    if (!this.stopped) vscode.window.showErrorMessage(`Charter: ${reason}; see charter.command.`);
    this.stopped = true;
  }

  send(message) {
    if (this.stopped) return;
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  ask(method, params) {
    if (this.stopped) return Promise.resolve(null);
    const id = ++this.asked;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  receive(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const end = this.buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: *(\d+)/i.exec(this.buffer.toString("ascii", 0, end))[1]);
      const start = end + 4;
      if (this.buffer.length < start + length) return;
      const message = JSON.parse(this.buffer.toString("utf8", start, start + length));
      this.buffer = this.buffer.subarray(start + length);
      this.take(message);
    }
  }

  take(message) {
    if (message.method && message.id !== undefined) {
      this.send({ id: message.id, result: null });
    } else if (message.method) {
      this.told(message.method, message.params);
    } else if (this.waiting.has(message.id)) {
      const { resolve, reject } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      message.error ? reject(new Error(message.error.message)) : resolve(message.result);
    }
  }

  async stop() {
    const asked = this.ask("shutdown", null);
    this.stopped = true;
    await Promise.race([asked, new Promise((done) => setTimeout(done, 2000))]).catch(() => {});
    this.process.stdin.end();
    this.process.kill();
  }
}

// --- the protocol's values as VS Code's ----------------------------------------------------------

const position = (p) => new vscode.Position(p.line, p.character);
const range = (r) => new vscode.Range(position(r.start), position(r.end));
const location = (l) => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range));
const edit = (e) => new vscode.TextEdit(range(e.range), e.newText);
const at = (document, place) => ({ textDocument: { uri: document.uri.toString() }, position: place });

function diagnostic(found) {
  const severity = found.severity === 1 ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const made = new vscode.Diagnostic(range(found.range), found.message, severity);
  made.code = found.code;
  made.source = found.source;
  made.relatedInformation = (found.relatedInformation || []).map(
    (each) => new vscode.DiagnosticRelatedInformation(location(each.location), each.message)
  );
  return made;
}

function symbol(found) {
  const made = new vscode.DocumentSymbol(
    found.name, found.detail || "", found.kind - 1, range(found.range), range(found.selectionRange)
  );
  made.children = (found.children || []).map(symbol);
  return made;
}

function completion(found) {
  const made = new vscode.CompletionItem(found.label, found.kind - 1);
  made.detail = found.detail;
  return made;
}

function lens(found) {
  const { title, command, arguments: given } = found.command;
  return new vscode.CodeLens(range(found.range), { title, command, arguments: given });
}

function changes(found) {
  const made = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(found.changes || {})) {
    made.set(vscode.Uri.parse(uri), edits.map(edit));
  }
  return made;
}

// --- what VS Code asks ---------------------------------------------------------------------------

const asked = (method, params) => (server ? server.ask(method, params) : Promise.resolve(null));
const each = (convert) => (found) => (found || []).map(convert);

function providers() {
  const { languages } = vscode;
  return [
    languages.registerHoverProvider(LANGUAGE, {
      provideHover: async (document, place) => {
        const found = await asked("textDocument/hover", at(document, place));
        return found && new vscode.Hover(new vscode.MarkdownString(found.contents.value), range(found.range));
      },
    }),
    languages.registerDefinitionProvider(LANGUAGE, {
      provideDefinition: (document, place) =>
        asked("textDocument/definition", at(document, place)).then(each(location)),
    }),
    languages.registerReferenceProvider(LANGUAGE, {
      provideReferences: (document, place, context) =>
        asked("textDocument/references", { ...at(document, place), context }).then(each(location)),
    }),
    languages.registerRenameProvider(LANGUAGE, {
      prepareRename: (document, place) => asked("textDocument/prepareRename", at(document, place)).then(range),
      provideRenameEdits: (document, place, newName) =>
        asked("textDocument/rename", { ...at(document, place), newName }).then(changes),
    }),
    languages.registerDocumentFormattingEditProvider(LANGUAGE, {
      provideDocumentFormattingEdits: (document, options) =>
        asked("textDocument/formatting", { textDocument: { uri: document.uri.toString() }, options }).then(each(edit)),
    }),
    languages.registerCompletionItemProvider(LANGUAGE, {
      provideCompletionItems: (document, place) =>
        asked("textDocument/completion", at(document, place)).then(each(completion)),
    }, ".", "/"),
    languages.registerDocumentSymbolProvider(LANGUAGE, {
      provideDocumentSymbols: (document) =>
        asked("textDocument/documentSymbol", { textDocument: { uri: document.uri.toString() } }).then(each(symbol)),
    }),
    languages.registerCodeLensProvider(LANGUAGE, {
      provideCodeLenses: (document) =>
        asked("textDocument/codeLens", { textDocument: { uri: document.uri.toString() } }).then(each(lens)),
    }),
  ];
}

function opened(document) {
  if (document.languageId !== "charter" || !server) return;
  const { uri, version } = document;
  const textDocument = { uri: uri.toString(), languageId: "charter", version, text: document.getText() };
  server.send({ method: "textDocument/didOpen", params: { textDocument } });
}

function changed({ document }) {
  if (document.languageId !== "charter" || !server) return;
  const textDocument = { uri: document.uri.toString(), version: document.version };
  const contentChanges = [{ text: document.getText() }];
  server.send({ method: "textDocument/didChange", params: { textDocument, contentChanges } });
}

function told(method) {
  return (document) => {
    if (document.languageId !== "charter" || !server) return;
    server.send({ method, params: { textDocument: { uri: document.uri.toString() } } });
  };
}

async function start(log, diagnostics) {
  const command = vscode.workspace.getConfiguration("charter").get("command");
  const made = new Server(command, log, (method, params) => {
    if (method === "textDocument/publishDiagnostics") {
      diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnostic));
    } else if (method === "window/logMessage") {
      log.appendLine(params.message);
    } else if (method === "window/showMessage") {
      vscode.window.showInformationMessage(params.message, "Show All").then((all) => all && log.show());
    }
  });
  await made.ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  server = made;
  server.send({ method: "initialized", params: {} });
  vscode.workspace.textDocuments.forEach(opened);
}

async function activate(context) {
  const log = vscode.window.createOutputChannel("Charter");
  const diagnostics = vscode.languages.createDiagnosticCollection("charter");
  const { workspace, commands } = vscode;
  context.subscriptions.push(
    log,
    diagnostics,
    ...providers(),
    workspace.onDidOpenTextDocument(opened),
    workspace.onDidChangeTextDocument(changed),
    workspace.onDidSaveTextDocument(told("textDocument/didSave")),
    workspace.onDidCloseTextDocument(told("textDocument/didClose")),
    commands.registerCommand("charter.run", (...given) =>
      asked("workspace/executeCommand", { command: "charter.run", arguments: given })
    ),
    commands.registerCommand("charter.restart", async () => {
      await deactivate();
      await start(log, diagnostics);
    })
  );
  await start(log, diagnostics).catch((error) => log.appendLine(error.message));
}

async function deactivate() {
  const old = server;
  server = null;
  if (old) await old.stop();
}

module.exports = { activate, deactivate };
