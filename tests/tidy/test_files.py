"""The tree holds only what belongs there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from tests.tidy.house import RATCHET, ROOT, is_source, module_name, paths, read
from tests.tidy.scan import scan

SUFFIXES: Final = {
    *(".charter", ".py", ".lark", ".j2", ".java", ".toml", ".json", ".jsonl", ".xml"),
    *(".properties", ".md", ".txt", ".svg", ".png", ".css", ".js", ".html", ".parquet", ".csv"),
    *(".tla", ".cfg", ".typed", ".formatted", ".core", ".scm", ".go", ".mod", ".rs", ".yml", ".1"),
}
NAMES: Final = {"Makefile", "LICENSE", ".gitignore", ".gitattributes", "run"}
TOP: Final = {
    *(".ci", "compiler", "conformance", "docs", "editors", "generated", "spec", "tests"),
    *(
        "charter.toml",
        "pyproject.toml",
        "Makefile",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
    ),
    *(".gitignore", ".gitattributes"),
}
BLOB_BYTES: Final = 400_000
DESIGN_LINES: Final = 500
FOLDER_FILES: Final = 25
LISTS: Final = ("generated/", "docs/formats/", "docs/diagnostics/", "tests/counts/")
"""Folders with one file for each of many things: a reader finds it by its name."""
# By folder of generated/: models are read, suites are data.
GENERATED_BYTES: Final[dict[str, int]] = RATCHET["bytes"]
# Started by name, or there for others: authors of adapters.
ENTRY_POINTS: Final = {"conform.cli.main", "conform.sdk", "conform.adapters.reference"}


def test_the_top_level_is_the_customers_when_listed() -> None:
    assert {path.split("/")[0] for path in paths()} <= TOP


def test_every_file_is_of_a_kind_we_know_when_listed() -> None:
    strange = [p for p in paths() if Path(p).suffix not in SUFFIXES and Path(p).name not in NAMES]
    assert not strange


def find_full_folders(files: Iterable[str]) -> list[str]:
    sizes = Counter(Path(path).parent.as_posix() for path in files if not path.startswith(LISTS))
    return [folder for folder, size in sizes.items() if size > FOLDER_FILES]


def test_a_folder_has_at_most_25_files_when_counted() -> None:
    assert not find_full_folders(paths())


def test_a_folder_is_found_when_it_has_26_files() -> None:
    files = [f"a/b/{i}.py" for i in range(FOLDER_FILES)]
    assert not find_full_folders([*files, "a/c/0.py"])
    assert find_full_folders([*files, "a/b/x.py"]) == ["a/b"]
    assert not find_full_folders(f"tests/counts/{i}.py" for i in range(FOLDER_FILES + 1))


def test_no_file_is_a_blob_when_weighed() -> None:
    heavy = [
        path for path in paths()
        if not path.startswith("generated/") and (ROOT / path).stat().st_size > BLOB_BYTES
    ]  # fmt: skip
    assert not heavy


def test_generated_is_small_enough_to_read_when_weighed() -> None:
    sizes: dict[str, int] = {}
    for path in paths():
        if path.startswith("generated/"):
            folder = "/".join(path.split("/")[:2])
            sizes[folder] = sizes.get(folder, 0) + (ROOT / path).stat().st_size
    assert sizes.keys() == GENERATED_BYTES.keys()
    assert all(0 < size < GENERATED_BYTES[folder] for folder, size in sizes.items())


@pytest.mark.xdist_group("rules")
def test_no_module_is_dead_when_imports_are_followed() -> None:
    used = set(ENTRY_POINTS)
    for path, outline in scan().outlines.items():
        if not path.startswith("tests/"):
            used |= outline.imports
    modules = {module_name(path): path for path in scan().outlines if is_source(path)}
    dead = [
        path for name, path in modules.items()
        if name not in used and not path.endswith(("__init__.py", "__main__.py"))
        and not name.startswith(("conform.cli.commands.", "charter_models."))
    ]  # fmt: skip
    assert not dead


@pytest.mark.xdist_group("rules")
def test_every_backend_has_tests_when_they_are_searched() -> None:
    backends = {
        ".".join(path.split("/")[1:-1]) for path in paths()
        if re.match(r"compiler/charter/(prove|vectors|(explore|render)/\w+)/\w+\.py", path)
    }  # fmt: skip
    outlines = scan().outlines.items()
    tests = [outline for path, outline in outlines if re.match(r"tests/(?!tidy/).*\.py", path)]
    named = {name for outline in tests for name in outline.imports}
    assert backends
    for backend in sorted(backends):
        assert any(name.startswith(backend) for name in named), f"no test imports {backend}"


@pytest.mark.xdist_group("rules")
def test_every_test_file_has_a_test_when_read() -> None:
    for path, outline in scan().outlines.items():
        if re.match(r"tests/.*/test_\w+\.py", path):
            assert any(name.startswith("test_") for name in outline.functions), path


def test_every_design_page_is_listed_and_short_when_read() -> None:
    index = read("docs/design/README.md")
    assert index is not None
    pages = [path for path in paths() if re.match(r"docs/design/[a-z-]+\.md", path)]
    assert len(pages) > 10
    for page in pages:
        file = read(page)
        assert file is not None and len(file.text.splitlines()) <= DESIGN_LINES, page
        assert f"]({Path(page).name}) |" in index.text, page
