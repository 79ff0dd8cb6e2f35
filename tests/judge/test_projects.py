"""Commands in projects, nested ones, and outside of any."""


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
        "reference", "kafka-controller",
    ]  # fmt: skip
    assert "Mine" in out
    inner = tmp_path / "below" / "charter.toml"
    inner.touch()
    code, _, err = conform("run", "--target", "mine")
    assert (code, err.count("\n")) == (2, 1)
    assert err.endswith(f" kafka-controller, reference (the project here is {inner.parent})\n")
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
