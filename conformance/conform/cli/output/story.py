"""Prints a trace as a numbered story: who acted, by which rules, and what changed."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from charter import api
from charter.formats.canonical import Json
from charter.render.story.itf import itf
from conform.console.errors import ConformError
from conform.console.files import write_named
from conform.console.terminal import out, say
from conform.judging.relabel import key

if TYPE_CHECKING:
    from charter.render.story.tell import Story


TERMINAL = "-"
SHORTEST = "the shortest trace:"
SHORTENED = "a shortened trace:"


def add_pictures(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `draw` reads."""
    parser.add_argument(
        "--picture", type=_picture, metavar="FILE",
        help="draw the first finding as SVG; - draws it in the terminal",
    )  # fmt: skip
    parser.add_argument(
        "--itf", type=_file, metavar="FILE", help="write the trace of the first finding as ITF"
    )


def _picture(text: str) -> str:
    return text if text == TERMINAL else _file(text)


def _file(text: str) -> str:
    """A path to a file that can be written, checked here so that the error comes before a
    search."""
    if text == TERMINAL:
        raise argparse.ArgumentTypeError("name a file; --json prints the trace of each finding")
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder; name a file")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"the folder {path.parent} does not exist")
    return text


def refuse_two_outputs(arguments: argparse.Namespace) -> None:
    """Raises `ConformError` if both a drawing and JSON would go to standard output."""
    if arguments.json and arguments.picture == TERMINAL:
        raise ConformError("--json and --picture - both print; name a file for the picture")


def draw(stories: Sequence[Story], arguments: argparse.Namespace) -> None:
    """Writes the requested pictures, of the first finding. Raises `CannotWrite`."""
    picture, trace = arguments.picture, arguments.itf
    if not stories:
        wanted = ([f"draw in {picture}" if picture != TERMINAL else "draw"] if picture else []) + (
            [f"write to {trace}"] if trace else []
        )
        if wanted:
            say(f"there is no finding to {' or to '.join(wanted)}")
        return
    if picture == TERMINAL:
        out(api.draw(stories[0], "text").rstrip())
    elif picture:
        write_named(Path(picture), api.draw(stories[0], "svg"))
        say(f"the picture is in {picture}")
    if trace:
        text = orjson.dumps(itf(stories[0]), option=orjson.OPT_INDENT_2)
        write_named(Path(trace), text.decode() + "\n")
        say(f"the trace is in {trace}")


def show_story(story: Story, way: str = SHORTEST) -> None:
    """Shows a finding with its steps; `way` says how the steps were found."""
    found, steps = story.found, story.steps
    out(_headline(story, way))
    show_steps(story)
    _show_why(story)
    if found.kind == "undefined":
        _show_place(story)
    if found.detail:
        out(f"  {found.detail}")
    if found.kind == "deadlock":
        out("  if the protocol may end here, add a step that requires this and changes nothing")
    if found.loop == len(steps):
        out("  and then nothing changes any more")
        if story.ends_where_cut:
            out("  but by what the instance leaves out (`offers`, `only`); then the run goes on")


def _headline(story: Story, way: str) -> str:
    found = story.found
    match found.kind:
        case "deadlock":
            return f"deadlock: no step can happen any more; {way}"
        case "undefined":
            return f"{found.name} asks for a value that does not exist; {way}"
        case "eventually":
            pairs = story.binding_json().items()
            given = ", ".join(f"{name} = {_show(value)}" for name, value in pairs)
            fails = f"eventually {found.name} fails{f' for {given}' if given else ''}"
            return fails if found.loop is None else f"{fails}; this can go on for ever:"
        case kind:
            return f"{kind} {found.name} fails; {way}"


def _show_place(story: Story) -> None:
    """Shows the state and the step in which an expression has no value."""
    show_state(story.last_state())
    if story.found.fails is not None:
        operation, args = story.found.fails
        line = story.machine.call_shown(operation, args)
        out(f"  {len(story.steps) + 1:>2}  {line} fails")


def show_state(values: Mapping[str, object]) -> None:
    """Shows the value of each variable in a state, a line each."""
    out("  in the state")
    for name, value in values.items():
        line = f"    {name}: {value}"
        out(textwrap.fill(line, 100, subsequent_indent="      ", break_on_hyphens=False))


def _show_why(story: Story) -> None:
    """Shows which expression is false at the end of a story."""
    why = story.why
    if why is None:
        return
    for line in why.lines:
        out(f"  {line}")
    source = f", which cites {', '.join(why.cites)}" if why.cites else ""
    out(f"  see {why.where}{source}")


def _show(value: Json) -> str:
    return value if isinstance(value, str) else key(value).decode()


def show_steps(story: Story) -> None:
    """Shows the steps of a story: what was called, the rules it used, and what changed."""
    for count, (act, told) in enumerate(zip(story.found.acts, story.steps, strict=True), 1):
        if story.found.loop == count - 1 > 0:  # else the headline says it
            out("  and these steps repeat for ever:")
        operation, args = act
        out(f"  {count:>2}  {story.machine.call_shown(operation, args)}")
        for rule in told.rules:
            out(f"        by {rule}")
        for change in told.changes:
            out(f"        {change.path}: {change.before} -> {change.after}")
        for mail in told.mail:
            if mail.stays:  # no change shown above mentions it
                message, place = story.message_of(mail), story.place_of(mail)
                sent = f"sends {message} to {place} (it is there already)"
                received = f"receives {message} from {place} (a copy stays)"
                out(f"        {sent if mail.is_sent else received}")
