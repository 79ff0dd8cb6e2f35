"""`conform test`, `targets` and `run` with a folder that charter.toml names and that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.cli.main import main


@pytest.mark.parametrize("command", [["test"], ["targets"], ["run", "--target", "lamp"]])
def test_missing_folder_of_adapters_is_no_success(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("adapters").mkdir()
    Path("charter.toml").write_text('adapters = "adapter"\n')
    Path("spec").mkdir()
    Path("spec/lamp.charter").write_text(
        "protocol lamp\ncomponent lamp {\n  state lit: bool = false\n"
        "  operation press() -> bool cites silent { branch on { lit' = true  reply lit } }\n"
        "  observe all { lit }\n}\ninstance tiny of lamp { }\n"
    )
    assert main(command) == 2
    assert "adapters = 'adapter' is a folder that does not exist; did you mean adapters?" in (
        capsys.readouterr().err
    )
