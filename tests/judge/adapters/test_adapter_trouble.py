"""What is wrong with an adapter is told where it happens."""

import itertools
import json
import re

import pytest
from tests.support.judging import fake_start, judge
from tests.support.toy import charter
from tests.support.toy.vectors import vector, write_toy_vectors

from charter.formats.target import DEADLINES
from conform.adapters.base import AdapterBroken, SentQuestion
from conform.adapters.doctor import Probes, check_adapter
from conform.adapters.leftover_state import OrderComparison, sample_of
from conform.adapters.reference import Reference
from conform.adapters.stdio import StdioConnection
from conform.runs.findings.failing_operation import breaking_step
from conform.sdk import Question
from conform.suites.importing import item_of

WORLD = {"sorts": {"Node": {"n1": 0, "n2": 7}}}
WRITE = {"node": "n1", "epoch": {"ref": [0, "registration", "n1", "epoch"]}, "version": 0}


@pytest.fixture
def ran(called, targets_folder, tiny_toy_suite):
    """Runs a fake over the tiny suite: exit code, stdout, stderr."""

    def run(mode, *more):
        target = targets_folder(mode)
        given = ("--suite", tiny_toy_suite, "--engine", "inline", *more)
        return called("run", "--target", target, *given)

    return run


def test_value_of_another_type_is_an_error_of_the_adapter_when_types_are_known(ran):
    code, out, _ = ran("mistyped", "--json")
    summary = json.loads(out)["summary"]
    assert code == 3
    assert summary["verdicts"]["diverges"] == summary["deviations"] == 0
    (trouble,) = summary["adapter_trouble"]
    assert trouble["kind"] == "adapter_error"
    told = 'step 1: reply.epoch is 0, not an opaque counter such as "@17"'
    assert trouble["detail"] == told


@pytest.mark.parametrize("mode", ["lacking", "lacking_and_partial"])
def test_variable_that_hello_claims_is_named_when_an_observation_lacks_it(ran, mode):
    code, out, _ = ran(mode, "--json")
    summary = json.loads(out)["summary"]
    assert code == 3
    assert summary["verdicts"]["diverges"] == summary["deviations"] == 0
    (trouble,) = summary["adapter_trouble"]
    assert trouble["kind"] == "adapter_error"
    assert trouble["detail"] == (
        "step 0: the observation lacks version, which the adapter's hello names in observes"
    )


def test_last_words_of_an_adapter_and_a_vector_are_on_the_terminal(ran):
    code, out, _ = ran("crash")
    assert code == 1  # the overlay's entry is not seen, which is a finding of its own
    lines = out.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("  crashed: "))
    assert re.search(r"vectors: it ended with 139, in step [1-9]: failover \{\}$", lines[place])
    assert lines[place + 1] == "    | Segmentation fault, says the fake"
    assert lines[place + 2].startswith("    see: conform replay ")
    assert " --run build/runs/fake-crash-" in lines[place + 2]


def test_states_that_cannot_be_loaded_are_told_with_what_allows_them(
    called, tmp_path, targets_folder
):
    given = {**charter.encode(charter.initial({"Node": ["n1", "n2"]})), "version": 3}
    del given["session"]
    register = ("register", {"node": "n1"})
    vectors = [vector(register, given={**given, "version": version}) for version in range(3, 6)]
    write_toy_vectors(tmp_path / "given", vectors)
    first, *rest = sorted(f"vector {one.id}" for one in vectors)
    file = tmp_path / "adapters" / targets_folder("not_loadable") / "adapter.toml"
    file.write_text(f'{file.read_text()}\n[not_compared]\n"{first}" = "it has none"\n')
    out = called("run", "--target", file.parent, "--suite", tmp_path / "given")[1]
    lines = out.splitlines()
    told = "2 vectors start in a state that could not be loaded (version was 3, is 0): load it if"
    told += " the target can be in it, or allow it by a reason in adapter.toml, under"
    place = lines.index(f"{told} [not_compared]:")
    assert lines[place + 1 : place + 3] == [f'    "{name}" = "why"' for name in rest]
    assert first not in lines[place + 3]


