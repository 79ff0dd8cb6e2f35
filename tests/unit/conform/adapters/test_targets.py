"""adapter.toml, placeholders and releases."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.suites import write_suite
from tests.support.toy.vectors import random_vectors, write_toy_suite

from charter.formats.reading import BadVector
from charter.formats.suite import read_manifest
from charter.formats.target import id_from
from conform.adapters.base import AdapterStart
from conform.adapters.prepared import digest_prepared
from conform.adapters.sources import files_digest
from conform.adapters.targets import (
    Prepared,
    build_folder,
    prepare,
    read,
    release_of,
    target,
    targets,
)
from conform.console.errors import BadSuite, CannotPrepare, UnknownRelease, UnknownTarget
from conform.runs.select import RunSelection, check_fits, resolve, suite_for
from conform.suites.cache import Suite, open_suite

TOML = """
id = "x"
title = "X"
start = ["{python}", "{adapter}/a.py", "{release}", "{jar}"]
prepare = ["{python}", "-c", '''%s''']
default_release = "2.1"
releases = ["1.0", "2.0", "2.1"]
[variants]
"1" = "old"
[errors]
A = "B"
[deadlines]
one = 3
"""
GOOD = """print('noise'); print('{"jar": "/j.jar"}')"""


def write(folder, content=TOML % GOOD):
    folder.mkdir(exist_ok=True)
    (folder / "adapter.toml").write_text(content, encoding="utf-8")
    return read(folder / "adapter.toml")


def test_target_is_read_and_prepared(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    ready = prepare(write(tmp_path / "x"), "", {})
    assert ready.start.command == (
        sys.executable, f"{tmp_path / 'x'}/a.py", "2.1", "/j.jar"
    )  # fmt: skip
    assert (ready.release, ready.start.variant, ready.start.expect) == ("2.1", "", "2.1")
    assert ready.start.errors == {"A": "B"}
    assert (ready.start.deadlines.one, ready.start.deadlines.batch) == (3.0, 30.0)
    assert (tmp_path / "cache" / "adapters" / "x").is_dir()


COMPILED = """id = "same"
title = "Same"
protocol = "p"
component = "c"
prepare = [
  "{python}", "-c", "import sys; open(sys.argv[1], 'w').write(sys.argv[2])",
  "{cache}/program", "{adapter}",
]
start = ["{cache}/program", "--sources", "{sources}", "{downloads}"]
"""


def test_adapters_with_the_same_id_share_no_program(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    first, second = (write(tmp_path / name, COMPILED) for name in ("one", "two"))
    ready = [prepare(first, "", {}), prepare(second, "", {}), prepare(first, "", {})]
    programs = [Path(one.start.command[0]) for one in ready]
    assert programs[0] == programs[2] != programs[1]
    assert [path.read_text() for path in programs] == [
        str(x.folder) for x in (first, second, first)
    ]
    assert {one.start.command[-1] for one in ready} == {
        str(tmp_path / "cache" / "adapters" / "same")
    }


def test_the_program_that_was_built_is_part_of_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    chosen = write(tmp_path / "one", COMPILED)
    before = digest_prepared(prepare(chosen, "", {}).files)
    assert list(before) == ["program"]
    (tmp_path / "one" / "main.c").write_text("changed")
    ready = prepare(chosen, "", {})
    assert ready.start.command[2] == files_digest(chosen)
    Path(ready.start.command[0]).write_text("another program")
    assert digest_prepared(ready.files) != before


def test_what_an_adapter_built_goes_with_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    gone, stays = (prepare(write(tmp_path / name, COMPILED), "", {}) for name in ("one", "two"))
    shutil.rmtree(tmp_path / "one")
    prepare(stays.target, "", {})
    assert not Path(gone.start.command[0]).exists() and Path(stays.start.command[0]).exists()
    assert len(list((tmp_path / "cache" / "builds").glob("*.path"))) == 1


def test_an_adapter_is_prepared_by_one_process_at_a_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    chosen = write(tmp_path / "one", COMPILED)
    lock = Path(f"{build_folder(chosen.folder, chosen.id)}.lock")
    waiting = "import fcntl, sys, time; f = open(sys.argv[1], 'ab'); fcntl.flock(f, 2);" + (
        " print('locked', flush=True); time.sleep(0.5); open(sys.argv[2], 'w').write('done')"
    )
    lock.parent.mkdir(parents=True)
    command = [sys.executable, "-c", waiting, lock, tmp_path / "note"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"locked\n"
        prepare(chosen, "", {})
        assert (tmp_path / "note").read_text() == "done"
    told = "same: another command prepares this adapter; waiting until it is done\n"
    assert capsys.readouterr().err == told
    prepare(chosen, "", {})
    assert capsys.readouterr().err == ""


def test_variant_by_the_first_part_of_the_release(tmp_path):
    chosen = write(tmp_path / "x")
    assert (chosen.variant("1.0"), chosen.variant("2.0")) == ("old", "")


def test_release_that_is_not_listed(tmp_path):
    with pytest.raises(UnknownRelease, match=r"x has no release '3'; it has 1\.0, 2\.0, 2\.1"):
        release_of(write(tmp_path / "x"), "3")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("""print('{"error": "no JDK"}'); raise SystemExit(2)""", "no JDK"),
        (
            "raise SystemExit(1)",
            r"SystemExit\(1\)'` \(`prepare` in .*\) ended with 1, and wrote nothing to stderr$",
        ),
        (
            "print('[ERROR] no symbol'); raise SystemExit(1)",
            r" with 1, and wrote nothing to stderr, and this to stdout:\n  \| \[ERROR\] no symbol$",
        ),
        ("print('built')", "wrote to stdout is no JSON object: 'built'; write what is for people"),
        ("print(3)", "is no JSON object: '3'"),
    ],
)
def test_prepare_that_fails(tmp_path, monkeypatch, command, sentence):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    with pytest.raises(CannotPrepare, match=sentence):
        prepare(write(tmp_path / "x", TOML % command), "", {})


def test_prepare_that_fails_says_why_on_stderr_and_the_error_has_the_last_lines(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    says = "import sys; print(*range(90), sep=chr(10), file=sys.stderr); raise SystemExit(1)"
    with pytest.raises(CannotPrepare) as failed:
        prepare(write(tmp_path / "x", TOML % says), "", {})
    assert str(failed.value).endswith("ended with 1; what it wrote to stderr stands above")
    assert failed.value.stderr == tuple(map(str, range(70, 90)))
    assert "\n0\n1\n" in f"\n{capfd.readouterr().err}"


def test_prepare_whose_program_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    content = (TOML % "pass").replace("{python}", "cmakee")
    with pytest.raises(
        CannotPrepare, match=r"'cmakee', the program of `prepare` in .*adapter.toml"
    ):
        prepare(write(tmp_path / "x", content), "", {})


def test_prepare_that_prints_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    content = (TOML % "pass").replace(', "{jar}"', "")
    assert prepare(write(tmp_path / "x", content), "", {}).said == {}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("id = 3", "'id' is missing, or not a text"),
        ('id = "x"\ntitle = "X"', "'start' is missing; write a list of texts"),
        ('id = "x"\ntitle = "X"\nstart = "perl a.pl"', "'start' is no list; write each part"),
        ('id = "x"\ntitle = "X"\nstart = []\ncolour = 1', "the key 'colour' is not known"),
        ("not toml", "adapter.toml: "),
        ('id = "x"\ntitle = "X"\nstart = []\n[deadlines]\nfirst = 1', "seconds hello, batch"),
        ('id = "x"\ntitle = "X"\nstart = []\n[deadlines]\none = [1]', "seconds hello, batch"),
        (
            'id = "x"\ntitle = "X"\nstart = ["a"]\n[deadlines]\nbatch = "soon"',
            r"has batch = 'soon', which is no number of seconds above 0",
        ),
        (
            'id = "x"\ntitle = "X"\nstart = ["a"]\n[deadlines]\nbach = 3',
            r"the unknown key 'bach'; did you mean batch\?",
        ),
        ('id = "x"\ntitle = "X"\nstart = ["a"]\n[deadlines]\none = 0', "has one = 0, which is no"),
        (
            'id = "x"\ntitle = "X"\nstart = ["a"]\n[not_compared]\n"vector 1b1bcd" = "y"',
            "'vector 1b1bcd', and an id has 20 digits",
        ),
        ('id = "x"\ntitle = "X"\nstart = []', "'start' is empty"),
        (
            'id = "x"\ntitle = "X"\nstart = ["a"]\n[not_compared]\n"variabel x" = "y"',
            r"unknown name 'variabel x'; did you mean variable\?",
        ),
    ],
)
def test_toml_that_is_not_right(tmp_path, content, sentence):
    with pytest.raises(UnknownTarget, match=sentence):
        write(tmp_path / "x", content)


OVERLAY = """protocol x -- overlay old of lock { }

  overlay known of lock {
    entry late quirk { }
  }
