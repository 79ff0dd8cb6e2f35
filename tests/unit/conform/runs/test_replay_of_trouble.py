"""What a replay shows of a result that the judge cannot read."""

from types import SimpleNamespace

import pytest
from tests.support.judging import fake_start
from tests.support.toy.vectors import vector

from charter.formats.verdict import Kind, Verdict
from conform.cli.commands.judge.replay import _last_line
from conform.runs.engines.one_vector import replay
from conform.suites.importing import item_of

WITHOUT_MODELS = SimpleNamespace(
    models=SimpleNamespace(charter=""), spec_digest="", read_types=lambda: None
)


@pytest.mark.parametrize(("mode", "steps"), [("bad_index", 1), ("too_short", 3), ("no_steps", 0)])
def test_steps_before_the_one_that_violates_the_protocol_are_shown(mode, steps):
    asked = item_of(vector(("register", {"node": "n1"}), ("elect", {}), ("failover", {})))
    replayed = replay(fake_start(mode), asked, WITHOUT_MODELS, {})
    assert replayed.assessment.verdict.kind is Kind.ADAPTER_ERROR
    assert len(replayed.steps) == steps


@pytest.mark.parametrize(("count", "told"), [(1, "1 step judged"), (2, "2 steps judged")])
def test_last_line_counts_the_steps_that_were_judged(count, told):
    assert _last_line(Verdict("0bae", Kind.DIVERGES, judged=count), "") == f"diverges: {told}"
