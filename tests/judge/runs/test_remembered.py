"""What failed in earlier runs of a target is put again, before the suite."""

import json
from pathlib import Path

import orjson
import pytest
from tests.support.toy.vectors import vector, write_toy_vectors

from charter.formats.run_description import WalkSettings
from charter.formats.vector import OperationCall, Question
from conform.adapters.targets import target
from conform.cli.output.run_output import show
from conform.judging.answer import CannotAnswer
from conform.runs.execute import run_target
from conform.runs.failures.record import (
    QUESTIONS_MAX,
    FailedQuestion,
    FailedRecord,
    read_record,
    write_record,
)
from conform.runs.findings.baseline import Baseline, read_baseline
from conform.runs.options import RunOptions
from conform.runs.rejudge import RejudgeOptions, rejudge
from conform.runs.selection import SuiteFilter
from conform.suites.cache import open_suite

WRONG = "fake-wrong_error"


@pytest.fixture
def poor_suite(tmp_path):
    """A suite that asks next to nothing."""
    write_toy_vectors(tmp_path / "poor", [vector(("register", {"node": "n1"}))])
    return tmp_path / "poor"


@pytest.fixture
def judge(poor_suite, targets_folder, tmp_path):
    """Judges the implementation that answers a wrong error, or one without faults in its place."""
    folder = Path("adapters") / targets_folder("wrong_error")
    file = folder / "adapter.toml"
    file.write_text(file.read_text().replace('overlay = "known"\n', ""))

    def run(out, *, mended=False, walks=0, suite=poor_suite, said=None, **more):
        text = file.read_text()
        one, other = ("wrong_error", "faithful") if mended else ("'faithful'", "'wrong_error'")
        if mended:
            text = text.replace("'wrong_error'", "'faithful'").replace(
                '"wrong_error"', '"faithful"'
            )
        else:
            text = text.replace(one, other)
        file.write_text(text)
        options = {"engine": "inline", "out": str(tmp_path / out), "master": "local[2]", **more}
        return run_target(
            RunOptions(WRONG, suite=str(suite), walks=WalkSettings(walks, 6), **options),
            (said if said is not None else []).append,
        )

    return run


def record():
    return read_record(target(WRONG), "", {})


def keep_question(*calls, finding="f-0000000000", **more):
    """Remember a question."""
    held = {"protocol": "toy.lease", "variant": "", "component": "keeper", **more}
    sorts = {"Node": {"n1": 1, "n2": 2}}
    question = Question(sorts=sorts, given=None, operations=tuple(
        OperationCall(name, args) for name, args in calls), **held)  # fmt: skip
    one = FailedQuestion(question, finding, "")
    write_record(target(WRONG), "", {}, FailedRecord({}, (*record().questions, one)))
    return question.id


def test_what_a_walk_found_is_asked_by_the_next_run_and_counts_apart(judge):
    first = judge("first", walks=70)
    (finding,) = [one for one in first.summary["findings"] if one["rule"] == "elect/nobody"]
    (kept,) = [one for one in record().questions if one.finding == finding["id"]]
    assert kept.id == finding["shrunk"]["vector"]
    again = judge("again")
    put = again.summary["remembered"]
    assert put["count"] == put["verdicts"]["diverges"] == len(record().questions) > 0
    assert (again.exit_code, again.run.remembered != "") == (1, True)
    assert again.summary["vectors"] == again.summary["suite_vectors"] == 2
    assert again.summary["verdicts"]["diverges"] == 0
    assert finding["id"] in [one["id"] for one in again.summary["findings"]]
    assert first.run.remembered == "" and "remembered" not in first.summary


def test_it_is_asked_first(judge):
    judge("first", walks=70)
    again = judge("again", wanted=SuiteFilter(first=True))
    assert again.summary["vectors"] == 0
    assert again.summary["remembered"]["count"] == 1


