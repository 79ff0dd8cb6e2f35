"""What an operation assumes holds wherever anything calls it: definition, engines, solver, TLC."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.assumed import FOLLOWER, break_network, drop_assumptions, load_follower
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

from charter.analysis.environment import list_offered
from charter.core import nodes as n
from charter.diagnostics import Source
from charter.project.pipeline import check_texts
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine
from conform.cli.main import main


def instance_of(model: n.Model, name: str) -> n.Instance:
    return next(instance for instance in model.instances if instance.name == name)


def test_an_operation_has_no_value_where_its_assumption_is_false() -> None:
    model = load_follower()
    machine = Machine.of(model, instance_of(model, "tiny"))
    state = machine.initial()
    with pytest.raises(EvaluationError, match="append happens where its assumption is false: `as"):
        machine.outcomes(state, "append", (1, 0))
    (elected,) = machine.outcomes(state, "elect", (0, 1))
    assert [o.branch for o in machine.outcomes(elected.state, "append", (1, 0))] == [
        "append/stored"
    ]


def test_what_is_offered_keeps_to_assumptions_when_the_instance_restricts_nothing() -> None:
    model = load_follower()
    instance = replace(instance_of(model, "tiny"), offers=(), only=())
    machine = Machine.of(model, instance)
    offered = [*list_offered(machine, machine.initial())]
    assert sorted(offered) == [
        ("elect", (by, of)) for by in (0, 1) for of in (1, 2)
    ]  # nobody was elected, so nobody appends


def test_engines_agree_when_operations_assume_something() -> None:
    model = load_follower()
    for name, states in (("tiny", 13), ("two", 41)):
        fast, plain = both(model, instance_of(model, name))
        assert fast.counts.distinct == states
        assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
        assert not fast.failures


@pytest.mark.parametrize(
    ("requires", "steps", "quoted"),
    [
        ("require of not in terms_led", 1, "elect happens where its assumption is false: `ass"),
        ("require of > 0", 2, "elect happens where its assumption is false: `assume once"),
    ],
)
def test_a_system_that_breaks_an_assumption_has_an_undefined_value(
    requires: str, steps: int, quoted: str
) -> None:
    model = break_network(requires)
    fast, plain = both(model, instance_of(model, "two"))
    assert verdicts(fast) == verdicts(plain)
    for found in (fast, plain):
        (failure,) = (f for f in found.failures if f.kind == "undefined")
        assert failure.trace is not None and len(failure.trace) == steps
        assert quoted in failure.detail


def test_a_scenario_that_breaks_an_assumption_fails_at_its_line() -> None:
    text = FOLLOWER.read_text(encoding="utf-8")
    broken = text.replace("do append(1, 0) -> stored", "do append(2, 0) -> stored")
    (problem,) = check_texts((Source("broken", broken),)).errors
    line = text[: text.index("do append(1, 0)")].count("\n") + 1
    assert problem.span.source.position(problem.span.start)[0] == line
    assert "append happens where its assumption is false: `assume known_term" in problem.message


def test_tlc_agrees_when_operations_assume_something(jar: Path, tmp_path: Path) -> None:
    model = load_follower()
    for name in ("tiny", "two"):
        instance = instance_of(model, name)
        found = natively(model, instance, symmetry=False)
        (folder := tmp_path / name).mkdir()
        said = tlc.check(jar, model, instance, folder, [])
        assert not said.error
        assert (said.distinct, said.depth) == (found.counts.distinct, len(found.counts.levels))


def test_tlc_refuses_a_system_that_breaks_an_assumption(jar: Path, tmp_path: Path) -> None:
    model = break_network("require of not in terms_led")
    said = tlc.check(jar, model, instance_of(model, "two"), tmp_path, [])
    assert said.error and said.distinct == 1


def test_an_assumption_that_no_state_satisfies_is_said_in_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = FOLLOWER.read_text(encoding="utf-8").replace("assume of > 0", "assume of > term + 9")
    charter = tmp_path / "a.charter"
    charter.write_text(text[: text.index("scenario")], encoding="utf-8")
    for engine in ("native", "reference"):
        assert main(["explore", str(charter), "--instance", "tiny", "--engine", engine]) == 4
        shown = " ".join(capsys.readouterr().out.split())
        once = 'assume once cites RAFT "5.2": of not in elected'
        said = f"no state and no arguments satisfy `{once}` and `assume of > term + 9` of elect"
        assert shown.count(said) == 1
        assert "of in known` of append" in shown


LOW = """protocol low
component c {
  state n: int 0..9 = 0
  operation up(by: int 0..3) -> bool cites silent {
    assume by < 2
    branch near { n' = by  reply true }
  }
}
always low of c: n < 2
witness w of c: n == 1
instance tiny of c { }
"""


def test_a_proof_by_induction_rests_on_assumptions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    charter = tmp_path / "low.charter"
    charter.write_text(LOW, encoding="utf-8")
    assert main(["prove", str(charter)]) == 0
    charter.write_text(drop_assumptions(LOW), encoding="utf-8")
    assert main(["prove", str(charter)]) == 3
    assert "up(by: 2)" in capsys.readouterr().out


def test_random_walks_keep_to_assumptions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    charter = tmp_path / "low.charter"
    charter.write_text(LOW, encoding="utf-8")
    walk = ["simulate", str(charter), "--instance", "tiny", "--seed", "1"]
    assert main(walk) == 0
    shown = capsys.readouterr().out
    assert "up(by: 1)" in shown and "up(by: 2)" not in shown
