"""generated/ is fresh, the same under every hash seed, and holds nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from charter import api
from charter.api import generated as generate
from charter.diagnostics import Source
from charter.formats.project import BadProject, project_at
from charter.project import pipeline
from charter.project.sources import Selection
from charter.suites.make import open_subject

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def small_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one protocol of a component, generated."""
    root = tmp_path_factory.mktemp("repository")
    (root / "spec" / "lamp").mkdir(parents=True)
    (root / "spec" / "lamp" / "lamp.charter").write_text(
        "protocol lamp\n\n"
        "component lamp {\n"
        "  state lit: bool = false\n"
        "  operation press() -> bool cites silent {\n"
        "    branch on when dark: not lit { lit' = true reply true }\n"
        "    branch off { lit' = false reply false }\n"
        "  }\n"
        "  observe all { lit }\n"
        "}\n\n"
        "witness shines of lamp: lit\n"
        "instance tiny of lamp { }\n"
    )
    generate.write(project_at(root))
    return root


@pytest.mark.xdist_group("kafka is checked")
def test_generated_is_fresh_whatever_the_hash_seed() -> None:
    """All of generated/ is made here, once in a run of the tests: it takes half a minute. What is
    committed was made under other seeds, since each process has one of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "conform.cli.main", "generate", "--check"],
        cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "4242"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_shows_the_difference_when_a_file_was_edited(
    small_root: Path, tmp_path: Path
) -> None:
    root = tmp_path / "copy"
    shutil.copytree(small_root, root)
    assert generate.stale(project_at(root)) == ""
    model = root / "generated" / "charter_models" / "lamp" / "lamp.py"
    model.write_text(model.read_text().replace("press/on", "press/never"))
    message = generate.stale(project_at(root))
    assert message.startswith("generated/charter_models/lamp/lamp.py is stale")
    assert "press/never" in message
    generate.write(project_at(root))
    assert generate.stale(project_at(root)) == ""


def test_difference_of_long_lines_is_cut(small_root: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(small_root, root)
    model = root / "generated" / "charter_models" / "lamp" / "lamp.py"
    model.write_text("".join(f"{number} {'x' * 2000}\n" for number in range(200)))
    lines = generate.stale(project_at(root)).splitlines()
    assert max(map(len, lines)) <= 160 and len(lines) < 50
    assert lines[-1].startswith("... and ") and lines[-1].endswith(" lines more")


def test_check_refuses_when_a_file_is_a_stranger(small_root: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(small_root, root)
    (root / "generated" / "stray.txt").write_text("hello")
    assert generate.stale(project_at(root)) == "generated/stray.txt was not generated; remove it"
    assert "stray.txt" in generate.write(project_at(root))
    assert generate.stale(project_at(root)) == ""


def test_other_peoples_files_are_not_removed(small_root: Path, tmp_path: Path) -> None:
    shutil.copytree(small_root / "spec", tmp_path / "spec")
    mine = tmp_path / "generated" / "mine.py"
    mine.parent.mkdir()
    mine.write_text("print()")
    with pytest.raises(BadProject, match=r"holds files that `conform generate` did not write"):
        generate.write(project_at(tmp_path))
    assert mine.exists()


def with_counts(root: Path, digest: str, obligations: int = 3, variant: str = "") -> None:
    """A small suite of the charter that stands, and counts of a full one of `digest`."""
    folder = root / "generated" / "suites" / "lamp" / "lamp"
    folder.mkdir(parents=True)
    counts = {"obligations": 3}
    about = {"protocol": "lamp", "variant": variant, "spec_digest": "5" * 20, "counts": counts,
             "digest": "d" * 20}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(about))
    (lamp,) = (one for one in generate.protocols(project_at(root)) if one.name == "lamp")
    made_from = open_subject(root / lamp.place, lamp.sources, "", "").full_digest
    full = {"spec_digest": digest, "vectors": 7, "counts": {"obligations": obligations},
            "small_suite": "d" * 20, "made_from": made_from}  # fmt: skip
    (folder / "full.json").write_text(json.dumps(full))


def test_counts_of_a_full_suite_are_refused_when_its_charter_was_edited(
    small_root: Path, tmp_path: Path
) -> None:
    """Or when conform derives other obligations from the same charter."""
    for name in ("fresh", "old", "fewer", "gone"):
        shutil.copytree(small_root / "spec", tmp_path / name / "spec")
    with_counts(tmp_path / "fresh", "5" * 20)
    with_counts(tmp_path / "old", "4" * 20)
    with_counts(tmp_path / "fewer", "5" * 20, obligations=2)
    with_counts(tmp_path / "gone", "5" * 20, variant="dim")
    assert generate.explain_outdated(project_at(tmp_path / "fresh")) == ""
    for name, option in (("old", ""), ("fewer", ""), ("gone", " --variant dim")):
        assert generate.explain_outdated(project_at(tmp_path / name)) == (
            "generated/suites/lamp/lamp/full.json is of an older version of the charter, or of"
            f" conform; run `conform vectors spec/lamp/lamp.charter --profile full{option}`, or"
            " remove it"
        )


@pytest.fixture
def with_target(small_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the repository with a target and the counts of a full suite, where the test is;
    the place of these."""
    shutil.copytree(small_root / "spec", tmp_path / "spec")
    adapter = tmp_path / "adapters" / "lamp" / "adapter.toml"
    adapter.parent.mkdir(parents=True)
    adapter.write_text(
        'id = "lamp"\ntitle = "A lamp"\nprotocol = "lamp"\ncomponent = "lamp"\nstart = ["true"]\n'
    )
    (tmp_path / "charter.toml").touch()
    monkeypatch.chdir(tmp_path)
    generate.write(project_at(tmp_path))
    api.make_suite(FULL, lambda *_: None)
    return tmp_path / "generated" / "suites" / "lamp" / "lamp" / "full.json"