def test_remembered_questions_are_left_out_if_the_caller_says_so(judge):
    judge("first", walks=70)
    kept = record().questions
    said = []
    again = judge("again", said=said, without_remembered=True)
    assert f"{len(kept)} remembered question{'s are' if len(kept) > 1 else ' is'} left out" in said
    assert "remembered" not in again.summary and again.run.remembered == ""
    assert (again.exit_code, record().questions) == (0, kept)


def test_spark_asks_it_too(judge, spark):
    judge("first", walks=70)
    inline, on_spark = judge("inline"), judge("spark", engine="spark")
    assert on_spark.summary["remembered"] == inline.summary["remembered"]
    assert on_spark.run.remembered == inline.run.remembered


def test_question_that_conforms_is_dropped_with_a_sentence(judge, capsys):
    judge("first", walks=70)
    (name, *_) = [one.id for one in record().questions]
    mended = judge("mended", mended=True)
    assert mended.exit_code == 0, mended.summary["reasons"]
    assert name in mended.summary["remembered"]["dropped"]
    show(mended)
    said = capsys.readouterr().out
    assert f"the remembered question {name[:12]} conforms now, and is dropped\n" in said
    assert "fine by the suite and 1 remembered question: no deviation" in said
    assert record().questions == ()
    assert "remembered" not in judge("later", mended=True).summary


def test_question_in_which_an_idle_adapter_conforms_leaves_a_run_trusted(judge):
    keep_question(("elect", {}))
    mended = judge("mended", mended=True)
    assert mended.exit_code == 0, mended.summary["reasons"]
    (idle,) = [one for one in mended.canaries if one["kind"] == "nothing"]
    assert idle["where"] == "worker of bucket 0"


def test_run_that_is_not_trusted_drops_no_question(judge, monkeypatch):
    judge("first", walks=70)
    before = record().questions
    with monkeypatch.context() as patched:
        patched.setattr("conform.runs.conclusion.list_changed", lambda *_: ("adapter",))
        doubted = judge("doubted", mended=True)
    assert doubted.exit_code == 3 and doubted.summary["remembered"]["dropped"] == {}
    assert {one.id for one in record().questions} == {one.id for one in before} != set()


def test_question_that_the_charter_cannot_ask_is_dropped_with_a_sentence(judge):
    known = keep_question(("register", {"node": "n1"}), ("elect", {}), finding="f-1")
    gone = keep_question(("fly", {}), finding="f-2")
    other = keep_question(("register", {"broker": "n1"}), finding="f-3")
    wrong = keep_question(("register", {"node": 7}), finding="f-4")
    said = []
    judge("run", mended=True, said=said)
    dropped = "cannot be put any more, and is dropped"
    assert [one for one in said if dropped in one] == [
        f"the remembered question {gone[:12]} {dropped}: the charter has no operation fly",
        f"the remembered question {other[:12]} {dropped}: register has other parameters",
        f"the remembered question {wrong[:12]} {dropped}: node of register cannot be 7",
    ]
    assert record().questions == () and known  # that one conforms


def test_question_that_has_no_answer_is_dropped(judge, monkeypatch):
    """As where it breaks an assumption that the charter has by now."""

    def assume(charter, question, opaque):
        raise CannotAnswer("Undefined: elect is never repeated")

    keep_question(("elect", {}))
    monkeypatch.setattr("conform.runs.failures.remembered.answer_question", assume)
    said = []
    judge("run", mended=True, said=said)
    assert any("dropped: the charter has no answer to it (Undefined: elect is" in x for x in said)


def test_question_of_another_variant_waits_for_its_run(judge):
    keep_question(("elect", {}), variant="old")
    assert "remembered" not in judge("run", mended=True).summary
    assert len(record().questions) == 1


