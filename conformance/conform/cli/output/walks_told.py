"""Says what a run did besides its suite, and what that found: walks, questions that go on where a
target hides state, cross-checks, and questions that are remembered."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import pyarrow.compute as pc

from charter.formats.canonical import Json
from charter.formats.reading import mapping, own_number
from charter.formats.verdict import Kind
from conform.console.terminal import number, plural
from conform.runs.conclusion import Finished
from conform.runs.crosschecks.cross_counts import CrossNumber
from conform.runs.failures.remembered import DIGITS_SHOWN
from conform.runs.followed.followed_counts import read_hidden
from conform.runs.walk_counts import (
    OF_CROSSCHECKS,
    OF_REMEMBERED,
    count_going_on,
    count_remembered,
    tell_going_on,
)
from conform.storage.tables import OF_WALKS


def _find_walks(counted: Mapping[str, Json]) -> Mapping[str, Json]:
    """What summary.json says of walks; nothing for a run without."""
    held = counted.get("walks")
    return held if isinstance(held, dict) else {}


def _count(counted: Mapping[str, Json], name: str) -> int:
    return own_number(_find_walks(counted).get(name, 0))


def list_walks(counted: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The rows of walks in the table of a run."""
    verdicts = _find_walks(counted).get("verdicts")
    if not isinstance(verdicts, dict):
        return []
    kinds = [(f"  {kind.replace('_', ' ')}", number(own_number(count)))
             for kind, count in verdicts.items()]  # fmt: skip
    return [("walks", number(_count(counted, "walks"))), *kinds]


def explain_walks(counted: Mapping[str, Json]) -> Iterator[str]:
    """Sentences about walks that varied or ended early, that their prelude did not lead, that the
    time cut, or that were not judged again."""
    if varying := _count(counted, "varying"):
        yield (
            f"{plural(varying, 'walk')} varied: the target answered an earlier step otherwise when"
            " the walk went on; each was judged by what its last question showed"
        )
    if shortened := _count(counted, "shortened"):
        yield (
            f"{plural(shortened, 'walk')} ended early: the charter leaves more open there than an"
            " answer can list (64 outcomes, or what a later operation refers to)"
        )
    if astray := _count(counted, "astray"):
        yield (
            f"{plural(astray, 'walk')} did not come through the prelude of the instance: the target"
            " does something else there, or does not perform one of its operations"
        )
    if _count(counted, "cut"):
        yield "--seconds cut the walks: another run may get further, or less far"
    if lost := _count(counted, "not_kept"):
        were = "was" if lost == 1 else "were"
        yield f"{plural(lost, 'walk')} that conformed {were} not kept, so not judged again"


