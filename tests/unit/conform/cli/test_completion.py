"""`conform completion`: scripts for shells, made from the parsers of all commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.edited_texts import LEASE

from charter.formats.target import target_files
from conform.adapters.projects import projects
from conform.cli.commands.compiler.completion_scripts import describe_all, script
from conform.cli.main import commands, main
from conform.cli.output.completion_names import names

HEAVY = {"lark", "llvmlite", "pyarrow", "rich", "jinja2", "jsonschema", "charter.api", "pygls"}


@pytest.fixture
def charter(tmp_path: Path) -> str:
    path = tmp_path / "lease.charter"
    path.write_text(LEASE, encoding="utf-8")
    return str(path)


def complete(folder: Path, *lines: str) -> list[list[str]]:
    """What bash proposes for the last word of each line; `conform` itself lists the names."""
    program = folder / "conform"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m conform.cli.main "$@"\n')
    program.chmod(0o755)
    asked = "".join(
        f"COMP_WORDS=({line} ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        if line.endswith(" ")
        else f"COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        for line in lines
    )
    steps = "".join(f'{step}\n_conform\necho "${{COMPREPLY[@]}}"\n' for step in asked.splitlines())
    result = subprocess.run(
        ["bash", "--norc", "-c", f"{script('bash')}\n{steps}"],
        capture_output=True, text=True, check=True, cwd=folder,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
    )  # fmt: skip
    return [line.split() for line in result.stdout.splitlines()]


def test_bash_completes_when_it_has_loaded_the_script(tmp_path: Path, charter: str) -> None:
    found = complete(
        tmp_path,
        "conform expl",
        "conform explore --eng",
        "conform explore --engine na",
        "conform completion z",
        "conform check lea",
        f"conform explore {charter} --mutant ",
        f"conform eval {charter} --instance ti",
    )
    assert found == [
        ["explain", "explore"], ["--engine"], ["native"], ["zsh"], ["lease.charter"], ["greedy"],
        ["tiny"],
    ]  # fmt: skip


def test_bash_completes_adapters_folders_and_what_the_manual_has(tmp_path: Path) -> None:
    (tmp_path / "adapters" / "mine").mkdir(parents=True)
    (tmp_path / "adapters" / "mine" / "adapter.toml").touch()
    (tmp_path / "charter.toml").touch()
    found = complete(
        tmp_path,
        "conform test --adapter ",
        "conform doctor --adapter m",
        "conform run --suite ada",
        "conform replay abc --run ada",
        "conform run --target mine --out ada",
        "conform explain type/fau",
        "conform explain stale_q",
        "conform help adapt",
        "conform generate --adapter py",
    )
    assert found == [
        ["mine"], ["mine"], ["adapters"], ["adapters"], ["adapters"], ["type/fault"],
        ["stale_questions"],
        ["adapters", "adapter", "adapters"], ["python"],
    ]  # fmt: skip


def test_every_command_and_option_is_in_every_script_when_it_is_printed() -> None:
    assert [each.name for each in describe_all()] == [*commands()]
    texts = {shell: script(shell) for shell in ("bash", "zsh", "fish")}
    for each in describe_all():
        for shell, text in texts.items():
            assert each.name in text, shell
        for flag in each.flags:
            for name in flag.names:
                assert name in texts["bash"] and name in texts["zsh"]
                assert f" {name.lstrip('-')} " in texts["fish"]


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("instances", ["tiny"]),
        ("variants", ["polite"]),
        ("mutants", ["greedy"]),
        ("components", ["lease"]),
        ("branches", ["acquire/busy", "acquire/free"]),
        ("nothing", []),
    ],
)
def test_names_are_found_when_a_word_is_a_charter(
    charter: str, kind: str, found: list[str]
) -> None:
    assert names(kind, ["--json", charter, "x"]) == found
    assert names(kind, [str(Path(charter).parent)]) == found


def test_nothing_is_found_when_there_is_no_charter(tmp_path: Path) -> None:
    (tmp_path / "broken.charter").write_bytes(b"\xff")
    assert names("instances", []) == []
    assert names("instances", [str(tmp_path / "missing.charter"), "\0"]) == []
    assert names("instances", [str(tmp_path / "broken.charter")]) == []


def test_targets_are_the_adapters_when_a_project_has_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builtin = {path.parent.name for path in target_files(projects()[-1])}
    assert "kafka-controller" in builtin
    (tmp_path / "adapters" / "mine").mkdir(parents=True)
    (tmp_path / "adapters" / "mine" / "adapter.toml").touch()
    (tmp_path / "adapters" / "$(touch x)").mkdir()  # bash would run it
    (tmp_path / "adapters" / "$(touch x)" / "adapter.toml").touch()
    (tmp_path / "charter.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert names("targets", []) == sorted({"mine", "reference", *builtin})
    assert names("adapters", []) == ["mine"]
    (tmp_path / "adapters" / "mine" / "adapter.toml").write_text('id = "box"')
    assert names("adapters", []) == ["box", "mine"]
    monkeypatch.chdir(tmp_path.parent)
    assert names("adapters", []) == sorted(builtin)


def test_little_is_loaded_when_names_are_listed(charter: str) -> None:
    code = (
        "import sys; from conform.cli.main import main;"
        f"main(['completion', '--list', 'instances', {charter!r}]); print(*sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    first, loaded = result.stdout.splitlines()
    assert first == "tiny"
    assert not HEAVY & set(loaded.split())


def test_the_script_is_printed_when_a_shell_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == 0
    assert capsys.readouterr().out.startswith("# fish completion of conform\n")
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
