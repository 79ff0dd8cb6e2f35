"""`--where` and `--keep`: lists the states of a search that satisfy an expression, or saves
all."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.formats.canonical import Json
from conform.cli.commands.charters import refused
from conform.cli.commands.numbers import count
from conform.cli.commands.story import show_step, step_line
from conform.console.errors import ConformError
from conform.console.progress import tasks
from conform.console.terminal import number, out, say

if TYPE_CHECKING:
    from charter.api import Model, Opened, Searched, Selection, Story


class BadExpression(ConformError):
    """The expression of a question has errors, which were shown."""


def add_states(parser: argparse.ArgumentParser) -> None:
    """The options about states."""
    parser.add_argument(
        "--where", type=_expression, metavar="EXPRESSION",
        help="list the states in which an expression of the charter is true, each with a shortest "
        "way there; it may name elements of the instance; --json shows the states too",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=count, default=20, metavar="N", help="list so many at most (default: 20)"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR",
        help="write all states there as Parquet: docs/formats/states.md",
    )  # fmt: skip


def _expression(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an expression of the charter is expected")
    return text


def asked(charter: Opened, model: Model, selection: Selection, chosen: argparse.Namespace) -> Model:
    """The core with the question of `--where`, if there is one. Raises `BadExpression` after it
    has shown all its errors."""
    if chosen.where is None:
        return model
    try:
        return charter.asked(model, selection, chosen.instance, chosen.where)
    except api.Refused as error:
        raise BadExpression(
            f"the expression of --where has {refused(error)}; it is written as that of an `always`"
        ) from None


def ready(model: Model, chosen: argparse.Namespace) -> None:
    """Raises `ConformError` if the states cannot be kept where they are wanted."""
    if chosen.keep is not None:
        from conform.storage.state_dump import refuse_other

        refuse_other(chosen.keep, api.place(model, chosen.instance, chosen.mutant))


def keep(found: Searched, folder: Path) -> None:
    """Write the states of a search."""
    from conform.storage import state_dump as kept

    assert found.states is not None
    with tasks("keeping the states") as report:
        files = kept.keep(
            found.states, folder, lambda done, total: report(f"{number(done)} states", done, total)
        )
    total = number(found.states.head.distinct)
    say(f"{total} states are in {folder} ({files} {'file' if files == 1 else 'files'})")


def first_story(model: Model, found: Mapping[str, Json]) -> tuple[Story, ...]:
    """The story of the first state that was asked for, if there is one. Its steps are put into
    `found`."""
    where = found.get("where")
    if not isinstance(where, dict) or not isinstance(where["states"], list) or not where["states"]:
        return ()
    first = where["states"][0]
    assert isinstance(first, dict)
    finding = {"kind": "witness", "name": "--where", "trace": first["trace"]}
    story = api.told(model, str(found["instance"]), finding)
    first["steps"] = list(story.steps_json())
    return (story,)


def show_where(found: Mapping[str, Json]) -> None:
    """The states that were asked for: the first with its story, the others with their steps."""
    where = found.get("where")
    if not isinstance(where, dict):
        return
    states, hits, undefined = where["states"], where["count"], where["undefined"]
    assert isinstance(states, list) and isinstance(hits, int) and isinstance(undefined, int)
    distinct = found["distinct"]
    assert isinstance(distinct, int)
    out(f"{where['expression']}: true in {number(hits)} of {number(distinct)} states")
    if undefined:
        out(f"it has no value in {number(undefined)}")
    for place, state in enumerate(states):
        assert isinstance(state, dict) and isinstance(state["number"], int)
        out(f"state {number(state['number'])}, level {state['level']}:")
        steps = state["trace"] if place else state["steps"]
        assert isinstance(steps, list)
        for count_, step in enumerate(steps, 1):
            assert isinstance(step, dict)
            if place:
                out(f"  {count_:>2}  {step_line(step)}")
            else:
                show_step(count_, step)
    if len(states) < hits:
        out(f"and {number(hits - len(states))} more: --limit lists them, --keep writes all states")
