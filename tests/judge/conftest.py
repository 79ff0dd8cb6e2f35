"""What the tests of commands share."""

from __future__ import annotations

import zipfile

import pytest
from tests.support.boxes import TOY
from tests.support.chroot import Chroot
from tests.support.installed import Installed, InstalledProject, wheel

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
def conform_without_walks(conform):
    """The same; `conform test` makes no walks, which take seconds, if no option names some."""

    def call(*arguments):
        none = ("--walks", "0") if arguments[0] == "test" and "--walks" not in arguments else ()
        return conform(*arguments, *none)

    return call


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.charter"
    path.write_text(TOY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def built():
    """The wheel."""
    return wheel()


@pytest.fixture(scope="session")
def installed(built, tmp_path_factory):
    """The wheel from `make dist`, installed without extras where the checkout is not."""
    with zipfile.ZipFile(built) as archive:
        assert not [name for name in archive.namelist() if name.startswith("charter_models")]
    made = Installed(Chroot.make(tmp_path_factory.mktemp("box") / "root"))
    made.install(built)
    return made


@pytest.fixture(scope="session")
def equipped(built, installed):
    """The same folders, with all extras and pytest."""
    made = Installed(installed.box, "venv with all")
    made.install(built, "[all]", "pytest")
    return made


@pytest.fixture(scope="session")
def mine(installed):
    """A project that was tested once; its implementation has two bugs."""
    installed.says("init", "my project")
    told = installed.says("test", at="my project", code=1)
    steps = ("check ", "\nscenarios ", "\nexplore ", "\nvectors ", "\ngenerate ", "\nledger ",
             "\nExample: ", "\nreport ", "\nexit 1: look at ")  # fmt: skip
    places = [told.index(step) for step in steps]
    assert places == sorted(places), "all in one command, in this order"
    return InstalledProject(installed, "my project")
