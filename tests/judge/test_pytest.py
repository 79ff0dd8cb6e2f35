"""Vectors as tests of pytest: `pytest --charter`."""

import re
import shutil
from pathlib import Path

import pytest
from tests.support.drawn.nested import run_pytest
from tests.support.toy.vectors import write_toy_suite

from charter.formats.vector import OperationCall, Question
from conform.adapters.targets import target
from conform.runs.failures.record import FailedQuestion, FailedRecord, read_record, write_record
from conform.suites.cache import open_suite

FAKES = "tests.support.fakes.fake:"
WITHOUT_CANARIES = ("--deselect", "charter::canaries")
SOME = ("-k", "elect/nobody and not canaries")
BESIDE = 'id = "mine"\ntitle = "Mine"\nstart = ["nothing"]\n'
CHANGING = f"""from pathlib import Path
from {FAKES[:-1]} import Fake
class Changing(Fake):
    def start(self, question):
        Path(__file__).with_name("more.py").touch()
        super().start(question)
"""


@pytest.fixture
def asked(toy_suite, targets_folder, capsys, tmp_path):
    """Runs pytest in a project without other tests: its exit code, and what it prints."""
    targets_folder("faithful")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    def run(adapter, *more, suite=toy_suite):
        given = ["-p", "conform.testing", "-q", "-s", f"--charter={suite}"]
        given.append(f"--charter-adapter={adapter}")
        return run_pytest((*given, *more)), "".join(capsys.readouterr())

    return run


def list_failed(out):
    return sorted(re.findall(r"^FAILED (charter::\S+)", out, re.MULTILINE))


def test_an_implementation_that_conforms_passes_with_its_canaries(asked):
    code, out = asked(f"{FAKES}Fake")
    assert code == 0, out
    assert "62 passed" in out
    last = "toy.lease keeper, suite [0-9a-f]{8}: 61 of 61 vectors conform; the canaries behave"
    assert re.search(last, out)


def test_tests_are_chosen_by_branch_and_what_was_not_run_is_told(asked):
    code, out = asked(f"{FAKES}Fake", "-k", "WRITE/committed and not canaries")
    assert code == 0
    ran = int(re.search(r"(\d+) passed", out)[1])
    assert 0 < ran < 60
    assert f"{ran} of 61 vectors conform, {61 - ran} were not run; the canaries were not" in out


def test_a_failure_has_both_sides_and_the_command_and_is_known_by_a_baseline(asked, tmp_path):
    code, out = asked(f"{FAKES}WrongError", *SOME)
    assert code == 1 and "Traceback" not in out and "Error:" not in out
    assert "elect/nobody: expected reply.error = NOBODY, got NOT_LEADER" in out
    assert re.search(r"reply\.error +NOBODY +NOT_LEADER", out)
    again = r"again: pytest --charter=\S+ --charter-adapter=\S+WrongError -k [0-9a-f]{12}"
    assert re.search(again, out)
    (finding,) = set(re.findall(r"finding (f-[0-9a-f]{10}) \(reply\)", out))
    wrong = list_failed(out)

    last_failed = list_failed(asked(f"{FAKES}WrongError", "--lf", "-x")[1])
    assert len(last_failed) == 1 and last_failed[0] in wrong

    place = tmp_path / "known.toml"
    rest = 'finding = ""\nsuite = "another"\nvectors = 1\nshown = ""\n'
    place.write_text(f'[{finding}]\nreason = "LEASE-17"\n{rest}')
    known = f"--charter-baseline={place}"
    code, out = asked(f"{FAKES}WrongError", "-rx", known, *SOME)
    assert (code, list_failed(out)) == (0, [])
    assert f"{len(wrong)} xfailed" in out and f"{finding}: LEASE-17" in out
    told = "of 1 known finding only rule and place were compared, as another suite listed it: "
    assert told + finding in out

    code, out = asked(f"{FAKES}Fake", known, *WITHOUT_CANARIES)
    assert code == 1
    assert f"known.toml lists findings that no vector showed: {finding}; remove them" in out
    assert "exit code 1, though no test failed: known findings that are gone must leave" in out
    assert asked(f"{FAKES}Fake", known, *SOME)[0] == 0, "not all were asked"


def test_a_known_finding_that_is_not_as_it_was_listed_fails_the_session(
    asked, conform, toy_suite, targets_folder, tmp_path
):
    place = tmp_path / "known.toml"
    given = ("--suite", toy_suite, "--engine", "inline", "--no-shrink", "--update-baseline")
    conform("run", "--target", targets_folder("wrong_error"), *given, "--baseline", place)
    place.write_text(place.read_text().replace('reason = ""', 'reason = "LEASE-17"'))
    known = f"--charter-baseline={place}"
    code, out = asked(f"{FAKES}WrongError", known, *WITHOUT_CANARIES)
    assert (code, "are not as they were" in out) == (0, False), out
    place.write_text(re.sub('shown = ".*"', 'shown = "00"', place.read_text()))
    code, out = asked(f"{FAKES}WrongError", known, *WITHOUT_CANARIES)
    assert (code, "lists findings that are not as they were by this suite: f-" in out) == (1, True)


