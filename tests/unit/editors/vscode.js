// Runs the extension with a stand-in for VS Code's API: `node vscode.js EXTENSION COMMAND
// FILE POSITION` prints what VS Code would show: errors, the text at a position, outline and edits.
"use strict";

const fs = require("fs");
const Module = require("module");

const [extension, command, file, place] = process.argv.slice(2);
const uri = { toString: () => `file://${file}` };
const handlers = {};
const shown = {};

class Values {
  constructor(...values) {
    Object.assign(this, values);
  }
}

const vscode = {
  Uri: { parse: (text) => text },
  DiagnosticSeverity: { Error: "error", Warning: "warning" },
  Position: class { constructor(line, character) { Object.assign(this, { line, character }); } },
  Range: class { constructor(start, end) { Object.assign(this, { start, end }); } },
  Diagnostic: class { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } },
  DocumentSymbol: class { constructor(name) { this.name = name; } },
  Hover: class { constructor(text) { this.text = text; } },
  MarkdownString: class { constructor(text) { this.text = text; } },
  TextEdit: class { constructor(range, text) { Object.assign(this, { range, text }); } },
  Location: Values,
  DiagnosticRelatedInformation: Values,
  CompletionItem: Values,
  CodeLens: Values,
  languages: new Proxy({ createDiagnosticCollection: () => ({ set: (_, found) => { shown.diagnostics = found; } }) }, {
    get: (target, name) => target[name] || ((_, provider) => Object.assign(handlers, provider)),
  }),
  commands: { registerCommand: () => {} },
  window: {
    createOutputChannel: () => ({ append: () => {}, appendLine: () => {}, show: () => {} }),
    showErrorMessage: (text) => { shown.error = text; },
    showInformationMessage: () => Promise.resolve(undefined),
  },
  workspace: {
    getConfiguration: () => ({ get: () => [command, "lsp"] }),
    onDidOpenTextDocument: () => {},
    onDidChangeTextDocument: () => {},
    onDidSaveTextDocument: () => {},
    onDidCloseTextDocument: () => {},
    textDocuments: [{ uri, languageId: "charter", version: 1, getText: () => fs.readFileSync(file, "utf8") }],
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

async function main() {
  const { activate, deactivate } = require(extension);
  await activate({ subscriptions: [] });
  const [document] = vscode.workspace.textDocuments;
  for (let tries = 0; !shown.diagnostics && !shown.error && tries < 300; tries += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  shown.hover = (await handlers.provideHover(document, JSON.parse(place)))?.text.text;
  shown.outline = (await handlers.provideDocumentSymbols(document)).map((symbol) => symbol.name);
  shown.edits = await handlers.provideDocumentFormattingEdits(document, { tabSize: 2, insertSpaces: true });
  await deactivate();
  process.stdout.write(JSON.stringify(shown));
}

main();
