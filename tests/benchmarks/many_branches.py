"""Prints how much processor time `check` takes for an operation of many branches.

python tests/benchmarks/many_branches.py [BRANCHES ...]
"""

from __future__ import annotations

import sys
import time

from charter import api


def text_of(branches: int) -> str:
    """A charter whose operation has this many branches, each with a guard and an update."""
    lines = [
        f"    branch b{i} when g{i}: n == {i} {{ n' = {i + 1}  reply true }}"
        for i in range(branches)
    ]
    return "\n".join([
        "protocol test.branches", "component c {", f"  state n: int 0..{branches + 1} = 0",
        "  operation go() -> bool cites silent {", *lines, "    branch last reply false", "  }",
        "}",
        "witness one of c: n == 1", "instance tiny of c {}",
    ])  # fmt: skip


def main() -> None:
    """Checks charters with the numbers of branches that the command line gives."""
    for branches in map(int, sys.argv[1:] or ["200", "400", "800", "1600"]):
        text = text_of(branches)
        before = time.process_time()
        api.load_text(text)
        took = time.process_time() - before
        sys.stdout.write(f"{branches:,} branches: {took:.2f} s of processor time\n")


if __name__ == "__main__":
    main()