def test_what_failed_last_is_chosen_and_counted_among_all_that_was_collected(asked):
    code, out = asked(f"{FAKES}WrongError", "-v", *WITHOUT_CANARIES)
    wrong = list_failed(out)
    assert code == 1 and 1 < len(wrong) < 61

    code, out = asked(f"{FAKES}WrongError", "--lf", "-v")
    chosen = f"collected 62 items / {62 - len(wrong)} deselected / {len(wrong)} selected"
    assert chosen in out and f"rerun previous {len(wrong)} failures" in out
    assert (code, list_failed(out)) == (1, wrong)
    assert f"{len(wrong)} failed, {62 - len(wrong)} deselected" in out

    code, out = asked(f"{FAKES}WrongError", "--ff", "-vv", *WITHOUT_CANARIES)
    assert f"rerun previous {len(wrong)} failures first" in out
    ran = re.findall(r"^(charter::\S+) (PASSED|FAILED)", out, re.MULTILINE)
    assert sorted(name for name, _ in ran[: len(wrong)]) == wrong
    assert {what for _, what in ran[len(wrong) :]} == {"PASSED"}


def test_a_target_runs_in_its_own_process(asked, targets_folder):
    name = targets_folder("no_load")
    code, out = asked(f"adapters/{name}", *WITHOUT_CANARIES)
    assert code == 1
    assert re.search(r"[1-9]\d* could not be compared; not compared: ", out)
    last = "exit code 1, though no test failed: not compared: "
    assert out.splitlines()[-1].startswith(last) or f"\n{last}" in out


def test_a_target_gets_the_values_of_its_parameters(asked, targets_folder):
    path = Path("adapters") / targets_folder("faithful") / "adapter.toml"
    text = path.read_text().replace("'faithful'", "'{mode}'")
    path.write_text(f'{text}\n[parameters.mode]\nhelp = "which mistake to make"\n')
    given = "--charter-set=mode=wrong_error"
    code, out = asked(str(path.parent), given, *WITHOUT_CANARIES)
    assert code == 1
    assert f"--charter-adapter={path.parent} {given} -k" in out
    code, out = asked(str(path.parent), "--charter-set=mode", *WITHOUT_CANARIES)
    assert "'mode' is not NAME=VALUE" in out


def test_a_variable_that_the_adapter_hides_fails_the_session(asked, targets_folder):
    code, out = asked(f"{FAKES}Leaderless", "-m", "charter")
    assert code == 1 and "FAILED" not in out
    assert "61 of 61 vectors conform; not compared: the variable leader; the canaries " in out
    assert "exit code 1, though no test failed: not compared: the variable leader; adapter" in out
    code, out = asked(f"{FAKES}Leaderless", "-o", "charter_strict=false")
    assert code == 0
    assert "61 of 61 vectors conform; not compared: the variable leader; the canaries " in out


def test_an_image_that_is_claimed_and_never_given_fails_the_session(asked, targets_folder):
    code, out = asked(f"adapters/{targets_folder('never_shown')}", *WITHOUT_CANARIES)
    assert code == 1
    assert "exit code 1, though no test failed: not compared: the image of " in out


def test_a_session_during_which_files_change_fails(asked, targets_folder, tmp_path, monkeypatch):
    file = Path("adapters", targets_folder("faithful"), "adapter.toml")
    first = 'start = ["sh", "-c", "date +%N > {adapter}/impl.py; exec \\"$0\\" \\"$@\\"", '
    file.write_text(file.read_text().replace("start = [", first))
    code, out = asked(file.parent, *SOME)
    warning = "the adapter's files changed during the run, so the run cannot be trusted"
    assert (code, out.count(warning), "FAILED" in out) == (1, 1, False), out
    assert f"exit code 1, though no test failed: {warning}" in out
    code, out = asked(file.parent, *SOME, "-o", "charter_strict=false")
    assert (code, out.count(warning)) == (0, 1), out
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "changing.py").write_text(CHANGING)
    (tmp_path / "beside" / "adapter.toml").write_text(BESIDE)
    monkeypatch.syspath_prepend(str(tmp_path / "beside"))
    assert warning in asked("changing:Changing", *SOME)[1]


def test_what_failed_with_the_same_files_and_conforms_now_is_told(asked, targets_folder, tmp_path):
    target = f"adapters/{targets_folder('wrong_first', str(tmp_path / 'memory'))}"
    wrong = re.search(r"(\d+) fail, ", asked(target, *SOME)[1])[1]
    code, out = asked(target, *SOME)
    told = f"{wrong} vectors that failed in the last run of the same files conform now, such as "
    assert (code, out.count(told)) == (0, 1), out
    assert "conform now" not in asked(target, *SOME)[1]