"""


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("none", None, "'overlay' is 'none', and there is no overlay.charter beside it; write one"),
        (
            "knwon",
            OVERLAY,
            r"'knwon', and overlay.charter has the overlay known; did you mean known\?",
        ),
        ("old", OVERLAY, "'overlay' is 'old', and overlay.charter has the overlay known;"),
    ],
)
def test_an_overlay_that_is_not_there_is_refused(tmp_path, name, text, sentence):
    place = tmp_path / "x"
    place.mkdir()
    if text:
        (place / "overlay.charter").write_text(text, encoding="utf-8")
    with pytest.raises(UnknownTarget, match=sentence):
        write(place, f'id = "x"\ntitle = "X"\nstart = ["a"]\noverlay = "{name}"')


@pytest.mark.parametrize(
    ("taken", "sentence"),
    [
        ("taken = 1", "'taken' is no table; begin each folder with"),
        ("[taken]\n'../y' = 1", r"'taken' has no table for '\.\./y'; write `ENTRY ="),
        ("[taken.'../y']\nlate = '1.0'", "'taken' has '1.0' for 'late', which is no range; write"),
        ("[taken.'../z']\nlate = '..'", r"'taken' names '\.\./z', which has no overlay.charter"),
    ],
)
def test_taken_entries_that_are_not_right_are_refused(tmp_path, taken, sentence):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "overlay.charter").write_text(OVERLAY, encoding="utf-8")
    toml = 'id = "x"\ntitle = "X"\nstart = ["a"]\noverlay = "known"'
    with pytest.raises(UnknownTarget, match=sentence):
        write(tmp_path / "x", f"{toml}\n{taken}")
    right = "[taken.'../y']\nlate = '1.0..'"
    assert write(tmp_path / "x", f"{toml}\n{right}").taken[0].ranges == {"late": ("1.0", "")}
    with pytest.raises(UnknownTarget, match="'taken' adds entries to an overlay, and 'overlay'"):
        write(tmp_path / "x", f"{toml.replace('overlay', '# overlay')}\n{right}")


@pytest.mark.parametrize("text", [OVERLAY, "protocol x overlay { }", "\udcff"])
def test_an_overlay_that_cannot_be_read_is_left_to_the_compiler(tmp_path, text):
    place = tmp_path / "x"
    place.mkdir()
    (place / "overlay.charter").write_bytes(text.encode("utf-8", "surrogateescape"))
    toml = 'id = "x"\ntitle = "X"\nstart = ["a"]\noverlay = "known"'
    assert write(place, toml).overlay == "known"


@pytest.mark.parametrize("own", ["", "a/b", "../evil", "..", ".", "-x", "two words", "x\\n"])
def test_an_id_that_is_no_name_of_a_folder_is_refused(tmp_path, own):
    sentence = r"adapter\.toml: 'id' is '.*'; write letters, digits, `\.`, `_` and `-`, neither"
    with pytest.raises(UnknownTarget, match=sentence):
        write(tmp_path / "x", f'id = "{own}"\ntitle = "X"\nstart = ["a"]')


def test_an_adapter_that_is_written_has_an_id_that_is_allowed(tmp_path):
    names = ("lease-go", "my lease", ".hidden", "pröbe_2.1", "..")
    found = [id_from(name) for name in names]
    assert found == ["lease-go", "my-lease", "hidden", "pröbe_2.1", "adapter"]
    for own in found:
        assert write(tmp_path / "x", f'id = "{own}"\ntitle = "X"\nstart = ["a"]').id == own


def test_placeholder_without_a_value(tmp_path):
    content = 'id = "x"\ntitle = "X"\nstart = ["{nothing}"]'
    with pytest.raises(UnknownTarget, match=r"there is no value for \{nothing\}"):
        prepare(write(tmp_path / "x", content), "", {})
    content = content.replace("nothing", "pyton")
    with pytest.raises(UnknownTarget, match=r"; did you mean python\?"):
        prepare(write(tmp_path / "x", content), "", {})


def test_targets_of_the_project_can_be_read():
    assert "reference" in {item.id for item in targets()}
    assert target("reference").capabilities == ("load",)


def test_a_damaged_manifest_of_a_generated_suite_is_named(monkeypatch):
    def damage(folder):
        raise BadVector(f"{folder / 'manifest.json'}: no JSON")

    monkeypatch.setattr("conform.runs.select.read_manifest", damage)
    with pytest.raises(BadSuite, match=r"cannot be read: .*controller/manifest\.json: no JSON"):
        resolve(RunSelection(target="reference"))


def test_the_suite_of_a_target_is_that_of_its_component(tmp_path, targets_folder):
    suites = tmp_path / "generated" / "suites" / "toy_lease"
    write_toy_suite(suites / "keeper", 3)
    about = replace(read_manifest(suites / "keeper"), component="warden")
    write_suite(suites / "warden", random_vectors(30), about)
    chosen = target(targets_folder("deaf"))
    assert suite_for(chosen, "") == str(suites / "keeper")
    warden = Suite(suites / "warden", read_manifest(suites / "warden"), ())
    with pytest.raises(BadSuite, match="of the component keeper, but the suite is about warden"):
        check_fits(warden, Prepared(chosen, "", AdapterStart(()), {}))
    with pytest.raises(BadSuite, match=r"has component = 'keper', .* did you mean keeper\?"):
        suite_for(replace(chosen, component="keper"), "")
    with pytest.raises(
        BadSuite, match=r"has protocol = 'toy\.leese', .* did you mean toy\.lease\?"
    ):
        suite_for(replace(chosen, protocol="toy.leese"), "")
    told = r"of the component 'north' of the protocol 'toy\.lease'; there are suites of toy"
    with pytest.raises(BadSuite, match=told):
        suite_for(replace(chosen, component="north"), "")
    found = open_suite(str(suites / "keeper"), 1)
    allows = replace(chosen, not_compared={"variable registratoin": "it is private"})
    with pytest.raises(BadSuite, match=r"no such variable; did you mean registration\?"):
        check_fits(found, Prepared(allows, "", AdapterStart(()), {}))
    for wrong, right in (("laod", "load"), ("registr", "register")):
        allows = replace(chosen, not_compared={f"unsupported {wrong}": "it cannot"})
        with pytest.raises(BadSuite, match=rf"needs no such thing; did you mean {right}\?"):
            check_fits(found, Prepared(allows, "", AdapterStart(()), {}))
    allows = replace(chosen, not_compared={"unsupported elr_feature": "before 4.0"})
    check_fits(found, Prepared(allows, "", AdapterStart(()), {}))
    (suites / "keeper" / "manifest.json").unlink()
    with pytest.raises(BadSuite, match="no generated suite fits fake-deaf"):
        suite_for(chosen, "")
    (tmp_path / "spec").mkdir(exist_ok=True)
    (tmp_path / "spec" / "lease.charter").write_text(f"protocol {chosen.protocol}.later\n")
    with pytest.raises(BadSuite, match="no generated suite fits fake-deaf"):
        suite_for(chosen, "")  # the charter is of another protocol
    (tmp_path / "spec" / "lease.charter").write_text(f"-- first\nprotocol {chosen.protocol}\n")
    others = suites / "warden" / "manifest.json"
    held = others.read_bytes()
    others.unlink()
    with pytest.raises(BadSuite, match=r"^there is no suite for fake-deaf yet: run `conform gen"):
        suite_for(chosen, "")
    others.write_bytes(held)
    reference = target("reference")
    assert suite_for(reference, "") == str(suites / "warden")
    (suites / "warden" / "manifest.json").unlink()
    told = (
        r"^no generated suite is here; `conform generate` makes those of the charters in spec/ that"
        r" an adapter in adapters/ names \(`conform generate --adapter LANGUAGE CHARTER` writes"
        r" one\); `conform vectors` makes the suite of any charter, and --suite names it$"
    )
    with pytest.raises(BadSuite, match=told):
        suite_for(reference, "")  # and not that of a charter that comes with conform
    (tmp_path / "charter.toml").unlink()
    with pytest.raises(BadSuite, match="this folder is in no project"):
        suite_for(chosen, "")
