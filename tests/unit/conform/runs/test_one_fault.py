"""What is said of an implementation that is not there."""

import json
from types import SimpleNamespace

import pyarrow as pa
import pytest

from charter.formats.verdict import Kind, Verdict
from conform.adapters.session import HOPELESS
from conform.console.errors import Incomplete
from conform.judging.verdict import Assessment
from conform.runs.engines.bucket import Tally
from conform.runs.findings.findings import side_by_side
from conform.runs.findings.one_fault import one_fault

REASON = "called `Result::unwrap()` on an `Err` value: Os { message: " + "x" * 300 + "}"


def deviations(count, *, step=1, entry="", message=REASON):
    reply = {"fault": "panic", "message": message}
    row = {"severity": "fault", "step": step, "entry": entry,
           "observed": json.dumps({"reply": reply, "observation": None})}  # fmt: skip
    return pa.Table.from_pylist([row] * count)


def test_first_operations_that_all_end_in_one_fault_are_told_with_the_whole_reason():
    assert one_fault(deviations(15), 15) == (
        f"15 of 15 vectors end in their first operation with the fault panic: {REASON}"
    )


@pytest.mark.parametrize(
    "table", [deviations(15, step=2), deviations(15, entry="known"), deviations(4)]
)
def test_other_faults_are_findings_like_any_other(table):
    assert one_fault(table, 15) == ""
    assert one_fault(deviations(7), 15) == ""


def test_message_of_a_fault_is_not_cut_where_both_sides_are_shown():
    row = {"operation": "go", "args": "{}", "branch": "go/done", "values": [],
           "expected": json.dumps([{"branch": "go/done", "reply": True, "observation": {}}]),
           "observed": deviations(1).to_pylist()[0]["observed"]}  # fmt: skip
    assert any(REASON in line for line in side_by_side(row))


def test_message_of_a_fault_with_several_lines_is_one_line_of_both_sides():
    observed = deviations(1, message="boom\n  at go").to_pylist()[0]["observed"]
    row = {"operation": "go", "args": "{}", "branch": "go/done", "values": [],
           "expected": json.dumps([{"branch": "go/done", "reply": True, "observation": {}}]),
           "observed": observed}  # fmt: skip
    assert side_by_side(row)[-1].endswith("{fault: panic, message: boom\\n  at go}")


def failing(details):
    verdicts = [Verdict(str(n), Kind.ADAPTER_ERROR, detail) for n, detail in enumerate(details)]
    return SimpleNamespace(assessments=[Assessment(verdict) for verdict in verdicts])


def test_equal_errors_in_a_row_end_the_run_with_one_sentence():
    refused = [f"step {n}: ConnectionRefusedError: port 6379" for n in range(HOPELESS)]
    tally = Tally()
    tally.watch(failing(refused[1:]))
    with pytest.raises(Incomplete) as told:
        tally.watch(failing(refused[:1]))
    assert str(told.value).startswith(
        f"the adapter fails in the same way on {HOPELESS} questions in a row, so the run stops: "
        "step 0: ConnectionRefusedError: port 6379; "
    )


def test_different_errors_do_not_end_the_run():
    tally = Tally()
    tally.watch(failing([f"step 1: {'ab'[n % 2]}" for n in range(3 * HOPELESS)]))
    assert tally.in_a_row == 1