def list_remembered(counted: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The rows of remembered questions in the table of a run."""
    held = counted.get(OF_REMEMBERED)
    verdicts = held.get("verdicts") if isinstance(held, dict) else None
    if not isinstance(held, dict) or not isinstance(verdicts, dict):
        return []
    kinds = [(f"  {kind.replace('_', ' ')}", number(own_number(count)))
             for kind, count in verdicts.items()]  # fmt: skip
    return [("remembered questions", number(own_number(held["count"]))), *kinds]


def explain_dropped(counted: Mapping[str, Json]) -> Iterator[str]:
    """A sentence for each remembered question that is not remembered any more."""
    for name, kind in mapping(mapping(counted.get(OF_REMEMBERED)).get("dropped")).items():
        listed = "shows what is listed now (overlay or baseline)"
        now = listed if kind == Kind.DIVERGES else "conforms now"
        yield f"the remembered question {name[:DIGITS_SHOWN]} {now}, and is dropped"


def name_asked(finished: Finished) -> str:
    """By what a run is fine besides its suite; "" for nothing."""
    count = count_remembered(finished.summary)
    again = plural(count, "remembered question") if count else ""
    on = tell_going_on(count_going_on(finished.summary))
    crossed = name_crosschecks(finished.summary)
    return " and ".join(filter(None, (name_walks(finished), again, on, crossed)))


def find_walks(finished: Finished, vectors: Collection[str]) -> dict[str, str]:
    """The names of those of some vectors that are walks, such as `walk 1/17`."""
    if not finished.run.walks or not vectors:
        return {}
    wanted = pc.field("id").isin(sorted(vectors)) & (pc.field("walk") >= 0)
    rows = finished.folder.table(OF_WALKS, ("id", "walk"), wanted).to_pylist()
    return {row["id"]: f"walk {finished.run.walks.seed}/{row['walk']}" for row in rows}


def count_walks(finished: Finished) -> str:
    """How many walks were judged, for the last line; "" for none."""
    count = finished.run.walks.count
    if not count:
        return ""
    judged = _count(finished.summary, "walks")
    of = "" if judged == count else f" of {number(count)}"
    return f"judged {number(judged)}{of} walks (seed {finished.run.walks.seed})"


def name_least_walks(runs: Sequence[Finished]) -> str:
    """By which walks each of some runs is fine; "" if one had none."""
    least = min(runs, key=lambda one: _count(one.summary, "walks"), default=None)
    return name_walks(least) if least else ""


def name_walks(finished: Finished) -> str:
    """By which walks a run is fine; "" for none."""
    judged = _count(finished.summary, "walks")
    cut = ", cut by --seconds" if _count(finished.summary, "cut") else ""
    return f"{plural(judged, 'walk')} (seed {finished.run.walks.seed}{cut})" if judged else ""


def list_followed(counted: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The rows of questions that go on in the table of a run."""
    verdicts = mapping(mapping(counted.get("hidden")).get("verdicts"))
    kinds = [(f"  {kind.replace('_', ' ')}", number(own_number(count)))
             for kind, count in verdicts.items()]  # fmt: skip
    every = sum(own_number(count) for count in verdicts.values())
    return [("questions that go on", number(every)), *kinds] if every else []


def explain_hidden(counted: Mapping[str, Json]) -> Iterator[str]:
    """Sentences: the variables that a target does not show, and where nothing shows them."""
    variables, bounds = read_hidden(counted)
    if variables:
        names = ", ".join(one.name for one in variables)
        goes_on = "; questions go on where a wrong value shows later"
        yield f"not shown: {names}{goes_on if list_followed(counted) else ''}"
    for one in variables:
        if one.not_shown:
            after = ", ".join(one.not_shown)
            yield f"no wrong {one.name} after {after} shows later (looked for with {bounds})"


def _find_checks(counted: Mapping[str, Json]) -> dict[str, dict[str, int]]:
    """What summary.json says of each cross-check; nothing for a run without."""
    checks = mapping(mapping(counted.get(OF_CROSSCHECKS)).get("checks"))
    return {
        check: {name: own_number(count) for name, count in mapping(numbers).items()}
        for check, numbers in checks.items()
    }


def list_crosschecks(counted: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The rows of cross-checks in the table of a run."""
    checks = _find_checks(counted)
    if not checks:
        return []
    every = sum(one[CrossNumber.TRIED] for one in checks.values())
    return [("cross-checks", number(every)), *((f"  {name}", _describe_check(one))
                                               for name, one in checks.items())]  # fmt: skip


def _describe_check(numbers: Mapping[str, int]) -> str:
    """What became of one check, in words."""
    counted = {name: number(numbers.get(name, 0)) for name in CrossNumber}
    explained = f" ({counted[CrossNumber.EXPLAINED]} explained)" if numbers["explained"] else ""
    left_open = f" ({counted[CrossNumber.OPEN]} left open)" if numbers["open"] else ""
    parts = [
        f"holds {counted[CrossNumber.HOLDS]}{left_open}",
        f"fails {counted[CrossNumber.FAILS]}{explained}",
    ]
    for name in (CrossNumber.OTHERWISE, CrossNumber.WITHOUT_ANSWER, CrossNumber.SAME_QUESTION,
                 CrossNumber.NOT_JUDGED):  # fmt: skip
        if numbers.get(name):
            parts.append(f"{name.replace('_', ' ')} {counted[name]}")
    return ", ".join([*parts, f"not tried {number(numbers['possible'] - numbers['tried'])}"])


def name_crosschecks(counted: Mapping[str, Json]) -> str:
    """By how many questions of cross-checks a run is fine; "" for none."""
    checks = _find_checks(counted).values()
    count = sum(one[CrossNumber.HOLDS] + one[CrossNumber.EXPLAINED] for one in checks)
    return f"{number(count)} questions of cross-checks" if count else ""
