"""The files that are made from the grammar, and the package for VS Code."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from editors.textmate import textmate
from editors.treesitter import highlights, tree_sitter

HERE: Final = Path(__file__).parent
VSCODE: Final = HERE / "vscode"
LICENSE: Final = HERE.parent / "LICENSE"
AT: Final = (1980, 1, 1, 0, 0, 0)
"""The time of all files in the package, so that it depends on its content only."""
TYPES: Final = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".md" ContentType="text/markdown"/>
  <Default Extension=".txt" ContentType="text/plain"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""
MANIFEST: Final = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"/>
    <DisplayName>{displayName}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>{categories}</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="{engine}"/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""  # noqa: E501


def make_files() -> dict[Path, str]:
    """The text of each file that is made from the grammar."""
    folder = HERE / "tree-sitter-charter"
    return {
        VSCODE / "syntaxes" / "charter.tmLanguage.json": _json(textmate()),
        folder / "src" / "grammar.json": _json(tree_sitter()),
        folder / "queries" / "highlights.scm": highlights(),
    }


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def vsix() -> bytes:
    """The package for VS Code, as `code --install-extension` takes it."""
    about = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
    words = {key: escape(value) for key, value in about.items() if isinstance(value, str)}
    manifest = MANIFEST.format(
        **words, categories=",".join(about["categories"]), engine=escape(about["engines"]["vscode"])
    )
    files = {"[Content_Types].xml": TYPES, "extension.vsixmanifest": manifest}
    for path in sorted(path for path in VSCODE.rglob("*") if path.is_file()):
        name = f"extension/{path.relative_to(VSCODE).as_posix()}"
        files[name] = path.read_text(encoding="utf-8")
    files["extension/LICENSE.txt"] = LICENSE.read_text(encoding="utf-8")
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in files.items():
            package.writestr(zipfile.ZipInfo(name, AT), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
