"""A folder that cannot be written is refused before a search, whose result would be lost."""

import errno
import os

import pytest

from charter import api
from charter.formats.files import need_writable


@pytest.fixture
def read_only(monkeypatch):
    """Makes folders ones that nobody may write to (this may be root, whom nothing is denied)."""
    places, real = [], os.access
    monkeypatch.setattr(
        os, "access",
        lambda path, mode: not (mode & os.W_OK and str(path) in places) and real(path, mode),
    )  # fmt: skip
    return lambda path: places.append(str(path))


@pytest.fixture
def unsearched(monkeypatch, read_only):
    """The same, where nothing may be searched."""

    def search(*_, **__):
        raise AssertionError("it was searched first")

    for name in ("make.make", "search.search"):
        monkeypatch.setattr(f"charter.suites.{name}", search)
    monkeypatch.setattr(api, "explore", search)
    return read_only


@pytest.mark.parametrize("what", ["runs", "spec"])
def test_project_is_not_searched_when_a_folder_cannot_be_written(
    what, conform, unsearched, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert conform("init", "--adapter", "none")[0] == 0
    unsearched(tmp_path / "spec" if what == "spec" else tmp_path)
    code, _, err = conform("test")
    assert code == 2
    told = "work on a copy of it" if "Read-only" in err else "change its permissions"
    assert err.startswith("conform: ") and "Permission denied" in err and told in err


@pytest.mark.parametrize("search", [[], ["--search"]])
def test_suite_is_not_searched_when_its_folder_cannot_be_written(
    search, conform, unsearched, toy, tmp_path
):
    unsearched(tmp_path)
    code, _, err = conform("vectors", toy, *search, "--out", tmp_path / "suite")
    assert (code, "suite: Permission denied" in err) == (2, True), err


def test_file_system_that_is_read_only_says_so(monkeypatch, read_only, tmp_path):
    class About:
        f_flag = os.ST_RDONLY

    read_only(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: About)
    with pytest.raises(OSError, match="Read-only") as raised:
        need_writable(tmp_path / "a" / "b")
    assert raised.value.errno == errno.EROFS
    need_writable(tmp_path.parent)
