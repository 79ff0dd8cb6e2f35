"""Questions keep to what operations assume: those of suites, those that are kept, those of
shrinking, and those that follow a deviation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests.support.assumed import FOLLOWER, drop_assumptions
from tests.support.comparing.agreement import import_model
from tests.support.judging import QUICK

from charter import api
from charter.formats.opaque import OpaqueTypes
from charter.formats.project import BadProject
from charter.formats.verdict import Kind
from charter.project.sources import read_sources
from charter.suites import make
from charter.suites.search import search
from charter.suites.search_results import Found, FoundQuestion
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import Subject
from conform.adapters.direct import DirectConnection
from conform.adapters.reference import Reference
from conform.adapters.session import Session
from conform.cli.main import main
from conform.judging.answer import CannotAnswer, answer_of
from conform.judging.siblings import Siblings
from conform.runs.findings.findings import finding_id
from conform.runs.shrink import Shrinker, answer_item
from conform.storage.tables import cause_of

TEXT = FOLLOWER.read_text(encoding="utf-8")
BUG = TEXT.replace("reply stored(2)", "reply stored(1)")
SMALL = """protocol small
component c {
  state n: int 0..9 = 0
  operation up(by: int 0..3) -> bool cites silent {
    assume by < 2
    branch far when by == 2 reply false
    branch near { n' = by  reply true }
  }
  observe all { n }
}
witness w of c: n == 1
instance tiny of c { }
"""


def open_subject(folder: Path, text: str) -> Subject:
    charter = folder / "a.charter"
    charter.write_text(text, encoding="utf-8")
    return make.open_subject(charter, read_sources(charter), "", "")


def make_module(folder: Path, text: str, name: str) -> ModuleType:
    model = api.load_text(text)
    return import_model(model, model.components[0], folder, name)


def call(operation: str, **args: object) -> dict[str, object]:
    return {"operation": operation, "args": args}


def ask(*operations: dict[str, object]) -> dict[str, object]:
    return {
        "format": 1, "protocol": "test.follower", "variant": "", "component": "follower",
        "sorts": {"Server": {"a": 0, "b": 1}}, "consts": {}, "given": None, "delta": [],
        "operations": [*operations],
    }  # fmt: skip


def list_questions(folder: Path) -> list[dict[str, object]]:
    lines = (folder / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines]


def test_each_question_of_both_suites_keeps_to_the_assumptions(tmp_path: Path) -> None:
    charter = tmp_path / "follower.charter"
    charter.write_text(TEXT, encoding="utf-8")
    model = make_module(tmp_path, TEXT, "assumed_of_suites")
    for number, more in enumerate((["--search"], ["--profile", "full"])):
        out = tmp_path / f"suite{number}"
        assert main(["vectors", str(charter), *more, "--out", str(out)]) == 0
        questions = list_questions(out)
        for question in questions:
            answer_of(model, question, OpaqueTypes())  # raises CannotAnswer
        made = {one["operation"] for question in questions for one in question["operations"]}
        assert made == {"elect", "append"} and len(questions) > 20


def test_what_only_other_arguments_meet_is_infeasible(tmp_path: Path) -> None:
    about = open_subject(tmp_path, SMALL)
    rows = {
        row.name: row.status
        for row in smoke(replace(about, found=search(about, lambda *_: None, True))).ledger.rows
    }
    assert rows["branch up/far"] == "infeasible"
    assert rows["branch up/near"] == "covered"
    assert not any("by < 2" in name for name in rows)


def keep(about: Subject, found: Found, source: str) -> Smoke:
    """The small suite with a question that breaks an assumption."""
    last = next(one for one in found.asked if len(one.question.operations) == 2)
    elect, append = last.question.operations
    broken = replace(append, args={**append.args, "of": 2})
    first = replace(elect, operation="elect", args={"by": "s1", "of": 1})
    made = FoundQuestion(
        replace(last.question, operations=(first, replace(broken, operation="append"))),
        last.instance, source, "of the future", (),
    )  # fmt: skip
    return smoke(replace(about, found=replace(found, asked=(*found.asked, made))))


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("finding", "findings.jsonl: the question `of the future` .*; remove its line"),
        ("solver", "solver.jsonl: the question `of the future` .*CHARTER --search` writes"),
    ],
)
def test_a_kept_question_that_breaks_an_assumption_is_an_error_that_names_it(
    source: str, named: str, tmp_path: Path
) -> None:
    about = open_subject(tmp_path, TEXT)
    found = search(about, lambda *_: None, False)
    with pytest.raises(BadProject, match=named) as caught:
        keep(about, found, source)
    assert "append happens where its assumption is false: `assume known_term" in str(caught.value)


class Noting(Reference):
    """A target that notes the questions that it gets."""

    def __init__(self, model: ModuleType, noted: list[dict[str, object]]) -> None:
        super().__init__(model)
        self.noted = noted

    def start(self, question):  # type: ignore[no-untyped-def]
        self.noted.append(ask())
        return super().start(question)

    def perform(self, operation, args):  # type: ignore[no-untyped-def]
        self.noted[-1]["operations"].append(call(operation, **args))
        return super().perform(operation, args)


LONG = ask(
    call("elect", by="a", of=2),
    call("append", of=2, at=1),
    call("append", of=2, at=0),
    call("append", of=2, at=0),
    call("append", of=2, at=0),
)


def shrink(judge: ModuleType, target: ModuleType) -> tuple[int, list[dict[str, object]]]:
    """The length of the shrunk question, and all questions to the target."""
    noted: list[dict[str, object]] = []
    session = Session(
        DirectConnection(lambda: Noting(target, noted)), Siblings(judge), QUICK, "test", None
    )
    item = answer_item(judge, LONG, OpaqueTypes())
    assert item is not None
    (judgement,) = session.run([item])
    (deviation,) = judgement.assessments[0].verdict.deviations
    name = finding_id("", cause_of(deviation, LONG["sorts"]))
    shrunk = Shrinker(session, judge).shrink(name, item)
    assert shrunk is not None
    return len(shrunk.question["operations"]), noted


def test_shrinking_asks_nothing_that_breaks_an_assumption(tmp_path: Path) -> None:
    assumed = make_module(tmp_path, TEXT, "assumed_of_shrinking")
    free = make_module(tmp_path, drop_assumptions(TEXT), "free_of_shrinking")
    target = make_module(tmp_path, drop_assumptions(BUG), "target_of_shrinking")
    length, made = shrink(assumed, target)
    assert length == 4
    for question in made:
        answer_of(assumed, question, OpaqueTypes())
    length, made = shrink(free, target)
    assert length == 3  # nobody was elected, and entries of a leader arrive
    with pytest.raises(CannotAnswer, match="assumption is false"):
        for question in made:
            answer_of(assumed, question, OpaqueTypes())


STAIRS = """protocol stairs
component c {
  state n: int 0..9 = 0
  operation up() -> bool cites silent {
    branch done { n' = 1  reply true }
  }
  operation down() -> bool cites silent {
    assume n == 1
    branch done { n' = 0  reply true }
  }
  observe all { n }
}
witness w of c: n == 1
instance tiny of c { }
"""


def test_an_operation_whose_assumption_a_deviation_breaks_is_not_followed(tmp_path: Path) -> None:
    judge = make_module(tmp_path, STAIRS, "stairs_of_judge")
    bug = drop_assumptions(STAIRS).replace("n' = 1", "n' = 2")
    target = make_module(tmp_path, bug, "stairs_of_target")
    question = {**ask(call("up"), call("down")), "protocol": "stairs", "component": "c"}
    question["sorts"] = {}
    item = answer_item(judge, question, OpaqueTypes())
    assert item is not None
    connection = DirectConnection(lambda: Noting(target, []))
    (judgement,) = Session(connection, Siblings(judge), QUICK, "test", None).run([item])
    (assessment,) = judgement.assessments
    assert assessment.verdict.kind is Kind.DIVERGES
    assert [one.step for one in assessment.verdict.deviations] == [1]


HIDDEN = STAIRS.replace("observe all { n }", "state seen: bool = false\n  observe all { seen }")


def test_an_entry_explains_nothing_where_its_hidden_state_breaks_an_assumption(
    tmp_path: Path,
) -> None:
    """By the entry `up` ends in another state, not shown, from which nobody goes down."""
    judge = make_module(tmp_path, HIDDEN, "hidden_of_judge")
    entry = make_module(tmp_path, HIDDEN.replace("n' = 1", "n' = 2"), "hidden_of_entry")
    does = HIDDEN.replace("n' = 0  reply true", "n' = 0  reply false")
    target = make_module(tmp_path, does, "hidden_of_target")
    question = {**ask(call("up"), call("down")), "protocol": "stairs", "component": "c"}
    item = answer_item(judge, {**question, "sorts": {}}, OpaqueTypes())
    assert item is not None
    siblings = Siblings(judge, {"": entry, "far": entry})
    connection = DirectConnection(lambda: Noting(target, []))
    (judgement,) = Session(connection, siblings, QUICK, "test", None).run([item])
    (assessment,) = judgement.assessments
    assert assessment.verdict.not_judged == 0
    assert [(one.step, one.entries) for one in assessment.verdict.deviations] == [(2, ())]
