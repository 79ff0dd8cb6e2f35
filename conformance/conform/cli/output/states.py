"""Lists the states of a search that satisfy an expression, or saves all states: `--where` and
`--keep`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from conform.cli.output.charters import show_refused
from conform.cli.output.numbers import count
from conform.cli.output.story import show_steps
from conform.console.errors import ConformError
from conform.console.progress import tasks
from conform.console.terminal import number, out, say

if TYPE_CHECKING:
    from charter.api import Charter, Model, Selection
    from charter.explore.result import SearchResult
    from charter.render.story.tell import Story


class BadExpression(ConformError):
    """The expression of `--where` has errors, which were already shown."""


def add_states(parser: argparse.ArgumentParser) -> None:
    """Adds the options about states."""
    parser.add_argument(
        "--where", type=_expression, metavar="EXPRESSION",
        help="list the states in which an expression of the charter is true, each with a shortest "
        "trace; it may name elements of the instance; --json shows the states too",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=count, default=20, metavar="N", help="list at most N states (default: 20)"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR",
        help="write all states to this folder as Parquet (conform help states)",
    )  # fmt: skip


def _expression(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an expression of the charter is expected")
    return text


def load_with_condition(
    charter: Charter, model: Model, selection: Selection, chosen: argparse.Namespace
) -> Model:
    """The core with the expression of `--where` as a witness, if there is one. Raises
    `BadExpression` after showing its errors."""
    if chosen.where is None:
        return model
    try:
        return charter.with_state_condition(model, selection, chosen.instance, chosen.where)
    except api.Refused as error:
        raise BadExpression(
            f"the expression of --where has {show_refused(error)};"
            " it is checked like one after `always`"
        ) from None


def ready(model: Model, chosen: argparse.Namespace) -> None:
    """Raises `ConformError` if the states cannot be written to the given place."""
    if chosen.keep is not None:
        from conform.storage.state_dump import refuse_other

        refuse_other(chosen.keep, api.place(model, chosen.instance, chosen.mutant))


def keep(found: SearchResult, folder: Path) -> None:
    """Writes the states of a search to a folder."""
    from conform.storage import state_dump as kept

    assert found.states is not None
    with tasks("writing the states") as report:
        files = kept.keep(
            found.states, folder, lambda done, total: report(f"{number(done)} states", done, total)
        )
    total = number(found.states.head.distinct)
    say(f"{total} states are in {folder} ({files} {'file' if files == 1 else 'files'})")


def first_story(model: Model, found: SearchResult) -> Story | None:
    """The story of the first state that `--where` found; None without one."""
    if found.where is None or not found.where.first:
        return None
    trace = found.where.first[0].trace
    return api.tell_trace(model, found.instance.name, ("witness", "--where"), trace)


def show_where(found: SearchResult, first: Story | None) -> None:
    """Shows the states that `--where` found: the first with its story, the others with their number
    of steps."""
    where = found.where
    if where is None:
        return
    of = number(found.counts.distinct)
    out(f"{where.expression}: true in {number(where.count)} of {of} states")
    if where.undefined:
        out(f"it is undefined in {number(where.undefined)}")
    for place, state in enumerate(where.first):
        out(f"state {number(state.number)}, level {len(state.trace)}:")
        if place or first is None:
            for count_, step in enumerate(state.trace, 1):
                call = found.machine.call_shown(step.operation, step.args)
                out(f"  {count_:>2}  {call}")
        else:
            show_steps(first)
    if len(where.first) < where.count:
        left = number(where.count - len(where.first))
        out(f"and {left} more: --limit lists them, --keep writes all states")
