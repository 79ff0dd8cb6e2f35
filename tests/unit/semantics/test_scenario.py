"""Scenarios on the definition: a `let` is bound once, a failure says what was there instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import api
from charter.diagnostics import Source
from charter.project.pipeline import check_texts
from charter.semantics.scenario import ScenarioFails, follow
from conform.cli.main import main

LEASE = """protocol test.lease
sort Node
counter Token

component lease {
  state holder: option Node = none
  state token: Token = 0
  operation acquire(n: Node) -> bool {
    branch held when taken: holder != none  reply false
    branch granted { holder' = present(n)  token' = bump(token)  reply true }
  }
  operation release() -> bool {
    branch released { holder' = none  reply true }
  }
}
system service {
  lease: lease
  state calls: int 0..3 = 0
  step call(n: Node) {
    require calls < 2
    require lease.holder != present(n)
    calls' = calls + 1
    lease.acquire(n)
  }
}
witness granted of lease: took acquire/granted
witness called of service: calls == 1
"""


def failure(lines: str, machine: str = "lease") -> ScenarioFails:
    model = api.load_text(scenario(lines, machine))
    with pytest.raises(ScenarioFails) as fails:
        follow(model, model.scenarios[0])
    return fails.value


def scenario(lines: str, machine: str = "lease") -> str:
    return f'{LEASE}scenario "s" of {machine} {{\n  Node = {{a, b}}\n{lines}\n}}\n'


def test_a_let_keeps_the_value_that_it_had_where_it_stands() -> None:
    model = api.load_text(
        scenario(
            "do acquire(a)  let first = token  do release()  do acquire(b)\n"
            "expect first != token  let again = first  expect again == first"
        )
    )
    assert len(follow(model, model.scenarios[0])) == 1


def test_a_let_without_a_value_fails_where_it_stands() -> None:
    found = failure("let h = value(holder)\ndo acquire(a)")
    assert found.span.source.line(found.span.source.position(found.span.start)[0]) == (
        "let h = value(holder)"
    )


def test_a_false_expectation_says_what_was_there() -> None:
    found = failure('step "1 first"\ndo acquire(a)\nexpect token == token and holder == none')
    assert (found.title, found.moment) == ("s", "1 first")
    assert (found.expected, found.actual) == ("`holder == none`", "`holder` is a")
    assert str(found).startswith("<text>:32:")
    assert str(found).endswith(
        ': scenario "s", step "1 first": expected `holder == none`, but `holder` is a'
    )


def test_a_false_expectation_of_another_form_shows_the_state_that_it_reads() -> None:
    found = failure("do acquire(b)\nexpect forall n in Node: n == a or holder != present(n)")
    assert found.actual == "it is false: `holder` is b"


def test_another_branch_says_which_was_taken() -> None:
    found = failure("do acquire(a)\ndo acquire(b) -> granted")
    assert (found.expected, found.actual) == ("acquire/granted", "acquire(b) takes acquire/held")


def test_a_reply_reads_the_state_behind_the_operation_and_the_lets_above() -> None:
    lines = "let yes = true\ndo acquire(a) -> granted reply holder == present(a) and yes"
    model = api.load_text(scenario(f"{lines}\ndo acquire(b) reply false"))
    assert len(follow(model, model.scenarios[0])) == 1


def test_another_reply_says_what_was_replied() -> None:
    found = failure('step "1 first"\ndo acquire(a) -> granted reply holder == none')
    assert (found.expected, found.actual) == (
        "the reply `holder == none`", "acquire(a) replies true",
    )  # fmt: skip


def test_another_branch_is_told_when_the_line_has_a_reply_too() -> None:
    found = failure("do acquire(a)\ndo acquire(b) -> granted reply true")
    assert (found.expected, found.actual) == ("acquire/granted", "acquire(b) takes acquire/held")


def test_a_reply_selects_among_outcomes() -> None:
    loose = LEASE.replace(
        "branch released { holder' = none  reply true }",
        "branch released { pick told in {true, false}  pick n in Node"
        "  holder' = present(n)  reply told }",
    )
    text = scenario("do release() reply false").replace(LEASE, loose)
    model = api.load_text(text)
    assert len(follow(model, model.scenarios[0])) == 2


def test_a_step_of_a_system_has_no_reply() -> None:
    text = scenario("do call(a) reply true", "service")
    (found,) = check_texts((Source("lease", text),)).errors
    assert (found.code, found.message) == (
        "statement/misplaced", "`reply` is allowed only in a scenario of a component",
    )  # fmt: skip


def test_a_step_that_is_not_enabled_says_which_line_stops_it() -> None:
    found = failure("do call(a)\ndo call(a)", "service")
    assert found.expected == "call(a) to be enabled"
    assert found.actual == "`require lease.holder != present(n)` (<text>:21:5) stops it"


def test_a_step_whose_budget_is_used_up_says_so() -> None:
    budget = LEASE.replace("sort Node\n", "sort Node\nconst calls_left: int 0..2\n").replace(
        "step call(n: Node) {", "step call(n: Node) budget calls_left {"
    )
    text = scenario("calls_left = 1\ndo call(a)\ndo call(b)", "service").replace(LEASE, budget)
    model = api.load_text(text)
    with pytest.raises(ScenarioFails) as fails:
        follow(model, model.scenarios[0])
    assert fails.value.expected == "call(b) to be enabled"
    assert fails.value.actual == "its budget `calls_left` is used up"


def test_check_reports_a_failing_scenario_at_its_line() -> None:
    text = scenario('step "1 first"\ndo acquire(a)\nexpect holder == none')
    (found,) = check_texts((Source("lease", text),)).errors
    assert found.code == "scenario/fails"
    assert found.span.where() == "lease:32:1"
    assert "holder" in found.message


def test_check_reports_a_scenario_that_fails_in_a_variant_only() -> None:
    text = scenario("do acquire(a)\ndo acquire(a) -> held") + (
        "variant again {\n  replace in lease.acquire/held"
        " branch held when taken: holder != none and mine: holder != present(n) reply false\n}\n"
    )
    (found,) = check_texts((Source("lease", text),)).errors
    assert found.code == "scenario/fails"
    assert [note for note, _ in found.notes] == ["in variant `again`"]


def test_vectors_tell_a_failing_scenario_and_end_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter = tmp_path / "lease.charter"
    instance = "instance tiny of lease { Node = 1 }\n"
    charter.write_text(scenario("do acquire(a)\ndo acquire(b) -> granted") + instance)
    code = main(["vectors", str(charter), "--out", str(tmp_path / "suite")])
    told = capsys.readouterr().err
    assert code == 1
    assert 'scenario "s": expected acquire/granted, but acquire(b) takes acquire/held' in told
