"""A component with a constant, judged from end to end: model, questions, adapter, canaries."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow.dataset import dataset

from charter import api
from charter.api import generated as generate
from charter.formats.project import project_at
from conform.runs.bounds import bounds_rows

Conform = Callable[..., tuple[int, str, str]]
"""Runs a command: exit code, stdout, stderr."""
MUTANT = "charter_models.lease_mutants.expires_early.lease"

LEASE = """protocol lease
sort Node
const ttl: int 1..9

component lease {
  state holder: option Node = none
  state left: int 0..ttl = 0
  operation acquire(n: Node) -> bool {
    branch held when taken: holder != none  reply false
    branch granted { holder' = present(n)  left' = ttl  reply true }
  }
  operation tick() -> bool {
    branch idle when nobody: holder == none  reply false
    branch expired when last: left <= 1 { holder' = none  left' = 0  reply true }
    branch ticked { left' = left - 1  reply false }
  }
  observe all { holder  left }
}
witness expiry of lease: took tick/expired
stepwise full_time of lease: took tick/expired implies left == 1
mutant expires_early in tiny {
  replace conjunct last of lease.tick/expired with left <= 2
} caught by full_time

instance tiny_short of lease { Node = 1  ttl = 1  misses tick/ticked }
instance tiny of lease { Node = 2  ttl = 3 }
scenario "two ticks" of lease {
  Node = {a}  ttl = 2
  do acquire(a) -> granted
  do tick() -> ticked
  do tick() -> expired
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the charter, its models, and a suite in `suite`."""
    root = tmp_path_factory.mktemp("project")
    charter = root / "spec" / "lease"
    charter.mkdir(parents=True)
    (charter / "lease.charter").write_text(LEASE)
    (root / "charter.toml").touch()
    generate.write(project_at(root))
    (protocol,) = generate.protocols(project_at(root))
    made = generate.mutant_models(generate.open_protocol(protocol), "expires_early")
    models = {f"{generate.PACKAGE}/{path}": text for path, text in made.items()}
    generate.write_files(models, root / "generated")
    wanted = api.SuiteRequest(charter=charter, search=True, out=root / "suite")
    api.make_suite(wanted, lambda *_: None)
    return root


BLIND = """import sys
from conform import sdk

class Blind(sdk.Adapter):
    about = sdk.About("blind", "1", "lease", ("acquire", "tick"), ("holder", "left"), (), NAMED)
    def start(self, question):
        self.ttl, self.holder, self.left = question.consts.get("ttl", 3), None, 0
    def perform(self, operation, args):
        if operation == "acquire":
            if self.holder is not None:
                return False
            self.holder, self.left = args["n"], self.ttl
            return True
        if self.holder is None:
            return False
        if self.left <= 1:
            self.holder, self.left = None, 0
            return True
        self.left -= 1
        return False
    def observe(self):
        return {"holder": self.holder, "left": self.left}

sdk.serve(Blind())
"""


def target(folder: Path, named: tuple[str, ...]) -> str:
    """A lease in Python whose hello names these constants; its folder."""
    folder.mkdir()
    (folder / "lease.py").write_text(BLIND.replace("NAMED", repr(named)))
    (folder / "adapter.toml").write_text(
        'id = "blind"\ntitle = "Blind"\nstart = ["{python}", "{adapter}/lease.py"]\n'
    )
    return str(folder)


@pytest.fixture
def at_project(project: Path, conform: Conform, monkeypatch: pytest.MonkeyPatch) -> Conform:
    """Runs a command in that folder."""
    monkeypatch.chdir(project)
    return conform


def run_target(conform: Conform, out: Path, name: str = "reference") -> tuple[int, str, str]:
    more = ["--engine", "inline", "--out", str(out)]
    return conform("run", "--target", name, "--suite", "suite", *more)


def kinds(out: Path) -> Counter[tuple[str, str]]:
    """How many vectors have which verdict, with what is missing."""
    rows = dataset(out / "verdicts").to_table(columns=["kind", "detail"]).to_pylist()
    return Counter((row["kind"], row["detail"]) for row in rows)


def test_questions_carry_the_constants_that_the_rules_read(project: Path) -> None:
    lines = (project / "suite" / "vectors.jsonl").read_text().splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    assert {question["consts"]["ttl"] for question in questions} == {1, 2, 3}


def test_the_manifest_names_the_constants_that_the_rules_read(project: Path) -> None:
    manifest = json.loads((project / "suite" / "manifest.json").read_text())
    assert manifest["consts"] == {"ttl": "int 1..9"}


def test_vectors_are_not_sent_to_an_adapter_that_does_not_name_their_constants(
    at_project: Conform, tmp_path: Path
) -> None:
    code, _, err = run_target(at_project, tmp_path / "run", target(tmp_path / "blind", ()))
    assert {*kinds(tmp_path / "run")} == {("unsupported", "consts.ttl")}
    assert code == 3, err


def test_vectors_are_judged_when_the_adapter_names_their_constants(
    at_project: Conform, tmp_path: Path
) -> None:
    _, out, _ = run_target(at_project, tmp_path / "run", target(tmp_path / "sees", ("ttl",)))
    found = kinds(tmp_path / "run")
    assert ("unsupported", "consts.ttl") not in found and found["conforms", ""]
    assert not any(kind == "diverges" for kind, _ in found), out


def test_doctor_asks_whether_hello_names_the_constants(at_project: Conform, tmp_path: Path) -> None:
    rule = "hello names the constants that questions have values for"
    given = ["--sorts", '{"Node": {"n1": 1}}', "--consts", '{"ttl": 3}', "--json"]
    said = {}
    for name, named in (("none", ()), ("all", ("ttl",)), ("more", ("ttl", "size"))):
        folder = target(tmp_path / name, named)
        _, out, _ = at_project("doctor", "--adapter", folder, *given)
        said[name] = next(c for c in json.loads(out) if c["rule"] == rule)
    assert [said[name]["ok"] for name in ("none", "all", "more")] == [False, True, False]
    assert "does not name ttl" in said["none"]["detail"]
    assert "names size, which was not asked" in said["more"]["detail"]


def test_the_model_conforms_and_its_mutant_is_caught(at_project: Conform, tmp_path: Path) -> None:
    run = tmp_path / "run"
    code, out, err = run_target(at_project, run)
    assert code == 0, err
    *_, place, last = out.splitlines()
    rows = bounds_rows(json.loads((run / "summary.json").read_text())["bounds"])
    assert rows == (
        ("ttl = 1", "at most 1 Node"),
        ("ttl = 3", "at most 2 Node"),
        ("ttl = 2, in scenarios alone", "at most 1 Node"),
        ("elements that the operations of one question name", "at most 1 Node"),
    )
    assert place[:5] == "run: " and last.startswith("fine by the small suite: ")
    told = json.loads((run / "canaries.json").read_text())["canaries"]
    mutants = [row for row in told if row["kind"] == "mutant"]
    assert {(row["where"], row["got"]) for row in mutants} == {(MUTANT, "diverges")}
