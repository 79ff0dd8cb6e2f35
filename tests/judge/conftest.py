"""What the tests of commands share."""

from __future__ import annotations

import pytest
from tests.support.boxes import TOY

from conform.cli import main as cli


@pytest.fixture
def called(capsys):
    """Runs a command in this process: exit code, stdout, stderr."""

    def call(*arguments):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def conform(called):
    """The same, of which nothing ends in a traceback."""

    def call(*arguments):
        code, out, err = called(*arguments)
        assert "Traceback" not in err + out
        return code, out, err

    return call


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.charter"
    path.write_text(TOY, encoding="utf-8")
    return path