def test_session_without_canaries_drops_no_remembered_question(asked, targets_folder, toy_suite):
    folder = f"adapters/{targets_folder('faithful')}"
    vector = next(iter(open_suite(str(toy_suite), 1).items(0)))
    question = Question("toy.lease", "", "keeper", {"Node": {"n1": 1}}, None,
                        (OperationCall("elect", {}),))  # fmt: skip
    failed = FailedQuestion(question, "f-1", vector.id)
    write_record(target(folder), "", {}, FailedRecord({}, (failed,)))
    asked(folder, "-m", "charter", *WITHOUT_CANARIES)
    assert read_record(target(folder), "", {}).questions == (failed,)
    asked(folder, "-m", "charter")
    assert read_record(target(folder), "", {}).questions == ()


def test_adapter_toml_beside_a_module_allows_what_it_hides(asked, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "hiding.py").write_text(f"from {FAKES[:-1]} import Leaderless\n")
    allowed = '[not_compared]\n"variable leader" = "it has none"\n'
    (tmp_path / "mine" / "adapter.toml").write_text(BESIDE + allowed)
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    code, out = asked("hiding:Leaderless", "-m", "charter")
    assert code == 0, out
    assert "61 of 61 vectors conform; not compared: the variable leader (allowed); the" in out


def test_canaries_fail_when_the_reference_does_not_conform(asked, tmp_path):
    write_toy_suite(tmp_path / "other", 20, charter_model="charter_models.toy.no_epoch_check")
    code, out = asked(f"{FAKES}Fake", "-k", "canaries", suite=tmp_path / "other")
    assert code == 1
    assert "canary reference (pytest): expected conforms, got diverges" in out


@pytest.mark.parametrize(
    ("adapter", "suite", "sentence"),
    [
        ("", None, "--charter needs an implementation"),
        ("no.such:Adapter", None, "no.such:Adapter cannot be imported"),
        ("adapters/none", None, "there is no target 'adapters/none'"),
        (f"{FAKES}Fake", "nowhere", "there is no suite 'nowhere'"),
    ],
)
def test_what_is_missing_is_one_sentence(asked, toy_suite, adapter, suite, sentence):
    code, out = asked(adapter, suite=suite or toy_suite)
    assert code == 4
    assert sentence in out and "Traceback" not in out


def test_a_folder_above_a_suite_is_answered_with_the_suites_below_it(asked, toy_suite):
    shutil.copytree(toy_suite, "above/toy/keeper")
    code, out = asked(f"{FAKES}Fake", suite="above")
    assert code == 4
    assert "no suite at above itself; name one of those below it: above/toy/keeper" in out


def test_an_adapter_of_another_component_is_one_error_before_the_first_vector(asked):
    code, out = asked(f"{FAKES}OtherComponent")
    assert code == 4
    assert out.count("drives the component register, but the suite is about keeper") == 1
    assert "FAILED" not in out and "Traceback" not in out and "INTERNALERROR" not in out


def test_what_is_no_implementation_is_told_in_one_sentence(asked):
    code, out = asked("collections:Counter")
    assert code == 4 and "INTERNALERROR" not in out
    assert "collections:Counter has no method `perform`, so it is no `conform.sdk.Imple" in out


def test_nothing_is_connected_where_no_vector_is_chosen(asked):
    for option, expected in (("--collect-only", 0), ("-k=no_such_branch", 5)):
        code, out = asked(f"{FAKES}OtherComponent", option)
        assert code == expected and "61 were not run" in out, option


def test_models_of_a_suite_in_another_project_are_found(asked, toy_suite, tmp_path):
    other = tmp_path / "other"
    suite = other / "generated" / "suites" / "toy"
    shutil.copytree(toy_suite, suite)
    shutil.move(tmp_path / "generated" / "charter_models", other / "generated")
    code, out = asked(f"{FAKES}Fake", *SOME, suite=suite)
    assert code == 4, "a folder without a project file says nothing about models"
    assert "Traceback" not in out and "INTERNALERROR" not in out
    (other / "charter.toml").touch()
    code, out = asked(f"{FAKES}Fake", *SOME, suite=suite)
    assert code == 0, out


@pytest.mark.slow
def test_the_tests_run_in_several_processes(asked, tmp_path):
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {Path(__file__).parents[2]}\n")
    code, out = asked(f"{FAKES}OtherComponent", "-n", "2")
    assert code == 4 and "INTERNALERROR" not in out
    assert out.count("drives the component register") == 1
    code, out = asked(f"{FAKES}Fake", "-n", "2")
    assert code == 0, out
    assert "61 of 61 vectors conform; the canaries behave as they must" in out
