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
from conform.console.errors import CannotWrite, ConformError
from conform.console.terminal import out, say
from conform.judging.relabel import key

if TYPE_CHECKING:
    from charter.api import Story


TERMINAL = "-"


def add_pictures(parser: argparse.ArgumentParser) -> None:
    """The options that `draw` reads."""
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
    """A file that can be there. What cannot is said before a search, not after it."""
    if text == TERMINAL:
        raise argparse.ArgumentTypeError("name a file; --json prints the trace of each finding")
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder; name a file")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"the folder {path.parent} does not exist")
    return text


def refuse_two_outputs(arguments: argparse.Namespace) -> None:
    """Raises `ConformError` if a drawing is to stand behind JSON."""
    if arguments.json and arguments.picture == TERMINAL:
        raise ConformError("--json and --picture - both print; name a file for the picture")


def draw(stories: Sequence[Story], arguments: argparse.Namespace) -> None:
    """The pictures that were asked for, of the first finding. Raises `CannotWrite`."""
    picture, trace = arguments.picture, arguments.itf
    if not stories:
        if picture or trace:
            say("nothing was found that could be drawn")
        return
    if picture == TERMINAL:
        out(api.drawn(stories[0], "text").rstrip())
    elif picture:
        _write(picture, api.drawn(stories[0], "svg"))
        say(f"the picture is in {picture}")
    if trace:
        text = orjson.dumps(api.itf(stories[0]), option=orjson.OPT_INDENT_2)
        _write(trace, text.decode() + "\n")
        say(f"the trace is in {trace}")


def _write(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"{name} cannot be written: {error.strerror}") from None


def put(story: Story, finding: dict[str, Json]) -> None:
    """Add to a finding its steps, the trace in ITF, and why what it is about is false."""
    finding["steps"] = list(story.steps_json())
    finding["itf"] = api.itf(story)
    if story.why is not None:
        finding["why"] = story.why.json()
    if finding["kind"] == "undefined":
        finding["place"] = story.place_json()


def is_wrong(finding: Mapping[str, Json]) -> bool:
    """Whether a finding is something that must not be."""
    return bool(finding["seen"]) and finding["kind"] not in ("witness", "branch")


def show_story(finding: Mapping[str, Json]) -> None:
    """A finding with its steps."""
    steps, loop = finding["steps"], finding.get("loop")
    assert isinstance(steps, list)
    out(_headline(finding))
    for count, step in enumerate(steps, 1):
        assert isinstance(step, dict)
        if loop == count - 1 > 0:  # else the headline says it
            out("  and from here on, again and again:")
        show_step(count, step)
    why = finding.get("why")
    if isinstance(why, dict):
        _show_why(why)
    place = finding.get("place")
    if isinstance(place, dict):
        _show_place(len(steps), place)
    if finding["detail"]:
        out(f"  {finding['detail']}")
    if finding["kind"] == "deadlock":
        out("  if this is how it ends, a step that requires it and changes nothing says so")
    if isinstance(loop, int) and loop == len(steps):
        out("  and nothing happens any more")


def _show_place(count: int, place: Mapping[str, Json]) -> None:
    """The state and the step in which something asks for a value that does not exist."""
    state, step = place["state"], place["step"]
    assert isinstance(state, dict)
    for line in ["in the state", *(f"  {name}: {value}" for name, value in state.items())]:
        out(textwrap.fill(f"  {line}", 100, subsequent_indent="      ", break_on_hyphens=False))
    if isinstance(step, dict):
        out(f"  {count + 1:>2}  {step_line(step)} fails")


def _show_why(why: Mapping[str, Json]) -> None:
    """What is false at the end of a story."""
    lines, cites = why["lines"], why["cites"]
    assert isinstance(lines, list) and isinstance(cites, list)
    for line in lines:
        out(f"  {line}")
    source = f", after {', '.join(map(str, cites))}" if cites else ""
    out(f"  see {why['where']}{source}")


def _headline(finding: Mapping[str, Json]) -> str:
    kind, name, binding = finding["kind"], finding["name"], finding.get("binding")
    way = "a shortened way there:" if "seed" in finding else "the shortest way there:"
    if kind == "deadlock":
        return f"deadlock: no step can happen any more; {way}"
    if kind == "undefined":
        return f"{name} asks for a value that does not exist; {way}"
    if kind == "eventually":
        pairs = binding.items() if isinstance(binding, dict) else ()
        given = ", ".join(f"{n} = {_shown(v)}" for n, v in pairs)
        fails = f"eventually {name} fails{f' for {given}' if given else ''}"
        return fails if finding["loop"] is None else f"{fails}; this can go on for ever:"
    return f"{kind} {name} fails; {way}"


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else key(value).decode()


def step_line(step: Mapping[str, Json]) -> str:
    """What was called in a step."""
    args = step["args"]
    assert isinstance(args, dict)
    return call_line(str(step["operation"]), args)


def call_line(operation: str, args: Mapping[str, Json]) -> str:
    """An operation with its arguments."""
    return f"{operation}({', '.join(f'{name}: {_shown(value)}' for name, value in args.items())})"


def show_steps(story: Story) -> None:
    """The steps of a story."""
    for count, step in enumerate(story.steps_json(), 1):
        assert isinstance(step, dict)
        show_step(count, step)


def show_step(count: int, step: Mapping[str, Json]) -> None:
    """One step: what was called, the rules below it, what changed."""
    rules, changes = step["rules"], step["changes"]
    assert isinstance(rules, list) and isinstance(changes, list)
    out(f"  {count:>2}  {step_line(step)}")
    for rule in rules:
        out(f"        by {rule}")
    for change in changes:
        assert isinstance(change, dict)
        out(f"        {change['path']}: {change['before']} -> {change['after']}")
    mail = step.get("mail")
    for message in mail if isinstance(mail, list) else ():
        assert isinstance(message, dict)
        if message["stays"]:  # no change above shows it
            out(f"        {_unchanged(message)}")


def _unchanged(message: Mapping[str, Json]) -> str:
    """Mail that leaves its channel as it was."""
    said, place = message["message"], message["place"]
    if message["what"] == "sent":
        return f"sends {said} to {place} (it is there already)"
    return f"receives {said} from {place} (a copy stays)"