@pytest.mark.parametrize(("mode", "kind"), [("hang", "timed_out"), ("errs", "adapter_error")])
def test_step_at_which_an_adapter_breaks_is_found(mode, kind):
    calls = [("register", {"node": "n1"}), ("failover", {}), ("elect", {})]
    broken = item_of(vector(*calls))
    assert judge(mode, [vector(*calls)])[broken.id].kind == kind
    found = breaking_step(fake_start(mode), broken)
    assert (found.step, found.operation, found.args) == (2, "failover", {})
    assert breaking_step(fake_start(mode), item_of(vector(calls[0]))) is None


def test_step_is_that_of_the_initial_state_when_an_adapter_breaks_on_every_question():
    found = breaking_step(fake_start("always_crash"), item_of(vector(("elect", {}))))
    assert found.json() == {"step": 0, "operation": "", "args": None}


def test_finding_that_does_not_repeat_alone_says_so(ran):
    code, out, _ = ran("leaks", "--json")
    (found,) = [one for one in json.loads(out)["summary"]["findings"] if not one["entry"]]
    assert code == 1 and not found["shrunk"]
    assert found["sentence"].startswith("asked alone, the vector conforms: the adapter keeps state")


def test_replay_shows_what_the_vector_asks_when_the_adapter_broke(ran, called):
    out = ran("crash", "--out", "run")[1]
    command = next(line for line in out.splitlines() if line.startswith("    see: conform replay "))
    told = called(*command.split()[2:])[1].splitlines()
    asked = [line.split(maxsplit=1)[1] for line in told if line[:3].strip().isdigit()]
    assert "failover()" in asked
    assert told[-1].startswith("crashed: 0 steps judged")


def test_stderr_of_questions_that_were_answered_is_not_that_of_a_crash():
    """As where one question after the other is asked: by `doctor`, and after a broken batch."""
    connection = StdioConnection(fake_start("crash"))
    child = connection._child
    child.stderr += b"an earlier traceback"
    calm, fatal = vector(("register", {"node": "n1"})), vector(("failover", {}))
    for asked in (calm, fatal):
        connection.send([SentQuestion(asked.id, "n", item_of(asked).question)], 5.0)
        answer = connection.receive()
    assert isinstance(answer, AdapterBroken)
    assert "earlier" not in answer.detail and "Segmentation fault" in answer.detail


def test_an_exception_in_an_adapter_is_told_with_what_to_do_about_it(ran):
    out = ran("errs")[1]
    told = r": an exception in the adapter: KeyError: 'failover' \(fake\.py:\d+\), in step "
    assert re.search(told, out)
    assert "a finding if the adapter reports it as a `Fault`: conform help adapters\n" in out
    assert "Fault" not in ran("crash")[1]


def test_replay_shows_where_an_exception_in_an_adapter_came_from(ran, called):
    out = ran("errs", "--out", "run")[1]
    command = next(line for line in out.splitlines() if line.startswith("    see: conform replay "))
    told = called(*command.split()[2:])[1]
    assert re.search(
        r"\(an exception in the adapter: KeyError: 'failover' \(fake\.py:\d+\)\)", told
    )
    assert "  | KeyError: 'failover'\n" in told


def test_hello_with_a_name_that_the_charter_lacks_ends_the_run_before_it_begins(ran, tmp_path):
    code, out, err = ran("misnamed", "--out", str(tmp_path / "run"))
    assert (code, out) == (2, "")
    assert "names the operation 'regster' in operations, which the charter does not have" in err
    assert "did you mean register?" in err
    assert not (tmp_path / "run").exists()


def rules(mode, probes):
    start = fake_start(mode, deadlines=DEADLINES)
    return {check.rule: check for check in check_adapter(start, probes)}


def test_doctor_tells_of_results_without_steps_when_an_adapter_leaves_them_out():
    found = rules("no_steps", Probes(WORLD))
    told = found["answers a question without operations"]
    assert (told.ok, told.detail) == (False, "status ok, 0 steps: ")
    assert found["keeps no state of the question before"].detail == "status ok, no steps: "


