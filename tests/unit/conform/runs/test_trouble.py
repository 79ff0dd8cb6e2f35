"""How the failures of an adapter are grouped: those of one cause are one."""

import pyarrow as pa

from conform.runs.findings.adapter_failures import adapter_trouble


def verdicts(*rows):
    return pa.Table.from_pylist(
        [{"id": name, "kind": kind, "detail": detail} for name, kind, detail in rows]
    )


def test_questions_without_an_answer_are_one_whatever_time_they_had():
    """Each question without an answer halves the time of the others."""
    waits = ("0.5", "2", "1", "0.2", "0.2")
    rows = [(f"v{n}", "timed_out", f"no answer in {wait} s") for n, wait in enumerate(waits)]
    (found,) = adapter_trouble(verdicts(*rows), {})
    assert (found["detail"], found["vectors"], found["vector"]) == ("no answer in 2 s", 5, "v1")


def test_failures_that_adapter_toml_allows_by_name_stay_apart():
    rows = [("v1", "crashed", "it ended with 1"), ("v2", "crashed", "it ended with 1")]
    found = adapter_trouble(verdicts(*rows), {"vector v2": "CHIP-7"})
    assert [(one["vector"], one["allowed"]) for one in found] == [("v1", ""), ("v2", "CHIP-7")]


def test_failures_of_other_kinds_stay_apart():
    rows = [
        ("v1", "crashed", "it ended with 1"),
        ("v2", "crashed", "it ended with 2"),
        ("v3", "adapter_error", "no answer in 2 s"),
    ]
    assert [item["vectors"] for item in adapter_trouble(verdicts(*rows), {})] == [1, 1, 1]
