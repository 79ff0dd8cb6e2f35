"""`conform explain` and `conform replay` know a finding by the id that a baseline has."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def found(called, targets_folder, toy_suite):
    """The finding of a run, with the run's place."""
    target = Path("adapters") / targets_folder("wrong_error")
    file = target / "adapter.toml"
    file.write_text(file.read_text().replace('overlay = "known"\n', ""))
    given = ("--target", target, "--suite", toy_suite, "--engine", "inline", "--json")
    listed = ("--baseline", "baselines/fake.toml", "--update-baseline")
    out = called("run", *given, *listed)[1]
    (finding,) = json.loads(out)["summary"]["findings"]
    (run,) = Path("build/runs").iterdir()
    return finding, run


def test_finding_is_explained_by_its_id(conform, found):
    finding, run = found
    code, out, _ = conform("explain", finding["id"])
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == [finding["id"], f"{finding['severity']}: {finding['sentence']}"]
    assert lines[2] == f"{finding['vectors']} vectors in {run}; the shortest that is known:"
    (see,) = [line.removeprefix("see: ") for line in lines if line.startswith("see: ")]
    assert conform(*see.split()[1:])[0] == 1
    assert lines[-1] == f"listed in baselines/fake.toml: no reason yet (reply: {lines[1][7:]})"
    assert conform("replay", finding["id"], "--run", run)[:2] == conform(*see.split()[1:])[:2]


def test_finding_that_only_a_baseline_has_is_told(conform, found):
    finding, run = found
    (run / "summary.json").unlink()
    path = Path("baselines/fake.toml")
    path.write_text(path.read_text().replace('reason = ""', 'reason = "LEASE-17"'))
    code, out, _ = conform("explain", finding["id"])
    assert code == 0
    assert "no run in build/runs has it now\n" in out
    assert f"listed in baselines/fake.toml: LEASE-17 (reply: {finding['sentence']})\n" in out


def test_finding_that_nobody_knows_is_one_sentence(conform, found):
    code, _, err = conform("explain", "f-0123456789")
    assert (code, err.count("\n")) == (2, 1)
    assert "no run in build/runs has the finding f-0123456789, and no baseline lists it" in err
    code, _, err = conform("replay", "f-0123456789", "--run", found[1])
    assert code == 2 and "has no finding f-0123456789; `conform explain" in err
    code, _, err = conform("replay", "f-0123456789", "--target", "reference")
    assert code == 2 and "f-0123456789 is a finding: name its run with --run; " in err