def test_vector_that_the_suite_has_is_not_asked_twice(judge, toy_suite):
    first = judge("first", suite=toy_suite)
    made_from = {one.vector for one in record().questions}
    assert made_from == {one["vector"] for one in first.summary["findings"]}
    assert "remembered" not in judge("again", suite=toy_suite).summary
    assert judge("of_poor").summary["remembered"]["count"] == len(made_from)
    judge("mended", suite=toy_suite, mended=True)
    assert record().questions == ()


def test_known_finding_is_no_failure(judge, tmp_path, capsys):
    place = tmp_path / "known.toml"
    judge("first", walks=70, baseline=Baseline(str(place)), update_baseline=True)
    place.write_text(place.read_text().replace('reason = ""', 'reason = "known"'))
    again = judge("again", baseline=read_baseline(str(place)))
    assert again.exit_code == 0
    ((name, kind),) = again.summary["remembered"]["dropped"].items()
    assert kind == "diverges"
    show(again)
    said = capsys.readouterr().out
    assert f"{name[:12]} shows what is listed now (overlay or baseline), and is dropped" in said


def test_question_that_breaks_the_adapter_is_remembered(called, targets_folder, poor_suite):
    targets_folder("crash")
    given = ("--target", "fake-crash", "--suite", poor_suite, "--engine", "inline")
    called("run", *given, "--walks", "20", "--steps", "4")
    questions = read_record(target("fake-crash"), "", {}).questions
    assert questions and all(one.finding.startswith("crashed ") for one in questions)
    code, out, _ = called("run", *given, "--json")
    summary = json.loads(out)["summary"]
    assert (code, summary["remembered"]["verdicts"]) == (3, {"crashed": len(questions)})
    assert any("remembered question" in one and "not judged: " in one for one in summary["reasons"])


def test_same_questions_are_judged_when_a_run_goes_on(judge):
    judge("first", walks=70)
    whole = judge("again")
    folder = Path(whole.folder.place)
    (folder / "summary.json").unlink()
    (folder / "commits" / "bucket=0000.json").unlink()
    said = []
    resumed = judge("again", said=said)
    assert any("continuing the run" in one for one in said)
    assert resumed.summary["remembered"] == whole.summary["remembered"]


def test_run_starts_again_when_other_questions_are_remembered(judge):
    judge("first", walks=70)
    folder = Path(judge("again").folder.place)
    (folder / "summary.json").unlink()
    keep_question(("register", {"node": "n2"}), ("elect", {}))
    said = []
    judge("again", said=said)
    assert any("the remembered questions changed since the run" in one for one in said)


def test_it_is_judged_again_without_the_target(judge, poor_suite, tmp_path):
    judge("first", walks=70)
    run = judge("again")
    again = rejudge(
        run.folder.place, open_suite(str(poor_suite), 1), RejudgeOptions(str(tmp_path / "new"))
    )
    assert again.summary["remembered"]["verdicts"] == run.summary["remembered"]["verdicts"]
    assert "walks" not in again.summary and again.summary["vectors"] == 2


def test_replay_shows_a_remembered_question(judge, called):
    judge("first", walks=70)
    run = judge("again")
    (name,) = [one.id for one in record().questions]
    code, out, _ = called("replay", name[:12], "--run", run.folder.place)
    assert code == 1 and "diverges: " in out


def test_few_questions_are_remembered_of_a_target(judge):
    for number in range(QUESTIONS_MAX):
        keep_question(
            ("register", {"node": "n1"}), *[("elect", {})] * number, finding=f"f-{number}"
        )
    judge("first", walks=70)
    assert len(record().questions) <= QUESTIONS_MAX


def test_record_of_another_version_counts_as_none(judge, tmp_path):
    keep_question(("elect", {}))
    (path,) = tmp_path.rglob("failed/*.json")
    held = orjson.loads(path.read_bytes())
    for content in ({"v": "w"}, [], {**held, "questions": [{"question": {}}]}):
        path.write_bytes(orjson.dumps(content))
        assert record() == FailedRecord()
