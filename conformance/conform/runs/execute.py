"""Executes one run: greets the adapter, takes its folder, judges the remaining buckets, and writes
the summary."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from charter.formats import canonical
from charter.formats.run_description import RunDescription
from conform.adapters.base import Connection
from conform.adapters.sources import check_apart
from conform.adapters.stdio import StdioConnection
from conform.console.errors import ConformError
from conform.console.progress import bar
from conform.runs.canaries.forgetful_canaries import explain_unobserved, left_open, outlook
from conform.runs.conclusion import Finished, JudgedRun, finish, has_stopped, read_finished
from conform.runs.crosschecks.cross_plan import CrossPlan
from conform.runs.crosschecks.plan_crosschecks import explain_untried, plan_crosschecks
from conform.runs.earlier_target import folder_noted
from conform.runs.engines import inline
from conform.runs.engines.bucket import empty_bucket
from conform.runs.engines.choose import engine_for, starting_spark
from conform.runs.engines.cluster import is_local
from conform.runs.engines.progress_notes import JudgedSoFar
from conform.runs.failures.record import read_record
from conform.runs.failures.remembered import (
    NOTHING_REMEMBERED,
    Remembered,
    choose_remembered,
    forget_gone,
)
from conform.runs.followed.followed_questions import FollowedQuestions
from conform.runs.followed.list_followed import list_followed
from conform.runs.make_run_context import context_of, list_prefixes
from conform.runs.options import RunOptions
from conform.runs.resume import (
    explain_interrupt,
    folder_at,
    is_finished,
    lock,
    start_or_resume,
)
from conform.runs.run_context import RunContext
from conform.runs.run_json import describe_run, file_digests
from conform.runs.select import (
    Ranges,
    ResolvedRun,
    RunSelection,
    check_fits,
    choose,
    no_ranges,
    prepare_run,
)
from conform.runs.selection import SuitePart, all_asked_told, part_of
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import Suite

if TYPE_CHECKING:
    from conform.runs.engines.spark_start import StartingSpark


def run_target(
    options: RunOptions, say: Callable[[str], None], ranges: Ranges = no_ranges
) -> Finished:
    """Judge a target. An unfinished run with the same options is resumed: its finished buckets are
    not judged again. `say` is called with sentences for the user. Raises `ConformError`s."""
    began = time.time()
    inline = options.engine == "inline" or options.wanted.first
    if not (inline or is_local(options.master) or "://" in options.out):
        raise ConformError(
            f"--master {options.master} needs --out URI: a folder that this machine and all workers"
            " reach, such as file:///FOLDER or s3://BUCKET/FOLDER"
        )
    if "://" in options.out:
        RunFolder(options.out).check_reachable()
    chosen = choose(
        RunSelection("", options.target, options.release, options.suite, options.parameters)
    )
    options = replace(options, engine=engine_for(options, chosen.suite.manifest.vectors, say))
    spark = starting_spark(options)
    resolved = prepare_run(chosen, ranges)
    suite, prepared = resolved.suite, resolved.prepared
    check_fits(suite, prepared)
    failed = frozenset(read_record(prepared.target, prepared.release, prepared.parameters).vectors)
    part = part_of(suite, options.wanted, failed)
    if told := all_asked_told(options.wanted, part):
        say(told)
    asked_again = choose_remembered(resolved, options.wanted)
    for sentence in forget_gone(prepared, asked_again.gone):
        say(sentence)
    if options.without_remembered:
        if told := asked_again.tell_left_out():
            say(told)
        asked_again = NOTHING_REMEMBERED
    selection = part.json(options.wanted)
    digests = file_digests(resolved)  # an adapter may change files when it is started
    digests = replace(digests, remembered=asked_again.digest)
    with contextlib.closing(StdioConnection(prepared.start)) as greeted:
        followed = list_followed(resolved, greeted.welcome, options)
        crosschecks = plan_crosschecks(resolved, greeted.welcome, options)
        for sentence in explain_untried(resolved, greeted.welcome, options):
            say(sentence)
        digests = replace(
            digests, hidden=followed.hidden, followed=len(followed.sources),
            crosschecks=len(crosschecks.tries),
        )  # fmt: skip
        about = describe_run(greeted, resolved, digests, options, say)
        if spark is not None:
            greeted.close()  # its workers start their own
        if selection:
            name = f"{about.id}-part-{canonical.digest(selection)[:6]}"
            about = replace(about, id=name, selection=selection)
        folder = folder_at(options.out, about.id)
        about = replace(about, folder=folder_noted(prepared.target, folder.place))
        check_apart(prepared.target, folder.place)
        with lock(folder):
            if options.keep_finished and is_finished(folder, about, say):
                finished = read_finished(folder)
                if finished.holds_for(options):
                    return finished
            about = start_or_resume(folder, about, say, options.go_on)
            with explain_interrupt(folder, about, say):
                questions = _RunQuestions(part, asked_again, followed, crosschecks)
                begun = _Begun(folder, about, questions, began, say, spark, greeted)
                return _run_into(begun, resolved, options)


@dataclass(frozen=True, slots=True)
class _RunQuestions:
    """What a run asks besides walks: vectors of its suite, remembered questions, those that go on,
    and those of cross-checks."""

    part: SuitePart
    remembered: Remembered
    followed: FollowedQuestions
    crosschecks: CrossPlan


@dataclass(frozen=True, slots=True)
class _Begun:
    """A run that has begun: its folder, run.json, what it asks, the time, what is called with
    sentences for the user, Spark if it is the engine, and the adapter that was greeted."""

    folder: RunFolder
    about: RunDescription
    questions: _RunQuestions
    time: float
    say: Callable[[str], None]
    spark: StartingSpark | None
    greeted: Connection


def _run_into(begun: _Begun, resolved: ResolvedRun, options: RunOptions) -> Finished:
    """Judge the remaining buckets of a run, and write its summary."""
    folder, about, part = begun.folder, begun.about, begun.questions.part
    folder.write_json("prepared.json", {**resolved.prepared.said})
    chosen = context_of(resolved, about.id, folder.place, options.limit)
    manifest = resolved.suite.manifest
    for warning in (
        explain_unobserved(chosen.variables, manifest.component),
        outlook(manifest, chosen.forgetful),
        left_open(manifest),
    ):
        if warning:
            begun.say(warning)
    context = replace(
        chosen, only=part.only, failed=part.failed, controls=part.controls,
        first=options.wanted.first, known=options.baseline.known, walks=options.walks,
        prefixes=list_prefixes(resolved.suite) if options.walks else (),
        remembered=begun.questions.remembered.items,
        followed=begun.questions.followed, crosschecks=begun.questions.crosschecks,
    )  # fmt: skip
    spent = _judge_all(resolved.suite, context, options, begun)
    asked = _count_asked(context, part)
    return finish(JudgedRun(folder, about, resolved, context, asked, begun.time, spent), options)


def _judge_all(suite: Suite, context: RunContext, options: RunOptions, begun: _Begun) -> float:
    """Judge the remaining buckets; returns the seconds this took."""
    folder = begun.folder
    done = set(folder.buckets_done())
    left = [bucket for bucket in range(begun.about.buckets) if bucket not in done]
    is_over = has_stopped(folder)
    for bucket in list(left):
        if is_over or (bucket < suite.buckets and not begun.questions.part.counts[bucket]):
            empty_bucket(bucket, context)
            left.remove(bucket)
    if not left:
        begun.greeted.close()  # what follows may start others
        return 0.0
    folder.drop_notes()  # of a run that was killed
    try:
        return _judge(suite, left, context, options, begun)
    finally:
        folder.drop_notes()


def _judge(
    suite: Suite, buckets: list[int], context: RunContext, options: RunOptions, begun: _Begun
) -> float:
    """Judge some buckets with the engine of the run; returns the seconds this took."""
    title = f"{begun.about.target} {context.start.release}".strip()
    total = (
        _count_asked(context, begun.questions.part) + context.walks.count + len(context.remembered)
    )
    total += len(context.followed.sources) + len(context.crosschecks.tries)
    with bar(title, total, JudgedSoFar(begun.folder)) as progress:
        began = time.time()
        if begun.spark is None:
            inline.run(suite, buckets, context, progress, begun.greeted)
            return time.time() - began
        from conform.runs.engines import spark  # slow to import, and only needed here

        started = begun.spark.context()
        began = time.time()
        spark.run(started, suite, buckets, context, progress)
        return time.time() - began


def _count_asked(context: RunContext, part: SuitePart) -> int:
    """How many vectors a run asks."""
    return sum(min(count, context.limit or count) for count in part.counts)
