"""`conform eval` and `conform repl`: expressions in states of instances, scenarios and traces."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from tests.support.edited_texts import LEASE

from charter import api
from charter.api import evaluate
from charter.render.story.itf import decode, encode
from conform.cli.main import main

EXAMPLES = Path(__file__).parents[4] / "spec" / "examples"


@pytest.fixture
def lease(tmp_path: Path) -> str:
    path = tmp_path / "lease.charter"
    path.write_text(LEASE, encoding="utf-8")
    return str(path)


def read_printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command prints; its errors if it does not end with 0."""
    assert main(arguments) == code
    found = capsys.readouterr()
    return found.out.strip() if code == 0 else found.err.strip()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("lock", "Lock { owner: none, token: 0, uses: 0 }"),
        ("lock.uses + most", "2"),
        ("{ c in Client if c != bob }", "{ann}"),
        ("taken(lock, ann)", "false"),
        ("if lock.owner is present(c) then granted(lock.token) else refused(FREE)",
         "refused(FREE)"),
    ],
)  # fmt: skip
def test_an_expression_has_its_value_when_the_state_is_the_initial_one(
    lease: str, capsys: pytest.CaptureFixture[str], expression: str, value: str
) -> None:
    assert read_printed(capsys, "eval", lease, "--instance", "tiny", expression) == value
    assert read_printed(capsys, "eval", lease, expression) == value


def test_a_value_has_type_and_json_when_json_is_asked_for(
    lease: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(read_printed(capsys, "eval", lease, "{ann, bob}", "--json"))
    assert found == [{"type": "set Client", "value": ["ann", "bob"]}]


def test_the_state_is_that_behind_a_line_when_a_scenario_is_named(
    lease: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = LEASE[: LEASE.index("do acquire(ann)")].count("\n") + 1
    scenario = ("eval", lease, "lock.owner", "--scenario", "ann")
    assert read_printed(capsys, *scenario) == "ann"
    assert read_printed(capsys, *scenario, "--line", str(line)) == "ann"
    assert read_printed(capsys, *scenario, "--line", str(line - 1)) == "none"


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("nobody",), 1, "the expression has 1 error"),
        (
            ("value(lock.owner) == ann or true",),
            1,
            "it has no value in the initial state of tiny: value(none), in `value(lock.owner)`",
        ),
        (("lock", "--scenario", "bob"), 2, "no scenario begins with 'bob'; there are: 'ann first'"),
        (("lock", "--line", "3"), 2, "--line is for --scenario"),
        (("lock", "--step", "3"), 2, "--step is for --trace"),
        (("lock", "--instance", "huge"), 2, "there is no instance 'huge'; there are: tiny"),
    ],
)
def test_the_reason_is_one_sentence_when_nothing_can_be_evaluated(
    lease: str,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    why: str,
) -> None:
    assert why in read_printed(capsys, "eval", lease, *arguments, code=code)


