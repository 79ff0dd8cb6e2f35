"""Commands in projects, nested ones, and outside of any."""

import pytest
from tests.support import charters

from conform.adapters.targets import name_lookup, target


def test_generate_outside_of_a_project_says_how_to_make_one(conform, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = conform("generate")
    assert code == 2
    assert err.endswith("or above it; `conform init` makes a project\n")


def test_a_wrong_project_file_is_one_sentence(conform, tmp_path, monkeypatch):
    (tmp_path / "charter.toml").write_text('adapter = "x"\n')
    monkeypatch.chdir(tmp_path)
    for command in (("targets",), ("generate",), ("run", "--target", "reference")):
        code, _, err = conform(*command)
        assert code == 2
        assert "the key 'adapter' is not known; did you mean adapters?" in err


def test_targets_of_the_project_come_before_those_of_the_tool(conform, tmp_path, monkeypatch):
    mine = tmp_path / "adapters" / "reference"
    mine.mkdir(parents=True)
    (mine / "adapter.toml").write_text('id = "reference"\ntitle = "Mine"\nstart = ["x"]\n')
    (tmp_path / "charter.toml").touch()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    code, out, _ = conform("targets")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines() if line.startswith("target")] == [
        "reference", "fakeredis", "kafka-controller",
        "kafka-controller-experimental-elr", "redis-server",
    ]  # fmt: skip
    assert "Mine" in out
    inner = tmp_path / "below" / "charter.toml"
    inner.touch()
    code, _, err = conform("run", "--target", "mine")
    assert (code, err.count("\n")) == (2, 1)
    others = (
        "fakeredis, kafka-controller, kafka-controller-experimental-elr, redis-server, reference"
    )
    assert err.endswith(f" {others} (the project here is {inner.parent})\n")
    inner.unlink()
    (tmp_path / "charter.toml").unlink()
    _, _, err = conform("doctor", "--adapter", "mine")
    assert err.endswith("(this folder is in no project: no charter.toml here or above it)\n")


def test_generate_outside_a_project(conform, tmp_path):
    code, _, err = conform("generate", "--root", tmp_path)
    assert code == 2
    assert f"there is no charter.toml in {tmp_path}; `conform init`" in err
    (tmp_path / "charter.toml").touch()
    code, _, err = conform("generate", "--root", tmp_path)
    assert code == 2
    assert f"{tmp_path / 'spec'} does not exist; charters of the project lie there" in err


def test_a_user_without_a_home_is_told_to_name_a_cache(conform, tmp_path, monkeypatch):
    def no_user(_):
        raise KeyError

    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CACHE_HOME", "CHARTER_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_user)
    code, _, err = conform("run", "--target", "reference")
    assert (code, "has no home folder for the cache; set CHARTER_CACHE" in err) == (2, True)
    assert not any(tmp_path.iterdir())


SAME_ID = [("targets",), ("test",), ("test", "--adapter", "mine"), ("run", "--target", "mine"),
           ("run", "--target", "adapters/copy"), ("doctor", "--adapter", "mine"),
           ("generate",)]  # fmt: skip


@pytest.mark.parametrize("command", SAME_ID, ids=" ".join)
def test_two_adapters_with_one_id_are_refused(conform, tmp_path, monkeypatch, command):
    for name in ("copy", "mine"):
        _adapter(tmp_path, name, "mine")
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "lamp.charter").write_text(charters.LAMP)
    (tmp_path / "charter.toml").touch()
    monkeypatch.chdir(tmp_path)
    code, _, err = conform(*command)
    assert (code, err.count("\n")) == (2, 1)
    folders = [str(tmp_path / "adapters" / name) for name in ("copy", "mine")]
    assert f"{' and '.join(folders)} have the same id 'mine' in adapter.toml" in err
    assert err.endswith("; give one of them another id, or remove it\n")


def test_an_adapter_with_the_id_of_one_that_comes_with_conform_hides_it_or_is_refused(
    conform, tmp_path, monkeypatch
):
    (tmp_path / "charter.toml").touch()
    monkeypatch.chdir(tmp_path)
    _adapter(tmp_path, "reference", "reference")
    assert conform("targets")[0] == 0
    _adapter(tmp_path, "copy", "kafka-controller")
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "lamp.charter").write_text(charters.LAMP)
    for command in ("targets", "test"):
        code, _, err = conform(command)
        assert (code, err.count("\n")) == (2, 1)
        assert f"{tmp_path / 'adapters' / 'copy'} and " in err
        assert "have the same id 'kafka-controller'" in err


def test_an_adapter_that_cannot_be_read_does_not_hinder_others(conform, tmp_path, monkeypatch):
    (tmp_path / "charter.toml").touch()
    monkeypatch.chdir(tmp_path)
    _adapter(tmp_path, "broken", "broken").write_text("id = ")
    _adapter(tmp_path, "mine", "mine")
    assert target("mine").id == "mine"


@pytest.fixture
def pybox(tmp_path, monkeypatch):
    """A project, where the test then is, with an adapter `letterbox` in the folder `pybox`."""
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "lamp.charter").write_text(charters.LAMP)
    path = _adapter(tmp_path, "pybox", "letterbox")
    path.write_text(path.read_text() + 'component = "lamp"\n')
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize("wanted", ["letterbox", "pybox", "adapters/pybox"])
def test_an_adapter_is_found_by_its_id_and_by_its_folder(conform, pybox, wanted):
    assert target(wanted).folder == pybox.parent
    assert name_lookup(target(wanted)) == "letterbox"
    for command in (
        ("run", "--target", wanted),
        ("doctor", "--adapter", wanted),
        ("test", "--adapter", wanted),
    ):
        _, _, err = conform(*command)
        assert "no target" not in err and "no adapter" not in err


def test_names_that_no_adapter_has_are_answered_with_the_ids(conform, pybox):
    for command in (("run", "--target", "leterbox"), ("doctor", "--adapter", "leterbox")):
        _, _, err = conform(*command)
        assert "no target 'leterbox'; there are: letterbox, fakeredis, kafka-controller" in err
        assert err.endswith("; did you mean letterbox?\n")
    _, _, err = conform("test", "--adapter", "leterbox")
    assert "'leterbox' is no adapter of the project; there are: letterbox (in " in err
    assert err.endswith("; did you mean letterbox?\n")


def test_the_id_of_one_adapter_that_is_the_folder_of_another_is_refused(conform, pybox, tmp_path):
    _adapter(tmp_path, "letterbox", "postbox")
    for command in (
        ("run", "--target", "letterbox"),
        ("doctor", "--adapter", "letterbox"),
        ("test", "--adapter", "letterbox"),
    ):
        code, _, err = conform(*command)
        assert (code, err.count("\n")) == (2, 1)
        assert "'letterbox' is the id of one adapter and the folder of another" in err
    assert target("adapters/letterbox").id == target("postbox").id == "postbox"
    assert name_lookup(target("pybox")) == str(pybox.parent)


def _adapter(root, name, own_id):
    """The adapter.toml in a folder of the project in `root`."""
    folder = root / "adapters" / name
    folder.mkdir(parents=True)
    path = folder / "adapter.toml"
    path.write_text(f'id = "{own_id}"\ntitle = "Mine"\nstart = ["x"]\nprotocol = "lamp"\n')
    return path
