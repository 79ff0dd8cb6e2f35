"""Shows a finished run to a person: findings, trouble with the adapter, counts."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pyarrow.compute as pc

from charter.formats.adapter import constant
from charter.formats.canonical import Json
from charter.formats.labels import legend
from charter.formats.reading import own_list, own_number, own_object, texts
from charter.formats.run import RunFinding
from charter.formats.run_description import RunDescription
from charter.formats.verdict import BETWEEN, STDERR, Kind
from conform.cli.output.missing_operations import (
    allowing,
    list_denied,
    list_other_trouble,
    list_unwritten,
    next_step,
)
from conform.cli.output.walks_told import (
    count_walks,
    explain_dropped,
    explain_hidden,
    explain_walks,
    find_walks,
    list_crosschecks,
    list_followed,
    list_remembered,
    list_walks,
    name_asked,
)
from conform.cli.set_options import write_set
from conform.console.terminal import columns, number, one_line, out, plural, shorten
from conform.judging.refutations import EXCEPTION
from conform.judging.siblings import show_entries
from conform.runs.canaries import trust
from conform.runs.canaries.canaries import FORGETS, canary_told
from conform.runs.canaries.forgetful_canaries import LOOKS_FOR_QUESTIONS
from conform.runs.conclusion import Finished
from conform.runs.entry_widths import adds_told, both_told, entry_steps
from conform.runs.extent import read_extent
from conform.runs.findings.adapter_failures import FAILED, place_told
from conform.runs.findings.baseline import tell_compared
from conform.runs.findings.findings import CHOSEN_START, LIMIT_TOLD, print_shrunk, read_findings
from conform.runs.findings.in_system import SystemAnswers, tell_answer
from conform.runs.findings.limits import general_limits, images_told
from conform.runs.not_compared import read
from conform.runs.obligations import Gap
from conform.runs.resume import tell_continued
from conform.runs.touring.certificate_text import tell_certificate

_FAILED = frozenset(str(kind) for kind in FAILED)
_UNSUPPORTED, _VARIABLE = "unsupported ", "variable "
UNLOADED = "unsupported load"
"""The name of vectors that start in a given state, if the adapter does not claim `load`."""


def show(finished: Finished) -> None:
    """Shows the summary to a person."""
    about, counted = finished.run, finished.summary
    title = one_line(f"{about.title} {about.implementation['version']}")
    out(f"{title} against {_charter(about)}")
    out("")
    missing = list_unwritten(finished)
    if missing:
        out(next_step(finished, missing) + "\n")
    if told := counted.get("one_fault"):
        out(f"{told}\n")
    if counted["findings"]:
        _show_findings(finished)
        for told in both_told(counted):
            out(f"warning: {told}\n")
    _show_trouble(finished, missing)
    out(columns([["  " + name, value] for name, value in _lines(counted)]))
    wrong = [item for item in finished.canaries if isinstance(item, dict) and not item["ok"]]
    out("")
    _show_canaries(wrong)
    _show_doubts(finished, wrong)
    if not missing and _conforming(counted):
        _show_skipped(counted["skipped_canaries"])
    _show_forgetful(finished)
    if counted["stale_baseline"]:
        stale = ", ".join(texts(counted["stale_baseline"]))
        out(f"{counted['baseline']} lists findings that this run did not show: {stale}; remove"
            " them, or use --update-baseline")  # fmt: skip
    changed = counted["changed_baseline"]
    for name, both in changed.items() if isinstance(changed, dict) else ():
        then, now = texts(both)
        out(f"{counted['baseline']} lists {name} as {one_line(then)}; now it reads {one_line(now)}:"
            " look whether it is the same bug, or another one in the same place;"
            " --update-baseline takes what it is now")  # fmt: skip
    if other := texts(counted.get("listed_by_another_suite")):
        out(f"{counted['baseline']} lists {', '.join(other)} by another suite, so only what they"
            " read was compared; --update-baseline lists them by this one")  # fmt: skip
    if counted["without_reason"]:
        named = ", ".join(texts(counted["without_reason"]))
        out(f"{counted['baseline']} has no reason for {named}; they count as new until it has")
    _show_broken(counted)
    _show_inconclusive(counted)
    _show_unclaimed(counted, _operations(about))
    _show_hidden(counted)
    _show_unresolved(counted)
    _show_not_loadable(finished)
    _show_unknown_constants(counted)
    if told := tell_continued(about.continued):
        out(told)
    of_walks = (*explain_walks(counted), *explain_dropped(counted))
    for sentence in (*of_walks, *explain_hidden(counted), *tell_certificate(counted)):
        out(sentence)
    out(f"run: {near(finished.folder.place)}")
    if told := "" if missing else _next(finished):
        out(told)
    out(one_line(_last_line(finished, missing)))


def _conforming(counted: Mapping[str, Json]) -> int:
    """How many vectors conform. If none does, no canary could be made of one, and the last line
    says so."""
    verdicts = own_object(counted["verdicts"])
    return own_number(verdicts[Kind.CONFORMS]) + own_number(verdicts[Kind.INCONCLUSIVE])


def _show_canaries(wrong: Sequence[Mapping[str, Json]]) -> None:
    """Shows the canaries that misbehaved, those that did so in the same way once."""
    places: dict[tuple[str, str], list[str]] = {}
    for item in wrong:
        told = canary_told(item["expected"], item["got"], item["detail"])
        places.setdefault((str(item["kind"]), one_line(told)), []).append(str(item["where"]))
    for (kind, told), where in places.items():
        more = f" and {len(where) - 1} more places" if len(where) > 1 else ""
        out(f"canary {kind} ({where[0]}{more}): {told}")


def _show_doubts(finished: Finished, wrong: Sequence[Mapping[str, Json]]) -> None:
    """Shows what may be the matter with the adapter if canaries misbehaved."""
    if wrong and all(item["got"] in _FAILED for item in wrong):
        out("the adapter fails where it answered before: look whether what it drives has ended")
    elif any(item["kind"] != "derived" and not trust.is_of_walker(item) for item in wrong):
        out(
            "the adapter may keep state of an earlier question, or answer otherwise each time: "
            f"{_write_doctor(finished)} asks it"
        )
    if unsteady := texts(finished.summary.get("unsteady", [])):
        out(trust.unsteady_told(unsteady, _write_doctor(finished)))


def _write_doctor(finished: Finished) -> str:
    """The command that checks the adapter of a run."""
    run = finished.run
    asks = ["conform", "doctor", "--adapter", run.found_by, *write_set(run.parameters)]
    return write_command(asks, finished.inside)


def _show_skipped(skipped: Json, most: int = 6) -> None:
    """Shows the places for which no canary could be made, by reason."""
    places: dict[str, list[str]] = {}
    for item in map(own_object, own_list(skipped)):
        places.setdefault(str(item["why"]), []).append(str(item["where"]))
    for why, where in places.items():
        more = f" and {len(where) - most} more" if len(where) > most else ""
        out(f"no canary in {', '.join(where[:most])}{more}: {why}")


def _show_forgetful(finished: Finished) -> None:
    """Shows that the charter has no mutants of the component, and what took their place."""
    places = [str(item["where"]) for item in finished.canaries if isinstance(item, dict)]
    # The suite and the walks may each have one of an operation.
    names = dict.fromkeys(place.partition(FORGETS)[2] for place in places if FORGETS in place)
    if names:
        component = finished.run.component
        out(f"the charter has no mutant of a rule of the component {component}; its model without"
            f" the effect of {' and of '.join(names)} was caught instead: mutants of your own prove"
            " more (`conform help variants-mutants-overlays`)")  # fmt: skip


def _show_broken(counted: Mapping[str, Json]) -> None:
    """Shows the batches during which the adapter failed."""
    if counted["broken_batches"]:
        unexplained = len(texts(counted["unexplained_breaks"]))
        out(f"batches that the adapter broke on: {_number(counted['broken_batches'])}; in"
            f" {unexplained} of them it answers each question when asked alone")  # fmt: skip


def _inconclusive(counted: Mapping[str, Json]) -> int:
    """How many vectors are inconclusive."""
    verdicts = own_object(counted["verdicts"])
    return own_number(verdicts.get(Kind.INCONCLUSIVE, 0))


def _show_inconclusive(counted: Mapping[str, Json]) -> None:
    """Says what it means that vectors are inconclusive."""
    count = _inconclusive(counted)
    if count:
        are, they = ("is", "it") if count == 1 else ("are", "they")
        out(f"{plural(count, 'vector')} {are} inconclusive: the charter allows every step, but"
            f" {they} did not take the branch to test, as the target may choose another"
            " (`conform explain inconclusive`)")  # fmt: skip


def _operations(about: RunDescription) -> Collection[str]:
    """The operations of the charter; none where run.json does not know them."""
    replies = about.types.get("replies")
    return replies if isinstance(replies, dict) else ()


def _show_unclaimed(counted: Mapping[str, Json], operations: Collection[str] = ()) -> None:
    """Shows what to do about vectors that need the capability `load`, an operation that hello
    leaves out, or what the adapter calls unsupported in words of its own: what is none of the
    `operations` of the charter."""
    for left in read(counted["not_compared"]):
        if left.what == UNLOADED and not left.allowed:
            out(f"{plural(left.vectors, 'vector')} start in a given state: claim `load` in the"
                f" adapter (`conform help adapters`), {allowing(UNLOADED)}")  # fmt: skip
        elif left.what.startswith(_UNSUPPORTED) and not left.allowed and left.what != UNLOADED:
            name = one_line(left.what.removeprefix(_UNSUPPORTED))
            if name.startswith(constant("")):
                continue
            told = (f"the adapter does not list the operation {name} in what hello answers (`about`"
                    " of the SDK): add it there")  # fmt: skip
            if operations and name not in operations:
                told = (f"the adapter answered that {name} is unsupported: perform what these"
                        " vectors ask for")  # fmt: skip
            out(f"{told}, {allowing(f'{_UNSUPPORTED}{name}')}")


def _show_hidden(counted: Mapping[str, Json]) -> None:
    """Shows what to do about variables that the target does not show."""
    left = [one.what for one in read(counted["not_compared"])
            if one.what.startswith(_VARIABLE) and not one.allowed]  # fmt: skip
    if left:
        them = "it" if len(left) == 1 else "them"
        out(f"the adapter does not show {', '.join(what.removeprefix(_VARIABLE) for what in left)}:"
            f" show {them} in `observe` and list {them} in what hello observes (`conform help"
            f" adapters`), {allowing(*left)}")  # fmt: skip


def _show_unresolved(counted: Mapping[str, Json]) -> None:
    """Shows what to do about references into variables that the target does not show."""
    left = [one for one in read(counted["not_compared"]) if not one.allowed]
    hides = any(one.what.startswith(_VARIABLE) for one in read(counted["not_compared"]))
    for one in left:
        if one.what == Kind.UNRESOLVED and hides:
            out(f"{plural(one.vectors, 'vector')} refer to what the target does not show: take such"
                " variables out of `observe` in the charter, and make the suite again"
                " (`conform help adapters`)")  # fmt: skip


def _show_not_loadable(finished: Finished, most: int = 6) -> None:
    """Shows which vectors start in a state that could not be loaded, and how each is allowed."""
    kind = pc.field("kind") == str(Kind.NOT_LOADABLE)
    rows = finished.folder.table("verdicts", ("id", "detail"), kind).sort_by("id").to_pylist()
    left = {f"vector {row['id']}": row["detail"] for row in rows}
    left = {name: detail for name, detail in left.items() if name not in finished.run.not_compared}
    if not left:
        return
    first, start = next(iter(left.values())), "starts" if len(left) == 1 else "start"
    out(f"{plural(len(left), 'vector')} {start} in a state that could not be loaded"
        f" ({one_line(shorten(first, 200))}): load it if the target can be in it,"
        f" {allowing(*[*left][:most])}")  # fmt: skip
    if len(left) > most:
        out(f"    and {len(left) - most} more")


def _show_unknown_constants(counted: Mapping[str, Json]) -> None:
    """Shows what to do about constants that the adapter does not know."""
    first = f"unsupported {constant('')}"
    names = [left.what.removeprefix(first) for left in read(counted["not_compared"])
             if left.what.startswith(first) and not left.allowed]  # fmt: skip
    if names:
        told = f"the adapter does not know {', '.join(names)}: its types are older than the charter"
        out(f"{told}; `conform generate --adapter LANGUAGE CHARTER --out FOLDER` makes them again")


def _charter(about: RunDescription) -> str:
    variant = f", variant {about.variant}" if about.variant else ""
    return f"{about.protocol} {about.component}{variant}, suite {about.suite[:8]}"


def _lines(counted: Mapping[str, Json]) -> list[tuple[str, str]]:
    verdicts = own_object(counted["verdicts"])
    lines = [("vectors", _number(counted["vectors"]))]
    lines += [
        (f"  {kind.replace('_', ' ')}", _number(count)) for kind, count in verdicts.items() if count
    ]
    lines += [*list_walks(counted), *list_followed(counted), *list_crosschecks(counted)]
    lines += list_remembered(counted)
    lines.append(("steps judged", _number(counted["judged_steps"])))
    if counted["not_judged_steps"]:
        lines.append(("steps not judged", _number(counted["not_judged_steps"])))
    lines.append(("(state, branch) pairs", _number(counted["distinct_pairs"])))
    if counted["deviations"]:
        lines.append(("new findings", number(sum(item.new for item in read_findings(counted)))))
        lines.append(("deviations", _number(counted["deviations"])))
        lines.append(("  new", _number(counted["new_deviations"])))
        entries = own_object(counted["by_entry"])
        lines += [(f"  {show_entries(one)}", _number(count)) for one, count in entries.items()]
    lines.append(("seconds", str(counted["seconds"])))
    return lines


def _number(value: Json) -> str:
    return number(own_number(value))


def _show_findings(finished: Finished, most: int = 12) -> None:
    """Shows the findings: those that the overlay does not explain first, the gravest first."""
    findings = read_findings(finished.summary)
    new, answers = [item for item in findings if item.new], SystemAnswers.read(finished.folder)
    explained, before = {""}, _deviating_before(finished, new[:most])
    walks = find_walks(finished, {item.vector for item in new[:most]})
    for item in new[:most]:
        told = one_line(shorten(item.sentence, 300))
        out(f"  {item.severity:<5}  {item.id}  {told}")
        show_example(finished, item)
        for told in tell_answer(answers.of(item)):
            out(f"         {one_line(told)}")
        if item.id in before:
            out(f"         {before[item.id]}")
        if item.vector in walks:
            again = write_command(finished.run.command, finished.inside)
            out(f"         {walks[item.vector]}, which this makes again: {again}")
        for says in item.limits:
            out(f"         {LIMIT_TOLD} {one_line(says)}")
        if item.like:
            same = "the same operation, the same variables"
            out(f"         perhaps of the same cause as {item.like}: {same}")
        if (labels := legend(_texts_of(item))) not in explained:
            out(f"         ({labels})")
            explained.add(labels)
    if len(new) > most:
        out(f"         and {len(new) - most} more findings: --json, or conform report")
    widths = entry_steps(finished.summary.get("entry_steps"))
    for item in findings:
        if item.entry:
            told = f"explained by {show_entries(item.entry)}: {plural(item.vectors, 'vector')}"
            if item.entry in widths:
                told += f"; {adds_told(widths[item.entry])}"
            out(f"  {item.severity:<5}  {told}{_behind(item.hides, 'it')}")
        elif item.known:
            told = f"{item.id}  known: {one_line(item.known)}"
            out(f"  {item.severity:<5}  {told}{_behind(item.hides, 'it')}")
        for told in () if item.new else tell_answer(answers.of(item)):
            out(f"         {one_line(told)}")
    for says in (*general_limits(finished.run), *images_told(finished.summary)):
        out(f"  {LIMIT_TOLD} {one_line(says)}")
    out("")


def _deviating_before(finished: Finished, shown: Sequence[RunFinding]) -> dict[str, str]:
    """What is said of findings whose example deviates in an earlier step, too."""
    examples = sorted({item.vector for item in shown if item.step > 1})
    if not examples:
        return {}
    wanted = pc.field("id").isin(examples)
    rows = finished.folder.table("deviations", ("id", "step"), wanted).to_pylist()
    told: dict[str, str] = {}
    for item in shown:
        steps = [row["step"] for row in rows if row["id"] == item.vector]
        if before := [step for step in steps if step < item.step]:
            same = item.shrunk is None or item.shrunk.vector == item.vector
            of = "" if same else f" of {item.vector[:12]}"
            told[item.id] = (
                f"step {max(before)}{of} deviates, too: step {item.step} is judged from the state"
                " that was observed there"
            )
    return told


def _behind(count: int, what: str) -> str:
    """That steps were not judged because they follow known findings; "" if there are none."""
    were = "was" if count == 1 else "were"
    return f"; {plural(count, 'step')} behind {what} {were} not judged" if count else ""


def _texts_of(item: RunFinding) -> tuple[str, ...]:
    """All that is shown of a finding."""
    return (item.sentence, *(print_shrunk(item.shrunk) if item.shrunk else ()))


def show_example(finished: Finished, item: RunFinding) -> None:
    """Shows the vector of a finding: what was shrunk, operation by operation, with what was
    expected and observed side by side."""
    vectors, shrunk = plural(item.vectors, "vector"), item.shrunk
    if shrunk is None:
        out(f"         {vectors}; see step {item.step} of: {_replay(finished, item.vector)}")
        if item.chosen:
            out(f"         {CHOSEN_START}")
        return
    was = f"; shrunk from {plural(shrunk.before, 'operation')} to {shrunk.step}"
    if shrunk.before == shrunk.step:
        was = "; shrunk in its elements, values or constants"
    out(f"         {vectors}{was if shrunk.vector != item.vector else ''}:")
    for line in print_shrunk(shrunk):
        out(f"           {one_line(line)}")
    out(f"         see: {_replay(finished, shrunk.vector)}")


def _replay(finished: Finished, vector: str) -> str:
    """The command that shows a vector again."""
    command = ["conform", "replay", vector[:12], "--run", near(finished.folder.place)]
    return write_command(command, finished.inside)


def _show_trouble(finished: Finished, missing: Sequence[str]) -> None:
    """Shows how the adapter failed, with what it wrote to stderr, apart from operations that are
    missing."""
    listed = list_other_trouble(finished, missing)
    # Those of the suite are vectors; walks and what else is put have failed in the same way.
    noun = "vector" if finished.run.suite_buckets == finished.run.buckets else "question"
    for item in listed:
        how, _, stderr = str(item["detail"]).partition(STDERR)
        kind = str(item["kind"]).replace("_", " ")
        where = one_line(how + place_told(item))
        out(f"  {kind}: {plural(own_number(item['vectors']), noun)}: {where}")
        for line in stderr.split(BETWEEN) if stderr else ():
            out(f"    | {one_line(line)}")
        out(f"    see: {_replay(finished, str(item['vector']))}")
    if any(item["kind"] == Kind.TIMED_OUT for item in listed):
        out(
            "  how long an answer may take is set by [deadlines] in adapter.toml; after a question"
            " without an answer the others have less time"
        )
    for name in list_denied(finished, listed):
        out(f"  what hello claims has to work: let the adapter do {name}, or take it out of hello")
    if any(EXCEPTION in str(item["detail"]) for item in listed):
        out(
            "  an exception of the implementation is a finding if the adapter reports it as a"
            " `Fault`: conform help adapters"
        )
    if listed:
        out("")


def write_command(command: Sequence[str], inside: str) -> str:
    """A command as a person types it where they are; `inside` is the folder that it needs, "" if it
    works there."""
    first = f"{shlex.join(['cd', inside])} && " if inside else ""
    return first + shlex.join(command)


def near(place: str) -> str:
    """A place as a person would type it: relative to the working directory if it is below it."""
    here = Path.cwd()
    path = Path(place)
    return str(path.relative_to(here)) if path.is_relative_to(here) else place


def _next(finished: Finished) -> str:
    """The next command where obligations are open that no search looked for; "" if none are."""
    unsought = read_extent(finished.summary).obligations.left.get(Gap.UNSEARCHED, 0)
    if not unsought:
        return ""
    return f"next: {LOOKS_FOR_QUESTIONS} for {plural(unsought, 'obligation')}; then repeat this run"


def tell_verdict(finished: Finished) -> str:
    """The verdict of a run in one line."""
    return one_line(_last_line(finished, list_unwritten(finished)))


def _last_line(finished: Finished, missing: Sequence[str]) -> str:
    counted = finished.summary
    reasons, extent = texts(counted["reasons"]), read_extent(counted)
    compared = extent.tell()
    by = f"; by {extent.older}" if extent.older else ""
    if missing and counted["exit"] == 3:
        return f"exit 3: the adapter does not perform {', '.join(missing)} yet; {compared}{by}"
    if reasons:
        parts = (extent.tell(), count_walks(finished))
        rest = "".join(f"; {part}" for part in parts if part not in ("", *reasons))
        return f"exit {counted['exit']}: {'; '.join(reasons)}{rest}{by}"
    fine = f"fine by {extent.by}" if extent.by else "fine"
    if more := name_asked(finished):
        fine += f" and {more}" if extent.by else f" by the suite and {more}"
    if extent.wishes:
        fine += f" in the part that was asked ({', '.join(extent.wishes)})"
    known = counted["deviations"]
    unmet = texts(counted["unmet_entries"])
    rest = f"; not met: {', '.join(unmet)}" if unmet else ""
    if known:
        why = "the overlay or known in the baseline" if counted["baseline"] else "the overlay"
        found = f"{plural(own_number(known), 'deviation')}, all of them explained by {why}"
        if told := tell_compared(texts(counted.get("listed_by_another_suite"))):
            rest += f"; {told}"
        hidden = sum(item.hides for item in read_findings(counted))
        return f"{fine}: {found}{_behind(hidden, 'them')}{rest}; {compared}"
    return f"{fine}: no deviation from {'it' if extent.older else 'the charter'}{rest}; {compared}"