@pytest.mark.parametrize("form", ["itf", "search"])
def test_the_state_is_that_after_a_step_when_a_trace_is_given(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter, trace = tmp_path / "lease.charter", tmp_path / "trace.json"
    charter.write_text(LEASE.replace("lock.uses == 0", "lock.token == 0"))
    options = ["explore", str(charter), "--most", "100"]
    assert main([*options, *(("--itf", str(trace)) if form == "itf" else ("--json",))]) == 1
    if form == "search":
        trace.write_text(capsys.readouterr().out, encoding="utf-8")
    capsys.readouterr()
    asked = ("eval", str(charter), "lock.token", "--trace", str(trace))
    assert read_printed(capsys, *asked, "--step", "0") == "0"
    assert read_printed(capsys, *asked, "--step", "1") == "1"
    assert read_printed(capsys, *asked) == "1"
    assert "the steps 0 to 1, not 9" in read_printed(capsys, *asked, "--step", "9", code=2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no json", "is not JSON"),
        ("[]", "neither a trace in ITF"),
        ('{"findings": []}', "no finding with a trace"),
        ('{"vars": [], "states": [{}]}', "has no variable lock"),
        ('{"vars": [], "states": [7]}', "is no object"),
        ('{"vars": [], "states": [{"lock": {"owner": 1, "token": 0, "uses": 0}}]}', "lock: {"),
    ],
)
def test_a_damaged_trace_is_one_sentence_when_it_is_read(
    lease: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(text, encoding="utf-8")
    assert why in read_printed(capsys, "eval", lease, "lock", "--trace", str(trace), code=2)


@pytest.mark.parametrize("name", ["two_phase_commit", "primary_backup", "ring_election"])
def test_a_value_of_itf_is_the_value_when_it_is_read_again(name: str) -> None:
    charter, model = api.load_charter(EXAMPLES / f"{name}.charter")
    place = evaluate.in_instance(charter, api.PLAIN, model, "")
    machine, seen = place.machine, 0
    for _ in range(6):
        (state, _), seen = place.states[0], seen + 1
        for variable in machine.variables:
            data = encode(variable.type, state[variable.name], machine.universe)
            data = json.loads(json.dumps(data))
            assert decode(variable.type, data, machine.universe) == state[variable.name]
        *_, (_, place) = place.steps()
    assert seen == 6


def test_states_are_walked_when_the_lines_say_so(
    lease: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ":state\n:steps\n:step 2\nlock.owner\n:back\nlock.owner\n\n:quit\nlock\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert read_printed(capsys, "repl", lease).splitlines() == [
        "lock = Lock { owner: none, token: 0, uses: 0 }",
        "  1  acquire(ann) -> free: lock.owner: none -> ann; lock.token: 0 -> 1",
        "  2  acquire(bob) -> free: lock.owner: none -> bob; lock.token: 0 -> 1",
        "acquire(bob) -> free: lock.owner: none -> bob; lock.token: 0 -> 1",
        "bob: option Client",
        "the initial state of tiny",
        "none: option Client",
    ]


@pytest.mark.parametrize("word", ["quit", "exit", ":quit"])
def test_words_that_people_try_first_are_commands(
    word: str, lease: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"help\n{word}\nlock"))
    told = read_printed(capsys, "repl", lease)
    assert told.count("\n") == 0 and ":steps, :step N, do op(...), :back, :help, :quit" in told


def test_variable_is_no_command_when_it_is_called_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lease.charter"
    path.write_text(re.sub(r"\block\b", "help", LEASE), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("help\n"))
    assert "Lock { owner: none" in read_printed(capsys, "repl", str(path))


def test_mistakes_do_not_end_it_when_a_line_is_wrong(
    lease: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.StringIO(":step 9\n:back\n:jump\nnobody\nvalue(lock.owner)")
    )
    assert main(["repl", lease]) == 0
    errors = capsys.readouterr().err
    assert "there is no step '9'" in errors and "this is the first state" in errors
    assert "there is no :jump" in errors and "the expression has 1 error" in errors
    assert "it has no value" in errors


def test_an_element_of_another_instance_is_told_with_the_instance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lease.charter"
    more = "instance large of lease { Client = {ann, bob, eve} most = 2 }\n"
    path.write_text(LEASE + more, encoding="utf-8")
    told = read_printed(capsys, "eval", str(path), "{ann, eve}", code=1)
    assert "eve is an element in the instance large, not in tiny: --instance large" in told
    assert "element" not in read_printed(capsys, "eval", str(path), "{ann, ida}", code=1)


def test_an_operation_is_told_with_the_command_that_takes_it(
    lease: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "acquire(bob)\nacquire( bob )\nacquire(eve)\nacquire\ntaken(lock, ann)\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert main(["repl", lease]) == 0
    found = capsys.readouterr()
    assert found.out == "false: bool\n"
    takes = "acquire is no function but a step; to take it: :step 2"
    lists = "acquire is no function but a step; :steps lists those that can be taken, :step N takes"
    assert [line.startswith((takes, lists)) for line in found.err.splitlines()] == [True] * 4
    assert found.err.count(takes) == 2


def test_a_step_is_taken_when_it_is_written_as_in_a_scenario(
    lease: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "do acquire( bob )\nlock.owner\n:back\ndo acquire(ann) -> free\nlock.owner\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert read_printed(capsys, "repl", lease).splitlines() == [
        "acquire(bob) -> free: lock.owner: none -> bob; lock.token: 0 -> 1",
        "bob: option Client",
        "the initial state of tiny",
        "acquire(ann) -> free: lock.owner: none -> ann; lock.token: 0 -> 1",
        "ann: option Client",
    ]


def test_a_step_that_cannot_be_taken_is_told_when_it_is_written_out(
    lease: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "do acquire(ann) -> taken\ndo fly(ann)\ndo acquire\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert main(["repl", lease]) == 0
    first, second, third = capsys.readouterr().err.splitlines()
    assert "acquire(ann) -> taken cannot be taken" in first
    assert "there is no step 'fly'" in second and "write `do op(a, b)`" in third
