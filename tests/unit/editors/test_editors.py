"""Grammars for editors are those of the language, and the package for VS Code is whole."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from editors.files import make_files, vsix
from editors.grammar import keywords
from editors.textmate import NAME, textmate, words
from editors.treesitter import CONFLICTS, highlights, tree_sitter

from charter.syntax.parse import acceptable

ROOT = Path(__file__).parents[3]


def test_the_grammars_are_fresh_when_they_are_made_again() -> None:
    for path, text in make_files().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run python -m editors"


def test_every_keyword_has_one_use_when_the_grammar_is_read() -> None:
    found = keywords()
    groups = (found.constants, found.expressions, found.types, found.declarations)
    every = [word for group in groups for word in group]
    assert len(every) == len(set(every))
    assert {"component", "cites", "witness"} <= set(found.declarations)
    assert {"forall", "in", "let"} <= set(found.expressions)
    assert {"operation", "state", "always", "sort"} <= set(found.naming)
    assert "of" not in found.naming and "<=" in found.operators
    starts = acceptable("protocol p\n") - {"$END", "."}
    assert starts <= set(every), "a declaration begins with a keyword that no grammar colours"


def test_a_keyword_is_coloured_when_it_is_no_part_of_a_name() -> None:
    found = re.compile(words(keywords().expressions))
    text = "if x.in and in' or within"
    assert [match.start() for match in found.finditer(text)] == [0, 8, 16]
    patterns = textmate()["patterns"]
    assert isinstance(patterns, list)
    naming = next(p["match"] for p in patterns if "captures" in p)
    match = re.search(naming, "  operation acquire(c: Client)")
    assert match is not None and match.groups() == ("operation", "acquire")
    assert re.fullmatch(NAME, "acquire")


def symbols(node: object) -> Iterator[str]:
    """The rules that a part of a tree-sitter grammar names."""
    if isinstance(node, dict):
        if node.get("type") == "SYMBOL":
            yield str(node["name"])
        for value in node.values():
            yield from symbols(value)
    elif isinstance(node, list):
        for value in node:
            yield from symbols(value)


def test_every_rule_is_defined_when_the_tree_sitter_grammar_names_it() -> None:
    whole = tree_sitter()
    rules = whole["rules"]
    assert isinstance(rules, dict) and next(iter(rules)) == "source_file"
    used = set(symbols(whole))
    assert used <= set(rules)
    assert set(rules) - used == {"source_file"}
    assert {name for pair in CONFLICTS for name in pair} <= set(rules)
    named = set(re.findall(r"\((\w+)", highlights()))
    assert named <= set(rules)


def test_phrases_are_words_when_a_token_is_a_pattern() -> None:
    assert acceptable("protocol p\ncomponent c { operation o() -> bool { ") >= {"in any order"}
    assert acceptable("protocol p\nalways a of b: ") >= {"exactly one", "forall"}
    assert '"exactly one"' in highlights() and '"leads to"' in highlights()


def test_the_package_is_whole_when_it_is_built() -> None:
    with zipfile.ZipFile(BytesIO(vsix())) as package:
        files = {name: package.read(name).decode() for name in package.namelist()}
    about = json.loads(files["extension/package.json"])
    named = [about["main"], about["contributes"]["grammars"][0]["path"]]
    named += [each["configuration"] for each in about["contributes"]["languages"]]
    assert {f"extension/{name.removeprefix('./')}" for name in named} <= set(files)
    manifest = ElementTree.fromstring(files["extension.vsixmanifest"])
    space = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
    (identity,) = manifest.iter(f"{space}Identity")
    assert (identity.get("Id"), identity.get("Version")) == (about["name"], about["version"])
    assert {asset.get("Path") for asset in manifest.iter(f"{space}Asset")} <= set(files)
    types = ElementTree.fromstring(files["[Content_Types].xml"])
    known = {each.get("Extension") for each in types}
    assert {Path(name).suffix for name in files if "[" not in name} <= known
    assert not any("node_modules" in name for name in files)
    assert vsix() == vsix()


def test_the_extension_asks_what_the_server_answers_when_both_are_read() -> None:
    client = (ROOT / "editors" / "vscode" / "extension.js").read_text(encoding="utf-8")
    server = (ROOT / "conformance/conform/cli/output/lsp_server.py").read_text(encoding="utf-8")
    asked = set(re.findall(r'"textDocument/(\w+)"', client)) - {"publishDiagnostics"}
    assert len(asked) == 13
    for method in asked:
        name = re.sub(r"([A-Z])", r"_\1", method).upper()
        assert f"lsp.TEXT_DOCUMENT_{name}" in server, method
    assert '"charter.run"' in client and '"charter.run"' in server


@pytest.mark.slow
def test_the_extension_shows_what_the_server_says_when_node_runs_it(tmp_path: Path) -> None:
    """vscode.js stands in for the API of VS Code."""
    node = shutil.which("node")
    assert node, "node is needed to run the extension"
    text = (ROOT / "spec" / "examples" / "paxos.charter").read_text(encoding="utf-8")
    declared = "const ballots: int 1..9"
    file = tmp_path / "paxos.charter"
    file.write_text(text.replace(declared, f"{declared}\n{declared}"))
    line = text.splitlines().index(declared)
    script = Path(__file__).with_name("vscode.js")
    extension = ROOT / "editors" / "vscode" / "extension.js"
    conform = Path(sys.executable).with_name("conform")
    place = json.dumps({"line": line, "character": 7})
    done = subprocess.run(
        [node, script, extension, conform, file, place],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    shown = json.loads(done.stdout)
    assert [each["range"]["start"]["line"] for each in shown["diagnostics"]] == [line + 1]
    assert declared in shown["hover"] and "Acceptor" in shown["outline"]
    assert "error" not in shown and shown["edits"] == []
