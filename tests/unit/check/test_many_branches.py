"""The check of an operation takes steps in proportion to its branches."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from charter import api

GUARDS = {
    "equal": "n == {i}",
    "less": "n < {i} and x > 1",
    "of a map": "m[k] < {i} or n + x == {i}",
    "member": "not (x in s) and n >= {i}",
    "of a let": "more == {i}",
}


def text_of(guard: str, branches: int) -> str:
    """A charter whose operation has this many branches."""
    lines = [
        f"    branch b{i} when {guard.format(i=i)} {{\n"
        "      pick y in s or none\n"
        f"      pick z in {{x}} | s\n      n' = min(n + 1, 90)\n      reply y == present(z)\n    }}"
        for i in range(branches)
    ]
    return "\n".join([
        "protocol test.branches", "sort K", "component c {", "  state n: int 0..90 = 0",
        "  state m: map K -> int 0..90 = [k in K: 0]", "  state s: set int 0..3 = {}",
        "  operation go(x: int 0..3, k: K) -> bool cites silent {", "    let more = n + 1", *lines,
        "    branch last reply false", "  }", "}", "witness w of c: n == 1",
        "instance tiny of c { K = 1 }",
    ])  # fmt: skip


def calls_of_check(text: str) -> int:
    """How many functions of the check and of core are called."""
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        if event == "call" and (
            "/check/" in (path := frame.f_code.co_filename) or "/core/" in path
        ):
            calls += 1

    sys.setprofile(count)
    try:
        api.load_text(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("shape", GUARDS)
def test_four_times_as_many_branches_take_about_four_times_the_steps(shape: str) -> None:
    few, many = (calls_of_check(text_of(GUARDS[shape], n)) for n in (10, 40))
    assert many < 5 * few
