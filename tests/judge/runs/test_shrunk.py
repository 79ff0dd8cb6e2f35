"""A run shows the smallest vector of a finding, and it can be replayed and reported."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from charter.formats.run import RunFinding, ShrunkQuestion
from charter.formats.run_description import RunDescription
from conform.cli.output.run_output import _show_findings, show_example
from conform.reports import write
from conform.runs.conclusion import Finished
from conform.storage.bucket_store import RunFolder


def test_smallest_vector_is_shown_replayed_and_reported(
    conform, targets_folder, toy_suite, tmp_path
):
    target = Path("adapters") / targets_folder("keeps_leader")
    file = target / "adapter.toml"
    file.write_text(file.read_text().replace('overlay = "known"\n', ""))
    given = ("--target", target, "--suite", toy_suite, "--engine", "inline", "--limit", "50")
    out = tmp_path / "run"
    code, said, _ = conform("run", *given, "--out", out, "--junit", tmp_path / "junit.xml")
    assert code == 1
    lines = [line.strip() for line in said.splitlines()]
    place = next(i for i, line in enumerate(lines) if "; shrunk from " in line)
    assert lines[place].endswith(" operations to 3:")
    assert [line.partition("(")[0] for line in lines[place + 1 : place + 4]] == [
        "1 register", "2 elect", "3 expire",
    ]  # fmt: skip
    assert lines[place + 4 : place + 6] == ["expected  observed", "leader  none      n1"]
    command = lines[place + 6].removeprefix("see: conform ").split()
    finding = json.loads((out / "summary.json").read_text())["findings"][0]
    assert finding["sentence"] == "expire/expired: expected leader = none, got n1"
    assert command == ["replay", finding["shrunk"]["vector"][:12], "--run", "run"]
    code, said, _ = conform(*command[:3], out)
    assert code == 1
    assert "DIVERGES (state; new)" in said and "diverges: 3 steps judged" in said
    failure = ElementTree.parse(tmp_path / "junit.xml").find("./testcase/failure")
    assert "  leader  none      n1" in failure.text.splitlines()
    write([out], tmp_path / "report")
    (page,) = (tmp_path / "report").glob(f"runs/*/findings/{finding['id']}.html")
    assert "The smallest vector that shows it" in page.read_text()
    assert "expected leader = none, got " in page.read_text()
    assert f"conform replay {finding['shrunk']['vector']}" in page.read_text()


def test_how_a_vector_was_made_smaller_is_said_if_it_was(capsys):
    question = {"given": None, "operations": []}
    shrunk = ShrunkQuestion("0" * 20, 3, 3, question, ("take {}",))
    finding = RunFinding("f-1", "", "state", "take/done", 2, 2, "1" * 20, 3, shrunk=shrunk)
    finished = Finished(RunFolder("/run"), {}, {})
    show_example(finished, replace(finding, vector="0" * 20))
    assert capsys.readouterr().out.startswith("         2 vectors:\n")
    show_example(finished, finding)
    told = "         2 vectors; shrunk in its elements, values or constants:\n"
    assert capsys.readouterr().out.startswith(told)
    show_example(finished, replace(finding, shrunk=replace(shrunk, before=4)))
    told = "         2 vectors; shrunk from 4 operations to 3:\n"
    assert capsys.readouterr().out.startswith(told)


def test_what_labels_mean_stands_under_the_first_finding_that_has_some(capsys):
    texts = {"f-1": "token", "f-2": 'expected "#2"', "f-3": "held", "f-4": 'got "#3"'}
    listed = [
        RunFinding(name, "", "state", "take/done", 1, 1, "0" * 20, 1, sentence=text).json()
        for name, text in texts.items()
    ]
    listed[2]["like"] = "f-1"
    _show_findings(Finished(RunFolder("/run"), RunDescription(), {"findings": listed}))
    lines = capsys.readouterr().out.splitlines()
    explained = [number for number, line in enumerate(lines) if '("#1" < "#2"' in line]
    second, third = (
        next(number for number, line in enumerate(lines) if name in line) for name in ("f-2", "f-3")
    )
    assert len(explained) == 1 and second < explained[0] < third
    same = "         perhaps of the same cause as f-1: the same operation, the same variables"
    assert [number for number, line in enumerate(lines) if line == same] == [third + 2]