FULL = api.SuiteRequest(Path("spec/lamp/lamp.charter"), profile="full")


@pytest.mark.parametrize(
    "more",
    [
        "instance walked of lamp { }\n",  # walked only: the small suite has no question of it
        "witness twice of lamp: took press/off\n",  # of which a full suite has a vector
        'scenario "on" of lamp { do press() -> on }\n',
    ],
)
def test_counts_of_a_full_suite_are_refused_when_what_it_is_made_from_was_edited(
    with_target: Path, tmp_path: Path, more: str
) -> None:
    """The rules are the same, and with them `spec_digest`."""
    project = project_at(tmp_path)
    assert generate.stale(project) == ""
    spec_digest = json.loads(with_target.read_text())["spec_digest"]
    charter = tmp_path / "spec" / "lamp" / "lamp.charter"
    charter.write_text(charter.read_text() + more)
    generate.write(project)
    manifest = json.loads(with_target.with_name("manifest.json").read_text())
    assert manifest["spec_digest"] == spec_digest
    assert "full.json is of an older version of the charter" in generate.stale(project)
    api.make_suite(FULL, lambda *_: None)
    assert generate.stale(project) == ""


def test_a_full_suite_that_goes_to_a_named_folder_changes_nothing_else(
    with_target: Path, tmp_path: Path
) -> None:
    with_target.write_text("{}")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    made = api.make_suite(replace(FULL, out=tmp_path / "mine"), lambda *_: None)
    shutil.rmtree(made.folder)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"[]", b'{"protocol'])
def test_damaged_generated_files_are_stale(damage: bytes, small_root: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(small_root, root)
    model = root / "generated" / "charter_models" / "lamp" / "lamp.py"
    model.write_bytes(damage)
    assert generate.stale(project_at(root)).startswith("generated/charter_models/lamp/lamp.py is")
    generate.write(project_at(root))
    assert generate.stale(project_at(root)) == ""


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"[]", b'{"protocol'])
def test_damaged_counts_and_manifests_have_a_remedy(
    damage: bytes, small_root: Path, tmp_path: Path
) -> None:
    shutil.copytree(small_root / "spec", tmp_path / "spec")
    with_counts(tmp_path, "5" * 20)
    folder = tmp_path / "generated" / "suites" / "lamp" / "lamp"
    (folder / "full.json").write_bytes(damage)
    assert "run `conform vectors spec" in generate.explain_outdated(project_at(tmp_path))
    (folder / "manifest.json").write_bytes(damage)
    assert "has no suite beside it; remove it" in generate.explain_outdated(project_at(tmp_path))


def test_counts_of_a_full_suite_are_refused_when_they_are_of_no_suite(
    small_root: Path, tmp_path: Path
) -> None:
    root = tmp_path / "copy"
    shutil.copytree(small_root, root)
    lonely = root / "generated" / "suites" / "lamp" / "full.json"
    lonely.parent.mkdir(parents=True)
    lonely.write_text("{}")
    assert generate.stale(project_at(root)) == (
        "generated/suites/lamp/full.json has no suite beside it; remove it"
    )


LAMP = """protocol lamp
sort Room
fun dark(r: Room, lit: map Room -> bool) -> bool = not lit[r]
component lamp {
  state lit: map Room -> bool = [r in Room: false]
  operation press(r: Room) -> bool cites silent {
    branch on when dark: dark(r, lit) { lit[r]' = true reply true }
    branch off { lit[r]' = false reply false }
  }
  observe all { lit }
}
witness shines of lamp: some r in Room: lit[r]
instance tiny of lamp { Room = {kitchen} }
"""


def test_digest_is_of_rules_alone() -> None:
    def of(text: str) -> str:
        model = pipeline.compile_sources((Source("lamp", text),), Selection())
        return generate.digest(model, "lamp")

    plain = of(LAMP)
    for more in (
        "-- a comment",
        "always calm of lamp cites silent: true",
        "fun bright(l: map Room -> bool) -> bool = forall r in Room: l[r]\n"
        "witness all_bright of lamp: bright(lit)",
        'scenario "one" of lamp cites silent { Room = {a} do press(a) expect lit[a] }',
        "stepwise off of lamp: took press/off implies forall r in Room: not lit'[r]\n"
        "mutant stays in tiny { replace in lamp.press branch off { reply false } } caught by off",
    ):
        assert of(f"{LAMP}{more}\n") == plain, more
    source = 'source BOOK "A book"\n'
    assert of(LAMP.replace("cites silent", "cites BOOK") + source) == plain
    for new in ("{kitchen, hall}", "{kitchen} offers press", "{kitchen} only press if not lit[r]"):
        assert of(LAMP.replace("{kitchen}", new)) == plain, new
    for old, new in (
        ("reply true", "reply false"),
        ("= not lit", "= lit"),
        ("[r in Room: false]", "[r in Room: true]"),
    ):
        assert of(LAMP.replace(old, new)) != plain, new


def test_digest_is_of_what_one_component_says() -> None:
    def of(text: str, mutant: str = "") -> str:
        sources = (Source("lamp", LAMP), Source("more", f"protocol lamp\n{text}"))
        model = pipeline.compile_sources(sources, Selection(mutant=mutant))
        return generate.digest(model, "lamp")

    bent = "mutant burns in tiny { replace update lit of lamp.press/off with lit } caught by calm\n"
    bent += "always calm of lamp cites silent: true"
    plain = of("")
    assert plain == of("-- a comment")
    assert plain == of("component stranger { state on: bool = false }")
    assert plain == of(bent) != of(bent, "burns")
    assert len(plain) == 20
