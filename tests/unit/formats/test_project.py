"""charter.toml: which project counts, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter.formats.project import BadProject, Project, check_named, find_project, project_at


def write(root: Path, text: str = "") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "charter.toml").write_text(text, encoding="utf-8")
    return root


def test_an_empty_file_is_a_project_with_the_default_folders(tmp_path: Path) -> None:
    root = write(tmp_path / "with blanks and ümläuts")
    names = ("spec", "generated", "adapters", "baselines", "build/runs", "docs/findings")
    assert find_project(root) == Project(root, *(root / name for name in names))


def test_a_key_names_another_folder(tmp_path: Path) -> None:
    root = write(tmp_path, 'charters = "protokolle/für alle"\n')
    assert project_at(root).charters == root / "protokolle" / "für alle"
    assert project_at(root).relative(project_at(root).charters) == "protokolle/für alle"


def test_the_innermost_of_nested_projects_counts(tmp_path: Path) -> None:
    inner = write(write(tmp_path) / "spec" / "inner")
    (inner / "spec").mkdir()
    for start, root in (
        (inner / "spec" / "a.charter", inner), (inner, inner), (tmp_path / "spec", tmp_path),
    ):  # fmt: skip
        found = find_project(start)
        assert found is not None and found.root == root


def test_there_is_no_project_without_a_file(tmp_path: Path) -> None:
    (tmp_path / "charter.toml").mkdir()
    assert find_project(tmp_path / "charter.toml") is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('chaters = "x"', r"the key 'chaters' is not known; did you mean charters\? known are ch"),
        ('x = "x"', "the key 'x' is not known; known are charters, generated,"),
        ("runs = 3", 'runs is not a text; write a folder, such as runs = "build/runs"'),
        ('runs = "/tmp"', "runs = '/tmp' is not a folder below the project"),
        ('runs = "a/../.."', r"runs = 'a/\.\./\.\.' is not a folder below the project"),
        ('charters = "."', r"charters = '\.' is not a folder below the project"),
        (r'runs = "a\u0000"', "is not a folder below the project"),
        ('runs = "charter.toml"', "runs names .*charter.toml, which is no folder"),
        ('runs = "generated"', "runs lies in the folder of generated files"),
        ('generated = "spec"', "charters lies in the folder of generated files"),
        ("runs =", "is no TOML"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadProject, match=sentence) as refused:
        find_project(write(tmp_path, text))
    assert str(refused.value).startswith(str(tmp_path / "charter.toml"))
    assert "\n" not in str(refused.value)


def test_named_folder_that_does_not_exist_is_refused_with_the_one_meant(tmp_path: Path) -> None:
    (tmp_path / "adapters").mkdir()
    project = project_at(write(tmp_path, 'adapters = "adapter"\n'))
    meant = r"adapters = 'adapter' is a folder that does not exist; did you mean adapters\? mend"
    with pytest.raises(BadProject, match=meant):
        check_named(project)
    project = project_at(write(tmp_path, 'charters = "protocols"\n'))
    with pytest.raises(BadProject, match=r"charters = 'protocols' .* not exist; mend the name"):
        check_named(project)


@pytest.mark.parametrize("text", ["", 'adapters = "adapters"', 'baselines = "known"', 'runs = "r"'])
def test_folders_that_need_not_exist_yet_are_no_error(text: str, tmp_path: Path) -> None:
    check_named(project_at(write(tmp_path, text + "\n")))


def test_misspelt_folder_of_known_findings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "baselines").mkdir()
    with pytest.raises(BadProject, match=r"did you mean baselines\?"):
        check_named(project_at(write(tmp_path, 'baselines = "baseline"\n')))
