"""A question that failed on a target is written next to the charter, and so into the suite."""

import json
from pathlib import Path

import pytest

from charter.formats.vector import OperationCall, Question
from conform.adapters.targets import target
from conform.runs.failures.record import FailedQuestion, FailedRecord, write_record

LOCK = """protocol toy.lock
sort Node
const most: int 1..3
enum Answer { YES, NO }

component lock {
  state holder: option Node = none
  state taken: int 0..most = 0

  operation take(node: Node, times: int 1..most) -> Answer cites silent {
    assume real cites silent: times < 3
    branch held when busy: holder != none reply NO
    branch full when much: taken + times > most reply NO
    branch free { holder' = present(node) taken' = taken + times reply YES }
  }
  operation drop() -> Answer cites silent {
    branch idle when nobody: holder == none reply NO
    branch dropped { holder' = none reply YES }
  }
  observe all { holder taken }
}
witness taken_once of lock: holder != none
instance tiny of lock { Node = {n1, n2} most = 2 }
instance large of lock { Node = {n1, n2, n3} most = 3 }
"""
PLACE = Path("spec/found/lock/charter/findings.jsonl")


@pytest.fixture
def remember(targets_folder):
    """Remembers questions that failed on a target."""
    folder = targets_folder("wrong_error")
    Path("spec").mkdir()
    Path("spec/lock.charter").write_text(LOCK, encoding="utf-8")

    def keep(*questions):
        held = tuple(FailedQuestion(one, f"f-{number}", "") for number, one in enumerate(questions))
        write_record(target(folder), "", {}, FailedRecord({}, held))

    return keep


def ask(*calls, nodes=("n1",), most=1):
    """A question as it is shrunk: with few elements and small constants."""
    held = {name: number for number, name in enumerate(nodes, 5)}
    operations = tuple(OperationCall(name, args) for name, args in calls)
    return Question(
        "toy.lock", "", "lock", {"Node": held}, None, operations, "each", {"most": most}
    )


def take(node="n1", times=1):
    return "take", {"node": node, "times": times}


def list_lines():
    return [json.loads(line) for line in PLACE.read_text(encoding="utf-8").splitlines()]


def test_question_that_failed_is_in_the_suite_once_it_is_kept(remember, conform):
    remember(ask(take(), ("drop", {}), take()))
    code, said, _ = conform("keep", "f-0", "--title", "twice")
    (line,) = list_lines()
    assert (code, line["instance"], line["title"]) == (0, "tiny", "twice")
    assert line["question"]["sorts"]["Node"]["n1"] == 5
    assert set(line["question"]["sorts"]["Node"]) == {"n1", "n2"}
    assert line["question"]["consts"] == {"most": 2}
    assert f"{PLACE} has the question " in said and "`conform generate`" in said
    assert conform("vectors", "spec/lock.charter", "--out", "suite")[0] == 0
    vectors = Path("suite/vectors.jsonl").read_text(encoding="utf-8")
    assert '"title":"twice"' in vectors


def test_kept_question_is_written_once_and_others_stay(remember, conform):
    first, second = ask(take()), ask(("drop", {}))
    remember(first, second)
    conform("keep", first.id[:8])
    PLACE.write_text(PLACE.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    conform("keep", second.id)
    assert len(list_lines()) == 2
    before = PLACE.read_bytes()
    code, said, _ = conform("keep", first.id)
    assert (code, PLACE.read_bytes()) == (0, before)
    assert "the suite has the question" in said and "nothing was written" in said


def test_instance_has_the_bounds_of_the_question(remember, conform):
    remember(ask(take("n3"), nodes=("n1", "n3")), ask(take("n9"), nodes=("n9",)))
    conform("keep", "f-0")
    assert list_lines()[0]["instance"] == "large"
    code, _, err = conform("keep", "f-1")
    assert code == 2
    assert "no instance of lock has the bounds of the question; write one that has Node" in err


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            ask(take("n1", 3), most=3),
            "the question cannot happen: take happens where its assumption",
        ),
        (ask(("fly", {})), "no instance of lock has the bounds of the question; in large it has"),
    ],
)
def test_question_that_the_charter_cannot_ask_is_one_sentence(remember, conform, question, said):
    remember(question)
    code, _, err = conform("keep", "f-0")
    assert code == 2 and said in err
    assert not PLACE.exists()


def test_unknown_id_is_one_sentence_with_those_that_there_are(remember, conform):
    code, _, err = conform("keep", "f-9")
    assert code == 2 and "nothing is remembered that failed on the targets of this project" in err
    question = ask(take())
    remember(question)
    code, _, err = conform("keep", "f-9")
    assert code == 2
    assert f"has the id 'f-9'; there are: {question.id[:12]} (f-0)" in err


def test_remembered_questions_are_listed_without_an_id(remember, conform):
    code, said, _ = conform("keep")
    assert (code, said.strip()) == (
        0, "nothing is remembered; `conform run` and `conform test` remember what fails",
    )  # fmt: skip
    questions = ask(take(), ("drop", {}), take()), ask(("drop", {}))
    remember(*questions)
    code, said, _ = conform("keep")
    rows = [line.split(maxsplit=3) for line in said.splitlines()]
    assert code == 0 and rows == [
        ["id", "finding", "target", "operations"],
        [questions[0].id[:12], "f-0", "fake-wrong_error", "take, drop, take"],
        [questions[1].id[:12], "f-1", "fake-wrong_error", "drop"],
    ]
    listed = json.loads(conform("keep", "--target", "fake-wrong_error", "--json")[1])["remembered"]
    assert [one["id"] for one in listed] == [one.id for one in questions]
    assert listed[0]["target"] == "fake-wrong_error" and not PLACE.exists()
    assert "give its id" in conform("keep", "--title", "twice")[2]


def test_error_of_the_adapter_is_listed_apart_with_the_parameters_of_its_run(remember, conform):
    remember(ask(take()))
    one = FailedQuestion(ask(("drop", {})), "adapter_error 00", "00")
    place = target("fake-wrong_error")
    write_record(place, "", {"program": "fake"}, FailedRecord({}, (one,)))
    finding, title, head, row = conform("keep")[1].splitlines()[1:]
    assert finding.split()[1] == "f-0"
    assert title == "the adapter failed in these, which is no finding about the implementation:"
    assert head.split() == ["id", "target", "operations"]
    assert row.split() == [one.id[:12], "fake-wrong_error", "--set", "program=fake", "drop"]


def test_question_that_failed_in_the_first_state_says_that_it_has_no_operations(remember, conform):
    remember(ask())
    (_, row) = conform("keep")[1].splitlines()
    assert row.split(maxsplit=3)[3] == "none: it failed in the first state"


def test_empty_id_chooses_nothing(remember, conform):
    remember(ask(take()))
    code, _, err = conform("keep", "")
    assert code == 2 and "has the id ''; there are: " in err
    assert not PLACE.exists()


def test_question_of_a_charter_that_is_not_here_is_one_sentence(remember, conform):
    remember(ask(take()))
    Path("spec/lock.charter").unlink()
    code, _, err = conform("keep", "f-0")
    assert code == 2 and "toy.lock, of which this project has no charter" in err


def test_damaged_file_is_not_written(remember, conform):
    remember(ask(take()))
    PLACE.parent.mkdir(parents=True)
    PLACE.write_text("no JSON", encoding="utf-8")
    code, _, err = conform("keep", "f-0")
    assert code == 2 and "no search writes this file: mend the line" in err
    assert PLACE.read_text(encoding="utf-8") == "no JSON"