def test_probes_have_the_arguments_of_their_operation_when_calls_are_known():
    """An adapter in a typed language reads all arguments before it looks for references."""
    calls = {"register": {"node": "n1"}, "write": WRITE, "expire": {"node": "n1"}}
    found = rules("typed", Probes(WORLD, calls))
    assert all(check.ok for check in found.values())
    assert not rules("typed", Probes(WORLD))["keeps no state of the question before"].ok


def test_doctor_asks_the_sample_in_several_orders():
    calls = ("register", {"node": "n1"}), ("failover", {})
    asked = [vector(("elect", {})), vector(*calls), vector(("expire", {"node": "n1"}))]
    sample = sample_of(map(item_of, asked))
    rule = "keeps no state of the question before"
    assert rules("faithful", Probes(WORLD, sample=sample))[rule].detail.startswith("3 questions ")
    found = rules("leaks", Probes(WORLD, sample=sample))[rule]
    assert not found.ok
    assert found.detail.startswith("step 1, elect: reply is ") and "NOT_LEADER" in found.detail


def test_leftover_state_is_found_when_the_machine_is_slow():
    asked = [vector(("elect", {})), vector(("register", {"node": "n1"}), ("failover", {}))]
    connection = StdioConnection(fake_start("leaks", deadlines=DEADLINES))
    hours = itertools.count(step=3600)
    try:
        compared = OrderComparison(connection, DEADLINES.one, clock=lambda: next(hours))
        told = compared.compare(sample_of(map(item_of, asked))).told
    finally:
        connection.close()
    assert told.startswith("step 1, elect: reply is ")


def test_judge_without_types_takes_a_value_of_another_type_for_a_deviation():
    asked = vector(("register", {"node": "n1"}))
    assert judge("mistyped", [asked])[asked.id].kind == "diverges"


def test_unknown_component_is_one_sentence(called, toy):
    code, out, err = called("vectors", toy, "--component", "sever")
    assert (code, out) == (2, "")
    assert err.startswith("conform: there is no component 'sever'; there are: ")


def test_doctor_asks_for_the_module_of_a_model(called):
    code, out, err = called("doctor", "--adapter", "reference")
    assert (code, out) == (2, "")
    assert "reference runs a generated model: name its module, as in --model charter_mo" in err


def test_doctor_without_suite_gives_the_remedy_and_accuses_no_adapter(
    called, targets_folder, tmp_path, monkeypatch
):
    """Its own questions have no constants, which an adapter of a charter with some needs."""
    target = targets_folder("typed")
    monkeypatch.chdir(tmp_path)
    code, out, err = called("doctor", "--adapter", target)
    assert (code, out) == (2, "")
    assert err.startswith("conform: no generated suite fits fake-typed, an adapter of the comp")
    assert "run `conform generate` or `conform test` first, since questions without sorts" in err
    assert called("doctor", "--adapter", target, "--sorts", "{}")[0] == 1


def test_the_reference_says_what_a_question_lacks(called):
    class Leases:
        SPEC_DIGEST = COMPONENT = ""

        def initial(self, _, consts):
            return consts["ttl"]

    with pytest.raises(ValueError, match=r"the question lacks 'ttl'.* --sorts and --consts of"):
        Reference(Leases()).start(Question("q", {}, None))
    code, _, err = called("doctor", "--adapter", "reference", "--model", "charter_models.none")
    assert code == 2
    assert "charter_models.none, which cannot be imported (" in err and "Traceback" not in err


def test_variable_that_is_not_shown_is_told_with_what_to_write(ran):
    out = ran("partial")[1]
    assert 'under [not_compared]:\n    "variable registration" = "why"\n' in out


def test_operation_that_is_claimed_and_refused_is_told_with_both_remedies(ran):
    out = ran("claims_and_refuses")[1]
    assert "next: write `failover`" in out
    assert 'adapter.toml, under [not_compared]: "unsupported failover" = "why"\n' in out
