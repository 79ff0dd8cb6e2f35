"""The law of imports: contracts on the graph, and what a fresh process has loaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.tidy.house import ROOT

ROOTS: Final = ("compiler", "conformance", "generated")
LINT: Final = (
    "import sys; from importlinter.cli import lint_imports;"
    " sys.exit(lint_imports(no_cache=True, no_logo=True))"
)
BREACHES: Final = {
    "the storeys of the compiler": (
        "compiler/charter/core/types.py",
        "import charter.check.protocol",
    ),
    "backends are strangers": (
        "compiler/charter/prove/terms.py",
        "import charter.explore.reference.search",
    ),
    "engines are chosen behind the interface of exploration": (
        "compiler/charter/mutate/bodies.py",
        "import charter.explore.native.memory.layout",
    ),
    "after check nobody sees the surface": (
        "compiler/charter/semantics/values.py",
        "import charter.syntax.nodes",
    ),
    "formats know nothing of the compiler": (
        "compiler/charter/formats/labels.py",
        "import charter.diagnostics",
    ),
    "the compiler knows neither the judge nor its own product": (
        "compiler/charter/project/pipeline.py",
        "import conform.console.errors",
    ),
    "the product stands alone": (
        "generated/charter_models/__init__.py",
        "import charter.formats.canonical",
    ),
    "the judge shares nothing with the compiler but the formats": (
        "conformance/conform/judging/automaton.py",
        "import charter.core.types",
    ),
    "the storeys of the judge": (
        "conformance/conform/storage/bucket_store.py",
        "import conform.runs.execute",
    ),
    "lark is at home in the parser": ("compiler/charter/syntax/show.py", "import lark"),
    "z3 is at home in the solver": ("compiler/charter/core/walk.py", "import z3"),
    "jinja2 is at home where pages are printed": (
        "compiler/charter/check/names/types.py",
        "import jinja2",
    ),
    "pyspark is at home in three modules": (
        "conformance/conform/judging/automaton.py",
        "import pyspark",
    ),
    "judging one vector is pure": (
        "conformance/conform/judging/differ.py",
        "import conform.adapters.session",
    ),
    "a report is made from files alone": (
        "conformance/conform/reports/values.py",
        "import conform.runs.engines.inline",
    ),
    "the compiler and the product need none of the judge's libraries": (
        "compiler/charter/formats/vector.py",
        "import orjson",
    ),
}
CIRCLE: Final = ("compiler/charter/suites/solving.py", "import charter.suites.search")
LOADED: Final = "import sys, {module}; print(*[m for m in {banned!r} if m in sys.modules])"
SLOW_TO_IMPORT: Final = ["argparse", "pathlib", "shutil", "tempfile", "traceback", "urllib"]
"""Modules of the standard library that no adapter needs before its first answer."""
REFERENCE: Final = """
import sys
from conform.adapters import reference
reference.main(["--models", {folder!r}, "--model", {model!r}])
print(*[m for m in {banned!r} if m in sys.modules])
"""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts of a folder's pyproject.toml on the packages below it."""
    roots = os.pathsep.join(str(folder / root) for root in ROOTS)
    environment = {**os.environ, "PYTHONPATH": roots, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-c", LINT],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three source roots and the contracts, where a breach can be planted."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for root in ROOTS:
        leave = shutil.ignore_patterns("__pycache__", "*.jsonl")
        shutil.copytree(ROOT / root, folder / root, ignore=leave)
    return folder


def test_the_contracts_are_kept_when_the_tree_is_as_it_is() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def plant(folder: Path, path: str, line: str) -> None:
    file = folder / path
    file.write_text(f"{file.read_text('utf-8')}\n{line}\n", encoding="utf-8")


def test_a_contract_is_broken_when_a_circle_is_planted(copy: Path) -> None:
    before = (copy / CIRCLE[0]).read_text("utf-8")
    plant(copy, *CIRCLE)
    result = lint(copy)
    (copy / CIRCLE[0]).write_text(before, encoding="utf-8")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "no circles BROKEN" in " ".join(result.stdout.split())


def test_each_contract_is_broken_when_breaches_are_planted(copy: Path) -> None:
    """All at once: what breaks a contract is told below it."""
    for path, line in BREACHES.values():
        plant(copy, path, line)
    result = lint(copy)
    assert result.returncode == 1, result.stdout + result.stderr
    text = " ".join(result.stdout.split())
    for name, (path, line) in BREACHES.items():
        assert f"{name} BROKEN" in text, name
        module = path.partition("/")[2].removesuffix(".py").removesuffix("/__init__")
        wrong = f"{module.replace('/', '.')} -> {line.removeprefix('import ')}"
        assert wrong in text, wrong


@pytest.mark.parametrize(
    ("module", "banned"),
    [
        (
            "conform.judging.automaton",
            ["lark", "jinja2", "z3", "pyspark", "charter.project.pipeline", "charter.core"],
        ),
        ("conform.testing", ["charter", "conform.console", "orjson", "pyarrow", "rich"]),
        ("conform.sdk", ["lark", "jinja2", "z3", "pyspark", "pyarrow", "charter.project.pipeline"]),
        ("conform.sdk", [*SLOW_TO_IMPORT, "dataclasses", "random", "charter.formats.adapter"]),
        ("charter_models.kafka_replication_variants.pre_kip_966.controller", SLOW_TO_IMPORT),
        ("tests.support.fakes.fake", [*SLOW_TO_IMPORT, "dataclasses"]),
        (
            "conform.runs.engines.bucket",
            ["lark", "jinja2", "z3", "charter.project.pipeline", "charter.core"],
        ),
        (
            "conform.cli.main",
            ["lark", "jinja2", "z3", "pyspark", "pyarrow", "charter.project.pipeline"],
        ),
        ("charter.api", ["jinja2", "z3", "pyspark", "pyarrow", "orjson", "conform"]),
        ("charter.explore.native.checker", ["pyarrow", "pandas", "pyspark", "z3", "lark"]),
        ("charter.formats.vector", ["charter.diagnostics", "charter.core", "lark", "orjson"]),
    ],
)
def test_a_fresh_process_loads_little_when_it_imports(module: str, banned: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", LOADED.format(module=module, banned=banned)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


@pytest.mark.parametrize("package", ["kafka_replication", "kafka_replication_variants.pre_kip_966"])
def test_the_reference_loads_little_when_it_starts(package: str) -> None:
    model, folder = f"charter_models.{package}.controller", str(ROOT / "generated")
    script = REFERENCE.format(folder=folder, model=model, banned=SLOW_TO_IMPORT)
    result = subprocess.run(
        [sys.executable, "-c", script], input='{"hello": 1}\n',
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    hello, loaded = result.stdout.splitlines()
    assert '"component":"controller"' in hello
    assert loaded == ""
