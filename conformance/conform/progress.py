"""A progress bar on stderr, and nothing where stderr is no terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextlib.contextmanager
def bar(title: str, total: int, done: Callable[[], int]) -> Iterator[Callable[[], None]]:
    """A bar over `total` buckets; the function that it yields asks `done()` how many there are."""
    console = Console(stderr=True)
    if not sys.stderr.isatty():
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TextColumn("buckets"), TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=total, completed=done())

        def update() -> None:
            progress.update(task, completed=done())

        yield update


@contextlib.contextmanager
def tasks(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar over tasks; the function that it yields is told what was done last, how many are
    done, and of how many."""
    if not sys.stderr.isatty():
        yield lambda name, done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TextColumn("{task.fields[last]}"), TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None, last="")

        def update(name: str, done: int, total: int) -> None:
            progress.update(task, completed=done, total=total, last=name)

        yield update


@contextlib.contextmanager
def searching() -> Iterator[Callable[[int, int, int, int], None]]:
    """A line about a search; the function that it yields is told distinct states, transitions, the
    level, and the states in the queue."""
    if not sys.stderr.isatty():
        yield lambda distinct, generated, level, queue: None
        return
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        begun = time.monotonic()

        def update(distinct: int, generated: int, level: int, queue: int) -> None:
            speed = distinct / max(0.001, time.monotonic() - begun)
            progress.update(
                task,
                description=f"{distinct:,} states ({speed:,.0f}/s), {generated:,} transitions, "
                f"depth {level}, {queue:,} in the queue",
            )

        yield update
