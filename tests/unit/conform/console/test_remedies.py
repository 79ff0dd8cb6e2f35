"""What is said where an adapter is late, a disk refuses, or an operation is left out."""

from __future__ import annotations

import errno
import os
import sys

import pytest

from charter.formats.adapter import constant
from charter.formats.run_description import RunDescription
from charter.formats.target import Deadlines
from conform.adapters.base import AdapterStart
from conform.adapters.stdio import StdioConnection
from conform.cli.output.missing_operations import list_denied
from conform.cli.output.run_output import _show_hidden, _show_unclaimed
from conform.console.errors import CannotStart, CannotWrite
from conform.judging.refutations import explain_refusal
from conform.runs.conclusion import Finished
from conform.storage.bucket_store import RunFolder, guard_write

ALLOW = "or allow it by a reason in adapter.toml, under [not_compared]:\n"


def test_late_answer_to_hello_names_the_deadline() -> None:
    silent = "import sys, time; print('warming up', file=sys.stderr, flush=True); time.sleep(60)"
    start = AdapterStart((sys.executable, "-c", silent), deadlines=Deadlines(hello=0.5))
    with pytest.raises(CannotStart) as told:
        StdioConnection(start)
    first, *stderr = str(told.value).splitlines()
    assert first.startswith("the adapter did not start: no answer in 0.5 s, to the message hello")
    assert "`hello` of [deadlines] in adapter.toml" in first
    assert any("warming up" in line for line in stderr)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EACCES, "change its permissions, or name another folder"),
        (errno.EROFS, "change its permissions, or name another folder"),
        (errno.ENOSPC, "make room, and repeat the command"),
    ],
)
def test_folder_that_cannot_be_written_has_the_remedy_of_its_cause(
    number: int, remedy: str
) -> None:
    def refuse() -> None:
        raise OSError(number, os.strerror(number))

    with pytest.raises(CannotWrite, match=rf"the run could not be written \(.*\); {remedy}"):
        guard_write("the run", refuse)


def test_operation_that_hello_leaves_out_has_a_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    left = [
        {"what": "unsupported capture", "vectors": 65, "allowed": ""},
        {"what": "unsupported void", "vectors": 5, "allowed": "never built"},
        {"what": f"unsupported {constant('limit')}", "vectors": 5, "allowed": ""},
    ]
    _show_unclaimed({"not_compared": [*left]})
    told = capsys.readouterr().out
    assert "the adapter does not list the operation capture" in told
    assert f'{ALLOW}    "unsupported capture" = "why"\n' in told
    assert "void" not in told and "limit" not in told


def test_variables_that_hello_leaves_out_have_a_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    left = [
        {"what": "variable held", "vectors": 65, "allowed": ""},
        {"what": "variable log", "vectors": 65, "allowed": "write only"},
        {"what": "variable spent", "vectors": 65, "allowed": ""},
    ]
    _show_hidden({"not_compared": [*left]})
    assert capsys.readouterr().out == (
        "the adapter does not show held, spent: show them in `observe` and list them in what hello"
        f" observes (`conform help adapters`), {ALLOW}"
        '    "variable held" = "why"\n    "variable spent" = "why"\n'
    )
    _show_hidden({"not_compared": [*left[:2]]})
    told = capsys.readouterr().out
    assert "not show held: show it in `observe` and list it in" in told
    assert told.endswith(f'{ALLOW}    "variable held" = "why"\n')
    _show_hidden({"not_compared": left[1:2]})
    assert capsys.readouterr().out == ""


def test_what_is_no_operation_of_hello_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """An adapter may answer `unsupported` with a reason of its own."""
    left = [{"what": "unsupported quorum", "vectors": 65, "allowed": ""}]
    _show_unclaimed({"not_compared": [*left]}, {"put"})
    assert capsys.readouterr().out == (
        "the adapter answered that quorum is unsupported: perform what these vectors ask for,"
        f' {ALLOW}    "unsupported quorum" = "why"\n'
    )
    left = [{"what": "unsupported put", "vectors": 65, "allowed": ""}]
    _show_unclaimed({"not_compared": [*left]}, {"put"})
    assert "does not list the operation put in" in capsys.readouterr().out


def test_capability_that_hello_claims_and_an_answer_denies_is_told() -> None:
    run = Finished(RunFolder("run"), RunDescription(capabilities=("elr", "load")), {})
    assert list_denied(run, [{"detail": explain_refusal("load")}, {"detail": "it ended"}]) == [
        "load"
    ]
