"""`conform explore` that keeps its states, or goes on elsewhere: what it writes and refuses."""

import json

import pyarrow.parquet
import pytest


def test_explore_keeps_all_states_as_parquet(conform, toy, tmp_path):
    folder = tmp_path / "kept"
    for _ in range(2):
        code, _, err = conform("explore", toy, "--keep", folder, "--no-symmetry")
        assert (code, err) == (1, f"3 states are in {folder} (1 file)\n")
    rows = pyarrow.parquet.read_table(folder / "states").to_pylist()
    assert [row["held"] for row in rows] == ["[]", '["n1"]', '["n2"]']
    assert rows[2] == {
        "_number": 2, "_level": 1, "_source": 0, "_step": "put/kept", "_args": '{"node":"n2"}',
        "held": '["n2"]',
    }  # fmt: skip
    code, _, err = conform("explore", toy, "--keep", folder, "--set", "Node=3")
    assert code == 2 and "holds states of another search: its bounds is" in err
    (folder / "manifest.json").unlink()
    code, _, err = conform("explore", toy, "--keep", folder)
    assert code == 2 and "is not a folder of stored states" in err and err.count("\n") == 1


def test_kept_states_say_of_which_mutant_they_are(conform, toy, tmp_path):
    toy.write_text(toy.read_text() + MUTANT)
    folder = tmp_path / "kept"
    assert conform("explore", toy, "--keep", folder, "--mutant", "open")[0] == 1
    assert json.loads((folder / "manifest.json").read_text())["mutant"] == "open"
    code, _, err = conform("explore", toy, "--keep", folder)
    assert code == 2 and 'holds states of another search: its mutant is "open"' in err


MUTANT = """
mutant open in tiny { drop branch box.put/full } caught by at_most_one
"""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "reference", "--journal", "j"], "--journal needs the native one"),
        (["--master", "local[2]"], "--master is for --engine spark; add that"),
    ],
)
def test_explore_refuses_an_option_that_would_do_nothing(conform, toy, options, said):
    code, out, err = conform("explore", toy, *options)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1


def test_explore_on_spark_finds_what_the_native_engine_finds(conform, toy, spark, tmp_path):
    found = {}
    for engine in (["native"], ["spark", "--master", "local[2]", "--journal", tmp_path / "search"]):
        code, out, _ = conform("explore", toy, "--engine", *engine, "--json")
        assert code == 1
        found[engine[0]] = json.loads(out)
        assert found[engine[0]].pop("engine") == engine[0]
        for own in ("seconds", "bytes_each"):
            found[engine[0]].pop(own)
    assert found["spark"] == found["native"]
    code, out, _ = conform("explore", toy, "--engine", "spark", "--journal", tmp_path / "search")
    assert code == 1 and "always never_full fails; the shortest trace:" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--where", "true"], "--engine spark has no --where; --engine native has"),
        (["--keep", "out"], "--engine spark has no --keep"),
        (["--fingerprints"], "--engine spark has no --fingerprints"),
        (
            ["--master", "spark://nowhere:7077"],
            "needs --journal URI: a folder that this machine and all workers",
        ),
    ],
)
def test_explore_on_spark_says_what_it_cannot_do(conform, toy, options, said):
    code, out, err = conform("explore", toy, "--engine", "spark", *options)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1
