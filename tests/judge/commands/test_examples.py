"""Each command's --help has examples, and each example works: it is run, or, where that takes
minutes or a real Kafka, all that it names is there."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
from tests.support.caches import own_cache
from tests.support.judging import write_toy_models

from charter import api
from charter.formats.suite import read_lines
from conform.adapters.targets import targets
from conform.cli import main as cli

ROOT = Path(__file__).resolve().parents[3]
GENERATED = (ROOT / "generated" / "suites", *(ROOT / "generated" / "charter_models").iterdir())
COMMANDS = [*cli._PROJECT, *cli._JUDGE, *cli._COMPILER]
LONG = {
    "run", "explore", "coverage", "verdicts", "mutate", "prove", "generate", "vectors", "init",
    "test", "keep", "reproduce",
}  # fmt: skip
"""Commands whose examples take long or write to a project; they are run on small things in other
tests."""
CLAIMS = "conform claims spec/kafka"
ALIKE = {
    CLAIMS, f"{CLAIMS} --json", f"{CLAIMS} --write spec/kafka/verdicts/claims.md",
    "conform fmt spec/kafka --check",
    "conform simulate spec/examples/paxos.charter --walks 100 --steps 60",
    "conform simulate spec/examples/paxos.charter --walks 1000 --mutant proposes_what_it_wants",
}  # fmt: skip
"""What takes seconds, and differs little from another example, or from what other tests do."""
WAITING = {"lsp", "repl", "watch"}
"""Commands that go on until they are stopped; other tests do that."""

PLACEHOLDERS = {"one.charter", "./my-adapter", "trace.json", "lease-go", "spec/lease.charter"}
"""What stands in an example for a thing of the reader's own."""


def examples_in(text: str) -> list[str]:
    lines = text.partition("examples:\n")[2].splitlines()
    shown = [line.strip() for line in lines if line.startswith("  conform ")]
    return [re.split(" [>|] ", line)[0] for line in shown]  # where a shell would put the output


def every_example() -> list[str]:
    found = examples_in(cli.overview())
    for name in COMMANDS:
        found += examples_in(importlib.import_module(cli.module_of(name)).EXAMPLES)
    return list(dict.fromkeys(found))


EVERY = every_example()


@cache
def charter(path: str) -> api.Model:
    return api.load(ROOT / path)


@cache
def variants() -> set[str]:
    return set(charter("spec/kafka").variants)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example_of_its_own(command, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main([command, "--help"])
    assert left.value.code == 0
    shown = examples_in(capsys.readouterr().out)
    assert shown
    assert all(line.startswith(f"conform {command}") for line in shown)


def parse_line(example: str) -> tuple[str, argparse.Namespace]:
    _, name, *more = shlex.split(example)
    parser = argparse.ArgumentParser(exit_on_error=True)
    importlib.import_module(cli.module_of(name)).add_arguments(parser)
    return name, parser.parse_args(more)


@pytest.mark.parametrize("example", EVERY)
def test_all_that_an_example_names_is_there(example):
    _, chosen = parse_line(example)
    given = vars(chosen)
    for option in ("charter", "overlay"):
        path = str(given.get(option) or "")
        assert not path or path in PLACEHOLDERS or (ROOT / path).exists()
    told = str(given.get("charter") or "")
    ours = told.startswith("spec/") and told not in PLACEHOLDERS
    model = charter(told if ours else "spec/kafka")
    suites = given.get("suite") or []
    for suite in [suites] if isinstance(suites, str) else suites:
        assert "/" not in suite or suite.startswith("build/") or (ROOT / suite).is_dir()
    for option, known in (
        ("variant", variants()),
        ("show", variants()),
        ("mutant", {m.name for m in model.mutants}),
        ("instance", {i.name for i in model.instances}),
    ):
        named = given.get(option)
        assert not named or [name for name in known if fnmatchcase(name, named)]
    by_id = {target.id: target for target in targets()}
    for option in ("target", "adapter"):
        name = given.get(option)
        if name and name not in PLACEHOLDERS:
            release = given.get("release")
            assert not release or release in by_id[name].releases


@pytest.fixture(scope="module")
def stage(toy_suite, tmp_path_factory):
    """A folder where the runs and ids of the examples are: those of the toy protocol."""
    place = tmp_path_factory.mktemp("stage")
    for path in (*map(ROOT.joinpath, ("spec", "conformance", "charter.toml")), *GENERATED):
        (place / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        (place / path.relative_to(ROOT)).symlink_to(path)
    write_toy_models(place / "generated")
    (place / "baselines").mkdir()
    (place / "baselines" / "lease.toml").touch()
    patch = pytest.MonkeyPatch()
    patch.chdir(place)
    patch.setenv("CHARTER_CACHE", own_cache(place / "cache"))
    for name in ("A", "B", "C"):
        out = place / "build" / "runs" / name
        arguments = ["run", "--target", "reference", "--suite", toy_suite, "--engine", "inline"]
        assert cli.main([str(part) for part in (*arguments, "--out", out)]) == 0
    yield place
    patch.undo()


def runnable():
    """The examples that are run, as parameters of a test."""
    for line in EVERY:
        ours = "kafka-controller --" in line or PLACEHOLDERS & set(shlex.split(line))
        ours = ours or "--newer" in line  # it asks a registry
        writes = " fmt spec/kafka" in line.replace("fmt spec/kafka --check", "")
        if line.split()[1] not in LONG | WAITING and not ours and not writes:
            alike = line in ALIKE
            marks = [pytest.mark.slow] if alike else []
            if line.startswith("conform check spec/kafka"):
                marks = [pytest.mark.xdist_group("kafka is checked")]
            yield pytest.param(line, id=line, marks=marks)


@pytest.mark.parametrize("example", list(runnable()))
def test_example_runs(example, stage, toy_suite, monkeypatch, capsys):
    monkeypatch.chdir(stage)
    first = next(read_lines(toy_suite / "vectors.jsonl")).id[:10]
    for placeholder, real in (
        ("build/runs/kafka-controller-4.3.1-9f01c2aa", "build/runs/A"),
        ("build/runs/kafka-controller-releases", "build/runs/A build/runs/C"),
        ("3b0c91", first),
        ("--suite 9f01c2aa", f"--suite {toy_suite}"),
        ("build/runs/*", "build/runs/A build/runs/C"),  # as a shell would
        ("build/runs/A-again", f"build/runs/A-{len(example)}"),
    ):
        example = example.replace(placeholder, real)
    code = cli.main(shlex.split(example)[1:])
    said = capsys.readouterr()
    finds = "--mutant" in example  # a mistake on purpose is there to be found
    assert code == (1 if finds else 0), said.out + said.err
