"""Storage becomes choices and updates: what a flush puts on disk, and what a crash leaves."""

from __future__ import annotations

import pytest
from tests.support.charters import codes, dump

DISK = """component disk {{
  volatile state warm: set Broker = {{}}
  cached state log: seq Status max limit = <> on disk end
  state end: int 0..limit = 0
  cached state mark: Status = ON on disk old
  state old: Status = ON
  {state}
  operation go(n: int 0..limit, s: Status) -> bool {{ branch gone {{ {body}  reply true }} }}
  operation failover() -> bool {{ branch restarted {{ crash process  reply true }} }}
}}
witness w of disk: old == mark and end < size(log) and warm == {{}}
"""
KEPT = "min!(({@end} union set{place for place in int 0..limit if ((place lt @end) and "
KEPT += "(at!(@log, place) ne at!(next_log, place)))}))"


def lines(body: str) -> list[str]:
    """The core of a branch with this body."""
    found = [line.strip() for line in dump(DISK.format(body=body, state=""))]
    start = found.index("branch gone")
    return found[start + 1 : found.index("reply true", start)]


@pytest.mark.parametrize(
    ("body", "core"),
    [
        ("mark' = s", ["@mark' = s"]),
        ("flush log", ["@end' = size!(@log)"]),
        ("flush log to n", ["@end' = max!(min!(size!(@log), n), @end)"]),
        ("flush mark if n == 1", ["@old' = (if (n eq 1) then @mark else @old)"]),
        ("mark' = s flush mark", ["@mark' = s", "@old' = s"]),
        ("crash process", ["@warm' = {}"]),
        (
            "log' = take(log, n)",
            [
                "let next_log: seq Status max limit = take!(@log, n)",
                "@log' = next_log",
                f"@end' = {KEPT}",
            ],
        ),
        (
            "flush log  log' = append(take(log, n), s)",
            [
                "let next_log: seq Status max limit = append!(take!(@log, n), s)",
                "@log' = next_log",
                "@end' = size!(next_log)",
            ],
        ),
    ],
)
def test_a_branch_says_what_is_on_disk_when_it_flushes_or_changes_it(
    body: str, core: list[str]
) -> None:
    assert lines(body) == core


def test_a_crash_of_the_machine_keeps_what_is_on_disk_when_it_loses_the_rest() -> None:
    ends = "({size!(@log)} union set{end for end in int 0..limit if "
    ends += "((@end le end) and (end lt size!(@log)))})"
    assert lines("crash machine") == [
        "@warm' = {}",
        f"pick kept: int 0..limit in {ends}",
        "@log' = take!(@log, kept)",
        "@end' = kept",
        "pick kept_2: Status in {@mark, @old}",
        "@mark' = kept_2",
        "@old' = kept_2",
    ]


def test_a_crash_keeps_so_many_items_when_the_branch_says_how_many() -> None:
    assert lines("crash machine keeping log to n")[1:4] == [
        "let kept: int 0..limit = max!(min!(n, size!(@log)), @end)",
        "@log' = take!(@log, kept)",
        "@end' = kept",
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("crash process warm' = {}", "effect/double-update"),
        ("crash machine log' = <>", "effect/double-update"),
        ("crash machine flush mark", "effect/double-update"),
        ("flush log flush log", "effect/double-update"),
        ("crash machine crash process", "statement/misplaced"),
        ("end' = 1", "effect/on-disk"),
        ("flush end", "name/unknown"),
        ("flush warm", "name/unknown"),
        ("flush mark to 1", "type/mismatch"),
        ("crash process keeping log to n", "statement/misplaced"),
        ("crash machine keeping mark to n", "statement/misplaced"),
        ("crash machine keeping end to n", "name/unknown"),
        ("flush log if n", "type/mismatch"),
    ],
)
def test_a_branch_is_refused_when_it_misuses_storage(body: str, code: str) -> None:
    assert codes(DISK.format(body=body, state="")) == [code]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("cached state extra: bool = true", "effect/on-disk"),
        ("state extra: bool = true on disk other state other: bool = true", "effect/on-disk"),
        ("cached state extra: bool = true on disk warm", "effect/on-disk"),
        ("cached state extra: bool = true on disk extra", "effect/on-disk"),
        ("cached state extra: Status = ON on disk old", "effect/on-disk"),
        ("cached state extra: bool = true on disk other", "name/unknown"),
        (
            "cached state extra: seq bool max 2 = <> on disk other state other: int 0..3 = 0",
            "effect/on-disk",
        ),
    ],
)
def test_cached_state_is_refused_when_nothing_can_say_what_is_on_disk(
    state: str, code: str
) -> None:
    assert set(codes(DISK.format(body="flush log", state=state))) == {code}


def test_a_system_has_no_cached_state_when_it_has_no_branches_to_flush_it() -> None:
    system = "system s { cached state on: bool = true on disk old state old: bool = true }"
    assert codes(system + " witness w of s: on") == ["effect/on-disk"]


def test_volatile_state_needs_no_failover_when_an_operation_crashes() -> None:
    lamp = """component lamp {
      volatile state on: bool = false
      operation press() -> bool { branch pressed { on' = true  reply true } }
      operation stop() -> bool { branch stopped { crash process  reply true } }
    }
    witness w of lamp: on
    """
    assert codes(lamp) == []
    assert codes(lamp.replace("crash process", "")) == ["effect/failover"]
