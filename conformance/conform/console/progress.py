"""Progress on stderr: a bar, or a line from time to time where stderr is no terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conform.console.terminal import number, say

if TYPE_CHECKING:
    from rich.progress import Progress

_PAUSE, _SHORT = 0.25, 1.0
"""Seconds between changes of a line on the terminal, and until a search is no short one."""
SOONEST, LATEST = 10.0, 60.0
"""Seconds between progress lines if stderr is not a terminal: as long as the work has run, within
these bounds."""


def _display(*, counted: bool, after: str = "") -> Progress:
    """A line on the terminal that is gone at the end: a description, a bar with counts if
    `counted`, the text `after`, the time. Imports rich, which takes as long as a small search."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    counts = (BarColumn(), MofNCompleteColumn(), TextColumn(after)) if counted else ()
    columns = (TextColumn("{task.description}"), *counts, TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextlib.contextmanager
def bar(title: str, total: int, done: Callable[[], int]) -> Iterator[Callable[[], None]]:
    """A bar over `total` vectors; the function that it yields asks `done()` how many are judged, a
    few times a second."""
    if not sys.stderr.isatty():
        with _repeat(JudgedLines(title, total, done)):
            yield lambda: None
        return
    with _display(counted=True, after="vectors") as progress:
        task = progress.add_task(title, total=total, completed=done())
        asked = time.monotonic()

        def update() -> None:
            nonlocal asked
            if time.monotonic() - asked >= _PAUSE:
                progress.update(task, completed=done())
                asked = time.monotonic()

        yield update


@contextlib.contextmanager
def tasks(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar over tasks; it yields a function of the last task's name, the number of finished tasks,
    and the number of all."""
    if not sys.stderr.isatty():
        now = time.monotonic()
        lines = _Lines(now, now)
        yield lambda name, done, total: lines(f"{title}: {name} ({done} of {total})")
        return
    with _display(counted=True, after="{task.fields[last]}") as progress:
        task = progress.add_task(title, total=None, last="")

        def update(name: str, done: int, total: int) -> None:
            progress.update(task, completed=done, total=total, last=name)

        yield update


def left(levels: Sequence[int], rest: int) -> int | None:
    """An estimate of how many states a search still has to expand if its levels continue to shrink:
    `levels` are the sizes of started levels, `rest` is the remainder of the last one. None if
    levels grow, or shrink by less than a tenth."""
    if len(levels) < 3 or min(levels[-3:]) < 1:
        return None
    ratio = max(levels[-1] / levels[-2], levels[-2] / levels[-3])
    return rest + round(levels[-1] * ratio / (1 - ratio)) if ratio <= 0.9 else None


@dataclass(slots=True)
class JudgedLines:
    """Lines that say how many of `total` vectors are judged, and how long there was no verdict."""

    title: str
    total: int
    done: Callable[[], int]
    judged: int = 0
    at: float = field(default_factory=time.monotonic)

    def line(self, now: float) -> str:
        """The line at the time `now`."""
        judged = self.done()
        if judged != self.judged:
            self.judged, self.at = judged, now
        text = f"{self.title}: {number(judged)} of {number(self.total)} vectors judged"
        quiet = now - self.at
        return f"{text}, none of them in the last {span(quiet)}" if quiet >= SOONEST else text


@contextlib.contextmanager
def _repeat(lines: JudgedLines) -> Iterator[None]:
    """A context in which a thread prints a line from time to time: the work may be waiting for an
    adapter that hangs."""
    begun, ended = time.monotonic(), threading.Event()

    def repeat() -> None:
        while not ended.wait(_pause(time.monotonic() - begun)):
            say(f"conform: {lines.line(time.monotonic())}")

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _pause(worked: float) -> float:
    """How long to wait for the next line after so many seconds of work."""
    return min(LATEST, max(SOONEST, worked))


@dataclass(slots=True)
class Pace:
    """The reported progress of a search, which gives up after `most` states (0: never). At the end
    of a level the queue is the next level, so its size is known; not for an engine that does not
    report its queue."""

    begun: float
    most: int = 0
    first: tuple[float, int, int] | None = None
    """When the first report came, and how many states were found and expanded then: compiling comes
    before it, and tells nothing of the rest."""
    level: int = 0
    expanded: int = 0
    queue: int = 0
    start: int = 0
    levels: list[int] = field(default_factory=list)

    def line(self, now: float, distinct: int, generated: int, level: int, queue: int) -> str:
        """The line at the time `now`."""
        if level != self.level and self.level:
            self.levels.append(self.queue)
            self.start = self.expanded
        self.level, self.expanded, self.queue = level, distinct - queue, queue
        seconds = max(0.001, now - self.begun)
        text = (
            f"{distinct:,} states ({distinct / seconds:,.0f}/s), {generated:,} transitions, "
            f"depth {level}"
        )
        if queue:  # the reference engine does not report its queue
            text += f", {queue:,} in the queue"
        if self.first is None:
            self.first = now, distinct, self.expanded
        then, found, expanded = self.first
        if end := self._end(now - then, self.expanded - expanded):
            text += f", {end}"
        if self.most > distinct > found:
            until = span((self.most - distinct) * (now - then) / (distinct - found))
            text += f", some {until} until {self.most:,} states, where it gives up"
        return text

    def _end(self, seconds: float, expanded: int) -> str:
        """How far the end is, if something can be said of it, where so many states were expanded in
        so many seconds."""
        if not expanded or len(self.levels) < 3:
            return ""
        here = self.levels[-1] - (self.expanded - self.start)
        rest = left(self.levels, here)
        if rest is not None:
            return f"about {span(rest * seconds / expanded)} to the end"
        growth = self.levels[-1] / max(1, self.levels[-2])
        if growth < 1:
            return ""
        return f"no end in sight, as a level has {growth:.1f} times the states of the last"


def span(seconds: float) -> str:
    """`40 s`, `3 min`, `2.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"


@dataclass(slots=True)
class SearchListener:
    """The callback for the progress of a search: distinct states, transitions, the level, and
    states in the queue. `found` says what the search has found so far, "" for nothing. `cost` says
    what is known of a search beforehand, and is asked unless the search is short; it finds at most
    `most` states (0: all)."""

    show: Callable[[str], None]
    cost: Callable[[], str] | None = None
    most: int = 0
    last: str = ""
    doing: str = ""
    found: str = ""
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        self.pace = Pace(time.monotonic(), self.most)

    def __call__(
        self, distinct: int, generated: int, level: int, queue: int, doing: str = "", /
    ) -> None:
        """Report progress; work besides the search itself has an estimate of its own."""
        now = time.monotonic()
        if self.cost is not None and now - self.pace.begun >= _SHORT:
            cost, self.cost = self.cost(), None
            if cost:
                say(cost)
        if doing != self.doing:
            self.doing, self.pace = doing, Pace(now)
        line = self.pace.line(now, distinct, generated, level, queue)
        self.last = f"{doing}: {line}" if doing else line
        self.show(f"{self.last}; {self.found}" if self.found else self.last)


@dataclass(slots=True)
class _Lines:
    """Prints a line from time to time."""

    begun: float
    said: float

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now - self.said >= _pause(self.said - self.begun):
            self.said = now
            say(f"conform: {line}")


@dataclass(slots=True)
class _Line:
    """A line on the terminal, from the moment that the work has taken `_PAUSE` seconds."""

    open: Callable[[], Progress]
    begun: float = field(default_factory=time.monotonic)
    progress: Progress | None = None

    def __call__(self, line: str) -> None:
        if self.progress is None and time.monotonic() - self.begun >= _PAUSE:
            self.progress = self.open()
            self.progress.add_task("", total=None)
        if self.progress is not None:
            self.progress.update(self.progress.task_ids[0], description=line)


@contextlib.contextmanager
def searching(cost: Callable[[], str] | None = None, most: int = 0) -> Iterator[SearchListener]:
    """A line about a search for at most so many states (0: all), on stderr. If it is no short one,
    what `cost` says of it comes first."""
    if not sys.stderr.isatty():
        now = time.monotonic()
        yield SearchListener(_Lines(now, now), cost, most)
        return
    with contextlib.ExitStack() as stack:
        yield SearchListener(
            _Line(lambda: stack.enter_context(_display(counted=False))), cost, most
        )
